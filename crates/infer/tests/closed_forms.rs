//! `fast` and `fixed-gram` against brute force, limits and changes of representation.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

use organza_infer::methods::{Fast, FixedGram};
use organza_infer::{Evidence, InferError, Prior};
use organza_release::testing::{numbered, published_evenly, unit_ball, unit_box};
use organza_release::{Domain, Family, Layout, Release};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

/// A release of a Gram matrix (row-major, response last) with noise of one scale in weighted units.
fn release(party: &str, domain: Domain, gram: &[f64], noise: f64) -> Release {
    published_evenly(party, &domain, (Layout::Isometric, 500), gram, (Family::Gaussian, noise))
}

fn ball(features: usize, response_weight: f64) -> Domain {
    unit_ball(&numbered(features), response_weight)
}

fn scaled_box(intercept_weight: f64, response_weight: f64) -> Domain {
    unit_box(&["a", "b"], true, Some(0.7), (intercept_weight, response_weight))
}

/// The Gram matrix of random records (1, a, b, y), row-major.
fn random_gram(records: usize, seed: u64) -> Vec<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut gram = vec![0.0; 16];
    for _ in 0..records {
        let (a, b): (f64, f64) = (rng.random_range(-1.0..1.0), rng.random_range(-1.0..1.0));
        let w = [1.0, a, b, 0.1 + 0.5 * a - 0.3 * b + rng.random_range(-0.2..0.2)];
        (0..16).for_each(|k| gram[k] += w[k / 4] * w[k % 4]);
    }
    gram
}

/// One coefficient, two parties: both moments by summing the joint density over a grid of (theta, ln sigma^2), written down
/// directly from the model.
#[test]
fn fixed_gram_agrees_with_brute_force() {
    let parties = [(40.0, 22.0, 3.0), (15.0, 6.0, 5.0)];
    let releases: Vec<Release> = (0..)
        .zip(&parties)
        .map(|(index, &(s, z, noise))| release(&format!("p{index}"), ball(1, 1.0), &[s, z, z, 20.0], noise))
        .collect();
    let prior = Prior::new(vec![0.2], &[0.5], (3.0, 0.4)).unwrap();
    let fitted = FixedGram::new(&Evidence::new(&releases).unwrap(), &prior).unwrap();
    let (mut mass, mut first, mut second, mut sigma2) = (0.0, 0.0, 0.0, 0.0);
    for i in 0..1_200 {
        let log_variance = -7.0 + 0.01 * f64::from(i);
        let variance = log_variance.exp();
        for j in 0..800 {
            let theta = -1.5 + 0.005 * f64::from(j);
            let likelihood: f64 = parties
                .iter()
                .map(|&(s, z, noise)| {
                    let spread: f64 = variance * s + noise * noise;
                    -0.5 * (spread.ln() + (z - s * theta).powi(2) / spread)
                })
                .sum();
            let prior = -0.5 * (theta - 0.2).powi(2) / 0.5 - 3.0 * log_variance - 0.4 / variance;
            let density = (likelihood + prior).exp();
            mass += density;
            first += density * theta;
            second += density * theta * theta;
            sigma2 += density * variance;
        }
    }
    let (mean, spread) = (first / mass, second / mass - (first / mass).powi(2));
    let found = fitted.coefficients();
    assert!((found.mean[0] - mean).abs() < 1e-6, "{} against {mean}", found.mean[0]);
    assert!((found.covariance[0] / spread - 1.0).abs() < 1e-5, "{} against {spread}", found.covariance[0]);
    let expected = sigma2 / mass;
    assert!((fitted.expect_variance(|variance| variance) / expected - 1.0).abs() < 1e-3, "sigma^2");
    assert!((fitted.expect_variance(|_| 1.0) - 1.0).abs() < 1e-12);
}

/// Without noise `fast` is the usual conjugate posterior: precision S/sigma^2 + C^-1.
#[test]
fn without_noise_fast_is_the_conjugate_posterior() {
    let gram = random_gram(300, 1);
    let evidence = Evidence::new(&[release("a", scaled_box(0.5, 0.8), &gram, 1e-9)]).unwrap();
    let posterior = Fast { variance: 0.02 }.posterior(&evidence, &Prior::weak(3)).unwrap();
    // (S/s2 + I) m = z/s2.
    for row in 0..3 {
        let left: f64 = (0..3)
            .map(|k| (gram[4 * row + k] / 0.02 + f64::from(u8::from(row == k))) * posterior.mean[k])
            .sum();
        assert!((left * 0.02 / gram[4 * row + 3] - 1.0).abs() < 1e-8, "row {row}");
    }
    let product: f64 =
        (0..3).map(|k| (gram[k] / 0.02 + f64::from(u8::from(k == 0))) * posterior.covariance[3 * k]).sum();
    assert!((product - 1.0).abs() < 1e-8);
}

#[test]
fn with_overwhelming_noise_the_prior_is_left() {
    let evidence = Evidence::new(&[release("a", scaled_box(0.5, 0.8), &random_gram(300, 2), 1e9)]).unwrap();
    let prior =
        Prior::new(vec![0.3, -0.1, 0.0], &[0.4, 0.1, 0.0, 0.1, 0.5, 0.0, 0.0, 0.0, 0.6], (2.0, 0.1)).unwrap();
    let found = FixedGram::new(&evidence, &prior).unwrap().coefficients();
    assert!((found.mean[0] - 0.3).abs() < 1e-6 && (found.mean[1] + 0.1).abs() < 1e-6);
    assert!((found.covariance[0] - 0.4).abs() < 1e-6 && (found.covariance[1] - 0.1).abs() < 1e-6);
}

/// Weights are a matter of representation: the same sums with the same noise in plain units give the same posterior. Noise on X'y is
/// of one scale only if its weights agree, so the response weight is varied, and the intercept weight with negligible noise.
#[test]
fn weights_are_only_a_representation() {
    let gram = random_gram(300, 3);
    let fit = |intercept: f64, response: f64, noise: f64| {
        let evidence = Evidence::new(&[release("a", scaled_box(intercept, response), &gram, noise)]).unwrap();
        FixedGram::new(&evidence, &Prior::weak(3)).unwrap().coefficients()
    };
    let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-7 * (1.0 + b.abs()));
    let (one, two) = (fit(1.0, 1.0, 4.0), fit(1.0, 0.5, 2.0));
    assert!(close(&one.mean, &two.mean) && close(&one.covariance, &two.covariance), "{one:?} {two:?}");
    let (one, two) = (fit(1.0, 1.0, 1e-6), fit(0.3, 0.7, 1e-6));
    assert!(close(&one.mean, &two.mean) && close(&one.covariance, &two.covariance), "{one:?} {two:?}");
}

/// Two parties with little noise know as much as their pooled table.
#[test]
fn parties_add_up() {
    let (first, second) = (random_gram(200, 4), random_gram(150, 5));
    let pooled: Vec<f64> = first.iter().zip(&second).map(|(a, b)| a + b).collect();
    let fast = Fast { variance: 0.05 };
    let domain = scaled_box(1.0, 1.0);
    let both = [release("a", domain.clone(), &first, 1e-7), release("b", domain.clone(), &second, 1e-7)];
    let apart = fast.posterior(&Evidence::new(&both).unwrap(), &Prior::weak(3)).unwrap();
    let together = Evidence::new(&[release("ab", domain, &pooled, 1e-7)]).unwrap();
    let together = fast.posterior(&together, &Prior::weak(3)).unwrap();
    for k in 0..3 {
        assert!((apart.mean[k] - together.mean[k]).abs() < 1e-9);
        assert!((apart.sd(k) / together.sd(k) - 1.0).abs() < 1e-9);
    }
}

#[test]
fn releases_that_do_not_fit_together() {
    let gram = random_gram(100, 6);
    let good = release("a", scaled_box(1.0, 1.0), &gram, 1.0);
    let message = |other: Release| Evidence::new(&[good.clone(), other]).unwrap_err().to_string();
    assert_eq!(message(good.clone()), "\"a\" appears twice: the same records would count twice");
    let mut renamed = release("b", scaled_box(1.0, 1.0), &gram, 1.0);
    let Domain::Box(domain) = &mut renamed.domain else { unreachable!() };
    domain.features[1].name = "c".into();
    assert_eq!(message(renamed.clone()), "b disagrees with a on the features: a, c against a, b");
    let Domain::Box(domain) = &mut renamed.domain else { unreachable!() };
    (domain.features[1].name, domain.features[1].upper) = ("b".into(), 2.0);
    assert_eq!(message(renamed), "b disagrees with a on bounds: b in [-1, 2] against b in [-1, 1]");
    let mut laplace = release("c", scaled_box(1.0, 1.0), &gram, 1.0);
    laplace.noise.family = Family::Laplace;
    let refused = Fast::default().posterior(&Evidence::new(&[laplace]).unwrap(), &Prior::weak(3));
    assert!(refused.unwrap_err().to_string().contains("needs gaussian noise"));
    assert!(matches!(Evidence::new(&[]), Err(InferError::NoRelease)));
    assert!(Prior::new(vec![0.0], &[-1.0], (1.0, 1.0)).is_err());
    let wrong = Fast::default().posterior(&Evidence::new(&[good]).unwrap(), &Prior::weak(2));
    assert!(wrong.unwrap_err().to_string().contains("has 2 coefficients, the regression 3"));
}

/// Twenty thousand parties: blocks of them are summed on several threads, which must lose none and count none twice.
#[test]
fn very_many_parties_are_all_counted() {
    let gram = random_gram(50, 7);
    let parties = 20_000;
    let one = release("a", scaled_box(1.0, 1.0), &gram, 0.0);
    let all: Vec<Release> =
        (0..parties).map(|number| Release { party: number.to_string(), ..one.clone() }).collect();
    let whole: Vec<f64> = gram.iter().map(|value| value * parties as f64).collect();
    let whole = release("whole", scaled_box(1.0, 1.0), &whole, 0.0);
    let fit = |releases: &[Release]| {
        let evidence = Evidence::new(releases).unwrap();
        Fast::default().posterior(&evidence, &Prior::weak(3)).unwrap()
    };
    let (many, single) = (fit(&all), fit(&[whole]));
    for k in 0..3 {
        assert!((many.mean[k] - single.mean[k]).abs() < 1e-9 * single.mean[k].abs());
        assert!((many.sd(k) / single.sd(k) - 1.0).abs() < 1e-9);
    }
}
