//! The density and its parts against their definitions, the gradient against differences.

use organza_mcmc::{ChainRng, LogDensity, gradient_error};
use organza_release::{Domain, Family};

use super::super::IndividualDensity;
use super::super::latent::Moments;
use super::super::parties::Entry;
use super::super::population::Population;
use super::*;
use crate::linalg::{Cholesky, dot};
use crate::prior::FeaturePrior;
use crate::{Evidence, Prior};

/// Every kind of domain and map, few records (one with some that nobody counted) and many.
fn domains() -> Vec<Domain> {
    vec![
        boxed(1, true, None),
        boxed(0, true, None),
        boxed(2, false, None),
        boxed(2, true, Some(0.7)),
        boxed(2, false, Some(0.5)),
        ball(3),
    ]
}

fn density(domain: &Domain, family: Family, records: &[usize], conjugate: bool) -> IndividualDensity {
    let mut rng = ChainRng::new(5, records.len() as u32);
    let releases: Vec<_> = records
        .iter()
        .enumerate()
        .map(|(party, &records)| {
            let mechanism = Mechanism { domain: domain.clone(), records, family, scale: 2.0 };
            simulated(&format!("p{party}"), &mechanism, &truth(domain), &mut rng)
        })
        .collect();
    let size = domain.dimension() - 1;
    let covariance: Vec<f64> =
        (0..size * size).map(|k| if k / size == k % size { 0.6 } else { 0.1 }).collect();
    let prior = Prior::new(vec![0.2; size], &covariance, (3.0, 0.4)).unwrap();
    let prior = if conjugate { prior.conjugate() } else { prior };
    IndividualDensity::new(&Evidence::new(&releases).unwrap(), &prior).unwrap()
}

/// Catches any wrong term: through the Cholesky factor of the frame, the scales, the cuts, the shrinkage, the mixing of parties.
#[test]
fn the_gradient_is_that_of_the_density() {
    let mut rng = ChainRng::new(6, 0);
    for domain in domains() {
        for (family, records, conjugate) in [
            (Family::Gaussian, vec![12], false),
            (Family::Laplace, vec![9, 14], true),
            (Family::Gaussian, vec![1, 7, 3], true),
        ] {
            let density = density(&domain, family, &records, conjugate);
            let mut point = vec![0.0; density.dim()];
            density.start(&mut rng, &mut point);
            let error = gradient_error(&density, &point);
            assert!(error < 1e-6, "{domain:?} {family:?} {records:?}: {error}");
        }
    }
}

/// Without cuts the sums of the records are those of the moments, the map agrees with its definition, and the noise has the density
/// that its release states. Catches a frame that is not orthonormal, or not orthogonal to the constant, and Laplace noise taken for
/// Gaussian.
#[test]
fn records_have_their_moments_and_are_mapped_by_definition() {
    let mut rng = ChainRng::new(7, 0);
    for (domain, family) in domains().into_iter().zip([Family::Gaussian, Family::Laplace].into_iter().cycle())
    {
        let density = density(&domain, family, &[15], false);
        let mut point = vec![0.0; density.dim()];
        density.start(&mut rng, &mut point);
        let mut space = density.space();
        density.evaluate(&point, &mut space, &mut vec![0.0; density.dim()]);
        let free = &point[1 + density.centres.len()..];
        let (party, at) = (&density.parties[0], &mut Moments::of(&mut space.moments[0]));
        let value = space.latent.evaluate(party, free, at, &mut vec![0.0; free.len()]);
        let (records, counted) = space.latent.columns(15);
        let (q, size) = (records.len() / 15, domain.dimension());
        let (mut gram, mut sums) = (vec![0.0; size * size], vec![0.0; size * size]);
        for i in 0..15 {
            let plain: Vec<f64> = (0..q).map(|k| records[k * 15 + i]).collect();
            let mut whole = if domain.intercept() { vec![1.0] } else { vec![] };
            whole.extend(&plain);
            let expected = mapped(&domain, &plain);
            (0..size * size).for_each(|k| gram[k] += whole[k / size] * whole[k % size]);
            (0..size * size).for_each(|k| sums[k] += expected[k / size] * expected[k % size]);
            (0..size).for_each(|k| assert!((counted[k * 15 + i] - expected[k]).abs() < 1e-14));
        }
        for (sum, expected) in gram.iter().zip(&space.population.gram) {
            assert!((sum - expected).abs() < 1e-9 * (1.0 + expected.abs()), "{sum} {expected}");
        }
        let noise = |entry: &Entry| {
            let residual = entry.value - sums[entry.row * size + entry.column];
            family.log_density(residual, entry.scale) - family.log_density(0.0, entry.scale)
        };
        let expected = party.entries.iter().map(noise).sum::<f64>() - 0.5 * dot(free, free);
        assert!((value - expected).abs() < 1e-9 * expected.abs(), "{value} {expected}");
    }
}

/// The density of y given X is a normal of dimension n, that of X the product of its predictive densities, here for one feature.
/// Catches a missing determinant, a wrong mean of the features and a wrong number of degrees.
#[test]
fn the_population_is_the_integral_over_its_parameters() {
    let mut rng = ChainRng::new(8, 0);
    let n = 6;
    let features = FeaturePrior::new(vec![0.3], 3.5, vec![0.2], 1.7).unwrap();
    let covariance = [0.5, 0.1, 0.1, 0.4];
    for conjugate in [false, true] {
        let prior = Prior::new(vec![0.1, -0.3], &covariance, (3.0, 0.2)).unwrap();
        let prior = if conjugate { prior.conjugate() } else { prior };
        let population = Population::new(&prior, features.clone(), 1, n as f64);
        let mut space = population.space();
        let mut differences = [0.0; 2];
        for sign in [1.0, -1.0] {
            let variance: f64 = if sign > 0.0 { 0.2 } else { 0.5 };
            let x: Vec<f64> = (0..n).map(|_| normal(&mut rng)).collect();
            let y: Vec<f64> = (0..n).map(|_| normal(&mut rng)).collect();
            space.gram.fill(0.0);
            for i in 0..n {
                let record = [1.0, x[i], y[i]];
                (0..9).for_each(|k| space.gram[k] += record[k / 3] * record[k % 3]);
            }
            differences[0] += sign * population.evaluate(variance, &mut space);
            let of_variance = -3.0 * variance.ln() - 0.2 / variance;
            let response = dense_normal(&x, &y, variance, if conjugate { variance } else { 1.0 });
            differences[1] += sign * (of_variance + response + predictive(&x));
        }
        assert!((differences[0] - differences[1]).abs() < 1e-10, "{conjugate}: {differences:?}");
    }
}

/// ln N(y; X m, sigma^2 I + factor X C X') without 2 pi.
fn dense_normal(x: &[f64], y: &[f64], variance: f64, factor: f64) -> f64 {
    let n = x.len();
    let entry = |k: usize| {
        let (a, b) = (x[k / n], x[k % n]);
        let own = if k / n == k % n { variance } else { 0.0 };
        own + factor * (0.5 + 0.1 * (a + b) + 0.4 * a * b)
    };
    let covariance = Cholesky::new(&(0..n * n).map(entry).collect::<Vec<_>>(), n).unwrap();
    let mut residual: Vec<f64> = (0..n).map(|i| y[i] - (0.1 - 0.3 * x[i])).collect();
    covariance.solve_lower(&mut residual);
    -0.5 * (covariance.log_determinant() + dot(&residual, &residual))
}

/// Product of Student densities, one record after the other, without what depends on their number alone.
fn predictive(x: &[f64]) -> f64 {
    let (mut scale, mut degrees, mut mean, mut worth) = (0.3f64, 3.5, 0.2, 1.7);
    let mut value = 0.0;
    for x in x {
        // x is Student with `degrees` degrees, spread^2 = scale (worth + 1)/(worth degrees).
        let factor = worth / (worth + 1.0);
        let square = factor * (x - mean) * (x - mean) / scale;
        value -= 0.5 * scale.ln() + 0.5 * (degrees + 1.0) * (1.0 + square).ln();
        scale += factor * (x - mean) * (x - mean);
        mean = (worth * mean + x) / (worth + 1.0);
        (degrees, worth) = (degrees + 1.0, worth + 1.0);
    }
    value
}

/// What it cannot do is said before anything runs. Catches a bound on the records of each party instead of on those of all.
#[test]
fn what_a_release_lacks_is_said() {
    let domain = boxed(1, true, None);
    let release = |party: &str, domain: &Domain, records: Option<u64>| {
        let mechanism = Mechanism { domain: domain.clone(), records: 5, family: Family::Laplace, scale: 1.0 };
        let mut release = simulated(party, &mechanism, &truth(domain), &mut ChainRng::new(9, 0));
        release.records = records;
        release
    };
    let refusal = |releases: &[Release]| {
        let evidence = Evidence::new(releases).unwrap();
        let lacks = crate::Method::Individual.lacks(&evidence);
        let error = IndividualDensity::new(&evidence, &Prior::weak(2)).err().map(|error| error.to_string());
        assert_eq!(lacks.is_some(), error.is_some());
        error
    };
    let two = |one: u64, other: u64| [release("a", &domain, Some(one)), release("b", &domain, Some(other))];
    assert_eq!(refusal(&two(5, 7)), None);
    let many = refusal(&two(15_000, 5_001)).unwrap();
    assert!(many.contains("20,000") && many.contains("marginal"), "{many}");
    let unknown = refusal(&[release("north", &ball(2), None)]).unwrap();
    assert!(unknown.contains("north") && unknown.contains("public number of records"), "{unknown}");
}
