//! `ada-ssp`: a ridge estimate whose strength was itself released privately.
//!
//! **Target.** A point estimate, no posterior: theta = (sum S-hat_j + sum lambda_j I)^-1 sum z-hat_j in weighted units, with
//! lambda_j = max(0, s_j sqrt(d ln(2 d^2 / rho)) - lambda~_j), s_j the scale of the noise on the diagonal of S-hat_j, and
//! lambda~_j = max(lambda-hat_j - t_j sqrt(ln(6/delta)), 0) a lower estimate of the smallest eigenvalue, t_j the scale of its noise.
//! For the published noise scales this is the published rule, without the misprint that lets the noise multiply the shift.
//! **Cost.** O(J d^2 + d^3) once. **Citation.** \[AYB23\] Eq. (15); Wang 2018 (arXiv:1803.02596) for one party.

use organza_release::units::CoefficientMap;
use organza_release::{Release, Statistic};

use crate::linalg::Cholesky;
use crate::prior::coefficient_names;
use crate::{Evidence, InferError, Method, judge};

/// Probability that the bound on the noise of X'X fails; the value of the papers.
const RHO: f64 = 0.05;

/// A point estimate of the coefficients.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// Names and values in users' units.
    pub coefficients: Vec<(String, f64)>,
    /// The ridge that was added to X'X, in weighted units.
    pub ridge: f64,
    /// Number of releases.
    pub releases: usize,
}

/// Estimates the coefficients from releases of kind `ada-ssp`.
pub fn ada_ssp(releases: &[Release]) -> Result<Estimate, InferError> {
    let evidence = Evidence::new(releases)?;
    let size = evidence.dimension();
    let evidence = judge::accept(Method::AdaSsp, &evidence)?;
    let ridge: f64 = evidence.parties.iter().filter_map(|party| party.ridge).sum();
    let weights = &evidence.parties[0].noise.weights;
    let (mut gram, mut cross) = (vec![0.0; size * size], vec![0.0; size]);
    for party in &evidence.parties {
        let full = size + 1;
        (0..size * size).for_each(|k| gram[k] += party.gram[k / size * full + k % size]);
        (0..size).for_each(|k| cross[k] += party.gram[k * full + size]);
    }
    (0..size).for_each(|k| gram[k * size + k] += ridge);
    let factor = Cholesky::new(&gram, size)?;
    factor.solve_lower(&mut cross);
    factor.solve_upper(&mut cross);
    // From weighted to normalised units: theta_w = A theta, A = diag(h/g, h, ..).
    let theta: Vec<f64> = (0..size).map(|k| cross[k] * weights[k] / weights[size]).collect();
    let values = CoefficientMap::new(evidence.domain()).to_users(&theta);
    let coefficients = coefficient_names(&evidence).into_iter().zip(values).collect();
    Ok(Estimate { coefficients, ridge, releases: releases.len() })
}

/// lambda_j of one release, if it is of this kind.
pub(crate) fn ridge(release: &Release) -> Option<f64> {
    let (Statistic::AdaSsp { .. }, Some(value), Some(scale)) =
        (&release.statistic, release.value.last(), release.noise.scales.last())
    else {
        return None;
    };
    let size = release.domain.dimension() as f64 - 1.0;
    let lowest = (value - scale * libm::log(6.0 / release.privacy.delta).sqrt()).max(0.0);
    let domain = &release.domain;
    let diagonal =
        |entry: &[usize; 2]| domain.coordinate_weight(entry[0]) * domain.coordinate_weight(entry[1]);
    let entries = release.statistic.entries().iter().zip(&release.noise.scales);
    let noise = entries
        .filter(|(entry, _)| entry[0] == entry[1])
        .map(|(entry, scale)| scale * diagonal(entry))
        .fold(0.0, f64::max);
    Some((noise * (size * libm::log(2.0 * size * size / RHO)).sqrt() - lowest).max(0.0))
}
