//! Records whose coordinates lie in [-1, 1], with or without a constant.
//!
//! Write `a = (w + w')/2`, `b = w - w'` for the `q` coordinates that vary; then `w_i w_j - w'_i w'_j = a_i b_j + b_i a_j`.

use super::{Bound, Geometry, Shape, ball};
use crate::privacy::Neighbours;

/// L1 sensitivity of the upper triangle, all weights 1. Exact.
///
/// *Substitute.* Let `A_i = |a_i|`, `s_i = |b_i|/2 <= 1 - A_i`. The entries' changes are at most `2 (A_i s_j + s_i A_j)` off the
/// diagonal, `4 A_i s_i` on it and `2 s_i` for the sums, all attained together when signs agree. With `s_i = 1 - A_i`
/// the total `2 (sum A)(sum s) + 2 sum A_i s_i + 2 [constant] sum s` is concave in `A` and symmetric, so `A_i` are equal: the maximum
/// over one number gives `q (q + 2)^2 / (2 (q + 1))` with a constant and `q (q + 1)/2` without.
/// Leaving out the squared response takes `4 A_y s_y` away. Then the total is *linear* in `A_y`, so `A_y` is 0 or 1
/// while the features still share one value: `(d + 1)(d + 4)/2` with a constant (at `A_y = 0`; `A_y = 1` gives
/// `d (d + 3)^2/(2 (d + 1))`, less), and `d (d + 2)^2/(2 (d + 1))` without.
///
/// *Add-remove.* Every entry can be 1.
pub(super) fn l1(shape: &Shape) -> Bound {
    let (d, q) = (shape.features as f64, shape.features as f64 + 1.0);
    let value = match (shape.neighbours, shape.response_square, shape.intercept) {
        (Neighbours::AddRemove, _, _) => shape.entries() as f64,
        (Neighbours::Substitute, true, true) => q * (q + 2.0) * (q + 2.0) / (2.0 * (q + 1.0)),
        (Neighbours::Substitute, true, false) => q * (q + 1.0) / 2.0,
        (Neighbours::Substitute, false, true) => (d + 1.0) * (d + 4.0) / 2.0,
        (Neighbours::Substitute, false, false) => d * (d + 2.0) * (d + 2.0) / (2.0 * (d + 1.0)),
    };
    Bound { value, tight: true }
}

/// L2 sensitivity of the upper triangle, all weights 1. Exact.
///
/// *Substitute.* Let `N = q + 1` with a constant, `N = q` without, `S = w.w'` (the constant included), and let
/// `t_i = 1 - w_i^2`, `t'_i = 1 - w'_i^2` with sums `T`, `T'`. The squared change is
/// `f = ((N - T)^2 + (N - T')^2 + sum_i (t_i - t'_i)^2)/2 - S^2 = N^2 - loss - S^2`,
/// `loss = N (T + T') - (T^2 + T'^2)/2 - sum (t_i - t'_i)^2/2`. Because `T, T' <= q` and `(t - t')^2 <= t + t'`,
/// `loss >= (N - q/2 - 1/2)(T + T')`, at least `T + T'` if there is a constant or `q >= 3`.
/// If N is even, flipping N/2 signs makes `S = 0`, so the maximum is `N^2`. If N is odd, `S` is at a vertex an odd number;
/// elsewhere with `delta_i = 1 - |w_i w'_i|`, `D = sum delta_i`, still `|S| >= 1 - D`. From `(1 - t_i)(1 - t'_i) = (1 - delta_i)^2` follows
/// `t_i + t'_i >= 2 delta_i - delta_i^2`, so `T + T' >= 2 D - D^2 >= 1 - (1 - D)^2` for `D <= 1`, and `T + T' >= D >= 1` beyond:
/// in both cases `loss + S^2 >= 1`. So the maximum is `N^2 - 1`, which is `max_k 4 k (N - k)` over the number k of flipped signs.
/// Small cases without a constant by hand: `q = 1` has the single entry `y^2`, maximum 1; `q = 2` reaches `N^2 = 4`.
/// At the maximising vertices squares do not change, so leaving out the squared response changes nothing.
///
/// *Add-remove.* Every entry can be 1.
pub(super) fn l2_upper(shape: &Shape) -> Bound {
    let squared = match shape.neighbours {
        Neighbours::AddRemove => shape.entries(),
        Neighbours::Substitute => match shape.regressors() + 1 {
            1 => 1,
            dimension => dimension * dimension - dimension % 2,
        },
    };
    Bound { value: (squared as f64).sqrt(), tight: true }
}

/// L2 sensitivity in the isometric layout with weights.
///
/// The features with the constant have norm at most `sqrt(g^2 + d)`, so the cube is part of a ball and the ball's
/// bound holds. The cube touches the sphere at its vertices only, so for substitution it need not be attained.
pub(super) fn l2_isometric(shape: &Shape, intercept_weight: f64, response_weight: f64) -> Bound {
    let constant = if shape.intercept { intercept_weight * intercept_weight } else { 0.0 };
    let radius = (constant + shape.features as f64).sqrt();
    let geometry = Geometry::Ball { radius, response_bound: response_weight };
    let bound = ball::l2(&Shape { geometry, ..*shape }, radius, response_weight);
    Bound { tight: shape.neighbours == Neighbours::AddRemove, ..bound }
}
