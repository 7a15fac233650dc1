//! How far draws can be trusted.
//!
//! **What they estimate.** Whether chains agree ([`r_hat`]), how many independent draws they are worth
//! ([`ess_bulk`], [`ess_tail`]), and how far a mean, a standard deviation or a quantile of them may be from
//! the truth ([`mcse_mean`], [`mcse_sd`], [`mcse_quantile`]); beside them quantiles and intervals.
//!
//! **Composition.** All of them are compositions of a few primitives, so that each line reads as its
//! definition: `ess_bulk = ess(rank_normalise(split(x)))`.
//!
//! **Exactness.** Values agree with ArviZ 0.23 to a relative 1e-6 (tested on stored draws), with two
//! exceptions. R-hat exists for a single chain, whose halves are compared; ArviZ gives NaN. Chains count as
//! constant only if all values are equal; ArviZ also takes a spread below 1e-15 for constant, in whatever
//! unit. Processors of one platform give the same bits; the sines and cosines of another platform may change
//! the last ones.
//!
//! **Never a panic.** Fewer than four draws in a chain, or a value that is NaN or infinite, make every
//! diagnostic NaN. If all values are equal, R-hat is NaN and effective sizes are the number of draws, as in
//! ArviZ. If each chain is constant but they differ, R-hat is infinite. Quantiles and intervals are NaN if a
//! value is NaN or there are no values.
//!
//! **Cost.** S log S for S draws: sorting and Fourier transforms.
//!
//! **Symbols.** M chains of N draws, S = M N; W, B variances within and between chains; rho_t autocorrelation
//! at lag t; tau = S / ESS.
//!
//! **Citation.** \[VGSCB21\], and ArviZ where the paper leaves a choice.

mod autocovariance;
mod effective_size;
mod energy;
mod interval;
mod rank;
mod scale_reduction;
mod standard_error;
mod traces;

pub use autocovariance::autocovariance;
pub use effective_size::{ess, ess_bulk, ess_mean, ess_quantile, ess_sd, ess_tail};
pub use energy::energy_fraction;
pub use interval::{Interval, equal_tailed, highest_density, quantile};
pub use rank::{fold, rank_normalise};
pub use scale_reduction::{r_hat, scale_reduction};
pub use standard_error::{mcse_mean, mcse_quantile, mcse_sd};
pub(crate) use traces::rectangle;
pub use traces::{Traces, split};
