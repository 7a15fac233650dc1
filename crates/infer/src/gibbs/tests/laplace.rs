//! Laplace noise as a mixture: the draws of one Gram matrix against numerical integration of normal times Laplace.

use organza_mcmc::ChainRng;
use organza_mcmc::diagnostics::{Traces, ess_mean};
use organza_release::Family;

use super::largest;
use crate::evidence::GramNoise;
use crate::gibbs::dense::{DenseConditional, DensePool, entries};
use crate::gibbs::features::FeatureLaw;
use crate::gibbs::normal::NormalRecord;
use crate::gibbs::pool::Pool;
use crate::gibbs::record::RecordLaw;
use crate::linalg::{Cholesky, quadratic_form};

const RECORDS: f64 = 10.0;
const STEPS: i32 = 60;

/// One feature, no constant: entries x'x, x'y, y'y.
fn record() -> RecordLaw {
    let mut features = FeatureLaw::new(1);
    assert!(features.fix(&[0.6], &[]));
    let mut record = NormalRecord::new(2, false);
    record.set(&[0.7], 0.4, &features);
    RecordLaw::Normal(record)
}

/// First two moments of every entry under normal times Laplace: midpoints of a grid over six deviations of the normal.
fn integrate(record: &mut RecordLaw, released: &[f64], scales: &[f64]) -> [(f64, f64); 3] {
    let mut covariance = vec![0.0; 9];
    record.covariance(RECORDS, &mut covariance);
    let second = record.second().to_vec();
    let mean = [RECORDS * second[0], RECORDS * second[1], RECORDS * second[3]];
    let sd: Vec<f64> = (0..3).map(|k| covariance[4 * k].sqrt()).collect();
    let precision = Cholesky::new(&covariance, 3).unwrap().inverse();
    let at = |k: usize, step: i32| sd[k] * 6.0 * (f64::from(step) + 0.5) / f64::from(STEPS);
    let (mut mass, mut sums) = (0.0, [(0.0, 0.0); 3]);
    for i in -STEPS..STEPS {
        for j in -STEPS..STEPS {
            for l in -STEPS..STEPS {
                let offset = [at(0, i), at(1, j), at(2, l)];
                let mut log = -0.5 * quadratic_form(&precision, &offset);
                if log < -40.0 {
                    continue;
                }
                log -= (0..3).map(|k| (released[k] - mean[k] - offset[k]).abs() / scales[k]).sum::<f64>();
                let weight = log.exp();
                mass += weight;
                for k in 0..3 {
                    sums[k].0 += weight * offset[k];
                    sums[k].1 += weight * offset[k] * offset[k];
                }
            }
        }
    }
    std::array::from_fn(|k| {
        let (first, square) = (sums[k].0 / mass, sums[k].1 / mass);
        (mean[k] + first, square - first * first)
    })
}

/// Catches omega^2 for omega, the scale of the Laplace noise taken for its deviation, or a mixture that is not updated.
#[test]
fn draws_agree_with_integration() {
    let mut record = record();
    let gram = vec![9.0, 1.0, 1.0, 12.0];
    let scales = vec![1.5, 1.0, 1.0, 2.5];
    let noise =
        GramNoise { family: Family::Laplace, weights: vec![1.0; 2], scales, record_scale: None, averaged: 1 };
    let pool = Pool { each: RECORDS, parties: 1.0, gram, noise: noise.into() };
    let pools = [DensePool::new(&pool, &entries(2, false))];
    let want = integrate(&mut record, &pools[0].released, &pools[0].scales);
    let mut rng = ChainRng::new(21, 0);
    let mut conditional = DenseConditional::new(2, false, &pools, &mut rng);
    let mut traces = vec![vec![]; 3];
    for step in 0..60_500 {
        let mut total = vec![0.0; 4];
        conditional.draw(&mut rng, &pools, &mut record, &mut total).unwrap();
        if step >= 500 {
            [total[0], total[1], total[3]]
                .iter()
                .zip(&mut traces)
                .for_each(|(value, trace)| trace.push(*value));
        }
    }
    let limit = largest(6);
    for (trace, (mean, variance)) in traces.iter().zip(want) {
        let squares: Vec<f64> = trace.iter().map(|value| (value - mean).powi(2)).collect();
        for (values, expected) in [(trace, mean), (&squares, variance)] {
            let n = values.len() as f64;
            let found = values.iter().sum::<f64>() / n;
            let spread = values.iter().map(|value| (value - found).powi(2)).sum::<f64>() / n;
            let z = (found - expected) / (spread / ess_mean(&Traces::new(&[values]))).sqrt();
            assert!(z.abs() < limit, "{found} against {expected}: z = {z}");
        }
    }
}
