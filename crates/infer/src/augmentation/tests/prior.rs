//! Without information the prior is left.

use organza_mcmc::Kernel;

use super::super::{Interweave, Interweaving, RecordDensity};
use super::*;

/// Catches a wrong Jacobian or power in the prior density of the coordinates, a map of records that changes their noise, and proposals
/// that are not symmetric: with next to no information every coordinate must have the law that the prior's own draws have.
#[test]
fn moves_leave_the_prior_as_it_is() {
    for (intercept, conjugate) in [(true, false), (false, true)] {
        let domain = boxed(2, intercept, None);
        let mut model = weak_model(2, intercept);
        if conjugate {
            model.prior = model.prior.conjugate();
        }
        let release = complete(&domain, 4, 1e-9);
        let target = Augmented { model, parties: vec![GramMechanism::of(&release).unwrap()] };
        let chains: Vec<Vec<Vec<f64>>> = (0..4).map(|chain| coordinates(&target, chain)).collect();
        compare(&target.model, &chains, &format!("intercept {intercept}"));
    }
}

/// Every coordinate of the chains against draws of the prior.
pub(super) fn compare<G: Interweave>(model: &G, chains: &[Vec<Vec<f64>>], label: &str) {
    let (size, mut rng) = (model.coordinates(), ChainRng::new(77, 0));
    let mut fresh = vec![0.0; size];
    let prior: Vec<Vec<f64>> = (0..40_000)
        .map(|_| {
            model.write_coordinates(&model.start(&mut rng).unwrap(), &mut fresh);
            fresh.clone()
        })
        .collect();
    compare_rows(chains, &prior, label);
}

/// Every column of the chains against independent rows.
pub(super) fn compare_rows(chains: &[Vec<Vec<f64>>], rows: &[Vec<f64>], label: &str) {
    for k in 0..rows[0].len() {
        // Bounded functions: coordinates have heavy tails.
        for (name, scale) in [("place", 1.0), ("spread", 0.0)] {
            let function = |x: f64| (x.atan() * scale) + (1.0 - scale) * (3.0 * x).atan().powi(2);
            let column = |rows: &[Vec<f64>]| rows.iter().map(|row| function(row[k])).collect::<Vec<f64>>();
            let found = of(&Traces::new(&chains.iter().map(|chain| column(chain)).collect::<Vec<_>>()));
            let expected = of(&Traces::new(&[column(rows)]));
            agree(&format!("{label}, coordinate {k}, {name}"), found, expected);
        }
    }
}

/// Coordinates after every step of one chain, warm-up left out.
pub(super) fn coordinates<G, M>(target: &Augmented<G, M>, chain: u32) -> Vec<Vec<f64>>
where
    G: Interweave + RecordDensity,
    M: RecordAdditive,
{
    let mut kernel = Interweaving::new(target).always_exchanging();
    let mut rng = ChainRng::new(5, chain);
    let mut state = kernel.init(target, &mut rng).unwrap();
    for _ in 0..800 {
        let info = kernel.step(target, &mut state, &mut rng).unwrap();
        Kernel::<Augmented<G, M>>::adapt(&mut kernel, &state, &info);
    }
    let mut kept = Vec::new();
    for _ in 0..12_000 {
        kernel.step(target, &mut state, &mut rng).unwrap();
        kept.push(state.coordinates.clone());
    }
    kept
}
