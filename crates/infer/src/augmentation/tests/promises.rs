//! Sums do not drift, the bound of pure differential privacy holds, and a wrong epsilon is found out.

use organza_mcmc::Kernel;

use super::super::Plain;
use super::*;

/// Catches an update of the sum that loses a contribution, and rounding that adds up.
#[test]
fn running_sums_do_not_drift() {
    for scaled in [None, Some(0.7)] {
        let domain = boxed(2, true, scaled);
        let target =
            simulated(weak_model(2, true), vec![complete(&domain, 40, 1.0), complete(&domain, 300, 2.0)], 4);
        let mut rng = ChainRng::new(6, 0);
        let mut state = Plain.init(&target, &mut rng).unwrap();
        let (mut updated, mut largest) = (false, 0.0_f64);
        for _ in 0..1037 {
            Plain.step(&target, &mut state, &mut rng).unwrap();
            let running = state.sums.clone();
            let mut anew = state.clone();
            anew.refresh(&target);
            for (one, other) in running.iter().zip(&anew.sums) {
                let numbers = one.sum.iter().zip(&other.sum).chain([(&one.log_density, &other.log_density)]);
                numbers.for_each(|(a, b)| largest = largest.max((a - b).abs()));
                updated |= one != other;
            }
        }
        // Rounding is there, so sums really are updated and not computed anew, but it stays where it was.
        assert!(updated && largest < 1e-10, "{largest}");
    }
}

/// Catches a contribution whose change exceeds what the sensitivity allows. \[JAGR22\] Proposition 3.1
#[test]
fn every_proposal_is_accepted_with_the_promised_probability() {
    for (scaled, epsilon) in [(None, 0.5), (None, 4.0), (Some(0.8), 1.0)] {
        let domain = boxed(2, true, scaled);
        let target = simulated(weak_model(2, true), vec![complete(&domain, 50, epsilon)], 9);
        let mut rng = ChainRng::new(7, 0);
        let mut state = Plain.init(&target, &mut rng).unwrap();
        let (mut smallest, mut total) = (f64::INFINITY, 0.0);
        for _ in 0..400 {
            let info = Plain.step(&target, &mut state, &mut rng).unwrap();
            smallest = smallest.min(info.smallest);
            total += info.acceptance;
            assert!(info.least_record <= info.most_record);
        }
        println!("epsilon {epsilon}: smallest {smallest}, mean {}", total / 400.0);
        assert!(smallest >= libm::exp(-epsilon) && smallest < 1.0, "{smallest}");
        let rates: Vec<f64> = state.record_acceptance().collect();
        let mean = rates.iter().sum::<f64>() / 50.0;
        // Decisions follow their probabilities: 20,000 of them.
        assert!((mean - total / 400.0).abs() < LARGEST * 0.5 / (20_000f64).sqrt(), "{mean}");
    }
}

/// Catches a release whose noise is smaller than its epsilon says.
#[test]
fn a_wrong_epsilon_stops_the_chain() {
    let domain = boxed(2, true, None);
    let mut release = complete(&domain, 50, 4.0);
    release.privacy.epsilon = 0.5;
    let target = simulated(weak_model(2, true), vec![release], 9);
    let mut rng = ChainRng::new(7, 0);
    let mut state = Plain.init(&target, &mut rng).unwrap();
    let stop = (0..1000).find_map(|_| Plain.step(&target, &mut state, &mut rng).err()).unwrap();
    let message = stop.to_string();
    assert!(message.contains("north") && message.contains("epsilon = 0.5"), "{message}");
}
