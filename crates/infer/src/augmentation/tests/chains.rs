//! Both chains have one law.

use organza_mcmc::diagnostics::r_hat;
use organza_mcmc::{Plan, run};

use super::super::{Interweaving, Plain};
use super::*;

/// Catches a move that forgets a party, sums that are not carried along, and a residual that is rescaled twice.
#[test]
fn plain_and_interweaving_have_one_law() {
    for (epsilon, scaled) in [(1.0, None), (3.0, Some(0.9))] {
        let domain = boxed(1, true, scaled);
        let releases = vec![complete(&domain, 15, epsilon), complete(&domain, 35, epsilon)];
        let target = simulated(weak_model(1, true), releases, 3);
        let plan = Plan { chains: 4, warmup: 2000, draws: 4000, thin: 8, seed: 8, threads: 1 };
        let plain = run(&Plain, &target, &plan).unwrap();
        let plan = Plan { thin: 2, ..plan };
        let other = run(&Interweaving::new(&target), &target, &plan).unwrap();
        for k in 0..4 {
            let name = format!("epsilon {epsilon}, {}", target.model.names()[k]);
            let traces = other.traces(&other.names()[k]).unwrap();
            println!("{name}: {} and {}", r_hat(&traces), r_hat(&plain.traces(&plain.names()[k]).unwrap()));
            assert!(r_hat(&traces) < 1.02, "{name}");
            // Bounded functions of a scale: the variance has heavy tails.
            let (first, _) = mean(&other, k, |x| x.atan());
            agree(&name, mean(&plain, k, f64::atan), mean(&other, k, f64::atan));
            let spread = |x: f64| (x.atan() - first).powi(2);
            agree(&format!("{name}, spread"), mean(&plain, k, spread), mean(&other, k, spread));
        }
    }
}
