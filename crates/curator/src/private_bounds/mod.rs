//! Bounds that are found privately, where nobody knows public ones.
//!
//! Two rounds of noisy counts for each column, both on grids that no value decides:
//!
//! 1. **Scales**: four cells in each power of two from 2^-20 to 2^40, of either sign, and what is smaller. The cells
//!    that stand out, alone or together with those beside them, and as much again on either side, are a first range.
//! 2. **A linear grid** inside that range: as many cells as the number of records can fill against the noise. The
//!    bounds are where few records are left outside, at a round number in that cell.
//!
//! **Loss.** A record is in one cell of each column and round, so a neighbour moves one count by one, or two when a
//! record is exchanged. The second grid depends on the first answer only, which is adaptive composition.
//!
//! - With a delta: discrete Gaussian noise of one scale on the counts of both rounds, which loses what as many moved
//!   counts lose at once. Beside a Gaussian release squares of losses add up, so a tenth of epsilon buys 3 to 4 times
//!   less noise than it would alone ([`share_of`]).
//! - Without: discrete Laplace noise of scale b costs moved / b; columns and rounds, a third and two thirds, add up to
//!   epsilon.
//!
//! **What stands out.** By Chernoff's bound noise on empty cells of the first grid stands out with probability 0.001 at
//! most.
//!
//! **Where few are left.** From either end counts less a drift are added up, from 0 anew whenever the sum falls to 0
//! (Page's test). When the sum exceeds a threshold, the range begins where it last was 0: not where the bulk is, but
//! where it begins. With E e^(theta (noise - drift)) = 1 empty cells exceed ln(cells / 0.001) / theta with probability
//! 0.001 at most, by Ville's inequality. From there on 0.2 percent of the records, or two standard deviations of noise,
//! are cut off. Bounds that reach the extremes of a long tail cost more in noise than clamping it does.

mod find;
mod histogram;
mod plan;
mod template;
#[cfg(test)]
mod tests;
mod text;

pub use histogram::ExactValues;
pub use plan::{BoundsPlan, BoundsRequest, share_of};
pub use template::template;
pub use text::{FoundColumn, NoisyCells, PrivateBounds, combine};
