//! The setting of \[JAGR22\] section 5.

use organza_mcmc::diagnostics::ess_bulk;
use organza_mcmc::{Kernel, Plan, run};

use super::super::{Interweaving, Plain};
use super::*;

/// beta = (-1.79, -2.89, -0.66), m = (0.90, -1.17), Sigma = I, sigma^2 = 2 and bounds of 10, in normalised units; prior N(0, 4).
pub(super) fn target(
    epsilon: f64,
    sensitivity: Option<f64>,
    records: u64,
) -> Augmented<LinearModel, GramMechanism> {
    let (domain, mut rng) = (boxed(2, true, None), ChainRng::new(2022, 0));
    let covariance = [0.04, 0.0, 0.0, 0.0, 4.0, 0.0, 0.0, 0.0, 4.0];
    let prior = Prior::new(vec![0.0; 3], &covariance, (2.0, 0.1)).unwrap();
    let (mean, sigma) = (vec![0.0900142, -0.1173346], vec![0.01, 0.0, 0.0, 0.01]);
    let law = FeaturePrior::new(sigma.clone(), 4.0, mean.clone(), 1.0).unwrap();
    let model = LinearModel::new(&prior, &law, true).unwrap();
    let model = model.with_variance(0.02).unwrap().with_features(mean, sigma).unwrap();
    let mut truth = model.start(&mut rng).unwrap();
    truth.regression.theta.copy_from_slice(&[-0.17949707, -2.8890028, -0.6620272]);
    let mut release = complete(&domain, records, epsilon);
    if let Some(sensitivity) = sensitivity {
        // The paper's unweighted entries.
        release.noise.scales.fill(sensitivity / epsilon);
    }
    let mut values = vec![0.0; records as usize * 3];
    values.chunks_exact_mut(3).for_each(|record| model.draw_record(&truth, &mut rng, record));
    let parties = vec![GramMechanism::of(&publish(release, &values, &mut rng)).unwrap()];
    Augmented { model, parties }
}

/// Effective draws of the coefficient that mixes worst, over four chains of so many sweeps.
pub(super) fn worst<K: Kernel<Augmented<LinearModel, GramMechanism>>>(
    kernel: &K,
    target: &Augmented<LinearModel, GramMechanism>,
    draws: usize,
) -> f64 {
    let plan = Plan { chains: 4, warmup: 1000, draws, thin: 1, seed: 1, threads: 1 };
    let draws = run(kernel, target, &plan).unwrap();
    let sizes = (0..3).map(|k| ess_bulk(&draws.traces(&draws.names()[k]).unwrap()));
    let sizes: Vec<f64> = sizes.collect();
    println!("effective draws {sizes:?}");
    sizes.into_iter().fold(f64::INFINITY, f64::min)
}

/// Catches moves that are never accepted or never proposed: with them the chain mixes, without them it does not.
#[test]
fn interweaving_mixes_where_the_plain_chain_does_not() {
    for sensitivity in [Some(15.0), None] {
        let target = target(1.0, sensitivity, 100);
        let plain = worst(&Plain, &target, 2000);
        let woven = worst(&Interweaving::new(&target), &target, 2000);
        println!("sensitivity {sensitivity:?}: {plain} and {woven}");
        assert!(woven > 50.0 * plain, "{plain} and {woven}");
    }
}
