//! With overwhelming noise the density is the prior, Jacobians included.

use organza_mcmc::{ChainRng, Gradient, LogDensity};

use super::super::MarginalDensity;
use super::super::parties::ResponseSquare;
use super::super::population::Population as AtPoint;
use super::super::prior::{FLOOR, LARGEST_EFFECT, RESPONSE_SPREAD, SLOPES_TAIL, SPREAD};
use super::*;
use crate::prior::FeaturePrior;
use crate::{Evidence, Prior};

const COVARIANCE: [f64; 9] = [0.5, 0.1, 0.0, 0.1, 0.4, -0.1, 0.0, -0.1, 0.6];
const LAMBDA: [f64; 9] = [0.9, 0.2, 0.1, 0.2, 0.7, -0.1, 0.1, -0.1, 0.5];

/// What of the prior is given.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Case {
    Default,
    Given,
    /// Coefficients, but not the residual variance.
    Coefficients,
    Conjugate,
    Features,
}

/// (theta, sigma^2, upper triangle of Sigma_x, mu), the natural parameters, and Sigma_x itself.
fn natural(density: &MarginalDensity, point: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let mut at = AtPoint::new(density.shape, &density.anchors);
    at.read(&density.frame.point(point));
    let (q, columns) = (density.shape.features, density.shape.columns());
    let row = |k: usize| &at.root[k * columns..k * columns + q];
    let covariance: Vec<f64> = (0..q * q).map(|k| dot(row(k / q), row(k % q))).collect();
    let mut all = vec![0.0; density.shape.coefficients()];
    at.coefficients(&mut all);
    all.push(at.residual_sd().powi(2));
    all.extend((0..q).flat_map(|i| (i..q).map(move |j| (i, j))).map(|(i, j)| covariance[i * q + j]));
    if density.shape.constant {
        all.extend(&at.mean[..q]);
    }
    (all, covariance)
}

/// The prior density of the natural parameters, written down directly.
fn direct(natural: &[f64], covariance: &[f64], (size, q): (usize, usize), case: Case) -> f64 {
    let (theta, variance, constant) = (&natural[..size], natural[size], q < size);
    let mean = if constant { natural[natural.len() - q..].to_vec() } else { vec![0.0; q] };
    let block =
        |matrix: &[f64], n: usize| -> Vec<f64> { (0..n * n).map(|k| matrix[k / n * 3 + k % n]).collect() };
    let slopes = &theta[size - q..];
    let mut value = 0.0;
    let explained: f64 = (0..q * q).map(|k| slopes[k / q] * slopes[k % q] * covariance[k]).sum();
    let centre = if constant { theta[0] + dot(slopes, &mean) } else { 0.0 };
    let response = spread((variance + explained) / (1.0 - centre * centre), RESPONSE_SPREAD);
    if case == Case::Coefficients {
        // d ln s_y^2 = d sigma^2 / s_y^2 where theta stays.
        value += log_normal(theta, &vec![0.3; size], &block(&COVARIANCE, size));
        value += response - (variance + explained).ln();
    } else if matches!(case, Case::Given | Case::Conjugate) {
        let scale = if case == Case::Conjugate { variance } else { 1.0 };
        let of_theta: Vec<f64> = block(&COVARIANCE, size).iter().map(|value| value * scale).collect();
        value += log_normal(theta, &vec![0.3; size], &of_theta);
        value += -4.0 * variance.ln() - 0.4 / variance;
        // The mean of the response is inside its bounds: a uniform law of it does not show.
    } else {
        // L' theta / sigma has a spherical law, and theta s / s_y a Cauchy law; a slope is sigma b / s.
        if q > 0 {
            let root = Cholesky::new(covariance, q).unwrap().lower;
            let new: Vec<f64> = (0..q)
                .map(|j| (j..q).map(|k| root[k * q + j] * slopes[k]).sum::<f64>() / variance.sqrt())
                .collect();
            value -= (0.5 * q as f64 + SLOPES_TAIL) * libm::log(1.0 + q as f64 * dot(&new, &new));
            value += (0..q).map(|k| (root[k * (q + 1)] / variance.sqrt()).ln()).sum::<f64>();
        }
        let effect = |k: usize| slopes[k] * (covariance[k * (q + 1)] / (variance + explained)).sqrt();
        let square: f64 = (0..q).map(|k| (effect(k) / LARGEST_EFFECT).powi(2)).sum();
        value -= 0.5 * (q as f64 + 1.0) * (1.0 + square).ln();
        // The variance of the response over what it can be, by d ln s_y^2 = d sigma^2 / sigma^2.
        value += response - variance.ln();
    }
    if case != Case::Features {
        for k in 0..q {
            // Regression on the features before: |t|^2 = R^2 / (1 - R^2), and the density of Sigma_x from those of q and t.
            let inner: Vec<f64> = (0..k * k).map(|at| covariance[at / k * q + at % k]).collect();
            let cross: Vec<f64> = (0..k).map(|at| covariance[k * q + at]).collect();
            let (mut explained, mut log_inner) = (0.0, 0.0);
            if k > 0 {
                let factor = Cholesky::new(&inner, k).unwrap();
                let mut image = cross.clone();
                factor.solve_lower(&mut image);
                (explained, log_inner) = (dot(&image, &image), factor.log_determinant());
            }
            let own = covariance[k * (q + 1)];
            let odds = explained / (own - explained);
            value -= 0.5 * (k as f64 + 1.0) * (1.0 + k as f64 * odds).ln();
            // t = L^-1 cross / sqrt(own - explained); at fixed own the determinant of dt / d cross is
            // |inner|^(-1/2) (own - explained)^(-k/2) (1 + odds).
            value += -0.5 * log_inner - 0.5 * k as f64 * (own - explained).ln() + (1.0 + odds).ln();
            value += spread(own / (1.0 - mean[k] * mean[k]), SPREAD) - own.ln();
        }
    } else if q > 0 {
        let degrees = q as f64 + 3.5;
        let factor = Cholesky::new(covariance, q).unwrap();
        let inverse = factor.inverse();
        let trace: f64 = block(&LAMBDA, q).iter().zip(&inverse).map(|(a, b)| a * b).sum();
        value += -0.5 * (degrees + q as f64 + 1.0) * factor.log_determinant() - 0.5 * trace;
        if constant {
            let of_mean: Vec<f64> = covariance.iter().map(|value| value / 2.5).collect();
            value += log_normal(&mean, &vec![-0.2; q], &of_mean);
        }
    }
    value
}

/// Log density of ln q.
fn spread(q: f64, (low, high): (f64, f64)) -> f64 {
    low * q.ln() - (low + high) * (1.0 + q).ln() - (1.0 + FLOOR / q).ln()
}

fn log_normal(x: &[f64], mean: &[f64], covariance: &[f64]) -> f64 {
    let factor = Cholesky::new(covariance, x.len()).unwrap();
    let mut residual: Vec<f64> = x.iter().zip(mean).map(|(x, m)| x - m).collect();
    factor.solve_lower(&mut residual);
    -0.5 * (factor.log_determinant() + dot(&residual, &residual))
}

/// ln |det| of the map from the point to the natural parameters, by differences.
fn log_jacobian(density: &MarginalDensity, point: &[f64]) -> f64 {
    let n = point.len();
    let mut columns = vec![];
    for place in 0..n {
        let at = |step: f64| {
            let mut moved = point.to_vec();
            moved[place] += step;
            natural(density, &moved).0
        };
        let (h, ends) = (1e-3, [at(1e-3), at(-1e-3), at(2e-3), at(-2e-3)]);
        columns.push(
            (0..n)
                .map(|k| (8.0 * (ends[0][k] - ends[1][k]) - (ends[2][k] - ends[3][k])) / (12.0 * h))
                .collect::<Vec<f64>>(),
        );
    }
    // By elimination with pivots: products of columns would lose half of the digits.
    let mut log = 0.0;
    for step in 0..n {
        let size = |column: &[f64]| column[step].abs();
        let pivot = (step..n).max_by(|a, b| size(&columns[*a]).total_cmp(&size(&columns[*b]))).unwrap();
        columns.swap(step, pivot);
        log += columns[step][step].abs().ln();
        for other in step + 1..n {
            let factor = columns[other][step] / columns[step][step];
            let pivot = columns[step].clone();
            columns[other].iter_mut().zip(pivot).for_each(|(entry, of_pivot)| *entry -= factor * of_pivot);
        }
    }
    log
}

fn density(size: usize, constant: bool, case: Case, scale: f64) -> MarginalDensity {
    let q = size - usize::from(constant);
    let domain = if constant { plain_box(q, 0.8, 1.0) } else { ball(q, 1.0) };
    let gram: Vec<f64> = Population::random(size + 1, constant, &mut ChainRng::new(8, 0)).moments();
    let mechanism = Mechanism { records: 100, scale, response: ResponseSquare::Own(scale * scale / 4.0) };
    let gram: Vec<f64> = gram.iter().map(|value| 100.0 * value).collect();
    let evidence = Evidence::new(&[release("a", &domain, &gram, &mechanism)]).unwrap();
    let block =
        |matrix: &[f64], n: usize| -> Vec<f64> { (0..n * n).map(|k| matrix[k / n * 3 + k % n]).collect() };
    let mean = if constant { vec![-0.2; q] } else { vec![] };
    let given = || Prior::new(vec![0.3; size], &block(&COVARIANCE, size), (3.0, 0.4)).unwrap();
    let prior = match case {
        Case::Default => Prior::weak(size),
        Case::Given => given(),
        Case::Coefficients => given().with_given(vec![true; size], Default::default(), false),
        Case::Conjugate => given().conjugate(),
        Case::Features => {
            let law = FeaturePrior::new(block(&LAMBDA, q), q as f64 + 3.5, mean, 2.5).unwrap();
            Prior::weak(size).with_features(law)
        }
    };
    MarginalDensity::new(&evidence, &prior).unwrap()
}

/// Catches a wrong power in a Jacobian, a missing half, and a correction that does not cancel in the limit.
#[test]
fn with_overwhelming_noise_the_prior_is_left() {
    let mut rng = ChainRng::new(4, 0);
    for (size, constant) in (1..=3).flat_map(|size| [false, true].map(|constant| (size, constant))) {
        for case in [Case::Default, Case::Given, Case::Coefficients, Case::Conjugate, Case::Features] {
            let density = density(size, constant, case, 1e9);
            let (mut one, mut other) = (vec![0.0; density.dim()], vec![0.0; density.dim()]);
            let mut value = |point: &mut Vec<f64>| {
                fill_normal(&mut rng, point);
                point.iter_mut().for_each(|value| *value *= 0.3);
                let (all, covariance) = natural(&density, point);
                let sizes = (size, size - usize::from(constant));
                let expected = direct(&all, &covariance, sizes, case) + log_jacobian(&density, point);
                (density.log_density(point), expected)
            };
            let (first, second) = (value(&mut one), value(&mut other));
            let error = (first.0 - second.0) - (first.1 - second.1);
            assert!(error.abs() < 1e-4, "{size} {constant} {case:?}: {error}");
        }
    }
}

/// Starts are sane at any noise, and outputs are what the parameters say.
#[test]
fn starts_and_outputs() {
    for scale in [1e-6, 1.0, 30.0, 1e3, 1e12] {
        let density = density(3, true, Case::Default, scale);
        let (mut rng, mut point) = (ChainRng::new(9, 0), vec![0.0; density.dim()]);
        let mut outputs = vec![f64::NAN; density.outputs()];
        for _ in 0..20 {
            density.start(&mut rng, &mut point);
            density.write_outputs(&point, &mut rng, &mut outputs);
            assert!(density.log_density(&point).is_finite(), "{scale}");
            assert!(outputs[3] > 0.0 && (0.0..=1.0).contains(&outputs[4]), "{scale}: {outputs:?}");
            let (all, covariance) = natural(&density, &point);
            let slopes = &all[1..3];
            let explained: f64 = (0..4).map(|k| slopes[k / 2] * slopes[k % 2] * covariance[k]).sum();
            assert_eq!(outputs[..3], all[..3]);
            assert!((outputs[4] - explained / (explained + all[3])).abs() < 1e-9);
            // sigma^2 / n times the inverse of the covariance; the intercept at the centre of the bounds.
            let determinant = covariance[0] * covariance[3] - covariance[1] * covariance[2];
            let inverse =
                [covariance[3], -covariance[1], -covariance[2], covariance[0]].map(|x| x / determinant);
            let mean = &all[7..];
            let lever: f64 = (0..4).map(|k| mean[k / 2] * mean[k % 2] * inverse[k]).sum();
            let expected = [1.0 + lever, inverse[0], inverse[3]].map(|x| x * all[3] / 100.0);
            for (found, expected) in outputs[5..].iter().zip(expected) {
                assert!((found / expected - 1.0).abs() < 1e-6, "{scale}: {found} {expected}");
            }
        }
    }
}

/// Fewer records than coefficients, none at all, and no noise on them: the density is proper and chains can start.
#[test]
fn few_records_are_enough() {
    for records in [0, 1, 2] {
        for response in [ResponseSquare::Isometric, ResponseSquare::Missing] {
            let mechanism = Mechanism { records, scale: 2.0, response };
            let gram: Vec<f64> =
                (0..25).map(|k| records as f64 * 0.1 / (1.0 + (k / 5 + k % 5) as f64)).collect();
            let evidence = Evidence::new(&[release("a", &ball(4, 1.0), &gram, &mechanism)]).unwrap();
            for evidence in [without_noise(&evidence), evidence] {
                let density = MarginalDensity::new(&evidence, &Prior::weak(4)).unwrap();
                let (mut rng, mut point) = (ChainRng::new(2, 0), vec![0.0; density.dim()]);
                let mut gradient = point.clone();
                density.start(&mut rng, &mut point);
                assert!(density.log_density_and_gradient(&point, &mut gradient).is_finite(), "{records}");
                assert!(gradient.iter().all(|slope| slope.is_finite()), "{records} {response:?}");
            }
        }
    }
}
