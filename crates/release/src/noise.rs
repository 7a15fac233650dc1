//! The noise of a release: described here, drawn by the data holder, scored by the analyst.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The family of the noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// Normal with mean zero; a scale is a standard deviation.
    Gaussian,
    /// Double exponential with mean zero; a scale is the mean absolute deviation.
    Laplace,
}

/// Independent noise on every released entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Noise {
    /// The family.
    pub family: Family,
    /// One scale per entry, in the units of the values.
    pub scales: Vec<f64>,
    /// The noise is discrete: in weighted units it is a whole multiple of `2^lattice`.
    pub lattice: i32,
}

impl Noise {
    /// Log density of the residuals `value - statistic`, as if the noise were continuous.
    ///
    /// The lattice is finer than 2^-31 of the records' units, so the continuous density is exact for every
    /// purpose of inference. Residuals beyond the released entries are ignored; both slices normally have the
    /// same length.
    pub fn log_density(&self, residual: &[f64]) -> f64 {
        debug_assert_eq!(residual.len(), self.scales.len());
        residual.iter().zip(&self.scales).map(|(&r, &scale)| self.family.log_density(r, scale)).sum()
    }

    /// Variance of the noise on one entry.
    pub fn variance(&self, entry: usize) -> f64 {
        let scale = self.scales[entry];
        match self.family {
            Family::Gaussian => scale * scale,
            Family::Laplace => 2.0 * scale * scale,
        }
    }
}

impl Family {
    /// Log density of a single residual.
    pub fn log_density(self, residual: f64, scale: f64) -> f64 {
        const HALF_LOG_TWO_PI: f64 = 0.918_938_533_204_672_7;
        let standardised = residual / scale;
        match self {
            Family::Gaussian => -0.5 * standardised * standardised - libm::log(scale) - HALF_LOG_TWO_PI,
            Family::Laplace => -standardised.abs() - libm::log(2.0 * scale),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Trapezium rule over +-40 scales: the densities must integrate to one and have the stated variance.
    #[test]
    fn densities_integrate_to_one_with_the_stated_variance() {
        for family in [Family::Gaussian, Family::Laplace] {
            let scale = 0.37;
            let noise = Noise { family, scales: vec![scale], lattice: -32 };
            let step = scale / 500.0;
            let (mut mass, mut second) = (0.0, 0.0);
            for index in -20_000..=20_000 {
                let residual = f64::from(index) * step;
                let density = noise.log_density(&[residual]).exp() * step;
                mass += density;
                second += density * residual * residual;
            }
            assert!((mass - 1.0).abs() < 1e-6, "{family:?}: mass {mass}");
            assert!((second / noise.variance(0) - 1.0).abs() < 1e-5, "{family:?}: variance {second}");
        }
    }
}
