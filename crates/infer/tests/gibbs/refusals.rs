//! Releases with little in them, and releases that lack something.

use organza_infer::methods::{FourthMoments, Gibbs, GibbsSampler, Moments};
use organza_infer::{Evidence, FeaturePrior, Prior};
use organza_mcmc::{Plan, run};
use organza_release::{Domain, Family, Release, Statistic};

use crate::support::{Mechanism, agree, domain, fit, gaussian, gram, mean, records, release};

/// Few records, much noise, one feature less than needed: chains must end, with finite numbers, and say how often they projected.
#[test]
fn hopeless_releases_still_give_draws() {
    let data = gram(&records(2, 70));
    for (record_scale, scale) in [(None, 50.0), (Some(0.9), 1e6), (None, 1e-3)] {
        let domain = domain(record_scale, 0.7, 1.0);
        let releases: Vec<Release> = (0..40)
            .map(|k| {
                let family = if k % 2 == 0 { Family::Gaussian } else { Family::Laplace };
                release(&format!("p{k}"), &domain, &data, 2 + k / 10, Mechanism { family, ..gaussian(scale) })
            })
            .collect();
        let evidence = Evidence::new(&releases).unwrap();
        let gibbs = Gibbs::new(&evidence, &Prior::weak(3), Moments::Update).unwrap();
        let plan = Plan { chains: 2, warmup: 20, draws: 100, seed: 8, threads: 1, ..Plan::default() };
        let draws = run(&GibbsSampler, &gibbs, &plan).unwrap();
        assert!(draws.values().iter().all(|value| value.is_finite()));
        assert_eq!(draws.statistic_names(), ["projected"]);
        assert!(draws.values().chunks_exact(5).all(|draw| draw[3] > 0.0 && (0.0..=1.0).contains(&draw[4])));
    }
}

/// A constant and nothing else: no feature has a law, and the posterior of the mean is known.
#[test]
fn an_intercept_alone_is_a_regression() {
    let Domain::Box(mut alone) = domain(None, 0.7, 1.0) else { unreachable!() };
    alone.features.clear();
    let one = release("a", &Domain::Box(alone), &[50.0, 20.0, 20.0, 14.0], 50, gaussian(1e-6));
    let evidence = Evidence::new(&[one]).unwrap();
    let prior = Prior::weak(1).conjugate();
    for moments in [Moments::Update, Moments::Prior] {
        let draws = fit(&Gibbs::new(&evidence, &prior, moments).unwrap(), 10, 2_000);
        agree(mean(&draws, "theta[1]", |x| x), (20.0 / 51.0, 0.0), "intercept");
        assert!(draws.values().chunks_exact(3).all(|draw| draw[2] == 0.0));
    }
}

#[test]
fn what_is_missing_is_named() {
    let data = gram(&records(30, 71));
    let make = |party: &str, record_scale: Option<f64>, weight: f64| {
        release(party, &domain(record_scale, weight, 1.0), &data, 30, gaussian(1.0))
    };
    let message = |releases: &[Release], prior: &Prior, moments: Moments| {
        let evidence = Evidence::new(releases).unwrap();
        Gibbs::new(&evidence, prior, moments).unwrap_err().to_string()
    };
    let weak = Prior::weak(3);
    let mut secret = make("a", Some(0.9), 1.0);
    secret.records = None;
    assert!(
        message(&[secret], &weak, Moments::Update)
            .starts_with("a: gibbs-update needs a public number of records")
    );
    let mut short = make("a", None, 1.0);
    let Statistic::Gram { entries, .. } = &mut short.statistic else { unreachable!() };
    entries.pop();
    short.value.pop();
    short.noise.scales.pop();
    assert!(message(&[short], &weak, Moments::Prior).starts_with("a: gibbs-prior needs y'y"));
    let pair = [make("a", Some(0.9), 1.0), make("b", Some(0.8), 1.0)];
    assert_eq!(
        message(&pair, &weak, Moments::Update),
        "b: gibbs-update needs records that are scaled and averaged as those of the other parties; methods that accept these releases: fixed-gram, fast, individual, augmentation, naive"
    );
    let pair = [make("a", Some(0.9), 1.0), make("b", Some(0.9), 0.5)];
    assert_eq!(
        message(&pair, &weak, Moments::Update),
        "b: gibbs-update needs records that are scaled and averaged as those of the other parties; methods that accept these releases: fixed-gram, fast, individual, augmentation, naive"
    );
    let features = FeaturePrior::new(vec![1.0, 0.0, 0.0, 1.0], 3.0, vec![0.0; 2], 1.0).unwrap();
    let vague = weak.clone().with_features(features);
    let text = message(&[make("a", None, 1.0)], &vague, Moments::Prior);
    assert!(text.contains("must be more than 3 for gibbs-prior"), "{text}");
    let moments = FourthMoments::new(
        2,
        &[[0, 0, 0, 1], [0, 0, 1, 1], [0, 1, 1, 1], [1; 4]],
        &[0.0, 1.0, 0.0, 1.0],
        3.0,
    );
    let moments = Moments::Noisy(moments.unwrap());
    let text = message(&[make("a", Some(0.9), 1.0)], &weak, moments.clone());
    assert!(text.starts_with("a: gibbs-noisy needs unscaled records with an intercept"), "{text}");
    let text = message(&[make("a", None, 1.0)], &weak, moments);
    assert_eq!(text, "fourth moments: are of 2 coordinates, the regression has 3");
}
