//! Exchanges alone.

use super::super::exchange::Exchange;
use super::super::state::AugmentationState;
use super::*;

const MEAN: [f64; 2] = [0.3, -0.2];
const COVARIANCE: [f64; 4] = [0.5, 0.3, 0.3, 0.4];
const VARIANCE: f64 = 0.2;
const REPLICATES: u32 = 4000;

/// Catches a wrong density of a record, also of its features, and a proposal that is not symmetric. Records are drawn from the model,
/// exchanged many times under noise that says nothing, and must still be draws of the model. (Seen to catch half the log density,
/// which the chains hide, since their sweeps make up for it.)
#[test]
fn exchanges_leave_the_records_as_the_model_has_them() {
    let model = weak_model(2, true).with_variance(VARIANCE).unwrap();
    let model = model.with_features(MEAN.to_vec(), COVARIANCE.to_vec()).unwrap();
    let release = complete(&boxed(2, true, None), 4, 1e-9);
    let target = Augmented { model, parties: vec![GramMechanism::of(&release).unwrap()] };
    let mut rng = ChainRng::new(12, 0);
    let mut exchange = Exchange::new(3, target.parties[0].size());
    let (mut moments, mut acceptance) = (vec![Vec::new(); 6], 0.0);
    for _ in 0..REPLICATES {
        let mut state = AugmentationState::start(&target, &mut rng).unwrap();
        for _ in 0..40 {
            acceptance += exchange.sweep(&target, &mut state, 0.8, &mut rng).unwrap();
        }
        let theta = &state.parameters.regression.theta;
        let all = state.records.chunks_exact(3).map(|record| {
            let (a, b) = (record[0] - MEAN[0], record[1] - MEAN[1]);
            let residual = record[2] - theta[0] - theta[1] * record[0] - theta[2] * record[1];
            [a, b, a * a, a * b, b * b, residual * residual]
        });
        // One number per replicate: its records are not independent after an exchange.
        let sum = all.fold([0.0; 6], |sum, one| std::array::from_fn(|k| sum[k] + 0.25 * one[k]));
        moments.iter_mut().zip(sum).for_each(|(list, value)| list.push(value));
    }
    let acceptance = acceptance / f64::from(40 * REPLICATES);
    assert!(acceptance > 0.2 && acceptance < 0.8, "{acceptance}");
    let expected = [0.0, 0.0, COVARIANCE[0], COVARIANCE[1], COVARIANCE[3], VARIANCE];
    for (k, (found, expected)) in moments.iter().zip(expected).enumerate() {
        agree(&format!("moment {k}"), of(&Traces::new(&[found])), (expected, 0.0));
    }
}
