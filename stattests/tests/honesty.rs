//! Default fits of default releases of tables that are not drawn from the model: intervals hold.
//!
//! Seeds are fixed. Of 16 intervals with mass 0.95 fewer than 12 hold with probability 1e-5.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use organza_lab::strata::{Kind, Stratum, Table};
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

const STUDIES: u64 = 16;
const LEAST: f64 = 75.0;

fn check(kind: Kind, epsilon: f64) {
    let name = kind.to_string();
    let found = Stratum { kind, epsilon }.coverage(STUDIES).unwrap();
    println!("{name}, epsilon {epsilon}: {found:?}");
    assert!(found.coefficients.iter().all(|percent| *percent >= LEAST), "{name}: {found:?}");
    assert!(found.sigma >= LEAST && found.r_squared >= LEAST, "{name}: {found:?}");
    assert!(found.predictive >= 88.0, "{name}: {found:?}");
    assert!(found.warned <= 2, "{name}: {found:?}");
}

/// Catches priors that forbid features which fill little of their bounds.
#[test]
fn bounds_far_too_wide() {
    check(Kind::Loose(15.0), 1.0);
}

/// Catches a prior that ties the spread of features to their distance from the centre.
#[test]
fn features_off_centre() {
    check(Kind::OffCentre, 3.0);
}

/// Catches a prior that is too sure that features differ.
#[test]
fn collinear_features() {
    check(Kind::Correlated(0.99), 3.0);
}

/// Catches a prior that forbids a small residual variance.
#[test]
fn hardly_any_residual() {
    check(Kind::Independent(1000, 3, 0.999), 3.0);
}

/// Catches a noisy X'X that is taken for the true one where the number of records is not public.
#[test]
fn neighbours_that_add_or_remove_a_record() {
    check(Kind::AddRemove, 1.0);
}

/// Catches noise that is not normal and taken for normal, and chains that do not converge.
#[test]
fn laplace_noise() {
    check(Kind::Laplace, 1.0);
}

/// A feature like a body mass index in bounds that a cautious officer would write, in one table of 442 records. Least squares on these records has no sampling error, so
/// all intervals should hold it; width is the price.
#[test]
fn natural_bounds_of_a_real_feature() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
    let mut table = Table::default();
    for _ in 0..442 {
        // Skewed, as body mass is.
        let x = 16.0 + 10.0 * (0.4 * normal()).exp();
        table.x.push(vec![x]);
        table.y.push((10.2 * x - 117.0 + 62.0 * normal()).clamp(25.0, 346.0));
    }
    let kind = |upper: f64| Kind::Table(table.clone(), vec![(0.0, upper), (0.0, 350.0)]);
    check(kind(100.0), 1.0);
    check(kind(1000.0), 15.0);
    let near = Stratum { kind: Kind::Table(table.clone(), vec![(10.0, 60.0), (0.0, 350.0)]), epsilon: 15.0 };
    let found = near.coverage(STUDIES).unwrap();
    assert!(found.coefficients.iter().all(|percent| *percent >= LEAST), "{found:?}");
    assert!(found.width < 1.3, "{found:?}");
}
