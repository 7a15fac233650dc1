//! Whether the stated guarantee follows from the stated noise: an analyst's own check of a release.

use crate::error::ReleaseError;
use crate::loss::{discrete_gaussian_total_variation, gaussian_delta, lattice_delta};
use crate::noise::Family;
use crate::release::Release;
use crate::sensitivity::{Bound, of_release};

/// The guarantee recomputed from the domain, the statistic and the noise of a release.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// The sensitivity that the domain and the statistic imply.
    pub sensitivity: Bound,
    /// Smallest noise scale over the weighted entries.
    pub scale: f64,
    /// The epsilon for which the noise pays: the stated one (Gaussian) or the recomputed one (Laplace).
    pub epsilon: f64,
    /// The delta at that epsilon, the correction for the lattice included.
    pub delta: f64,
    /// Whether the stated loss is at least the recomputed one and bounds were public.
    pub holds: bool,
}

/// Rounding of the last digits is not a broken claim.
pub(crate) const SLACK: f64 = 1.0 + 1e-9;

impl Release {
    /// Recomputes the guarantee. The release is taken to be valid.
    pub fn claim(&self) -> Result<Claim, ReleaseError> {
        let stated = &self.privacy;
        let sensitivity = of_release(&self.domain, &self.statistic, stated.neighbours, stated.norm);
        let weights = self.statistic.weights(&self.domain);
        let weighted = self.noise.scales.iter().zip(&weights).map(|(scale, weights)| scale * weights.noise);
        let scale = weighted.fold(f64::INFINITY, f64::min);
        let (epsilon, delta) = match self.noise.family {
            Family::Laplace => (sensitivity.value / scale, 0.0),
            Family::Gaussian => {
                let continuous = gaussian_delta(stated.epsilon, sensitivity.value / scale)?;
                (stated.epsilon, continuous + lattice_delta(stated.epsilon, self.total_variation()?))
            }
        };
        let holds =
            stated.public_bounds && epsilon <= stated.epsilon * SLACK && delta <= stated.delta * SLACK;
        Ok(Claim { sensitivity, scale, epsilon, delta, holds })
    }

    /// Distance between the discrete noise that was drawn and rounded continuous noise; zero for Laplace noise,
    /// whose discrete form is private in its own right.
    pub fn total_variation(&self) -> Result<f64, ReleaseError> {
        if self.noise.family == Family::Laplace {
            return Ok(0.0);
        }
        let steps_per_unit = f64::exp2(-f64::from(self.noise.lattice));
        let mut total = 0.0;
        for (weights, scale) in self.statistic.weights(&self.domain).iter().zip(&self.noise.scales) {
            total += discrete_gaussian_total_variation(scale * weights.lattice * steps_per_unit)?;
        }
        Ok(total)
    }
}
