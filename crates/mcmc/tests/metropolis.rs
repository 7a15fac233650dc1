//! The driver and the diagnostics together: draws of a known distribution have it.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod support;

use organza_mcmc::diagnostics::r_hat;
use organza_mcmc::{Plan, run};
use support::{Metropolis, Normal, critical_z, mean_z, tail_z};

/// Seen to catch: a proposal accepted with the 1.1th power of the ratio of densities.
#[test]
fn draws_have_the_distribution_of_the_target() {
    let target = Normal(vec![(1.0, 2.0), (-3.0, 0.5), (0.0, 1.0)]);
    let plan = Plan { chains: 4, warmup: 2000, draws: 20_000, thin: 2, seed: 11, threads: 0 };
    let draws = run(&Metropolis::new(1.0), &target, &plan).unwrap();
    let critical = critical_z(4 * target.0.len());
    for ((mean, sd), name) in target.0.iter().zip(draws.names()) {
        let standardised = draws.traces(name).unwrap().map(|x| (x - mean) / sd);
        assert!(r_hat(&standardised) < 1.01);
        let second = standardised.map(|x| x * x);
        for (what, z) in [
            ("mean", mean_z(&standardised, 0.0, 1.0)),
            ("second moment", mean_z(&second, 1.0, 2.0_f64.sqrt())),
            ("lower tail", tail_z(&standardised, -1.281_551_565_544_6, 0.1)),
            ("upper tail", tail_z(&standardised, 1.281_551_565_544_6, 0.9)),
        ] {
            assert!(z.abs() < critical, "{name}: z of the {what} is {z}, critical {critical}");
        }
    }
}

#[test]
fn the_scale_is_adapted_in_warm_up_and_then_left_alone() {
    let plan = Plan { chains: 3, warmup: 1500, draws: 200, thin: 3, seed: 5, threads: 2 };
    let draws = run(&Metropolis::new(50.0), &Normal(vec![(0.0, 1.0); 2]), &plan).unwrap();
    for scales in draws.statistic("scale").unwrap() {
        assert!(scales.iter().all(|scale| *scale == scales[0]), "the scale changed after warm-up");
        assert!((1.0..5.0).contains(&scales[0]), "the scale did not adapt: {}", scales[0]);
    }
    assert!(draws.statistic("adapted").unwrap().iter().flatten().all(|count| *count == 1500.0));
    // A sum over the steps of each draw: three frozen steps.
    assert!(draws.statistic("frozen").unwrap().iter().flatten().all(|count| *count == 3.0));
    assert_eq!(draws.statistic_total("frozen"), Some(3.0 * 600.0));
    assert!(draws.statistic("unknown").is_none() && draws.statistic_total("unknown").is_none());
}
