//! Errors, and means of ratios.

use organza_studies::metrics::{Estimate, mean};

/// Geometric mean of positive values; its standard error is that of the logarithms times the mean.
pub fn geometric_mean(values: &[f64]) -> Estimate {
    let logarithms: Vec<f64> = values.iter().map(|value| libm::log(*value)).collect();
    let Estimate { value, standard_error } = mean(&logarithms);
    Estimate { value: libm::exp(value), standard_error: libm::exp(value) * standard_error }
}

/// Mean squared error.
pub fn mse(estimates: &[f64], truth: &[f64]) -> f64 {
    debug_assert_eq!(estimates.len(), truth.len());
    let squares =
        estimates.iter().zip(truth).map(|(estimate, truth)| (estimate - truth) * (estimate - truth));
    squares.sum::<f64>() / estimates.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: the logarithms of 1 and e^2 have mean 1 and standard error 1.
    #[test]
    fn a_geometric_mean_by_hand() {
        let e = std::f64::consts::E;
        let found = geometric_mean(&[1.0, e * e]);
        assert!((found.value - e).abs() < 1e-12 && (found.standard_error - e).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn an_error_by_hand() {
        assert_eq!(mse(&[1.0, 2.0, 3.0], &[1.0, 0.0, 6.0]), 13.0 / 3.0);
    }
}
