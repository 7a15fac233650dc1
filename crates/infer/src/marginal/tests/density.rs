//! The likelihood against the dense normal, its gradient against differences, its moments against simulation.

use organza_mcmc::{ChainRng, Gradient, LogDensity, gradient_error};
use rand::RngExt;

use super::super::MarginalDensity;
use super::super::likelihood::LikelihoodSpace;
use super::super::parties::{Group, ResponseSquare};
use super::uneven::with_laplace;
use super::*;
use crate::{Evidence, FeaturePrior, InferError, Prior, PriorFile};

/// Moments of two random populations with one Gram matrix per party; returns both log density differences.
fn differences(
    size: usize,
    parties: usize,
    (constant, counts): (bool, bool),
    response: ResponseSquare,
    noisy: bool,
) -> (f64, f64) {
    let mut rng = ChainRng::new((100 * size + 10 * parties) as u64, u32::from(constant));
    let populations: Vec<Population> = (0..2).map(|_| Population::random(size, constant, &mut rng)).collect();
    let mut groups: Vec<Group> = vec![];
    for party in 0..parties {
        let weights: Vec<f64> = (0..size).map(|_| rng.random_range(0.5..1.5)).collect();
        let records = 40.0 + 10.0 * party as f64;
        let scale = if noisy { rng.random_range(1.0..30.0) } else { 0.0 };
        let response = match response {
            ResponseSquare::Own(ratio) => ResponseSquare::Own(ratio * scale * scale),
            other => other,
        };
        let moments = populations[0].moments();
        let mut gram: Vec<f64> = (0..size * size)
            .map(|k| records * weights[k / size] * weights[k % size] * moments[k] + 9.0 * normal(&mut rng))
            .collect();
        crate::linalg::symmetrise(&mut gram, size);
        let block = block(records, scale, (constant, response), gram);
        let block = if counts { counted(block, 1.1, 0.2) } else { block };
        groups.push(Group { weights, blocks: vec![block] });
    }
    let mut space = LikelihoodSpace::new(size, 1);
    let (mut total, mut expected) = ([0.0; 2], [0.0; 2]);
    for (place, population) in populations.iter().enumerate() {
        let count = if counts { 0.9 + 0.2 * place as f64 } else { 1.0 };
        total[place] = space.evaluate(&groups, &population.moments(), &[count]);
        let each = |group: &Group| dense(&group.blocks[0], count, &group.weights, population);
        expected[place] = groups.iter().map(each).sum();
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
            for constant in [(false, false), (true, false), (true, true)] {
                for response in responses {
                    let (found, expected) = differences(size, parties, constant, response, true);
                    let error = (found - expected).abs() / expected.abs().max(1.0);
                    assert!(error < 1e-9, "{size} {parties} {constant:?} {response:?}: {found} {expected}");
                }
                for response in [ResponseSquare::Isometric, ResponseSquare::Missing] {
                    let (found, expected) = differences(size, parties, constant, response, false);
                    let error = (found - expected).abs() / expected.abs().max(1.0);
                    assert!(error < 1e-9, "no noise: {size} {parties} {constant:?} {response:?}");
                }
            }
        }
    }
}

/// Two parties with different weights, noise and treatment of y'y; with an intercept the second has scaled records, or a number of records that is not public.
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
            let mut release = release(&format!("p{party}"), &domains[party % 2], &gram, &mechanism);
            if intercept && party == 1 {
                without_records(&mut release);
            }
            release
        })
        .collect();
    Evidence::new(&releases).unwrap()
}

/// The same release of a number of records that is not public.
fn without_records(release: &mut Release) {
    let records = release.records.take().unwrap();
    let organza_release::Statistic::Gram { entries, .. } = &mut release.statistic else { return };
    entries.insert(0, [0, 0]);
    release.value.insert(0, records as f64 + 3.0);
    release.noise.scales.insert(0, release.noise.scales.first().copied().unwrap_or(1.0) * 1.3);
    let Domain::Box(domain) = &release.domain else { return };
    // The scale of the first diagonal entry is that of the others, by its weight.
    let of_constant = domain.intercept_weight;
    let second = entries.iter().position(|entry| *entry == [1, 1]);
    if let Some(place) = second.filter(|_| !domain.features.is_empty()) {
        release.noise.scales[0] = release.noise.scales[place] / (of_constant * of_constant);
    } else {
        // The regression on a constant: X'y has scale s / sqrt 2 by its weights.
        let weight = of_constant * domain.response_weight / std::f64::consts::SQRT_2;
        release.noise.scales[0] =
            release.noise.scales[1] * weight * std::f64::consts::SQRT_2 / (of_constant * of_constant);
    }
}

fn dense_prior(coefficients: usize, conjugate: bool) -> Prior {
    let covariance: Vec<f64> = (0..coefficients * coefficients)
        .map(|k| if k / coefficients == k % coefficients { 0.8 } else { 0.1 })
        .collect();
    let mean = (0..coefficients).map(|k| 0.1 * k as f64).collect();
    let prior = Prior::new(mean, &covariance, (3.0, 0.4)).unwrap();
    if conjugate { prior.conjugate() } else { prior }
}

/// The default, one coefficient given, everything given, and a given law of the features.
fn priors(evidence: &Evidence) -> Vec<Prior> {
    let size = evidence.dimension();
    let features = evidence.domain().feature_count();
    let scale: Vec<f64> =
        (0..features * features).map(|k| if k % (features + 1) == 0 { 0.3 } else { 0.05 }).collect();
    let mean = if evidence.domain().intercept() { vec![0.1; features] } else { vec![] };
    let law = FeaturePrior::new(scale, features as f64 + 1.5, mean, 2.0).unwrap();
    let name = crate::prior::coefficient_names(evidence).pop().unwrap();
    let part =
        PriorFile::from_toml(&format!("[coefficients]\nsd = {{ {name} = 0.7 }}\nmean = {{ {name} = 0.2 }}"))
            .unwrap();
    let centred = PriorFile::from_toml(&format!("[coefficients]\nmean = {{ {name} = 0.2 }}")).unwrap();
    vec![
        Prior::weak(size),
        part.build(evidence).unwrap(),
        centred.build(evidence).unwrap(),
        dense_prior(size, false),
        dense_prior(size, true),
        Prior::weak(size).with_features(law),
    ]
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
                for (case, prior) in priors(&evidence).iter().enumerate() {
                    let evidence = match case {
                        2 => with_laplace(&evidence),
                        3 => without_noise(&evidence),
                        _ => evidence.clone(),
                    };
                    let density = MarginalDensity::new(&evidence, prior).unwrap();
                    let mut point = vec![0.0; density.dim()];
                    density.start(&mut rng, &mut point);
                    let error = gradient_error(&density, &point);
                    assert!(error < 1e-6, "{coefficients} {intercept} {response:?} {case}: {error}");
                }
            }
        }
    }
}

/// The formula needs no differences of eigenvalues: here all of them are equal.
#[test]
fn equal_eigenvalues_are_harmless() {
    let gram = vec![40.0, 3.0, -2.0, 3.0, 20.0, 1.0, -2.0, 1.0, 25.0];
    let block = block(30.0, 5.0, (false, ResponseSquare::Own(5.0)), gram);
    let groups = [Group { weights: vec![1.0; 3], blocks: vec![block] }];
    let mut space = LikelihoodSpace::new(3, 0);
    let unit = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    assert!(space.evaluate(&groups, &unit, &[]).is_finite());
    let gradient = space.gradient.clone();
    for row in 0..3 {
        for column in row..3 {
            let mut at = |step: f64| {
                let mut moments = unit;
                moments[row * 3 + column] += step;
                moments[column * 3 + row] = moments[row * 3 + column];
                space.evaluate(&groups, &moments, &[])
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
    assert!(message(&|release| release.records = None).starts_with("b: marginal needs a public number"));
    let evidence = Evidence::new(&[good]).unwrap();
    assert!(matches!(MarginalDensity::new(&evidence, &Prior::weak(3)), Err(InferError::Prior { .. })));
}
