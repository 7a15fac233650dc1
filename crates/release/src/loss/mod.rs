//! The arithmetic of privacy losses: pure functions of a few numbers. No data, no randomness.
//!
//! - **Gaussian noise**, exactly: [`gaussian_delta`], [`gaussian_epsilon`], [`gaussian_mu`],
//!   [`gaussian_scale`], in the parameter mu = sensitivity / scale.
//! - **Laplace noise**: [`laplace_scale`], [`laplace_epsilon`].
//! - **Concentrated privacy** (zCDP), for comparison with accountants that speak it: [`zcdp_epsilon`] and
//!   its neighbours. It costs 4 to 10 percent more noise than the exact Gaussian arithmetic.
//! - **Composition** of several mechanisms on the same records: [`Composition`], [`steps_within`]; on
//!   disjoint records: [`parallel`].
//! - **Losses without a closed form**, such as those of mixtures and of subsampled Gaussian noise: the module [`pld`], by Fourier
//!   transform, with bounds on both sides; [`Composition`] uses it.
//! - **The lattice**: noise is drawn on the integers, and [`discrete_gaussian_total_variation`] with
//!   [`lattice_delta`] says what that adds to delta. On the integers themselves, for counts, where the lattice is
//!   coarse: [`discrete_gaussian_delta`].
//!
//! Transcendental functions come from the crate `libm`, and sums are plain loops, so results are
//! bit-identical on all machines.
//!
//! ```
//! use organza_release::loss::{Composition, Mechanism, gaussian_mu};
//!
//! let mu = gaussian_mu(1.0, 1e-6)?; // one release at (1, 1e-6)
//! let twice = Composition::of([Mechanism::Gaussian { mu }; 2])?;
//! let epsilon = twice.epsilon(1e-6)?; // two of them: less than 2
//! assert!(1.4 < epsilon && epsilon < 1.5);
//! # Ok::<(), organza_release::loss::LossError>(())
//! ```
//!
//! Keys: \[BW18\] Balle and Wang 2018; \[CKS20\] Canonne, Kamath and Steinke 2020; \[DRS22\] Dong, Roth and
//! Su 2022; \[RKH21\] Räisä, Koskela and Honkela 2021.

mod composition;
mod discrete_gaussian;
mod error;
mod gaussian;
mod laplace;
mod lattice;
mod mills;
mod mixture;
pub mod pld;
mod root;
mod sum;
mod zcdp;

pub use composition::{Composition, Mechanism, parallel, steps_within};
pub use discrete_gaussian::discrete_gaussian_delta;
pub(crate) use discrete_gaussian::{discrete_gaussian_normaliser, quick_sum};
pub use error::LossError;
pub use gaussian::{gaussian_delta, gaussian_epsilon, gaussian_mu, gaussian_scale};
pub use laplace::{laplace_epsilon, laplace_scale};
pub use lattice::{discrete_gaussian_total_variation, lattice_delta};
pub use zcdp::{
    composed_rho, gaussian_rho, pure_rho, zcdp_delta, zcdp_delta_classic, zcdp_epsilon, zcdp_epsilon_classic,
    zcdp_rho, zcdp_rho_classic,
};

/// The relative accuracy that this module promises in its main range; smaller differences are rounding.
pub const RELATIVE_ACCURACY: f64 = 1e-12;
