//! No noise and nothing but noise: the posteriors are known.

use organza_infer::methods::{Gibbs, Moments};
use organza_infer::{Evidence, FeaturePrior, Prior};
use organza_release::Family;

use crate::support::{ALL, Mechanism, agree, domain, fit, gaussian, gram, mean, records, release};

/// Normal-inverse-gamma posterior of a Gram matrix with prior N(0, s2 I), the default IG(a, b): mean of theta[2] and of sigma^2, variance of
/// theta[2], by Cramer's rule.
fn closed_form(gram: &[f64], count: f64) -> [f64; 3] {
    let unit = |i: usize, j: usize| f64::from(u8::from(i == j));
    let p = |i: usize, j: usize| gram[4 * i + j] + unit(i, j);
    let minor = |i: usize, j: usize| {
        let ([a, b], [c, d]) = ([(i + 1) % 3, (i + 2) % 3], [(j + 1) % 3, (j + 2) % 3]);
        p(a, c) * p(b, d) - p(a, d) * p(b, c)
    };
    let determinant: f64 = (0..3).map(|j| p(0, j) * minor(0, j)).sum();
    let mean: Vec<f64> =
        (0..3).map(|i| (0..3).map(|j| minor(i, j) * gram[4 * j + 3]).sum::<f64>() / determinant).collect();
    let explained: f64 = (0..3).map(|k| mean[k] * gram[4 * k + 3]).sum();
    let (shape, rate) = Prior::WEAK_VARIANCE;
    let (shape, rate) = (shape + 0.5 * count, rate + 0.5 * (gram[15] - explained));
    [mean[1], rate / (shape - 1.0), rate / (shape - 1.0) * minor(1, 1) / determinant]
}

/// Catches a_n with n for n/2, b_n without the prior, a Gram matrix that is projected needlessly.
#[test]
fn without_noise_the_conjugate_posterior_is_left() {
    let data = records(80, 50);
    let gram = gram(&data);
    let want = closed_form(&gram, 80.0);
    let prior = Prior::weak(3).conjugate();
    for (family, scale) in [(Family::Gaussian, 1e-6), (Family::Laplace, 1e-6)] {
        let noise = Mechanism { family, ..gaussian(scale) };
        let releases = [release("a", &domain(None, 0.7, 1.0), &gram, 80, noise)];
        let evidence = Evidence::new(&releases).unwrap();
        let draws = fit(&Gibbs::new(&evidence, &prior, Moments::Update).unwrap(), 3, 4_000);
        agree(mean(&draws, "theta[2]", |x| x), (want[0], 0.0), "slope");
        agree(mean(&draws, "theta[4]", |x| x), (want[1], 0.0), "variance");
        agree(mean(&draws, "theta[2]", |x| (x - want[0]).powi(2)), (want[2], 0.0), "variance of the slope");
    }
}

/// The two-block draw for a prior that is not conjugate, without noise, against quadrature: theta is integrated out in `FixedGram`,
/// whose z ~ N(S theta, s2 S) leaves y'y out; so the expected values come from a grid over the residual variance here.
#[test]
fn without_noise_the_prior_need_not_be_conjugate() {
    let gram = gram(&records(25, 51));
    // ln p(s2 | data) up to a constant: theta ~ N(0, I).
    let at = |variance: f64| {
        let scaled: Vec<f64> = gram.iter().map(|value| value / variance).collect();
        let p = |i: usize, j: usize| scaled[4 * i + j] + f64::from(u8::from(i == j));
        let minor = |i: usize, j: usize| {
            let ([a, b], [c, d]) = ([(i + 1) % 3, (i + 2) % 3], [(j + 1) % 3, (j + 2) % 3]);
            p(a, c) * p(b, d) - p(a, d) * p(b, c)
        };
        let determinant: f64 = (0..3).map(|j| p(0, j) * minor(0, j)).sum();
        let mean: Vec<f64> = (0..3)
            .map(|i| (0..3).map(|j| minor(i, j) * scaled[4 * j + 3]).sum::<f64>() / determinant)
            .collect();
        let explained: f64 = (0..3).map(|k| mean[k] * scaled[4 * k + 3]).sum();
        let (shape, rate) = Prior::WEAK_VARIANCE;
        let log = -(12.5 + shape) * variance.ln()
            - rate / variance
            - 0.5 * (scaled[15] - explained + determinant.ln());
        (log, mean[1])
    };
    let (mut mass, mut slope, mut second) = (0.0, 0.0, 0.0);
    for k in 0..6_000 {
        let variance = (-9.0 + 0.0015 * f64::from(k)).exp();
        let (log, mean) = at(variance);
        let weight = (log - at(0.02).0).exp();
        mass += weight;
        slope += weight * mean;
        second += weight * variance;
    }
    let releases = [release("a", &domain(None, 0.7, 1.0), &gram, 25, gaussian(1e-6))];
    let gibbs = Gibbs::new(&Evidence::new(&releases).unwrap(), &Prior::weak(3), Moments::Prior).unwrap();
    let draws = fit(&gibbs, 4, 5_000);
    agree(mean(&draws, "theta[2]", |x| x), (slope / mass, 0.0), "slope");
    agree(mean(&draws, "theta[4]", |x| x), (second / mass, 0.0), "variance");
}

/// With overwhelming noise the prior is left, if there are so many records that the conditionals fit together; as strong a prior
/// keeps the chain fast. Catches records counted twice, and noise that is not noise.
#[test]
fn with_overwhelming_noise_the_prior_is_left() {
    let count = 1_000_000.0_f64;
    let variances = [0.4, 0.3];
    for family in [Family::Gaussian, Family::Laplace] {
        let noise = Mechanism { family, ..gaussian(1e12) };
        let domain = domain(None, 0.7, 1.0);
        let data = gram(&records(50, 52)).iter().map(|value| value * 20_000.0).collect::<Vec<f64>>();
        let evidence = Evidence::new(&[release("a", &domain, &data, 1_000_000, noise)]).unwrap();
        let scale = vec![variances[0] * count, 0.0, 0.0, variances[1] * count];
        let features = FeaturePrior::new(scale, count, vec![0.2, -0.1], count).unwrap();
        let spread = [1.0, 2.5, 3.0].map(|value| value / count);
        let covariance = [spread[0], 0.0, 0.0, 0.0, spread[1], 0.0, 0.0, 0.0, spread[2]];
        let prior = Prior::new(vec![0.1, 0.5, -0.3], &covariance, (0.5 * count, 0.5 * 0.25 * count)).unwrap();
        for prior in [prior.clone(), prior.conjugate()] {
            let factor = if prior.is_conjugate() { 0.25 } else { 1.0 };
            let prior = prior.with_features(features.clone());
            let draws = fit(&Gibbs::new(&evidence, &prior, Moments::Update).unwrap(), 5, 5_000);
            for (k, name) in ALL[..3].iter().enumerate() {
                let want = [0.1, 0.5, -0.3][k];
                agree(mean(&draws, name, |x| x), (want, 0.0), name);
                let square = mean(&draws, name, |x| (x - want).powi(2));
                agree(square, (factor * spread[k], 0.0), &format!("variance of {name}"));
            }
            // IG(a, b): mean b/(a-1), variance b^2/((a-1)^2 (a-2)).
            agree(mean(&draws, ALL[3], |x| x), (0.125 * count / (0.5 * count - 1.0), 0.0), "sigma^2");
            let square = mean(&draws, ALL[3], |x| (x - 0.25).powi(2));
            agree(square, (0.0625 / (0.5 * count), 0.0), "variance of sigma^2");
            // R^2 = E / (E + V) at the means; its bias is of the order 1/n.
            let explained = 0.25 * variances[0] + 0.09 * variances[1];
            agree(mean(&draws, ALL[4], |x| x), (explained / (explained + 0.25), 0.0), "R^2");
        }
    }
}
