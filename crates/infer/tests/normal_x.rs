//! `normal-x` against brute force, and what it refuses.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod normal_features;

use normal_features::brute_force::moments;
use normal_features::cases::{assert_moments, cases};
use normal_features::{boxed, noisy_gram, release};
use organza_infer::methods::{NormalX, NormalXMetropolis};
use organza_infer::{Evidence, InferError, Prior};
use organza_mcmc::{ChainRng, Plan, run};
use organza_release::{Family, Layout, Release};

const PLAN: Plan = Plan { chains: 4, warmup: 2000, draws: 8000, thin: 3, seed: 4, threads: 2 };

/// Seen to catch: Sigma_x drawn with two degrees of freedom too few, and mu drawn with the variance of a single record.
#[test]
fn the_walk_agrees_with_brute_force() {
    for case in cases() {
        let exact = moments(&case.release, &case.hyper, case.ranges);
        let model = case.model();
        let draws = run(&NormalXMetropolis::new(&model), &model, &PLAN).unwrap();
        let rate = |name: &str| {
            let rates = draws.statistic(name).unwrap().concat();
            rates.iter().sum::<f64>() / rates.len() as f64
        };
        let (grams, variance) = (rate("acceptance"), rate("variance_acceptance"));
        assert!((0.12..0.3).contains(&grams) && (0.34..0.54).contains(&variance), "{grams} {variance}");
        assert_moments(case.name, &draws, &exact, case.release.domain.intercept());
    }
}

#[test]
fn what_it_refuses() {
    let mut rng = ChainRng::new(5, 0);
    let domain = boxed(2, Some(0.7), (0.5, 0.8));
    let gram = noisy_gram(&mut rng, &domain, 100, 0.5);
    let good = release("a", domain.clone(), Layout::Isometric, &gram, (100, 0.5));
    let fit = |releases: &[Release]| NormalX::new(&Evidence::new(releases).unwrap(), &Prior::weak(3));
    let message = |release: Release| match fit(&[good.clone(), release]).unwrap_err() {
        InferError::Unsupported { party, method, needs, .. } => format!("{party}: {method}: {needs}"),
        other => panic!("{other}"),
    };
    assert!(fit(std::slice::from_ref(&good)).is_ok());
    let other = |domain| release("b", domain, Layout::Isometric, &gram, (100, 0.5));
    let population = "b: normal-x: records that are scaled and averaged as those of the other parties";
    assert_eq!(message(other(boxed(2, Some(0.6), (0.5, 0.8)))), population);
    assert_eq!(message(other(boxed(2, Some(0.7), (0.4, 0.8)))), population);
    assert!(
        fit(&[good.clone(), other(boxed(2, Some(0.7), (0.5, 0.6)))]).is_ok(),
        "the response's weight may differ"
    );
    let mut few = other(domain.clone());
    few.records = Some(2);
    assert_eq!(message(few.clone()), "b: normal-x: at least as many records as coefficients");
    few.records = Some(3);
    assert!(fit(&[good.clone(), few.clone()]).is_ok());
    few.records = None;
    assert_eq!(message(few), "b: normal-x: a public number of records (neighbours that substitute)");
    let mut laplace = other(domain);
    laplace.noise.family = Family::Laplace;
    assert_eq!(message(laplace), "b: normal-x: gaussian noise, the release has laplace");
}
