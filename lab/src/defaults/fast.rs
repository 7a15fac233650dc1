//! `fast`: the closed-form posterior of \[AYB23\] Algorithm 3, one release.
//!
//! S = E diag(l) E' is the nearest positive semi-definite matrix to the noisy X'X; in record coordinates the
//! noise on X'y is isotropic, so S (sigma^2 S + tau^2 I)^-1 S is diagonal in the basis E.

use super::mechanism::{NoiseScales, Statistic};
use organza_infer::linalg::symmetric_eigen;

/// Posterior moments in record coordinates.
#[derive(Clone, Debug)]
pub struct Posterior {
    /// Mean of the coefficients.
    pub mean: Vec<f64>,
    /// Marginal variances; empty where they were not asked for.
    pub variance: Vec<f64>,
}

/// What the analyst knows beside the release.
#[derive(Clone, Debug)]
pub struct Known<'a> {
    /// Prior precision per coefficient, prior mean zero.
    pub prior_precision: &'a [f64],
    /// Sum of c^2 over the records, the divisor of the residual variance.
    pub effective_records: f64,
    /// Noise of the release.
    pub scales: &'a NoiseScales,
}

/// Smallest residual variance considered, in squared half-widths of the response's bounds.
const VARIANCE_FLOOR: f64 = 1e-4;

struct Spectrum {
    size: usize,
    values: Vec<f64>,
    vectors: Vec<f64>,
    rotated_cross: Vec<f64>,
}

/// The posterior that ignores the noise in X'X (`fast` proper), and one that adds its effect
/// Cov((S - S-hat) theta) to tau^2 with theta at its first estimate.
pub fn fit(noisy: &Statistic, known: &Known) -> Option<[Posterior; 2]> {
    let spectrum = Spectrum::new(noisy)?;
    let n = known.effective_records;
    let first = (noisy.square / n).clamp(VARIANCE_FLOOR, 1.0);
    let tau2 = known.scales.cross.powi(2);
    let start = spectrum.posterior(known.prior_precision, first, tau2, false)?;
    let sigma2 = (spectrum.residual(noisy.square, &start.mean) / n).clamp(VARIANCE_FLOOR, first);
    let plain = spectrum.posterior(known.prior_precision, sigma2, tau2, true)?;
    let gram2 = gram_noise(&start.mean, known.scales);
    let aware = spectrum.posterior(known.prior_precision, sigma2, tau2 + gram2, true)?;
    Some([plain, aware])
}

/// Mean variance of a coordinate of N theta, N the noise matrix of X'X.
fn gram_noise(theta: &[f64], scales: &NoiseScales) -> f64 {
    let size = theta.len() as f64;
    let norm2: f64 = theta.iter().map(|t| t * t).sum();
    let public =
        if scales.first_is_public { scales.diagonal.powi(2) * theta[0] * theta[0] / size } else { 0.0 };
    norm2 * (scales.off_diagonal.powi(2) * (size - 1.0) + scales.diagonal.powi(2)) / size - public
}

impl Spectrum {
    fn new(noisy: &Statistic) -> Option<Spectrum> {
        let size = noisy.size;
        if noisy.gram.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let eigen = symmetric_eigen(&noisy.gram, size);
        let values = eigen.values.iter().map(|value| value.max(0.0)).collect();
        let vectors: Vec<f64> = (0..size * size).map(|k| eigen.vectors[k % size * size + k / size]).collect();
        let rotated_cross = vectors
            .chunks_exact(size)
            .map(|vector| vector.iter().zip(&noisy.cross).map(|(a, b)| a * b).sum())
            .collect();
        Some(Spectrum { size, values, vectors, rotated_cross })
    }

    /// y'y - 2 theta'z + theta'S theta.
    fn residual(&self, square: f64, theta: &[f64]) -> f64 {
        let mut total = square;
        for (k, vector) in self.vectors.chunks_exact(self.size).enumerate() {
            let t: f64 = vector.iter().zip(theta).map(|(a, b)| a * b).sum();
            total += self.values[k] * t * t - 2.0 * t * self.rotated_cross[k];
        }
        total
    }

    // [AYB23] Eq. (12), with the covariance of z-hat as sigma^2 S + tau^2 I.
    fn posterior(&self, prior: &[f64], sigma2: f64, tau2: f64, variances: bool) -> Option<Posterior> {
        let size = self.size;
        let mut precision = vec![0.0; size * size];
        let mut mean = vec![0.0; size];
        for (k, e) in self.vectors.chunks_exact(size).enumerate() {
            let gain = self.values[k] / (sigma2 * self.values[k] + tau2);
            for i in 0..size {
                mean[i] += gain * self.rotated_cross[k] * e[i];
                let a = gain * self.values[k] * e[i];
                for (p, b) in precision[i * size..=i * size + i].iter_mut().zip(e) {
                    *p += a * b;
                }
            }
        }
        for i in 0..size {
            precision[i * size + i] += prior[i];
        }
        cholesky(&mut precision, size)?;
        forward(&precision, &mut mean);
        backward(&precision, &mut mean);
        let variance = if variances { inverse_diagonal(&precision, size) } else { Vec::new() };
        Some(Posterior { mean, variance })
    }
}

/// Lower Cholesky factor in place of the lower triangle.
pub fn cholesky(a: &mut [f64], size: usize) -> Option<()> {
    for j in 0..size {
        for i in j..size {
            let inner: f64 = (0..j).map(|k| a[i * size + k] * a[j * size + k]).sum();
            let value = a[i * size + j] - inner;
            if i == j {
                if !(value > 0.0 && value.is_finite()) {
                    return None;
                }
                a[i * size + j] = value.sqrt();
            } else {
                a[i * size + j] = value / a[j * size + j];
            }
        }
    }
    Some(())
}

/// Solves L x = b in place.
pub fn forward(l: &[f64], b: &mut [f64]) {
    let size = b.len();
    for i in 0..size {
        let inner: f64 = (0..i).map(|k| l[i * size + k] * b[k]).sum();
        b[i] = (b[i] - inner) / l[i * size + i];
    }
}

/// Solves L' x = b in place.
pub fn backward(l: &[f64], b: &mut [f64]) {
    let size = b.len();
    for i in (0..size).rev() {
        let inner: f64 = (i + 1..size).map(|k| l[k * size + i] * b[k]).sum();
        b[i] = (b[i] - inner) / l[i * size + i];
    }
}

/// Diagonal of (L L')^-1.
pub fn inverse_diagonal(l: &[f64], size: usize) -> Vec<f64> {
    let unit = |j: usize| (0..size).map(|i| f64::from(u8::from(i == j))).collect::<Vec<f64>>();
    (0..size)
        .map(|j| {
            let mut column = unit(j);
            forward(l, &mut column);
            column.iter().map(|v| v * v).sum()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_noise_the_mean_is_least_squares_and_the_sd_is_the_usual_one() {
        let noisy = Statistic { size: 2, gram: vec![4e6, 1e6, 1e6, 2e6], cross: vec![3e6, 0.0], square: 4e6 };
        let zero =
            NoiseScales { diagonal: 0.0, off_diagonal: 0.0, cross: 0.0, square: 0.0, first_is_public: false };
        let known = Known { prior_precision: &[1e-9, 1e-9], effective_records: 1e7, scales: &zero };
        let [plain, aware] = fit(&noisy, &known).expect("positive definite");
        let expected = [6.0 / 7.0, -3.0 / 7.0];
        let sigma2 = (4e6 - 3e6 * expected[0]) / 1e7;
        for posterior in [plain, aware] {
            assert!((posterior.mean[0] - expected[0]).abs() < 1e-9);
            assert!((posterior.mean[1] - expected[1]).abs() < 1e-9);
            assert!((posterior.variance[0] / (sigma2 * 2.0 / 7.0 / 1e6) - 1.0).abs() < 1e-6);
        }
    }

    #[test]
    fn noise_on_the_cross_product_widens_the_posterior() {
        let noisy = Statistic { size: 1, gram: vec![100.0], cross: vec![50.0], square: 60.0 };
        let at = |cross| {
            let scales =
                NoiseScales { diagonal: 5.0, off_diagonal: 5.0, cross, square: 0.0, first_is_public: false };
            let known = Known { prior_precision: &[1.0], effective_records: 100.0, scales: &scales };
            fit(&noisy, &known).expect("positive")
        };
        assert!(at(20.0)[0].variance[0] > 2.0 * at(1.0)[0].variance[0]);
        assert!(at(1.0)[1].variance[0] > at(1.0)[0].variance[0]);
    }
}
