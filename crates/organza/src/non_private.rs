//! What a table says without privacy, for a comparison beside it. **Never publish what comes out of this.**

use organza_curator::bounds::Bounds;
use organza_curator::formula::Formula;
use organza_curator::table::Reading;
use organza_mcmc::student_quantile;
use organza_release::units::CoefficientMap;
use serde::Serialize;

use crate::Error;

/// The posterior of the exact sums, in users' units.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NonPrivate {
    /// Always false, for whoever reads the JSON.
    pub private: bool,
    /// Number of records.
    pub records: u64,
    /// The constant, if the formula has one, and the features.
    pub coefficients: Vec<Coefficient>,
    /// The same with every record weighted as the default release weights it, if that scales records.
    pub weighted: Option<Vec<Coefficient>>,
    /// What they are computed from.
    #[serde(skip)]
    pub exact: organza_curator::NonPrivate,
}

/// Posterior of one coefficient.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Coefficient {
    /// The feature, or `intercept`.
    pub name: String,
    /// Posterior mean.
    pub mean: f64,
    /// Posterior standard deviation.
    pub sd: f64,
    /// Central interval of 95 percent.
    pub interval: [f64; 2],
}

/// Precision of the coefficients relative to that of the residuals, and shape and rate of the residual variance's prior, all in
/// normalised units.
const PRIOR: (f64, f64, f64) = (0.01, 1.0, 0.01);

/// Reads a table and gives the conjugate posterior under theta ~ N(0, sigma^2/0.01), sigma^2 ~ IG(1, 0.01), plain and with the
/// weights of the default release with this loss.
pub fn non_private(
    formula: Formula,
    bounds: Bounds,
    loss: (f64, f64),
    reading: &Reading<'_>,
) -> Result<NonPrivate, Error> {
    let exact = organza_curator::non_private(formula, bounds, loss, reading)?;
    let coefficients = posterior(&exact, &exact.gram)?;
    let weighted = exact.weighted.as_ref().map(|weighted| posterior(&exact, &weighted.gram)).transpose()?;
    Ok(NonPrivate { private: false, records: exact.records, coefficients, weighted, exact })
}

/// A multivariate t distribution.
fn posterior(exact: &organza_curator::NonPrivate, gram: &[f64]) -> Result<Vec<Coefficient>, Error> {
    let (size, (ridge, shape, rate)) = (exact.domain.dimension(), PRIOR);
    let p = size - 1;
    let entry = |row: usize, column: usize| gram[row * size + column];
    let precision = |k: usize| entry(k / p, k % p) + if k.is_multiple_of(p + 1) { ridge } else { 0.0 };
    let precision: Vec<f64> = (0..p * p).map(precision).collect();
    let inverse = organza_infer::linalg::inverse(&precision, p)?;
    let mean: Vec<f64> = (0..p).map(|row| (0..p).map(|k| inverse[row * p + k] * entry(k, p)).sum()).collect();
    let explained: f64 = (0..p).map(|k| mean[k] * entry(k, p)).sum();
    let shape = shape + 0.5 * exact.records as f64;
    let rate = rate + 0.5 * (entry(p, p) - explained).max(0.0);
    let map = CoefficientMap::new(&exact.domain);
    let (mean, unit) = (map.to_users(&mean), map.covariance_to_users(&inverse));
    let reach = student_quantile(0.975, 2.0 * shape);
    let names = exact.domain.intercept().then_some("intercept").into_iter();
    let names = names.chain(exact.domain.feature_names()).enumerate();
    let coefficient = |(k, name): (usize, &str)| {
        let half = reach * (rate / shape * unit[k * p + k]).sqrt();
        let sd = (rate / (shape - 1.0) * unit[k * p + k]).sqrt();
        Coefficient { name: name.into(), mean: mean[k], sd, interval: [mean[k] - half, mean[k] + half] }
    };
    Ok(names.map(coefficient).collect())
}
