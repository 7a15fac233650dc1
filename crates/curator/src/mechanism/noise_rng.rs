//! Randomness for privacy: exact discrete samplers fed by the operating system.
//!
//! Floating-point noise leaks through its rounding (Mironov 2012), so noise is a whole number of lattice steps,
//! drawn exactly by the samplers of \[CKS20\] on big rationals. There is no seed: a value of this type holds no
//! state, and nothing public lets a caller choose the random bits.

use dashu::integer::{IBig, UBig};
use dashu::rational::RBig;
use opendp::traits::samplers::{
    sample_bernoulli_float, sample_discrete_gaussian, sample_discrete_laplace, sample_uniform_uint_below,
};
use organza_release::{CountFamily, Family};

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

    /// One draw of discrete noise whose scale is a whole number of lattice steps: \[CKS20\] Algorithm 3 (Gaussian)
    /// or \[CKS20\] Algorithm 2 (Laplace). Public so that its distribution can be audited.
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
                return Err(CuratorError::option("--mechanism", "counts get discrete noise only"));
            }
        };
        draw_scaled(family, rational(scale)?)
    }

    /// The answer to publish in place of `exact`, one of `0..choices`: the same with probability `truth`, exactly that of the
    /// double, and otherwise each other one alike. Public so that its distribution can be audited.
    pub fn draw_answer(&mut self, truth: f64, choices: u32, exact: u32) -> Result<u32, CuratorError> {
        let entropy = |error: opendp::error::Error| CuratorError::Entropy(error.to_string());
        if choices < 2 || exact >= choices || !(truth > 0.0 && truth < 1.0) {
            return Err(CuratorError::option(
                "--randomised-response",
                "the answer is not one of the choices",
            ));
        }
        if sample_bernoulli_float(truth, false).map_err(entropy)? {
            return Ok(exact);
        }
        let other: u32 = sample_uniform_uint_below(choices - 1).map_err(entropy)?;
        Ok(if other < exact { other } else { other + 1 })
    }
}

fn draw_scaled(family: Family, scale: RBig) -> Result<i128, CuratorError> {
    let sample = match family {
        Family::Gaussian => sample_discrete_gaussian(scale),
        Family::Laplace => sample_discrete_laplace(scale),
    };
    let integer: IBig = sample.map_err(|error| CuratorError::Entropy(error.to_string()))?;
    i128::try_from(integer).map_err(|error| CuratorError::Entropy(format!("noise beyond 127 bits: {error}")))
}

impl NoiseSource for NoiseRng {
    fn draw(&mut self, family: Family, steps: u128) -> Result<i128, CuratorError> {
        NoiseRng::draw(self, family, steps)
    }
}
