//! Randomness for privacy: exact discrete samplers fed by the operating system.
//!
//! Floating-point noise leaks through its rounding (Mironov 2012), so noise is a whole number of lattice steps,
//! drawn exactly by the samplers of \[CKS20\] on big rationals. There is no seed: a value of this type holds no
//! state, and nothing public lets a caller choose the random bits.

use dashu::integer::{IBig, UBig};
use dashu::rational::RBig;
use opendp::traits::samplers::{sample_discrete_gaussian, sample_discrete_laplace};
use organza_release::Family;

use crate::CuratorError;

/// A source of integer noise. Tests inject their own; the public interface takes [`NoiseRng`] only.
pub(crate) trait NoiseSource {
    /// One draw of discrete noise whose scale is `steps` lattice steps.
    fn draw(&mut self, family: Family, steps: u128) -> Result<i128, CuratorError>;
}

/// Noise from the operating system's entropy.
#[derive(Debug, Default)]
pub struct NoiseRng {
    _no_public_fields: (),
}

impl NoiseRng {
    /// The only way to make one: without a seed.
    pub fn from_operating_system() -> Self {
        Self::default()
    }

    /// One draw of discrete noise whose scale is a whole number of lattice steps: \[CKS20\] Algorithm 3 (Gaussian)
    /// or \[CKS20\] Algorithm 2 (Laplace). Public so that its distribution can be audited.
    pub fn draw(&mut self, family: Family, steps: u128) -> Result<i128, CuratorError> {
        let scale = RBig::from(UBig::from(steps));
        let sample = match family {
            Family::Gaussian => sample_discrete_gaussian(scale),
            Family::Laplace => sample_discrete_laplace(scale),
        };
        let integer: IBig = sample.map_err(|error| CuratorError::Entropy(error.to_string()))?;
        i128::try_from(integer)
            .map_err(|error| CuratorError::Entropy(format!("noise beyond 127 bits: {error}")))
    }
}

impl NoiseSource for NoiseRng {
    fn draw(&mut self, family: Family, steps: u128) -> Result<i128, CuratorError> {
        NoiseRng::draw(self, family, steps)
    }
}
