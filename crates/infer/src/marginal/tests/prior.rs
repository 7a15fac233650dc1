//! With overwhelming noise the density is the prior, Jacobians included.

use organza_mcmc::{ChainRng, Gradient, LogDensity, gradient_error};

use super::super::MarginalDensity;
use super::super::coordinates::Parameters;
use super::super::frame::Frame;
use super::super::parties::ResponseSquare;
use super::*;
use crate::prior::FeaturePrior;
use crate::{Evidence, Prior};

const COVARIANCE: [f64; 9] = [0.5, 0.1, 0.0, 0.1, 0.4, -0.1, 0.0, -0.1, 0.6];
const LAMBDA: [f64; 9] = [0.9, 0.2, 0.1, 0.2, 0.7, -0.1, 0.1, -0.1, 0.5];

/// (theta, sigma^2, upper triangle of Sigma_x, mu), the natural parameters, and Sigma_x itself.
fn natural(density: &MarginalDensity, point: &[f64], constant: bool) -> (Vec<f64>, Vec<f64>) {
    let size = density.coefficients;
    let mut at = Parameters::new(size);
    density.coordinates.read(point, &mut at);
    let first = usize::from(constant);
    let q = size - first;
    let row = |k: usize| &at.factor[(k + first) * size + first..(k + first + 1) * size];
    let covariance: Vec<f64> = (0..q * q).map(|k| dot(row(k / q), row(k % q))).collect();
    let mut all = at.theta.clone();
    all.push(at.variance);
    all.extend((0..q).flat_map(|i| (i..q).map(move |j| (i, j))).map(|(i, j)| covariance[i * q + j]));
    all.extend((0..q * first).map(|k| at.factor[(k + 1) * size]));
    (all, covariance)
}

/// The prior density of the natural parameters, written down directly.
fn direct(natural: &[f64], covariance: &[f64], (size, q): (usize, usize), conjugate: bool) -> f64 {
    let variance = natural[size];
    let block = |matrix: &[f64], from: usize, n: usize| -> Vec<f64> {
        (0..n * n).map(|k| matrix[k / n * from + k % n]).collect()
    };
    let scale = if conjugate { variance } else { 1.0 };
    let of_theta: Vec<f64> = block(&COVARIANCE, 3, size).iter().map(|value| value * scale).collect();
    let mut value = log_normal(&natural[..size], &vec![0.3; size], &of_theta);
    value += -4.0 * variance.ln() - 0.4 / variance;
    if q == 0 {
        return value;
    }
    let degrees = q as f64 + 3.5;
    let factor = Cholesky::new(covariance, q).unwrap();
    let inverse = factor.inverse();
    let trace: f64 = block(&LAMBDA, 3, q).iter().zip(&inverse).map(|(a, b)| a * b).sum();
    value += -0.5 * (degrees + q as f64 + 1.0) * factor.log_determinant() - 0.5 * trace;
    if q < size {
        let mean = &natural[natural.len() - q..];
        let of_mean: Vec<f64> = covariance.iter().map(|value| value / 2.5).collect();
        value += log_normal(mean, &vec![-0.2; q], &of_mean);
    }
    value
}

fn log_normal(x: &[f64], mean: &[f64], covariance: &[f64]) -> f64 {
    let factor = Cholesky::new(covariance, x.len()).unwrap();
    let mut residual: Vec<f64> = x.iter().zip(mean).map(|(x, m)| x - m).collect();
    factor.solve_lower(&mut residual);
    -0.5 * (factor.log_determinant() + dot(&residual, &residual))
}

/// ln |det| of the map from the point to the natural parameters, by differences.
fn log_jacobian(density: &MarginalDensity, point: &[f64], constant: bool) -> f64 {
    let n = point.len();
    let mut columns = vec![];
    for place in 0..n {
        let at = |step: f64| {
            let mut moved = point.to_vec();
            moved[place] += step;
            natural(density, &moved, constant).0
        };
        let (h, ends) = (1e-3, [at(1e-3), at(-1e-3), at(2e-3), at(-2e-3)]);
        columns.push(
            (0..n)
                .map(|k| (8.0 * (ends[0][k] - ends[1][k]) - (ends[2][k] - ends[3][k])) / (12.0 * h))
                .collect::<Vec<f64>>(),
        );
    }
    let gram: Vec<f64> = (0..n * n).map(|k| dot(&columns[k / n], &columns[k % n])).collect();
    0.5 * Cholesky::new(&gram, n).unwrap().log_determinant()
}

fn density(size: usize, constant: bool, conjugate: bool, scale: f64) -> MarginalDensity {
    with_known(size, (constant, conjugate), scale, None)
}

/// With so many rows of Z sampled, if that is said.
fn with_known(
    size: usize,
    (constant, conjugate): (bool, bool),
    scale: f64,
    known: Option<usize>,
) -> MarginalDensity {
    let q = size - usize::from(constant);
    let domain = if constant { plain_box(q, 0.8, 1.0) } else { ball(q, 1.0) };
    let gram: Vec<f64> = Population::random(size + 1, constant, &mut ChainRng::new(8, 0)).moments();
    let mechanism = Mechanism { records: 100, scale, response: ResponseSquare::Own(scale * scale / 4.0) };
    let gram: Vec<f64> = gram.iter().map(|value| 100.0 * value).collect();
    let evidence = Evidence::new(&[release("a", &domain, &gram, &mechanism)]).unwrap();
    let block =
        |matrix: &[f64], n: usize| -> Vec<f64> { (0..n * n).map(|k| matrix[k / n * 3 + k % n]).collect() };
    let mean = if constant { vec![-0.2; q] } else { vec![] };
    let features = FeaturePrior::new(block(&LAMBDA, q), q as f64 + 3.5, mean, 2.5).unwrap();
    let prior =
        Prior::new(vec![0.3; size], &block(&COVARIANCE, size), (3.0, 0.4)).unwrap().with_features(features);
    let prior = if conjugate { prior.conjugate() } else { prior };
    let density = MarginalDensity::new(&evidence, &prior).unwrap();
    let Some(known) = known else { return density };
    let frame = Frame { known, ..density.coordinates.frame().clone() };
    MarginalDensity::in_frame(density.groups, &prior, &prior.features(&evidence).unwrap(), frame).unwrap()
}

/// Catches a wrong power in the Jacobian, a missing half, and a correction that does not cancel in the limit; for any number
/// of rows that are sampled as rows of the inverse.
#[test]
fn with_overwhelming_noise_the_prior_is_left() {
    let mut rng = ChainRng::new(4, 0);
    for (size, constant, conjugate, known) in cases() {
        let density = with_known(size, (constant, conjugate), 1e9, Some(known));
        let (mut one, mut other) = (vec![0.0; density.dim()], vec![0.0; density.dim()]);
        let mut value = |point: &mut Vec<f64>| {
            fill_normal(&mut rng, point);
            let (all, covariance) = natural(&density, point, constant);
            let sizes = (size, size - usize::from(constant));
            let expected =
                direct(&all, &covariance, sizes, conjugate) + log_jacobian(&density, point, constant);
            (density.log_density(point), expected)
        };
        let (first, second) = (value(&mut one), value(&mut other));
        let error = (first.0 - second.0) - (first.1 - second.1);
        assert!(error.abs() < 1e-6, "{size} {constant} {conjugate} {known}: {error}");
    }
}

/// Catches a block of the inverse that is left out of the chain rule, and a gradient above the diagonal that is not.
#[test]
fn gradients_agree_with_differences_for_any_number_of_hidden_rows() {
    let mut rng = ChainRng::new(6, 0);
    for (size, constant, conjugate, known) in cases() {
        let density = with_known(size, (constant, conjugate), 20.0, Some(known));
        let mut point = vec![0.0; density.dim()];
        fill_normal(&mut rng, &mut point);
        let error = gradient_error(&density, &point);
        assert!(error < 1e-6, "{size} {constant} {conjugate} {known}: {error}");
    }
}

/// Catches a threshold on the wrong side.
#[test]
fn rows_are_hidden_by_noise() {
    assert_eq!(density(3, true, true, 1e-3).coordinates.frame().known, 3);
    assert_eq!(density(3, true, true, 1e9).coordinates.frame().known, 1);
    assert_eq!(density(3, false, true, 1e9).coordinates.frame().known, 0);
}

/// Coefficients, whether there is a constant, whether the prior is conjugate, and rows of Z that are sampled.
fn cases() -> impl Iterator<Item = (usize, bool, bool, usize)> {
    let sizes = (1..=3).flat_map(|size| [false, true].map(|constant| (size, constant)));
    sizes.flat_map(|(size, constant)| {
        (usize::from(constant)..=size)
            .flat_map(move |known| [false, true].map(|conjugate| (size, constant, conjugate, known)))
    })
}

/// Starts are sane at any noise, and outputs are what the parameters say.
#[test]
fn starts_and_outputs() {
    for scale in [1e-6, 1.0, 30.0, 1e3, 1e12] {
        let density = density(3, true, false, scale);
        let (mut rng, mut point) = (ChainRng::new(9, 0), vec![0.0; density.dim()]);
        let mut outputs = vec![f64::NAN; density.outputs()];
        for _ in 0..20 {
            density.start(&mut rng, &mut point);
            density.write_outputs(&point, &mut rng, &mut outputs);
            assert!(density.log_density(&point).is_finite(), "{scale}");
            assert!(outputs[..3].iter().all(|value| value.abs() < 10.0), "{scale}: {outputs:?}");
            assert!(outputs[3] > 0.0 && (0.0..1.0).contains(&outputs[4]), "{scale}: {outputs:?}");
            let (all, covariance) = natural(&density, &point, true);
            let slopes = &all[1..3];
            let explained: f64 = (0..4).map(|k| slopes[k / 2] * slopes[k % 2] * covariance[k]).sum();
            assert_eq!(outputs[..3], all[..3]);
            assert!((outputs[4] - explained / (explained + all[3])).abs() < 1e-12);
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
