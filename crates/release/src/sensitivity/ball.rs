//! Records with `|x| <= R` and `|y| <= B`: \[AYB23\]'s domain, and every domain with record scaling.

use super::{Bound, Shape};
use crate::privacy::Neighbours;

/// L2 sensitivity of `[svec(x x'), x y, y^2]`, with or without the last entry.
///
/// *Add-remove.* `|T|^2 = |x|^4 + |x|^2 y^2 (+ y^4)`, largest on the boundary.
///
/// *Substitute.* With `a = |x|`, `b = |x'|`, `t = x.x'` in `[-ab, ab]`, `Y = y^2`, `Y' = y'^2` the squared change is
/// `f = a^4 + b^4 - 2 t^2 + a^2 Y + b^2 Y' - 2 t y y' (+ (Y - Y')^2)`.
/// 1. The best `t` is `-y y'/2` if `|y y'| <= 2ab`, giving `a^4 + b^4 + a^2 Y + b^2 Y' + Y Y'/2 (+ ..)`; else it is `-+ab`, giving
///    `(a^2 - b^2)^2 + (a|y| + b|y'|)^2 (+ ..)`. Both grow with `a` and `b` (in the second, for `a < b`, because
///    `2 b |y y'| >= 4 a b^2`), so `a = b = R`.
/// 2. Without the squared response both grow with `|y|` and `|y'|`, so these are `B`: with `c = min(B^2/2, R^2)` the maximum is
///    `2 R^4 - 2 c^2 + 2 R^2 B^2 + 2 B^2 c`.
/// 3. With it and `B^2 <= 2 R^2` the first form holds everywhere and is convex in `Y` and in `Y'`, so the maximum is at a corner:
///    `Y = Y' = B^2` as before, or `Y = B^2, Y' = 0`: `2 R^4 + R^2 B^2 + B^4`, which is not larger.
/// 4. With it and `B^2 > 2 R^2` the second form at `|y| = B`, `|y'| = m` exceeds that rival by
///    `R^2 (2Bm + m^2) - 2 R^4 - 2 B^2 m^2 + m^4`, which grows with `R^2 <= Bm/2` and is at most `m^2 (m^2 + Bm/2 - 3B^2/2) <= 0` there;
///    so the rival is the maximum.
///
/// So the sum of squared responses is free unless `B^2 > 2 R^2`.
///
/// The layout does not matter: in the upper layout off-diagonal entries weigh less, so the bound holds, and the
/// worst pair can be turned until `x x' - x' x'^T` is diagonal, so it is attained. A single regressor has no two
/// directions, so there the bound is not tight.
pub(super) fn l2(shape: &Shape, radius: f64, response_bound: f64) -> Bound {
    let (r2, b2) = (radius * radius, response_bound * response_bound);
    let squared = match shape.neighbours {
        Neighbours::AddRemove => r2 * r2 + r2 * b2 + if shape.response_square { b2 * b2 } else { 0.0 },
        Neighbours::Substitute => {
            let c = r2.min(0.5 * b2);
            let equal_squares = 2.0 * (r2 * r2 - c * c + r2 * b2 + b2 * c);
            let rival = 2.0 * r2 * r2 + r2 * b2 + b2 * b2;
            if shape.response_square { equal_squares.max(rival) } else { equal_squares }
        }
    };
    let tight = shape.neighbours == Neighbours::AddRemove || shape.regressors() >= 2;
    Bound { value: squared.sqrt(), tight }
}

/// L1 sensitivity of the upper triangle.
///
/// *Add-remove.* `sum_{i<=j} |x_i x_j| = (|x|_1^2 + |x|_2^2)/2 <= (p + 1) R^2 / 2` and `|x|_1 <= sqrt(p) R`, attained together
/// at a diagonal of the ball.
///
/// *Substitute.* The smaller of two bounds: twice the add-remove value, by the triangle inequality; and the
/// L2 sensitivity of the isometric layout times `sqrt(sum 1/weight^2)`, by Cauchy and Schwarz, where the weights
/// are sqrt(2) for products of two regressors and 1 otherwise. Neither is claimed to be attained.
pub(super) fn l1(shape: &Shape, radius: f64, response_bound: f64) -> Bound {
    let p = shape.regressors() as f64;
    let square = if shape.response_square { 1.0 } else { 0.0 };
    let one_record = 0.5 * (p + 1.0) * radius * radius
        + p.sqrt() * radius * response_bound
        + square * response_bound * response_bound;
    match shape.neighbours {
        Neighbours::AddRemove => Bound { value: one_record, tight: true },
        Neighbours::Substitute => {
            let by_l2 = l2(shape, radius, response_bound).value * inverse_weights(shape).sqrt();
            Bound { value: by_l2.min(2.0 * one_record), tight: false }
        }
    }
}

/// `sum 1/weight^2` over the entries of the isometric layout, off the diagonal once: what Cauchy and Schwarz charge
/// for a sum of absolute values.
pub(super) fn inverse_weights(shape: &Shape) -> f64 {
    let p = shape.regressors() as f64;
    p + 0.25 * p * (p - 1.0) + p + f64::from(u8::from(shape.response_square))
}
