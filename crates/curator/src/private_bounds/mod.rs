//! Bounds that are found privately, where nobody knows public ones.
//!
//! Two rounds of noisy counts for each column, both on grids that no value decides:
//!
//! 1. **Scales**, for a third of epsilon: powers of two from 2^-20 to 2^40, of either sign, and what is smaller. The cells in use, with one
//!    more on either side, are a first range.
//! 2. **A linear grid** inside that range, for the other two thirds: as many cells as the number of records can fill against the noise. The cells in use are the bounds.
//!
//! **Loss.** A record is in one cell of each column and round, so a neighbour moves one count by one, or two when a record is exchanged. Discrete Laplace noise of scale b on every cell costs
//! moved / b; columns and rounds add up to epsilon, and delta is 0. The second grid depends on the first answer only, which is adaptive composition of pure losses.
//!
//! **Which cells are in use.** From either end counts less a drift are added up, from 0 anew whenever the sum falls to 0 (Page's test). When the sum exceeds a threshold, the
//! range begins where it last was 0: not where the bulk is, but where it begins. Both follow from the noise: with scale b and theta = 2/(3b), E e^(theta (noise - drift)) = 1 for
//! drift = ln(9/5) / theta, and by Ville's inequality empty cells exceed ln(cells / 0.001) / theta with probability 0.001 at most. What stays outside are cells with fewer records than about the drift, 0.9 b. A power of two too many
//! doubles the range and coarsens the second grid, so at the ends of the first range cells hold more than 2 b.

mod find;
mod histogram;
mod plan;
mod template;
#[cfg(test)]
mod tests;
mod text;

pub use histogram::ExactValues;
pub use plan::{BoundsPlan, BoundsRequest};
pub use template::template;
pub use text::{FoundColumn, NoisyCells, PrivateBounds, combine};
