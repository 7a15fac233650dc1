//! Means over replicates, and coverage.

/// A number with its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The number.
    pub value: f64,
    /// Its standard error; 0 if it is exact, NaN if it is unknown.
    pub standard_error: f64,
}

impl Estimate {
    /// A number without error.
    pub fn exact(value: f64) -> Self {
        Self { value, standard_error: 0.0 }
    }
}

/// Mean and its standard error; NaN without values, an unknown error for one.
pub fn mean(values: &[f64]) -> Estimate {
    let count = values.len() as f64;
    let value = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|each| (each - value) * (each - value)).sum();
    Estimate { value, standard_error: (squares / (count - 1.0) / count).sqrt() }
}

/// Share of intervals that hold the truth, with its binomial standard error. Where all or none do the error is that of half a miss,
/// not zero.
pub fn coverage(held: usize, intervals: usize) -> Estimate {
    let count = intervals as f64;
    let value = held as f64 / count;
    let inner = value.clamp(0.5 / count, 1.0 - 0.5 / count);
    Estimate { value, standard_error: (inner * (1.0 - inner) / count).sqrt() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: mean 3, squared deviations 4 + 1 + 9 + 0 = 14. Catches division by n instead of n - 1.
    #[test]
    fn a_mean_by_hand() {
        let found = mean(&[1.0, 2.0, 6.0, 3.0]);
        assert_eq!(found.value, 3.0);
        assert!((found.standard_error - (14.0_f64 / 3.0 / 4.0).sqrt()).abs() < 1e-15);
        assert!(mean(&[1.0]).standard_error.is_nan() && mean(&[]).value.is_nan());
    }

    #[test]
    fn coverage_by_hand() {
        let found = coverage(90, 100);
        assert_eq!(found.value, 0.9);
        assert!((found.standard_error - 0.03).abs() < 1e-15);
        assert!((coverage(50, 50).standard_error - (0.01_f64 * 0.99 / 50.0).sqrt()).abs() < 1e-15);
    }
}
