//! Quantiles of the normal, Student's and the beta distribution, on the functions of libm: the same bits on every
//! machine.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// The standard normal quantile, with a relative error below 2e-15; NaN outside of \[0, 1\].
pub fn normal_quantile(probability: f64) -> f64 {
    if !(0.0..=1.0).contains(&probability) {
        return f64::NAN;
    }
    if probability > 0.5 {
        return -normal_quantile(1.0 - probability);
    }
    if probability == 0.0 {
        return f64::NEG_INFINITY;
    }
    // Abramowitz and Stegun 26.2.23, wrong by less than 4.5e-4.
    let t = (-2.0 * libm::log(probability)).sqrt();
    let top = 2.515517 + t * (0.802853 + t * 0.010328);
    let mut x = top / (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308))) - t;
    // Halley's method has order three: two steps reach rounding.
    for _ in 0..2 {
        let error = 0.5 * libm::erfc(-x * FRAC_1_SQRT_2) - probability;
        let newton = error * (2.0 * PI).sqrt() * libm::exp(0.5 * x * x);
        x -= newton / (1.0 + 0.5 * x * newton);
    }
    x
}

/// The quantile of Student's distribution with this many degrees of freedom: t^2 / (freedom + t^2) is a beta variate with shapes
/// 1/2 and freedom/2. NaN outside of \[0, 1\].
pub fn student_quantile(probability: f64, freedom: f64) -> f64 {
    let inside = beta_quantile((2.0 * probability - 1.0).abs(), 0.5, 0.5 * freedom);
    (freedom * inside / (1.0 - inside)).sqrt().copysign(probability - 0.5)
}

/// The quantile of the beta distribution with shapes a, b >= 1/2, by bisection; NaN outside of \[0, 1\].
pub(crate) fn beta_quantile(probability: f64, a: f64, b: f64) -> f64 {
    if !((0.0..=1.0).contains(&probability) && a.is_finite() && b.is_finite()) {
        return f64::NAN;
    }
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if beta_distribution(middle, a, b) < probability {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// The regularised incomplete beta function I_x(a, b).
fn beta_distribution(x: f64, a: f64, b: f64) -> f64 {
    // On the other side of the mean the continued fraction converges slowly.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - beta_distribution(1.0 - x, b, a);
    }
    let log_beta = libm::lgamma(a) + libm::lgamma(b) - libm::lgamma(a + b);
    let front = libm::exp(a * libm::log(x) + b * libm::log1p(-x) - log_beta) / a;
    front * beta_fraction(x, a, b)
}

/// The continued fraction of I_x(a, b) (Abramowitz and Stegun 26.5.8), from the front by Lentz's method.
fn beta_fraction(x: f64, a: f64, b: f64) -> f64 {
    let away_from_zero = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };
    let mut d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let (mut c, mut value) = (1.0, d);
    // It needs about the square root of max(a, b) terms.
    for m in (1..100_000).map(f64::from) {
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for term in [even, odd] {
            d = 1.0 / away_from_zero(1.0 + term * d);
            c = away_from_zero(1.0 + term / c);
            change *= c * d;
        }
        value *= change;
        if (change - 1.0).abs() < 1e-15 {
            break;
        }
    }
    value
}

#[cfg(test)]
#[allow(clippy::excessive_precision, reason = "values as their source prints them")]
mod tests {
    use super::*;

    fn assert_close(found: f64, expected: f64, tolerance: f64) {
        let error = (found / expected - 1.0).abs();
        assert!(error < tolerance, "{found:e}, not {expected:e}: {error:e}");
    }

    /// Expected values: mpmath with 40 digits, at the double nearest to the probability.
    #[test]
    fn normal_quantiles() {
        let table = [
            (0.3, -0.52440051270804081597),
            (0.1, -1.2815515655446004353),
            (0.01, -2.3263478740408410931),
            (1e-5, -4.2648907939228246102),
            (1e-12, -7.0344838253011319326),
            (0.75, 0.6744897501960817432),
            (0.999, 3.0902323061678132778),
        ];
        for (probability, expected) in table {
            assert_close(normal_quantile(probability), expected, 2e-15);
        }
        assert!(normal_quantile(0.5).abs() < 1e-16);
        assert_eq!(normal_quantile(0.0), f64::NEG_INFINITY);
        assert_eq!(normal_quantile(1.0), f64::INFINITY);
        assert!(normal_quantile(f64::NAN).is_nan() && normal_quantile(1.5).is_nan());
    }

    /// Expected values: SciPy 1.17, `scipy.stats.beta.ppf`.
    #[test]
    fn beta_quantiles() {
        let table = [
            (0.1586553, 1.0, 1.0, 0.1586553),
            (0.1586553, 21.5, 380.0, 0.042389279286069496),
            (0.8413447, 21.5, 380.0, 0.06471262486937854),
            (0.8413447, 50_001.0, 50_001.0, 0.5015811227178866),
            (0.1586553, 1e6, 3e6, 0.2497834937022931),
            (0.5, 1.0, 5.0, 0.12944943670387585),
            (0.8413447, 400.0, 2.5, 0.9974381042129954),
        ];
        for (probability, a, b, expected) in table {
            assert_close(beta_quantile(probability, a, b), expected, 1e-11);
        }
        assert!(beta_quantile(0.5, f64::NAN, 1.0).is_nan());
    }

    /// Expected values: mpmath with 40 digits.
    #[test]
    fn student_quantiles() {
        let table = [
            (1.0, 12.7062047361746933),
            (3.0, 3.18244630528370844),
            (10.0, 2.22813885198627422),
            (30.0, 2.04227245630123789),
            (1e6, 1.95996635681410666),
        ];
        for (freedom, expected) in table {
            assert_close(student_quantile(0.975, freedom), expected, 1e-9);
            assert_close(student_quantile(0.025, freedom), -expected, 1e-9);
        }
        assert!(student_quantile(0.5, 3.0).abs() < 1e-8);
        assert!(student_quantile(f64::NAN, 3.0).is_nan() && student_quantile(1.5, 3.0).is_nan());
    }
}
