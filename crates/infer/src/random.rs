//! Random variates of the models, all from standard normal and gamma draws.
//!
//! Wishart matrices are drawn as factors (Bartlett's decomposition): nothing is inverted where a triangular solve will do.

use organza_mcmc::ChainRng;
use rand::RngExt;
use rand_distr::{Distribution, Gamma, StandardNormal};

use crate::linalg::{dot, factorise, invert_lower};

/// A standard normal number.
pub(crate) fn normal(rng: &mut ChainRng) -> f64 {
    StandardNormal.sample(rng)
}

/// Fills with standard normal numbers.
pub(crate) fn fill_normal(rng: &mut ChainRng, out: &mut [f64]) {
    out.iter_mut().for_each(|value| *value = StandardNormal.sample(rng));
}

/// A gamma variate of this shape and rate 1; the shape must be positive and finite.
pub(crate) fn gamma(rng: &mut ChainRng, shape: f64) -> f64 {
    // The constructor fails only for shapes that callers have excluded; NaN then stops the chain with a message.
    Gamma::new(shape, 1.0).map_or(f64::NAN, |gamma| gamma.sample(rng))
}

/// A variate of the inverse gamma distribution IG(shape, rate).
pub(crate) fn inverse_gamma(rng: &mut ChainRng, shape: f64, rate: f64) -> f64 {
    rate / gamma(rng, shape)
}

/// Decides with this log probability. Throws its number also when the answer is certain, so that streams stay aligned.
pub(crate) fn accept(rng: &mut ChainRng, log_probability: f64) -> bool {
    let uniform: f64 = rng.random();
    log_probability >= 0.0 || libm::log(uniform) < log_probability
}

/// Bartlett's factor: lower triangular B with B B' ~ Wishart(I, degrees); degrees > size - 1.
pub(crate) fn wishart_factor(rng: &mut ChainRng, degrees: f64, factor: &mut [f64], size: usize) {
    for (row, values) in factor.chunks_exact_mut(size).enumerate() {
        fill_normal(rng, &mut values[..row]);
        values[row] = (2.0 * gamma(rng, 0.5 * (degrees - row as f64))).sqrt();
        values[row + 1..].fill(0.0);
    }
}

/// Memory for draws of inverse Wishart matrices.
#[derive(Debug, Clone)]
pub(crate) struct InverseWishart {
    size: usize,
    bartlett: Vec<f64>,
    inverse: Vec<f64>,
    lower: Vec<f64>,
}

impl InverseWishart {
    pub fn new(size: usize) -> Self {
        let square = vec![0.0; size * size];
        Self { size, bartlett: square.clone(), inverse: square.clone(), lower: square }
    }

    /// Draws Sigma ~ IW(scale, degrees) into `out`; false if the scale is not positive definite.
    ///
    /// With scale = L L' and W ~ Wishart(I, degrees), L W^-1 L' has the distribution, and W^-1 = C'C with C the inverse of
    /// Bartlett's factor.
    pub fn sample(&mut self, rng: &mut ChainRng, scale: &[f64], degrees: f64, out: &mut [f64]) -> bool {
        let size = self.size;
        self.lower.copy_from_slice(scale);
        if factorise(&mut self.lower, size).is_err() {
            return false;
        }
        wishart_factor(rng, degrees, &mut self.bartlett, size);
        invert_lower(&self.bartlett, &mut self.inverse, size);
        // M = L C' (C is lower triangular), then M M'.
        for row in 0..size {
            for column in 0..size {
                let reach = row.min(column) + 1;
                self.bartlett[row * size + column] = dot(
                    &self.lower[row * size..row * size + reach],
                    &self.inverse[column * size..column * size + reach],
                );
            }
        }
        for row in 0..size {
            for column in 0..=row {
                let value = dot(
                    &self.bartlett[row * size..(row + 1) * size],
                    &self.bartlett[column * size..(column + 1) * size],
                );
                out[row * size + column] = value;
                out[column * size + row] = value;
            }
        }
        true
    }
}

/// The variance of the normal whose mixture is Laplace noise: omega^2 given the residual r of a Laplace variable of scale b.
///
/// 1/omega^2 is inverse Gaussian with mean 1/(b |r|) and shape 1/b^2 (\[BS19\] Algorithm 1). The usual formula cancels to 0 or
/// NaN for tiny residuals; here m = b/|r| stays in the numerator, and r = 0 gives its limit b^2 chi^2_1.
pub(crate) fn laplace_mixture_variance(rng: &mut ChainRng, residual: f64, scale: f64) -> f64 {
    let y = normal(rng);
    let uniform: f64 = rng.random();
    let ratio = residual.abs() / scale;
    // v = 1/(omega/b)^2 is inverse Gaussian with mean m = 1/ratio and shape 1; its small root is
    // x = m / (1 + a + sqrt(a (a + 2))), a = m y^2 / 2, taken with probability m / (m + x), else m^2 / x.
    let half = 0.5 * y * y;
    // Everything times ratio: a ratio = half, so x = 1 / (ratio + half + sqrt(half (half + 2 ratio))).
    let inverse_root = ratio + half + (half * (half + 2.0 * ratio)).sqrt();
    // omega^2 / b^2 = 1/x or x / m^2 = ratio^2 / inverse_root; P(small root) = m/(m+x) = inverse_root/(inverse_root+ratio).
    let small = uniform * (inverse_root + ratio) <= inverse_root;
    scale * scale * if small { inverse_root } else { ratio * ratio / inverse_root }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(values: &[f64]) -> (f64, f64) {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        (mean, values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n)
    }

    /// z-score bound for alpha = 1e-6 over a dozen comparisons.
    const LARGEST: f64 = 5.5;

    /// Catches a swapped root: the mixture must give back the exponential prior when averaged over Laplace residuals.
    #[test]
    fn laplace_mixture_is_reversible_with_the_prior() {
        let mut rng = ChainRng::new(5, 0);
        let (scale, count) = (0.7, 200_000);
        let mut after = Vec::with_capacity(count);
        for _ in 0..count {
            let omega = 2.0 * scale * scale * gamma(&mut rng, 1.0);
            let residual = omega.sqrt() * normal(&mut rng);
            after.push(laplace_mixture_variance(&mut rng, residual, scale) / (2.0 * scale * scale));
        }
        let (mean, variance) = moments(&after);
        let n = (count as f64).sqrt();
        assert!(((mean - 1.0) * n).abs() < LARGEST, "{mean}");
        // Var of (x - 1)^2 for an exponential variable is 8.
        assert!(((variance - 1.0) * n / 8f64.sqrt()).abs() < LARGEST, "{variance}");
    }

    #[test]
    fn tiny_residuals_keep_the_mixture_finite() {
        let mut rng = ChainRng::new(6, 0);
        for residual in [0.0, 1e-300, 1e-20, 1e-8] {
            let draws: Vec<f64> =
                (0..50_000).map(|_| laplace_mixture_variance(&mut rng, residual, 2.0) / 4.0).collect();
            let (mean, _) = moments(&draws);
            // chi^2_1: mean 1, variance 2.
            assert!((mean - 1.0).abs() * (50_000f64 / 2.0).sqrt() < LARGEST, "{residual}: {mean}");
        }
        assert!(laplace_mixture_variance(&mut rng, 1e200, 1.0).is_finite());
    }

    /// Catches a Bartlett factor with the wrong degrees per row, and an inverse on the wrong side.
    #[test]
    fn means_of_wishart_and_inverse_wishart() {
        let mut rng = ChainRng::new(7, 0);
        let (size, degrees, count) = (3, 11.5, 40_000);
        let scale = [2.0, 0.6, -0.3, 0.6, 1.0, 0.2, -0.3, 0.2, 0.5];
        let mut sampler = InverseWishart::new(size);
        let (mut inverse, mut factor) = (vec![0.0; 9], vec![0.0; 9]);
        let (mut inverses, mut traces) = (vec![Vec::new(); 9], Vec::with_capacity(count));
        for _ in 0..count {
            assert!(sampler.sample(&mut rng, &scale, degrees, &mut inverse));
            inverses.iter_mut().zip(&inverse).for_each(|(list, value)| list.push(*value));
            wishart_factor(&mut rng, degrees, &mut factor, size);
            traces.push(factor.iter().map(|value| value * value).sum::<f64>());
        }
        for (list, entry) in inverses.iter().zip(scale) {
            let (mean, variance) = moments(list);
            let z = (mean - entry / (degrees - 4.0)) / (variance / count as f64).sqrt();
            assert!(z.abs() < LARGEST, "{z}");
        }
        let (mean, variance) = moments(&traces);
        // tr W ~ chi^2 with size * degrees degrees of freedom.
        let z = (mean - 34.5) / (variance / count as f64).sqrt();
        assert!(z.abs() < LARGEST && (variance / 69.0 - 1.0).abs() < 0.06, "{z} {variance}");
        assert!(!sampler.sample(&mut rng, &[-1.0; 9], degrees, &mut inverse));
    }
}
