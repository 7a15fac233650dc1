//! Mills' ratio of the normal distribution, M(x) = (1 - Phi(x)) / phi(x), and its drop over an interval.
//!
//! Both are integrals of a positive function,
//!
//! - M(x) = integral over t > 0 of exp(-x t - t^2 / 2),
//! - M(x) - M(x + w) = integral over t > 0 of exp(-x t - t^2 / 2) (1 - exp(-w t)),
//!
//! so a quadrature rule with positive weights loses no digit to cancellation, however small the drop is. (The
//! difference of two *correctly rounded* scaled complementary error functions is wrong by 8e-12 at epsilon =
//! 1e-3, delta = 1e-15.) The substitution t = exp(u - exp(-u)) makes the integrand fall off doubly
//! exponentially at 0 and at infinity; the trapezoidal rule in u then converges geometrically, and with a
//! step of 1/12 its error is below the rounding error. Valid for x >= -1, which is all that is needed.

use super::sum::CompensatedSum;
use std::sync::LazyLock;

const STEP: f64 = 1.0 / 12.0;
/// The first node: its weight is below 1e-17.
const FIRST: i32 = -45;
/// The last node lies beyond t = 45, where exp(-t) is below 1e-19.
const LAST: i32 = 46;

/// Nodes and weights for t > 0, computed once.
static RULE: LazyLock<Vec<(f64, f64)>> = LazyLock::new(|| (FIRST..=LAST).map(node_and_weight).collect());

fn node_and_weight(index: i32) -> (f64, f64) {
    let u = f64::from(index) * STEP;
    let decay = libm::exp(-u);
    let node = libm::exp(u - decay);
    (node, node * (1.0 + decay) * STEP)
}

/// Mills' ratio M(x) for x >= -1, to a few units in the last place.
pub(super) fn mills_ratio(x: f64) -> f64 {
    integrate(x, |_| 1.0)
}

/// M(x) - M(x + width) for x >= -1 and width > 0, with a *relative* error of a few units in the last place.
pub(super) fn mills_ratio_drop(x: f64, width: f64) -> f64 {
    if width > 1.0 + x.max(0.0) {
        // Nothing cancels (the first term is about twice the second or more), and the factor below would be
        // steeper than the rule resolves.
        return mills_ratio(x) - mills_ratio(x + width);
    }
    integrate(x, |t| -libm::expm1(-width * t))
}

/// The integral over t > 0 of exp(-x t - t^2 / 2) factor(t).
fn integrate(x: f64, factor: impl Fn(f64) -> f64) -> f64 {
    // The integrand lives on the scale 1/x for large x and on the scale 1 otherwise.
    let unit = 1.0 / (1.0 + x.max(0.0));
    let term = |&(node, weight): &(f64, f64)| {
        let t = node * unit;
        weight * libm::exp(-t * (x + 0.5 * t)) * factor(t)
    };
    unit * RULE.iter().map(term).collect::<CompensatedSum>().total()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_complementary_error_function_where_that_is_accurate() {
        for tenth in -10..=60 {
            let x = f64::from(tenth) * 0.1;
            let tail = 0.5 * libm::erfc(x * std::f64::consts::FRAC_1_SQRT_2);
            let density = libm::exp(-0.5 * x * x) / (2.0 * std::f64::consts::PI).sqrt();
            let ratio = mills_ratio(x) / (tail / density);
            assert!((ratio - 1.0).abs() < 1e-14, "x = {x}: ratio {ratio}");
        }
    }

    #[test]
    fn a_small_drop_is_the_derivative_times_the_width() {
        // M'(x) = x M(x) - 1; at these x it loses one digit at most.
        for x in [-1.0, 0.0, 0.5, 2.0] {
            let slope = 1.0 - x * mills_ratio(x);
            for width in [1e-12, 1e-100, 1e-300] {
                let ratio = mills_ratio_drop(x, width) / (width * slope);
                assert!((ratio - 1.0).abs() < 1e-11, "x = {x}, width = {width:e}: ratio {ratio}");
            }
        }
    }

    #[test]
    fn both_ways_to_the_drop_agree_where_they_meet() {
        for x in [-1.0, -0.3, 0.0, 1.0, 7.0, 35.0] {
            let width = 1.0 + f64::max(x, 0.0);
            let ratio = mills_ratio_drop(x, width) / (mills_ratio(x) - mills_ratio(x + width));
            assert!((ratio - 1.0).abs() < 2e-15, "x = {x}: ratio {ratio}");
        }
    }
}
