//! Randomness for privacy: exact discrete samplers fed by the operating system.
//!
//! Floating-point noise leaks through its rounding (Mironov 2012), so noise is a whole number of lattice steps,
//! drawn exactly by the [samplers](super::samplers) of \[CKS20\] from bits that are read from the operating system for each
//! draw. There is no seed: a value of this type holds no state, and nothing public lets a caller choose the random bits.

use dashu_int::UBig;
use dashu_ratio::RBig;
use organza_release::{CountFamily, Family};

use super::entropy::SystemBits;
use super::samplers::{bernoulli_f64, discrete_gaussian, discrete_laplace, uniform_below};
use crate::CuratorError;
use crate::counts::rational;

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

    /// One draw of discrete noise whose scale is a whole number of lattice steps. Public so that its distribution can be
    /// audited.
    pub fn draw(&mut self, family: Family, steps: u128) -> Result<i128, CuratorError> {
        draw_scaled(family, RBig::from(UBig::from(steps)))
    }

    /// One draw of noise on a count: discrete, of any scale, which is taken as the rational number that the double is.
    /// Continuous noise is never drawn. Public so that its distribution can be audited.
    pub fn draw_count(&mut self, family: CountFamily, scale: f64) -> Result<i128, CuratorError> {
        let family = match family {
            CountFamily::DiscreteGaussian => Family::Gaussian,
            CountFamily::DiscreteLaplace => Family::Laplace,
            CountFamily::Gaussian | CountFamily::Laplace => {
                return Err(CuratorError::setting("family", "counts get discrete noise only"));
            }
        };
        draw_scaled(family, rational(scale)?)
    }

    /// The answer to publish in place of `exact`, one of `0..choices`: the same with probability `truth`, exactly that of the
    /// double, and otherwise each other one alike. Public so that its distribution can be audited.
    pub fn draw_answer(&mut self, truth: f64, choices: u32, exact: u32) -> Result<u32, CuratorError> {
        if choices < 2 || exact >= choices || !(truth > 0.0 && truth < 1.0) {
            return Err(CuratorError::setting("answer.choices", "the answer is not one of the choices"));
        }
        let bits = &mut SystemBits::new();
        if bernoulli_f64(truth, bits).map_err(CuratorError::Entropy)? {
            return Ok(exact);
        }
        let other = uniform_below(&UBig::from(choices - 1), bits).map_err(CuratorError::Entropy)?;
        let other = u32::try_from(other).map_err(|error| CuratorError::Entropy(error.to_string()))?;
        Ok(if other < exact { other } else { other + 1 })
    }
}

fn draw_scaled(family: Family, scale: RBig) -> Result<i128, CuratorError> {
    let bits = &mut SystemBits::new();
    let drawn = match family {
        Family::Gaussian => discrete_gaussian(&scale, bits),
        Family::Laplace => discrete_laplace(&scale, bits),
    };
    drawn.map_err(CuratorError::Entropy)
}

impl NoiseSource for NoiseRng {
    fn draw(&mut self, family: Family, steps: u128) -> Result<i128, CuratorError> {
        NoiseRng::draw(self, family, steps)
    }
}
