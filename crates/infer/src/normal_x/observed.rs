//! What one party has released, in plain units.

use crate::evidence::Party;

/// A noisy Gram matrix and noisy X'y.
#[derive(Debug, Clone)]
pub(super) struct Observed {
    pub records: f64,
    /// S-hat, row-major.
    pub gram: Vec<f64>,
    /// Inverse variance of the noise on every entry of S-hat; 0 for the known one.
    pub precision: Vec<f64>,
    /// z-hat.
    pub cross: Vec<f64>,
    /// Variance of the noise on z-hat.
    pub cross_variance: Vec<f64>,
    /// Lower factor of a positive definite estimate of S, with the known entry exact.
    pub estimate: Vec<f64>,
    /// Expected posterior standard deviation of every free entry of T, S = estimate T T' estimate'; of its logarithm
    /// on the diagonal.
    pub spread: Vec<f64>,
}

impl Observed {
    /// Of a party with so many records.
    pub fn new(party: &Party, records: f64) -> Self {
        let (weights, scales, full) = (&party.noise.weights, &party.noise.scales, party.size());
        let size = full - 1;
        let place = |k: usize| k / size * full + k % size;
        let weight = |k: usize| weights[k / size] * weights[k % size];
        let precision = |k: usize| match scales[place(k)] {
            0.0 => 0.0,
            scale => (weight(k) / scale) * (weight(k) / scale),
        };
        let response = |k: usize| weights[k] * weights[size];
        Self {
            records,
            gram: (0..size * size).map(|k| party.gram[place(k)] / weight(k)).collect(),
            precision: (0..size * size).map(precision).collect(),
            cross: (0..size).map(|k| party.gram[k * full + size] / response(k)).collect(),
            cross_variance: (0..size).map(|k| (scales[k * full + size] / response(k)).powi(2)).collect(),
            estimate: vec![0.0; size * size],
            spread: vec![0.0; size * size],
        }
    }

    /// Log density of S-hat given S, up to a constant; only the lower triangle is read.
    ///
    /// The noise matrix is symmetric, so every entry of one triangle counts once (errata of \[AYB23\] section 3.2).
    pub fn log_noise(&self, gram: &[f64]) -> f64 {
        let size = self.cross.len();
        let mut sum = 0.0;
        for row in 0..size {
            let line = row * size..row * size + row + 1;
            let rows = gram[line.clone()].iter().zip(&self.gram[line.clone()]).zip(&self.precision[line]);
            sum += rows.map(|((s, found), precision)| (s - found) * (s - found) * precision).sum::<f64>();
        }
        -0.5 * sum
    }
}
