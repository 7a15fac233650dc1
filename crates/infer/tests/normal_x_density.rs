//! The marginal density of `normal-x`: its gradient, its value against numerical integration, and NUTS on it against brute force
//! and against the paper's walk.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod normal_features;

use normal_features::brute_force::moments;
use normal_features::cases::{assert_moments, cases};
use normal_features::{ball, boxed, critical_z, noisy_gram, release, z_between, z_of};
use organza_infer::methods::{NormalX, NormalXDensity, NormalXMetropolis};
use organza_infer::{Evidence, Prior};
use organza_mcmc::diagnostics::r_hat;
use organza_mcmc::{ChainRng, LogDensity, Nuts, Plan, Statistic, gradient_error, run};
use organza_release::{Domain, Layout};
use rand::RngExt;
use rand_distr::StandardNormal;

/// A model of parties that differ in everything that may differ.
fn model(domain: &Domain, parties: u32, layout: Layout, conjugate: bool) -> NormalX {
    let mut rng = ChainRng::new(31, parties);
    let releases: Vec<_> = (1..=parties)
        .map(|number| {
            let (records, noise) = (40 * u64::from(number), 0.6 * f64::from(number));
            let gram = noisy_gram(&mut rng, domain, records as usize, noise);
            release(&format!("p{number}"), domain.clone(), layout, &gram, (records, noise))
        })
        .collect();
    let evidence = Evidence::new(&releases).unwrap();
    let size = evidence.dimension();
    let covariance: Vec<f64> =
        (0..size * size).map(|k| if k / size == k % size { 0.8 } else { 0.1 }).collect();
    let prior = Prior::new(vec![0.2; size], &covariance, (3.0, 0.2)).unwrap();
    NormalX::new(&evidence, &if conjugate { prior.conjugate() } else { prior }).unwrap()
}

/// Seen to catch: noise beside the diagonal counted twice, the other sign of sym(W), and the spread of theta left out of the
/// derivative of a conjugate prior.
#[test]
fn gradients_agree_with_differences() {
    let mut rng = ChainRng::new(32, 0);
    for features in 1..=5 {
        let domains =
            [ball(features, 0.9), boxed(features, None, (0.7, 0.8)), boxed(features, Some(0.8), (0.6, 1.0))];
        for (domain, parties) in
            domains.iter().flat_map(|domain| (1..=3).map(move |parties| (domain, parties)))
        {
            for (layout, conjugate) in [(Layout::Isometric, false), (Layout::Upper, true)] {
                let density = NormalXDensity::new(model(domain, parties, layout, conjugate));
                let point: Vec<f64> = (0..density.dim()).map(|_| rng.sample(StandardNormal)).collect();
                let error = gradient_error(&density, &point);
                assert!(error < 1e-6, "{features} features, {parties} parties, {layout:?}: {error}");
            }
        }
    }
}

/// Seen to catch: the Jacobian of the coordinates left out, and theta written as its mean.
#[test]
fn nuts_agrees_with_brute_force() {
    let plan = Plan { chains: 4, warmup: 500, draws: 4000, thin: 1, seed: 6, threads: 2 };
    for case in cases() {
        let exact = moments(&case.release, &case.hyper, case.ranges);
        let density = NormalXDensity::new(case.model());
        let draws = run(&Nuts::for_plan(&plan), &&density, &plan).unwrap();
        assert_moments(case.name, &draws, &exact, case.release.domain.intercept());
    }
}

/// The paper's walk and NUTS share no density and no coordinates: they draw from the same posterior.
#[test]
fn nuts_agrees_with_the_walk() {
    let cases = [
        ("two features", model(&ball(2, 0.9), 2, Layout::Isometric, false)),
        ("intercept", model(&boxed(2, None, (0.7, 0.8)), 2, Layout::Upper, true)),
    ];
    for (name, model) in cases {
        let plan = Plan { chains: 4, warmup: 3000, draws: 4000, thin: 8, seed: 7, threads: 2 };
        let walk = run(&NormalXMetropolis::new(&model), &model, &plan).unwrap();
        let plan = Plan { warmup: 500, draws: 2000, thin: 1, ..plan };
        let density = NormalXDensity::new(model);
        let nuts = run(&Nuts::for_plan(&plan), &&density, &plan).unwrap();
        assert_eq!(nuts.statistic_total(Statistic::DIVERGENT), Some(0.0), "{name}");
        let critical = critical_z(2 * 2 * nuts.names().len());
        for (place, parameter) in nuts.names().iter().enumerate() {
            assert!(r_hat(&nuts.traces(parameter).unwrap()) < 1.01, "{name}: {parameter}");
            let first = z_between(&nuts, &walk, |x| x[place]);
            let second = z_between(&nuts, &walk, |x| x[place] * x[place]);
            assert!(
                first.abs() < critical && second.abs() < critical,
                "{name}: {parameter}: z {first}, {second}"
            );
        }
    }
}

/// Noise that drowns everything leaves the prior, in both samplers, and the fewest records that are allowed are enough.
#[test]
fn with_overwhelming_noise_the_prior_is_left() {
    for (domain, records) in [(ball(2, 0.9), 2), (boxed(2, None, (0.7, 0.8)), 50)] {
        let gram = noisy_gram(&mut ChainRng::new(33, 0), &domain, records as usize, 1e5);
        let release = release("a", domain, Layout::Isometric, &gram, (records, 1e5));
        let evidence = Evidence::new(&[release]).unwrap();
        let model = NormalX::new(&evidence, &Prior::weak(evidence.dimension())).unwrap();
        let plan = Plan { chains: 4, warmup: 1000, draws: 3000, thin: 3, seed: 8, threads: 2 };
        let walk = run(&NormalXMetropolis::new(&model), &model, &plan).unwrap();
        let plan = Plan { warmup: 400, draws: 600, thin: 1, ..plan };
        let density = NormalXDensity::new(model);
        let nuts = run(&Nuts::for_plan(&plan), &&density, &plan).unwrap();
        let (last, critical) = (evidence.dimension(), critical_z(2 * 2 * 4));
        for draws in [&walk, &nuts] {
            let scores = [
                z_of(draws, |x| x[0], 0.0),
                z_of(draws, |x| x[last - 1], 0.0),
                z_of(draws, |x| x[last - 1].powi(2), 1.0),
                // 1 / sigma^2 is gamma with mean a / b.
                z_of(draws, |x| 1.0 / x[last], Prior::WEAK_VARIANCE.0 / Prior::WEAK_VARIANCE.1),
            ];
            assert!(scores.iter().all(|z| z.abs() < critical), "{records}: {scores:?}");
        }
    }
}
