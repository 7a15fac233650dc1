//! The Laplace mechanism: noise with density exp(-|x| / scale) / (2 scale) on every entry.
//!
//! A query of L1 sensitivity D is private with epsilon = D / scale and delta = 0. The scale is the mean
//! absolute value of the noise; its standard deviation is sqrt(2) times as large.

use super::error::{LossError, positive, representable};

/// The smallest scale of Laplace noise that makes a query of this L1 sensitivity epsilon-private, rounded up.
///
/// Exact up to one unit in the last place, on the safe side: [`laplace_epsilon`] of the result is at most
/// `epsilon`.
pub fn laplace_scale(epsilon: f64, sensitivity: f64) -> Result<f64, LossError> {
    positive("epsilon", epsilon)?;
    positive("sensitivity", sensitivity)?;
    representable("scale", (sensitivity / epsilon).next_up())
}

/// The epsilon of Laplace noise of this scale on a query of this L1 sensitivity; correctly rounded.
pub fn laplace_epsilon(scale: f64, sensitivity: f64) -> Result<f64, LossError> {
    positive("scale", scale)?;
    positive("sensitivity", sensitivity)?;
    representable("epsilon", sensitivity / scale)
}
