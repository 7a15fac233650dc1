//! The authors' noise scale, wrong as it is: what `--as published` needs.

use std::f64::consts::SQRT_2;

/// Step of the grid on which the authors search.
const STEP: f64 = 0.001;

/// Scale of Gaussian noise for sensitivity 1 as the authors' code computes it. It means to be Algorithm 1 of Balle and Wang (2018), but
/// takes sqrt(epsilon) v for sqrt(epsilon v) in the first term of B and a wrong threshold, so that the noise is too small: 1.4866 for
/// epsilon = 1 and delta = 1/7655, where 3.1185 is needed.
pub fn published_gaussian_scale(epsilon: f64, delta: f64) -> f64 {
    let root = epsilon.sqrt();
    let normal = |x: f64| 0.5 * libm::erfc(-x / SQRT_2);
    let second = |v: f64| libm::exp(epsilon) * normal(-(epsilon * (v + 2.0)).sqrt());
    let threshold = 0.5 - libm::exp(epsilon) * normal(-2.0 * root);
    let grid = (0_u32..).map(|k| f64::from(k) * STEP);
    let alpha = if delta >= threshold {
        // The last point where B is not above delta.
        let above = grid.clone().position(|v| normal(root * v) - second(v) > delta).unwrap_or(1);
        let v = (above.max(1) - 1) as f64 * STEP;
        (1.0 + 0.5 * v).sqrt() - (0.5 * v).sqrt()
    } else {
        // The first point where B is not above delta.
        let u = grid.clone().find(|u| normal(-root * u) - second(*u) <= delta).unwrap_or(0.0);
        (1.0 + 0.5 * u).sqrt() + (0.5 * u).sqrt()
    };
    alpha / (2.0 * epsilon).sqrt()
}

#[cfg(test)]
mod tests {
    use organza_release::loss::{gaussian_epsilon, gaussian_scale};

    use super::*;

    /// The known figure, and what it really guarantees: epsilon 2.34 for one record more or less, 3.52 for one exchanged (R = 4.166637, B = 1).
    #[test]
    fn the_published_scale_and_its_true_guarantee() {
        let delta = 1.0 / 7655.0;
        let found = published_gaussian_scale(1.0, delta);
        assert!((found - 1.4866).abs() < 5e-5, "{found}");
        assert!((gaussian_scale(1.0, delta, 1.0).unwrap() - 3.1185).abs() < 5e-5);
        assert!((gaussian_epsilon(delta, 1.0 / found).unwrap() - 2.34).abs() < 5e-3);
        for (claimed, real) in [(0.1, 0.58), (10.0, 10.4)] {
            let epsilon = gaussian_epsilon(delta, 1.0 / published_gaussian_scale(claimed, delta)).unwrap();
            assert!((epsilon / real - 1.0).abs() < 0.01, "{claimed}: {epsilon}");
        }
    }
}
