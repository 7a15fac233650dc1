//! The noise of a plan: how many lattice steps each entry's scale has.
//!
//! What is claimed for (epsilon, delta) holds for the discrete noise that is drawn, not for an idealised continuous
//! one; `refs/CKS20.md` has the argument. Scales are rounded up to whole steps, so the loss is never understated.

use organza_release::loss::{
    discrete_gaussian_total_variation, gaussian_scale, laplace_scale, lattice_delta,
};
use organza_release::{Domain, Family, Noise, Statistic};

use crate::CuratorError;
use crate::defaults::GRID_BITS;

/// Share of delta that may go to the difference between discrete and continuous Gaussian noise.
const LATTICE_SHARE: f64 = 1.0 / (1u64 << 20) as f64;

/// The finest lattice: Gram entries (below 2^72 on the grid's own lattice) still fit into i128.
const FINEST_LATTICE: i32 = 80;

/// Noise in the units of the lattice and in the units of a release.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Calibrated {
    pub noise: Noise,
    /// Scale of every entry in lattice steps.
    pub steps: Vec<u128>,
    /// Distance of the discrete noise from a rounded continuous one.
    pub total_variation: f64,
}

/// Chooses the coarsest lattice whose correction to delta is negligible, and the scales on it.
pub(super) fn calibrate(
    domain: &Domain,
    statistic: &Statistic,
    family: Family,
    (epsilon, delta): (f64, f64),
    sensitivity: f64,
) -> Result<Calibrated, CuratorError> {
    let mut fineness = exact_fineness(statistic);
    loop {
        let scale = match family {
            Family::Gaussian => gaussian_scale(epsilon, delta * (1.0 - LATTICE_SHARE), sensitivity)?,
            Family::Laplace => laplace_scale(epsilon, sensitivity)?,
        };
        let calibrated = on_lattice(domain, statistic, family, scale, fineness)?;
        let variation = calibrated.as_ref().map_or(0.0, |calibrated| calibrated.total_variation);
        if let Some(calibrated) = calibrated {
            let correction = lattice_delta(epsilon, calibrated.total_variation);
            if correction <= delta * LATTICE_SHARE || family == Family::Laplace {
                return Ok(calibrated);
            }
        }
        fineness += 8;
        if fineness > FINEST_LATTICE {
            // However small epsilon is, discrete noise costs twice its distance from continuous noise.
            return Err(if 2.0 * variation > delta * LATTICE_SHARE {
                let reason =
                    format!("{delta:e} is too small even for the finest lattice of the noise; raise it");
                CuratorError::setting("delta", reason)
            } else {
                let reason = format!("{epsilon} asks for noise below the finest lattice; lower it");
                CuratorError::setting("epsilon", reason)
            });
        }
    }
}

/// The exact statistic is a whole multiple of 2^-this: products of two grid points of spacing 2^-k are multiples of 2^-2k,
/// those of four multiples of 2^-4k. Eigenvalues are rounded to the lattice of the former.
pub(super) fn exact_fineness(statistic: &Statistic) -> i32 {
    let factors = match statistic {
        Statistic::FourthMoments { .. } => 4,
        _ => 2,
    };
    factors * GRID_BITS as i32
}

/// The scales on a lattice of step 2^-fineness, or none if it is too coarse for the noise.
fn on_lattice(
    domain: &Domain,
    statistic: &Statistic,
    family: Family,
    scale: f64,
    fineness: i32,
) -> Result<Option<Calibrated>, CuratorError> {
    let steps_per_unit = f64::exp2(f64::from(fineness));
    let (mut steps, mut scales, mut total_variation) = (vec![], vec![], 0.0);
    for weights in statistic.weights(domain) {
        // The factor covers the rounding of this very expression.
        let steps_per_scale = weights.lattice / weights.noise * steps_per_unit;
        let wanted = (scale * steps_per_scale * (1.0 + 8.0 * f64::EPSILON)).ceil();
        // A scale of 2^20 steps keeps the discreteness invisible; 2^110 keeps sums inside i128.
        if wanted < f64::exp2(20.0) {
            return Ok(None);
        }
        if wanted > f64::exp2(110.0) {
            let reason = "the noise is beyond any use; raise it (or tighten the bounds)";
            return Err(CuratorError::setting("epsilon", reason));
        }
        if family == Family::Gaussian {
            total_variation += discrete_gaussian_total_variation(wanted)?;
        }
        steps.push(wanted as u128);
        scales.push(wanted / steps_per_unit / weights.lattice);
    }
    let noise = Noise { family, scales, lattice: -fineness };
    Ok(Some(Calibrated { noise, steps, total_variation }))
}
