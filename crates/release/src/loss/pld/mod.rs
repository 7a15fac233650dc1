//! Composition of steps that have no closed form: the law of the privacy loss on a grid, convolved by Fourier transform.
//!
//! **Target.** delta(epsilon) and epsilon(delta) of many [`Step`]s on the same records: subsampled Gaussian noise,
//! Gaussian, discrete Gaussian and Laplace noise, and whatever is known by an epsilon and a delta, in any mixture. **Exactness.** Every answer is a [`Bracket`]: the true value is
//! at most its upper end (losses split upwards, as chords of the curve) and at least its lower end (outputs merged, which
//! is post-processing), with the mass outside the grid, wrapping and floating-point errors charged to the safe side.
//! **Cost.** A few transforms of about 2^18 points for each question, whatever the number of steps.
//!
//! ```
//! use organza_release::Neighbours;
//! use organza_release::loss::pld::{Step, SubsampledGaussian, compose};
//!
//! let step = SubsampledGaussian { sigma: 1.0, rate: 0.01, relation: Neighbours::AddRemove };
//! let epsilon = compose(&[(step.into(), 1000), (Step::Laplace { epsilon: 0.1 }, 1)])?.epsilon(1e-5)?;
//! assert!(epsilon.lower <= epsilon.upper && epsilon.upper < 1.001 * epsilon.lower);
//! # Ok::<(), organza_release::loss::LossError>(())
//! ```
//!
//! Keys: \[KJH20\] Koskela, Jälkö and Honkela 2020; \[DGKKM22\] Doroshenko, Ghazi, Kamath, Kumar and Manurangsi 2022;
//! \[KOV15\] Kairouz, Oh and Viswanath 2015; \[CKS20\] Canonne, Kamath and Steinke 2020; \[ZDW22\] Zhu, Dong and Wang 2022.

mod atoms;
mod chain;
mod composed;
mod curve;
mod integers;
mod mechanism;
mod pair;
mod transform;

pub use composed::{Bracket, Composed, compose, delta_at_most, epsilon_at_most, steps_for};
pub(crate) use mechanism::LARGEST_SCALE;
pub use mechanism::{Step, SubsampledGaussian};
