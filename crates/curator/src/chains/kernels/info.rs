//! What a step of a private chain reports. All of it comes from noisy answers, so it may be published with the draws.

use organza_mcmc::{Info, Statistic, Thinned};

/// What a step reports.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChainInfo {
    /// Probability with which the noisy test accepts; 1 for chains without a test.
    pub acceptance: f64,
    /// Noisy share of clipped gradients, averaged over the step; `NaN` without gradients or count.
    pub clipped_gradients: f64,
    /// Noisy share of clipped ratios; `NaN` without a ratio or count.
    pub clipped_ratios: f64,
}

impl ChainInfo {
    /// Name of [`Self::acceptance`] in the draws.
    pub const ACCEPTANCE: &'static str = "acceptance";
    /// Name of [`Self::clipped_gradients`] in the draws.
    pub const CLIPPED_GRADIENTS: &'static str = "clipped_gradients";
    /// Name of [`Self::clipped_ratios`] in the draws.
    pub const CLIPPED_RATIOS: &'static str = "clipped_ratios";
}

impl Info for ChainInfo {
    const STATISTICS: &'static [Statistic] = &[
        Statistic { name: Self::ACCEPTANCE, thinned: Thinned::Mean },
        Statistic { name: Self::CLIPPED_GRADIENTS, thinned: Thinned::Mean },
        Statistic { name: Self::CLIPPED_RATIOS, thinned: Thinned::Mean },
    ];

    fn write(&self, values: &mut [f64]) {
        values.copy_from_slice(&[self.acceptance, self.clipped_gradients, self.clipped_ratios]);
    }
}

/// The probability of a noisy acceptance test, min(1, e^log_ratio), 0 for what is not a number.
pub(super) fn probability(log_ratio: f64) -> f64 {
    if log_ratio.is_nan() { 0.0 } else { libm::exp(log_ratio).min(1.0) }
}
