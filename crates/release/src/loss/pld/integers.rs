//! Discrete Gaussian noise on a count that moves by one: its tails, summed once.
//!
//! Noise is K with mass proportional to exp(-k^2 / (2 s^2)) (\[CKS20\]). P is the law of K + 1 and Q that of K, so the output k + 1 has
//! the loss (2k + 1) / (2 s^2), with k distributed as K under P and as K - 1 under Q. More counts, or a sum that is spread over several, are several steps.

use super::pair::Sides;
use crate::loss::discrete_gaussian_normaliser;
use crate::loss::sum::CompensatedSum;

/// Terms beyond so many standard deviations are below the smallest double.
const LAST_DEVIATION: f64 = 39.0;

/// The upper tails of the noise.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Integers {
    variance: f64,
    /// P(K > k) for k = 0, 1, ..
    tails: Vec<f64>,
}

impl Integers {
    pub(super) fn new(scale: f64) -> Self {
        let variance = scale * scale;
        let whole = discrete_gaussian_normaliser(scale);
        let last = (LAST_DEVIATION * scale).ceil() as usize + 1;
        let mut tails = vec![0.0; last + 1];
        let mut sum = CompensatedSum::default();
        // From the far end, so that small terms keep their digits.
        for k in (0..last).rev() {
            let next = (k + 1) as f64;
            sum.add(libm::exp(-0.5 * next * (next / variance)));
            tails[k] = sum.total() / whole;
        }
        Self { variance, tails }
    }

    /// P(K > k).
    fn above(&self, k: f64) -> f64 {
        let tail = |k: f64| self.tails.get(k as usize).copied().unwrap_or(0.0);
        if k >= 0.0 { tail(k) } else { 1.0 - tail(-k - 1.0) }
    }

    /// P(K <= k) = P(K > -k - 1).
    fn below(&self, k: f64) -> f64 {
        self.above(-k - 1.0)
    }

    /// The masses with a loss above `loss`, and of the rest.
    pub(super) fn sides(&self, loss: f64) -> Sides {
        let k = (self.variance * loss - 0.5).floor();
        let z = ((k.abs() + 2.0) / self.variance.sqrt()).min(1e3);
        Sides {
            p_above: self.above(k),
            p_below: self.below(k),
            q_above: self.above(k + 1.0),
            q_below: self.below(k + 1.0),
            // A relative error of the exponent counts z^2 times; the sums are compensated.
            error: 2.0 * f64::EPSILON * (4.0 + z * z),
        }
    }

    /// Losses outside which there is less than one normal tail beyond `deviations` standard deviations.
    pub(super) fn range(&self, deviations: f64) -> (f64, f64) {
        let last = (deviations * self.variance.sqrt()).ceil() + 1.0;
        ((0.5 - last) / self.variance, (0.5 + last) / self.variance)
    }
}
