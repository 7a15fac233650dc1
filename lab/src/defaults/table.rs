//! A table in normalised units, and the answer that a fit is compared with.

use super::fast::{backward, cholesky, forward, inverse_diagonal};
use super::mechanism::{Setting, Statistic};

/// Records (u, v) with every coordinate clamped to [-1, 1].
#[derive(Clone, Debug)]
pub struct Table {
    /// d.
    pub features: usize,
    /// Row-major, d features and then the response.
    pub rows: Vec<f64>,
    /// |u|^2 of every record.
    pub squared_norms: Vec<f64>,
}

/// Public bounds of one column as centre and half-width.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// (a + b) / 2.
    pub centre: f64,
    /// (b - a) / 2.
    pub half_width: f64,
}

/// Coefficients to recover and second moments to predict on, in normalised units.
#[derive(Clone, Debug)]
pub struct Truth {
    /// Intercept first when there is one.
    pub coefficients: Vec<f64>,
    /// Second moments of unclamped test records (1, u, v).
    pub test: Statistic,
    /// Mean squared error on the test records that counts as zero excess.
    pub base: f64,
    /// Variance of the response in normalised units.
    pub response_variance: f64,
    /// Standard deviation of every feature in normalised units.
    pub feature_sd: Vec<f64>,
}

/// One regression problem: a table, its truth and its budget.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The records that a curator holds.
    pub table: Table,
    /// The answer.
    pub truth: Truth,
    /// Number of features declared as 0/1, which is public.
    pub booleans: usize,
    /// Is there an intercept?
    pub intercept: bool,
    /// Privacy budget; delta is 1e-6 throughout.
    pub epsilon: f64,
    /// Group name and value pairs, for the report.
    pub tags: Vec<(&'static str, String)>,
}

impl Table {
    /// Normalises raw records (features and then response); clamps unless told not to.
    pub fn normalise(raw: &[f64], bounds: &[Bounds], clamp: bool) -> Table {
        let columns = bounds.len();
        let map = |(value, b): (&f64, &Bounds)| {
            let u = (value - b.centre) / b.half_width;
            if clamp { u.clamp(-1.0, 1.0) } else { u }
        };
        let rows: Vec<f64> =
            raw.chunks_exact(columns).flat_map(|row| row.iter().zip(bounds).map(map)).collect();
        let squared_norms =
            rows.chunks_exact(columns).map(|row| row[..columns - 1].iter().map(|u| u * u).sum()).collect();
        Table { features: columns - 1, rows, squared_norms }
    }

    /// Number of records.
    pub fn records(&self) -> usize {
        self.squared_norms.len()
    }

    /// Second moments, divided by the number of records.
    pub fn moments(&self, intercept: bool) -> Statistic {
        let mut sums = Setting::Unscaled.statistic(self, intercept);
        let n = self.records() as f64;
        sums.gram.iter_mut().chain(&mut sums.cross).for_each(|entry| *entry /= n);
        sums.square /= n;
        sums
    }
}

impl Truth {
    /// Least squares on the records themselves, whose second moments these are.
    pub fn least_squares(test: Statistic, bounds: &[Bounds]) -> Option<Truth> {
        let coefficients = test.solve()?;
        let base = test.squared_error(&coefficients);
        let (response, features) = bounds.split_last()?;
        let feature_sd = features.iter().map(|b| 1.0 / b.half_width).collect();
        Some(Truth { coefficients, test, base, response_variance: response.half_width.powi(-2), feature_sd })
    }

    /// Sampling error of least squares on so many records, as shares of var(y): of predictions, and the mean of slopes.
    pub fn sampling_error(&self, records: usize) -> Option<[f64; 2]> {
        let size = self.coefficients.len();
        let mut factor = self.test.gram.clone();
        cholesky(&mut factor, size)?;
        let unit = self.base / (records as f64 * self.response_variance);
        let slopes = inverse_diagonal(&factor, size).split_off(size - self.feature_sd.len());
        let scaled = slopes.iter().zip(&self.feature_sd).map(|(variance, sd)| variance * sd * sd);
        Some([unit * size as f64, unit * scaled.sum::<f64>() / self.feature_sd.len() as f64])
    }
}

impl Statistic {
    /// Mean squared error of a coefficient vector; `self` holds second moments.
    pub fn squared_error(&self, coefficients: &[f64]) -> f64 {
        let mut total = self.square;
        for (i, row) in self.gram.chunks_exact(self.size).enumerate() {
            let inner: f64 = row.iter().zip(coefficients).map(|(a, b)| a * b).sum();
            total += coefficients[i] * (inner - 2.0 * self.cross[i]);
        }
        total
    }

    /// Least squares.
    pub fn solve(&self) -> Option<Vec<f64>> {
        let mut factor = self.gram.clone();
        cholesky(&mut factor, self.size)?;
        let mut coefficients = self.cross.clone();
        forward(&factor, &mut coefficients);
        backward(&factor, &mut coefficients);
        Some(coefficients)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_squares_recovers_an_exact_line_through_normalised_units() {
        let raw: Vec<f64> = (0..9).flat_map(|k| [f64::from(k), 3.0 - 0.5 * f64::from(k)]).collect();
        let bounds = [Bounds { centre: 4.0, half_width: 8.0 }, Bounds { centre: 0.0, half_width: 5.0 }];
        let moments = Table::normalise(&raw, &bounds, true).moments(true);
        let fit = moments.solve().expect("positive definite");
        assert!((fit[1] * 5.0 / 8.0 + 0.5).abs() < 1e-12);
        assert!(moments.squared_error(&fit).abs() < 1e-12);
    }
}
