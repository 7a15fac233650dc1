//! Whether the stated guarantee of noisy counts follows from their noise.

use super::{CountFamily, CountRelease};
use crate::claim::{Claim, SLACK};
use crate::error::ReleaseError;
use crate::loss::{discrete_gaussian_delta, gaussian_delta};
use crate::sensitivity::{counts, moved_counts};

impl CountRelease {
    /// Recomputes the guarantee from the tables and the noise. The release is taken to be valid.
    ///
    /// Laplace noise, discrete or not, of scale b: epsilon is the L1 sensitivity over b. Discrete Gaussian noise:
    /// [`discrete_gaussian_delta`] of the counts that move. Continuous noise is judged as if real numbers had been drawn.
    pub fn claim(&self) -> Result<Claim, ReleaseError> {
        let (stated, scale) = (&self.privacy, self.noise.scale);
        let sensitivity = counts(self.tables.len(), stated.neighbours, stated.norm);
        let (epsilon, delta) = match self.noise.family {
            CountFamily::DiscreteLaplace | CountFamily::Laplace => (sensitivity.value / scale, 0.0),
            CountFamily::DiscreteGaussian => {
                let moved = moved_counts(self.tables.len(), stated.neighbours);
                (stated.epsilon, discrete_gaussian_delta(stated.epsilon, scale, moved)?)
            }
            CountFamily::Gaussian => {
                (stated.epsilon, gaussian_delta(stated.epsilon, sensitivity.value / scale)?)
            }
        };
        let holds =
            stated.public_bounds && epsilon <= stated.epsilon * SLACK && delta <= stated.delta * SLACK;
        Ok(Claim { sensitivity, scale, epsilon, delta, holds })
    }
}
