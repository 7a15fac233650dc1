//! Noise that is not isometric.

use organza_mcmc::ChainRng;
use organza_release::Family;
use std::sync::Arc;

use super::super::likelihood::LikelihoodSpace;
use super::super::parties::{ResponseSquare, Sums};
use super::super::uneven::{Slopes, Uneven, UnevenSpace};
use super::{Mechanism, Population, ball, plain_box, release};
use crate::{Evidence, Method, judge};

/// The same releases with Laplace noise of the same scales.
pub(super) fn with_laplace(evidence: &Evidence) -> Evidence {
    let mut other = evidence.clone();
    other.parties.iter_mut().for_each(|party| Arc::make_mut(&mut party.noise).family = Family::Laplace);
    other
}

fn value(sum: &Uneven, moments: &[f64], variances: &[f64]) -> f64 {
    let (mut slope, mut counts, mut of_variances) =
        (vec![0.0; moments.len()], [0.0], vec![0.0; variances.len()]);
    let slopes = Slopes { moments: &mut slope, counts: &mut counts, variances: &mut of_variances };
    UnevenSpace::new(sum.places.len()).evaluate(sum, moments, (&[1.0], variances), slopes)
}

/// Catches a wrong covariance of sums, an entry that is counted twice, and weights that are forgotten.
#[test]
fn isometric_noise_has_the_same_density_entry_by_entry() {
    for (size, constant) in [(2, false), (2, true), (3, true), (4, true), (4, false)] {
        for response in [ResponseSquare::Own(3.0), ResponseSquare::Missing] {
            let mut rng = ChainRng::new(size as u64, 3);
            let q = size - 1 - usize::from(constant);
            let domain = if constant { plain_box(q, 0.7, 1.2) } else { ball(q, 0.8) };
            let populations = [(); 2].map(|()| Population::random(size, constant, &mut rng).moments());
            let gram: Vec<f64> = populations[0].iter().map(|moment| 50.0 * moment + 1.0).collect();
            let mechanism = Mechanism { records: 50, scale: 4.0, response };
            let mut evidence = Evidence::new(&[release("a", &domain, &gram, &mechanism)]).unwrap();
            if q == 0 {
                // No diagonal entry of a feature from which the scale could be seen.
                Arc::make_mut(&mut evidence.parties[0].noise).scales[0] = 0.0;
            }
            let sum = Uneven::new(&[&evidence.parties[0]], constant, true);
            let found = value(&sum, &populations[0], &[]) - value(&sum, &populations[1], &[]);
            let sums = Sums::new(judge::accept(Method::Marginal, &evidence).unwrap());
            if sums.groups.is_empty() {
                assert_eq!((q, sums.uneven.len()), (0, 1));
                continue;
            }
            let mut space = LikelihoodSpace::new(size, 0);
            let [one, other] = populations.map(|moments| space.evaluate(&sums.groups, &moments, &[]));
            assert!(
                (found - (one - other)).abs() < 1e-8,
                "{size} {constant} {response:?}: {found} {}",
                one - other
            );
        }
    }
}

/// The variance of Laplace noise integrated out gives the density of a normal variable plus Laplace noise, of one party and of the sum of two.
#[test]
fn the_mixture_of_normals_is_laplace_noise() {
    for parties in [1usize, 2] {
        let releases: Vec<_> = (0..parties)
            .map(|k| {
                let mechanism = Mechanism { records: 40, scale: 30.0, response: ResponseSquare::Missing };
                release(&format!("p{k}"), &ball(1, 1.0), &[20.0, 0.0, 0.0, 0.0], &mechanism)
            })
            .collect();
        let evidence = with_laplace(&Evidence::new(&releases).unwrap());
        let mut sum = Uneven::new(&evidence.parties.iter().collect::<Vec<_>>(), false, true);
        // X'X alone.
        (sum.places, sum.mixing) = (vec![(0, 0)], vec![sum.mixing[0].map(|(_, shape)| (0, shape))]);
        let shape = sum.mixing[0].unwrap().1;
        assert!((shape - parties as f64).abs() < 1e-9, "{shape}");
        let (scale, records) = (30.0, 40.0 * parties as f64);
        let moments = [0.5, 0.0, 0.0, 1.0];
        let variance = 2.0 * records * 0.25;
        let mut ratios = vec![];
        for observed in [records * 0.5, records * 0.5 + 90.0] {
            sum.values = vec![observed];
            let terms = (-4000..800).map(|k| {
                let log = 0.005 * f64::from(k);
                (value(&sum, &moments, &[log.exp()]) + shape * (log - log.exp())).exp()
            });
            let mixed: f64 = terms.sum();
            // The sum of two Laplace variables has the density (1 + |x| / b) exp(-|x| / b) / (4 b).
            let noise =
                |x: f64| (-x.abs() / scale).exp() * if parties == 1 { 1.0 } else { 1.0 + x.abs() / scale };
            let direct: f64 = (-40_000..40_000)
                .map(|k| {
                    let x = 0.02 * f64::from(k);
                    noise(x) * (-(observed - records * 0.5 - x).powi(2) / (2.0 * variance)).exp()
                })
                .sum();
            ratios.push(mixed / direct);
        }
        assert!((ratios[0] / ratios[1] - 1.0).abs() < 1e-4, "{parties}: {ratios:?}");
    }
}
