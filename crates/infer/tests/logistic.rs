//! Logistic regression by `fit`: users' units, several parties, and refusals.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

use organza_infer::{Fit, InferError, MethodSpec, Model, ModelSpec, PriorFile, Sampler, log_odds_map};
use organza_mcmc::{Monitor, Plan};
use organza_release::testing::published;
use organza_release::{BoxDomain, Domain, Family, Interval, Layout, Release, Statistic, gram_entries};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};

fn interval(name: &str, lower: f64, upper: f64) -> Interval {
    Interval { name: name.into(), lower, upper }
}

fn domain(feature: (f64, f64), response: (f64, f64)) -> Domain {
    Domain::Box(BoxDomain {
        formula: String::new(),
        columns: vec![],
        intercept: true,
        features: vec![interval("age", feature.0, feature.1)],
        response: interval("ill", response.0, response.1),
        record_scale: None,
        intercept_weight: 1.0,
        response_weight: 1.0,
    })
}

/// Normalised log odds of 0.5 + 2 u of so many records, with Gaussian noise of this scale.
fn release(domain: &Domain, party: &str, (count, scale): (u64, f64), seed: u64) -> Release {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut normal = move || -> f64 { StandardNormal.sample(&mut rng) };
    let mut coin = ChaCha8Rng::seed_from_u64(seed + 1000);
    let mut gram = vec![0.0; 9];
    for _ in 0..count {
        let u = (0.1 + 0.4 * normal()).clamp(-1.0, 1.0);
        let ill = coin.random::<f64>() < 1.0 / (1.0 + (-0.5 - 2.0 * u).exp());
        let record = [1.0, u, if ill { 1.0 } else { -1.0 }];
        (0..9).for_each(|k| gram[k] += record[k / 3] * record[k % 3]);
    }
    let statistic = Statistic::Gram { entries: gram_entries(domain, true, true), layout: Layout::Upper };
    let scales = vec![scale; statistic.entries().len()];
    let mut release = published(party, domain, (statistic, count), &gram, (Family::Gaussian, scales));
    release.value.iter_mut().for_each(|value| *value += scale * normal());
    release
}

fn logistic(
    sampler: Option<Sampler>,
    model: &ModelSpec,
    releases: &[Release],
    plan: &Plan,
) -> Result<Fit, InferError> {
    let model = ModelSpec { model: Some(Model::Logistic), ..model.clone() };
    organza_infer::fit(&MethodSpec { method: None, sampler }, &model, releases, plan, &Monitor::default())
}

fn posterior(releases: &[Release], model: &ModelSpec) -> Fit {
    let plan = Plan { chains: 2, warmup: 500, draws: 1000, thin: 1, seed: 3, threads: 2 };
    logistic(None, model, releases, &plan).unwrap()
}

/// Catches log odds in units of the response, an intercept at the wrong centre, and a default prior that depends on the coding of the
/// response: codings and units change nothing but the units.
#[test]
fn units_and_codings_change_nothing_else() {
    let (years, plain) = (domain((20.0, 80.0), (0.0, 1.0)), domain((-1.0, 1.0), (-1.0, 1.0)));
    let fit = |domain: &Domain| posterior(&[release(domain, "north", (60, 1.0), 5)], &ModelSpec::default());
    let (users, normalised) = (fit(&years), fit(&plain));
    assert_eq!(users.draws.names(), ["beta[intercept]", "beta[age]"]);
    let map = log_odds_map(&years);
    for (row, theta) in users.draws.values().chunks_exact(2).zip(normalised.draws.values().chunks_exact(2)) {
        let expected = [theta[0] - theta[1] * 50.0 / 30.0, theta[1] / 30.0];
        for ((found, expected), mapped) in row.iter().zip(expected).zip(map.to_users(theta)) {
            assert!(
                (found - expected).abs() < 1e-9 && (mapped - expected).abs() < 1e-12,
                "{found} {expected}"
            );
        }
    }
    assert_eq!((users.releases, users.records, users.sampler), (1, Some(60.0), Sampler::Interweaving));
    assert_eq!(users.domain, Some(years));
}

/// Catches a party that is left out, and a posterior that is not about the coefficients: the truth within four standard deviations, and
/// those far smaller than the prior's.
#[test]
fn many_records_of_two_parties_find_the_coefficients() {
    let domain = domain((-1.0, 1.0), (0.0, 1.0));
    let releases = [release(&domain, "a", (700, 3.0), 11), release(&domain, "b", (500, 3.0), 12)];
    let fitted = posterior(&releases, &ModelSpec::default());
    for (row, truth) in fitted.summary.parameters.iter().zip([0.5, 2.0]) {
        println!("{}: {} +- {}, R-hat {}", row.name, row.mean, row.sd, row.r_hat);
        assert!(
            (row.mean - truth).abs() < 4.0 * row.sd && row.sd < 0.3,
            "{}: {} {}",
            row.name,
            row.mean,
            row.sd
        );
    }
    assert_eq!(fitted.records, Some(1200.0));
}

/// Seen to catch: a prior of a residual variance that was ignored in silence.
#[test]
fn what_a_logistic_regression_does_not_have_is_refused() {
    let domain = domain((-1.0, 1.0), (0.0, 1.0));
    let releases = [release(&domain, "a", (30, 3.0), 11)];
    let refusal = |model: &ModelSpec, releases: &[Release], sampler: Option<Sampler>| {
        logistic(sampler, model, releases, &Plan::default()).unwrap_err().to_string()
    };
    let prior = |text: &str| ModelSpec { prior: PriorFile::from_toml(text).unwrap(), ..ModelSpec::default() };
    let message = refusal(&prior("[variance]\nshape = 2\nrate = 1"), &releases, None);
    assert!(message.contains("variance"), "{message}");
    let message = refusal(&prior("[coefficients]\nconjugate = true"), &releases, None);
    assert!(message.contains("conjugate"), "{message}");
    let message = refusal(&ModelSpec { residual_sd: Some(1.0), ..ModelSpec::default() }, &releases, None);
    assert!(message.contains("residual sd"), "{message}");
    let message = refusal(&ModelSpec::default(), &releases, Some(Sampler::Nuts));
    assert!(message.contains("interweaving"), "{message}");
    let message = refusal(&ModelSpec::default(), &[releases[0].clone(), releases[0].clone()], None);
    assert!(message.contains("twice"), "{message}");
    let message = refusal(&ModelSpec::default(), &[], None);
    assert!(message.contains("at least one"), "{message}");
}
