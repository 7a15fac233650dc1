//! A root finder that ends on the side of a root where a privacy claim holds.

/// Iterations of the main loop: bisection alone would need about 64 for adjacent doubles.
const MOST_ITERATIONS: usize = 200;

/// Finds the root of `excess` between `safe`, where it is at most 0, and `risky`, where it is positive.
///
/// `excess_and_slope` returns the function and its derivative. Newton's method starts from the safe side,
/// where it converges monotonically when the function is concave (all of ours are), and every step that would
/// leave the bracket, or is not a number, is replaced by a bisection: it always converges. The result is a
/// point at which the *computed* excess is at most 0, a few units in the last place from the computed root.
pub(super) fn safe_root(safe: f64, risky: f64, excess_and_slope: impl Fn(f64) -> (f64, f64)) -> f64 {
    let (mut safe, mut risky, mut point) = (safe, risky, safe);
    for _ in 0..MOST_ITERATIONS {
        let (excess, slope) = excess_and_slope(point);
        if excess <= 0.0 {
            safe = point;
        } else {
            risky = point;
        }
        let newton = point - excess / slope;
        let inside = newton > safe.min(risky) && newton < safe.max(risky);
        let next = if inside { newton } else { safe + 0.5 * (risky - safe) };
        let settled = (next - point).abs() <= 2.0 * f64::EPSILON * point.abs();
        point = next;
        if settled {
            break;
        }
    }
    back_off(point, safe, |point| excess_and_slope(point).0)
}

/// The first of `point`, and of points at growing distances from it towards `safe`, with no excess.
fn back_off(point: f64, safe: f64, excess: impl Fn(f64) -> f64) -> f64 {
    let mut candidate = point;
    let mut distance = (f64::EPSILON * point.abs()).max(f64::MIN_POSITIVE);
    while distance < (safe - point).abs() {
        if excess(candidate) <= 0.0 {
            return candidate;
        }
        candidate = point + distance.copysign(safe - point);
        distance *= 2.0;
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_on_the_safe_side_from_below_and_from_above() {
        let from_below = safe_root(0.5, 9.0, |x| (x * x - 2.0, 2.0 * x));
        assert!(from_below * from_below <= 2.0 && (from_below - 2f64.sqrt()).abs() < 1e-15);
        let from_above = safe_root(9.0, 0.5, |x| (2.0 - x * x, -2.0 * x));
        assert!(from_above * from_above >= 2.0 && (from_above - 2f64.sqrt()).abs() < 1e-15);
    }

    #[test]
    fn bisects_when_the_slope_is_useless() {
        for slope in [0.0, f64::NAN, f64::INFINITY, -1.0] {
            let root = safe_root(0.0, 1e6, |x| (x - 3.25, slope));
            assert!(root <= 3.25 && root > 3.25 - 1e-9, "slope {slope}: {root}");
        }
    }
}
