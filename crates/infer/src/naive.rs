//! `naive`: takes the noisy statistics for the true ones.
//!
//! **Target.** The posterior of (theta, sigma^2) that the sums would give if no noise had been added: y ~ N(X theta, sigma^2 I) with
//! X'X, X'y and y'y from the pooled release, made positive semi-definite. **Exactness.** None under noise: intervals are far too narrow (5 to 90
//! per cent of the stated coverage in \[BS19\] section 4). It is a baseline and says so. **Cost.** O(d^3) per node of a
//! quadrature over sigma^2. **Citation.** \[BS19\] section 3.2.

use crate::fast::Conditional;
use crate::pooled::Pooled;
use crate::{Evidence, FixedGram, InferError, Method, Prior, judge};

/// The posterior that ignores the noise.
#[derive(Debug, Clone, Copy, Default)]
pub struct Naive;

impl Naive {
    /// The posterior, in normalised units.
    pub fn posterior(evidence: &Evidence, prior: &Prior) -> Result<FixedGram, InferError> {
        prior.check(evidence)?;
        let evidence = judge::accept(Method::Naive, evidence)?;
        let records: f64 = evidence.counted().map(|(_, records)| records).sum();
        let pooled = Pooled::new(&evidence);
        let (features, cross) = (pooled.features(), pooled.cross());
        let squares = pooled.at(pooled.size - 1, pooled.size - 1);
        FixedGram::from_conditional(prior, |variance| {
            let mut sum = Conditional::of_prior(prior, variance);
            sum.precision.iter_mut().zip(&features).for_each(|(total, value)| *total += value / variance);
            sum.shift.iter_mut().zip(&cross).for_each(|(total, value)| *total += value / variance);
            sum.log_weight -= 0.5 * (records * libm::log(variance) + squares / variance);
            sum
        })
    }
}
