//! The paper's chain for `fixed-gram` against the quadrature of the same posterior.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod normal_features;

use normal_features::{ball, boxed, critical_z, noisy_gram, release, z_of};
use organza_infer::methods::{FixedGram, FixedGramMetropolis, FixedGramModel};
use organza_infer::{Evidence, Prior};
use organza_mcmc::{ChainRng, Draws, Plan, run};
use organza_release::{Domain, Layout};

const PLAN: Plan = Plan { chains: 4, warmup: 1000, draws: 8000, thin: 1, seed: 3, threads: 2 };

/// Parties with different noise and weights.
fn evidence(domains: &[Domain], noise: f64) -> Evidence {
    evidence_with(domains, noise, noise)
}

/// The same with values that have less noise than they say.
fn evidence_with(domains: &[Domain], added: f64, noise: f64) -> Evidence {
    let mut rng = ChainRng::new(1, 0);
    let releases: Vec<_> = (1_u32..)
        .zip(domains)
        .map(|(number, domain)| {
            let (records, added, noise) =
                (100 * u64::from(number), added * f64::from(number), noise * f64::from(number));
            let gram = noisy_gram(&mut rng, domain, records as usize, added);
            release(&format!("p{number}"), domain.clone(), Layout::Isometric, &gram, (records, noise))
        })
        .collect();
    Evidence::new(&releases).unwrap()
}

/// A prior under which the walk reaches the tails: that of the residual variance has a mean.
fn prior(size: usize) -> Prior {
    let identity: Vec<f64> = (0..size * size).map(|k| f64::from(u8::from(k % (size + 1) == 0))).collect();
    Prior::new(vec![0.0; size], &identity, (2.0, 0.1)).unwrap()
}

/// Compares first and second moments with the exact ones.
fn assert_agreement(name: &str, draws: &Draws, exact: &FixedGram) {
    let (size, coefficients) = (exact.dimension(), exact.coefficients());
    let critical = critical_z(4 * (2 * size + 2));
    for k in 0..size {
        let (mean, variance) = (coefficients.mean[k], coefficients.covariance[k * size + k]);
        let first = z_of(draws, |x| x[k], mean);
        let second = z_of(draws, |x| (x[k] - mean).powi(2), variance);
        assert!(first.abs() < critical, "{name}: mean of theta[{k}], z {first}");
        assert!(second.abs() < critical, "{name}: variance of theta[{k}], z {second}");
    }
    // Logarithms, because sigma^2 may have no variance.
    let first = z_of(draws, |x| x[size].ln(), exact.expect_variance(f64::ln));
    let second = z_of(draws, |x| 1.0 / x[size], exact.expect_variance(|x| 1.0 / x));
    assert!(first.abs() < critical, "{name}: ln sigma^2, z {first}");
    assert!(second.abs() < critical, "{name}: 1 / sigma^2, z {second}");
}

/// Seen to catch: an acceptance ratio without the prior of sigma^2, and a precision that is not renewed after sigma^2 has moved.
#[test]
fn moments_agree_with_the_quadrature() {
    let cases = [
        ("ball", evidence(&[ball(1, 1.0)], 1.0), prior(1)),
        ("parties", evidence(&vec![ball(2, 1.2); 3], 2.0), prior(2)),
        (
            "weights",
            evidence(&[boxed(2, Some(0.7), (0.5, 0.8)), boxed(2, Some(0.7), (0.5, 0.6))], 0.5),
            prior(3),
        ),
        (
            "conjugate",
            evidence(&vec![ball(2, 1.0); 2], 0.3),
            Prior::new(vec![0.2, 0.1], &[2.0, 0.3, 0.3, 1.0], (2.0, 0.3)).unwrap().conjugate(),
        ),
    ];
    for (name, evidence, prior) in cases {
        let model = FixedGramModel::new(&evidence, &prior).unwrap();
        let draws = run(&FixedGramMetropolis::default(), &model, &PLAN).unwrap();
        let rates = draws.statistic("acceptance").unwrap().concat();
        let rate = rates.iter().sum::<f64>() / rates.len() as f64;
        assert!((0.34..0.54).contains(&rate), "{name}: the walk did not adapt, acceptance {rate}");
        assert_agreement(name, &draws, &FixedGram::new(&evidence, &prior).unwrap());
    }
}

/// More noise than anything: the draws are those of the prior, and no start breaks the chain.
#[test]
fn with_overwhelming_noise_the_prior_is_left() {
    // S-hat is trusted, so it must not have the noise.
    let (evidence, prior) = (evidence_with(&[ball(2, 1.0)], 0.0, 1e6), Prior::weak(2));
    let draws = run(&FixedGramMetropolis::default(), &FixedGramModel::new(&evidence, &prior).unwrap(), &PLAN)
        .unwrap();
    let critical = critical_z(3);
    // 1 / sigma^2 is gamma with mean a / b.
    let scores = [
        z_of(&draws, |x| x[0], 0.0),
        z_of(&draws, |x| x[1] * x[1], 1.0),
        z_of(&draws, |x| 1.0 / x[2], Prior::WEAK_VARIANCE.0 / Prior::WEAK_VARIANCE.1),
    ];
    assert!(scores.iter().all(|z| z.abs() < critical), "{scores:?}");
}
