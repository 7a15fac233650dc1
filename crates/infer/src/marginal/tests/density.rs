//! The likelihood against the dense normal, its gradient against differences, its moments against simulation.

use organza_mcmc::{ChainRng, Gradient, LogDensity, gradient_error};
use rand::RngExt;

use super::super::MarginalDensity;
use super::super::likelihood::LikelihoodSpace;
use super::super::parties::{Block, Group, ResponseSquare};
use super::*;
use crate::{Evidence, InferError, Prior};

/// Moments of two random populations with one Gram matrix per party; returns both log density differences.
fn differences(
    size: usize,
    parties: usize,
    constant: bool,
    response: ResponseSquare,
    noisy: bool,
) -> (f64, f64) {
    let mut rng = ChainRng::new((100 * size + 10 * parties) as u64, u32::from(constant));
    let populations: Vec<Population> = (0..2).map(|_| Population::random(size, constant, &mut rng)).collect();
    let mut groups: Vec<Group> = vec![];
    for party in 0..parties {
        let weights: Vec<f64> = (0..size).map(|_| rng.random_range(0.5..1.5)).collect();
        let records = 40.0 + 10.0 * party as f64;
        let variance = if noisy { rng.random_range(1.0..900.0) } else { 0.0 };
        let response = match response {
            ResponseSquare::Own(ratio) => ResponseSquare::Own(ratio * variance),
            other => other,
        };
        let moments = populations[0].moments();
        let mut gram: Vec<f64> = (0..size * size)
            .map(|k| records * weights[k / size] * weights[k % size] * moments[k] + 9.0 * normal(&mut rng))
            .collect();
        if constant {
            gram[0] = records * weights[0] * weights[0];
        }
        crate::linalg::symmetrise(&mut gram, size);
        // Two parties of one group and one block, too.
        let grams = if party == 1 { vec![gram.clone(), gram] } else { vec![gram] };
        let block = Block { records, variance, constant, response, grams };
        groups.push(Group { weights, blocks: vec![block] });
    }
    let mut space = LikelihoodSpace::new(size);
    let mut total = [0.0; 2];
    let mut expected = [0.0; 2];
    for (place, population) in populations.iter().enumerate() {
        total[place] = space.evaluate(&groups, &population.moments());
        for group in &groups {
            let block = &group.blocks[0];
            let each = |gram: &Vec<f64>| dense(block, gram, &group.weights, population);
            expected[place] += block.grams.iter().map(each).sum::<f64>();
        }
    }
    (total[0] - total[1], expected[0] - expected[1])
}

/// Catches every wrong sign or factor in the covariance, its determinant and both corrections.
#[test]
fn the_likelihood_is_the_dense_normal() {
    let responses = [
        ResponseSquare::Isometric,
        ResponseSquare::Own(0.25),
        ResponseSquare::Own(7.0),
        ResponseSquare::Own(1e-12),
        ResponseSquare::Own(1e9),
        ResponseSquare::Missing,
    ];
    for size in 2..=4 {
        for parties in 1..=3 {
            for constant in [false, true] {
                for response in responses {
                    let (found, expected) = differences(size, parties, constant, response, true);
                    let error = (found - expected).abs() / expected.abs().max(1.0);
                    assert!(error < 1e-9, "{size} {parties} {constant} {response:?}: {found} {expected}");
                }
                for response in [ResponseSquare::Isometric, ResponseSquare::Missing] {
                    let (found, expected) = differences(size, parties, constant, response, false);
                    let error = (found - expected).abs() / expected.abs().max(1.0);
                    assert!(error < 1e-9, "no noise: {size} {parties} {constant} {response:?}");
                }
            }
        }
    }
}

/// Two parties with different weights, noise and treatment of y'y.
fn evidence(features: usize, intercept: bool, response: ResponseSquare, scale: f64) -> Evidence {
    let mut rng = ChainRng::new(features as u64, 7);
    let size = features + 1 + usize::from(intercept);
    let population = Population::random(size, intercept, &mut rng);
    let moments = population.moments();
    let domains = match intercept {
        true => [plain_box(features, 0.7, 1.1), plain_box(features, 1.0, 0.8)],
        false => [ball(features, 1.0), ball(features, 0.6)],
    };
    let releases: Vec<_> = (0..3)
        .map(|party| {
            let records = 50 * (party + 1);
            let mechanism = Mechanism { records, scale: scale * (1.0 + party as f64), response };
            let gram: Vec<f64> =
                moments.iter().map(|moment| moment * records as f64 + normal(&mut rng)).collect();
            release(&format!("p{party}"), &domains[party % 2], &gram, &mechanism)
        })
        .collect();
    Evidence::new(&releases).unwrap()
}

fn dense_prior(coefficients: usize, conjugate: bool) -> Prior {
    let covariance: Vec<f64> = (0..coefficients * coefficients)
        .map(|k| if k / coefficients == k % coefficients { 0.8 } else { 0.1 })
        .collect();
    let mean = (0..coefficients).map(|k| 0.1 * k as f64).collect();
    let prior = Prior::new(mean, &covariance, (3.0, 0.4)).unwrap();
    if conjugate { prior.conjugate() } else { prior }
}

/// Catches a missing Jacobian in the chain rule, a transposed basis, and an eigenvalue that is divided by.
#[test]
fn gradients_agree_with_differences() {
    let mut rng = ChainRng::new(3, 0);
    for coefficients in 1..=5 {
        for intercept in [false, true] {
            for response in [ResponseSquare::Isometric, ResponseSquare::Own(3.0), ResponseSquare::Missing] {
                let features = coefficients - usize::from(intercept);
                let evidence = evidence(features, intercept, response, 4.0);
                for (evidence, conjugate) in [(without_noise(&evidence), false), (evidence, true)] {
                    let prior = dense_prior(coefficients, conjugate);
                    let density = MarginalDensity::new(&evidence, &prior).unwrap();
                    let mut point = vec![0.0; density.dim()];
                    density.start(&mut rng, &mut point);
                    let error = gradient_error(&density, &point);
                    assert!(error < 1e-6, "{coefficients} {intercept} {response:?} {conjugate}: {error}");
                }
            }
        }
    }
}

/// The formula needs no differences of eigenvalues: here all of them are equal.
#[test]
fn equal_eigenvalues_are_harmless() {
    let block = Block {
        records: 30.0,
        variance: 25.0,
        constant: false,
        response: ResponseSquare::Own(5.0),
        grams: vec![vec![40.0, 3.0, -2.0, 3.0, 20.0, 1.0, -2.0, 1.0, 25.0]],
    };
    let groups = [Group { weights: vec![1.0; 3], blocks: vec![block] }];
    let mut space = LikelihoodSpace::new(3);
    let unit = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    assert!(space.evaluate(&groups, &unit).is_finite());
    let gradient = space.gradient.clone();
    for row in 0..3 {
        for column in row..3 {
            let mut at = |step: f64| {
                let mut moments = unit;
                moments[row * 3 + column] += step;
                moments[column * 3 + row] = moments[row * 3 + column];
                space.evaluate(&groups, &moments)
            };
            let twice = if row == column { 1.0 } else { 2.0 };
            let slope = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert!((slope - twice * gradient[row * 3 + column]).abs() < 1e-7, "{row} {column}");
        }
    }
}

/// The moments that the dense reference is built of, against records.
#[test]
fn fourth_moments_agree_with_simulated_records() {
    for constant in [false, true] {
        let mut rng = ChainRng::new(11, u32::from(constant));
        let population = Population::random(3, constant, &mut rng);
        let root = population.root();
        let count = 60_000;
        let records: Vec<Vec<f64>> = (0..count).map(|_| population.draw(&root, &mut rng)).collect();
        for k in 0..81 {
            let places = [k / 27, k / 9 % 3, k / 3 % 3, k % 3];
            let products = records.iter().map(|w| places.iter().map(|place| w[*place]).product::<f64>());
            let (mut sum, mut squares) = (0.0, 0.0);
            products.for_each(|value| {
                sum += value;
                squares += value * value;
            });
            let mean = sum / count as f64;
            let sd = (squares / count as f64 - mean * mean).max(0.0).sqrt() / (count as f64).sqrt();
            let difference = mean - population.fourth_moment(places);
            let bound = LARGEST_OF_THOUSAND * sd + 1e-12;
            assert!(difference.abs() < bound, "{places:?}: {difference} {sd}");
        }
    }
}

#[test]
fn large_sizes_use_the_same_formulas() {
    let evidence = evidence(30, false, ResponseSquare::Own(3.0), 4.0);
    let density = MarginalDensity::new(&evidence, &dense_prior(30, false)).unwrap();
    let (mut rng, mut point) = (ChainRng::new(5, 0), vec![0.0; density.dim()]);
    density.start(&mut rng, &mut point);
    let mut gradient = vec![0.0; point.len()];
    let value = density.log_density_and_gradient(&point, &mut gradient);
    assert_eq!(value, density.log_density(&point));
    // Along one random direction: a full difference quotient of 496 coordinates would take long.
    let direction: Vec<f64> = point.iter().map(|_| normal(&mut rng)).collect();
    let at = |step: f64| {
        let moved: Vec<f64> = point.iter().zip(&direction).map(|(x, d)| x + step * d).collect();
        density.log_density(&moved)
    };
    let slope = (8.0 * (at(1e-4) - at(-1e-4)) - (at(2e-4) - at(-2e-4))) / 12e-4;
    let expected = dot(&gradient, &direction);
    assert!((slope / expected - 1.0).abs() < 1e-6, "{slope} {expected}");
}

#[test]
fn what_a_release_lacks_is_said() {
    let population = Population::random(3, false, &mut ChainRng::new(1, 1));
    let mechanism = Mechanism { records: 50, scale: 1.0, response: ResponseSquare::Isometric };
    let good = release("a", &ball(2, 1.0), &population.moments(), &mechanism);
    let message = |change: &dyn Fn(&mut organza_release::Release)| {
        let mut other = good.clone();
        other.party = "b".into();
        change(&mut other);
        let evidence = Evidence::new(&[good.clone(), other]).unwrap();
        MarginalDensity::new(&evidence, &Prior::weak(2)).unwrap_err().to_string()
    };
    let layout = "b: marginal needs gaussian noise in the isometric layout";
    assert!(message(&|release| release.noise.scales[1] *= 2.0).starts_with(layout));
    assert!(message(&|release| release.noise.family = Family::Laplace).starts_with(layout));
    assert!(message(&|release| release.records = None).starts_with("b: marginal needs a public number"));
    let evidence = Evidence::new(&[good]).unwrap();
    assert!(matches!(MarginalDensity::new(&evidence, &Prior::weak(3)), Err(InferError::Prior { .. })));
}
