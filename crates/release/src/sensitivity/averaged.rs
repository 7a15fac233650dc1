//! Rows that are sums of K records over sqrt(K): \[AYB23\] section B.1, whose claim that averaging leaves the
//! sensitivity as it is does not hold.
//!
//! One record of a group is exchanged, `w` for `w'`; let `s` be the sum of its `N = K - 1` companions. The row was
//! `(s + w)/sqrt(K)` and becomes `(s + w')/sqrt(K)`. With `m = s + (w + w')/2` and `b = w - w'` the statistic changes by
//! `(m b' + b m')/K`: it is the *companions* that make it large. **Claim.** For `N >= 1` the largest change is `4 N/K` times the
//! largest `|T(w)|` of one record, the add-remove value, for the cube in every norm, layout and weighting, and for the ball in
//! the L2 norm. It is attained by `s = N w`, `w' = -w`: then `m = N w`, `b = 2 w`, and the change is `4 N/K T(w)`.
//!
//! *One coordinate*, `|w| <= 1`. Let `b = 2 r`, `0 <= r <= 1`. Then `|w + w'|/2 <= 1 - r`, so `|m| <= N + 1 - r`. (1)
//! `r (N + 1 - r)` grows with `r` up to 1, because its slope is `N + 1 - 2 r >= 0`, so it is at most `N`. (2)
//! For two coordinates likewise `r (N + 1 - t) + t (N + 1 - r)` grows with `r` and with `t`: it is at most `2 N`. (3)
//!
//! *The cube.* By (1) to (3) every square changes by `|2 m_i b_i| <= 4 N w_i^2` and every product by `|m_i b_j + b_i m_j| <= 4 N w_i w_j`, where
//! the `w_i` are the largest values, so every entry by at most `4 N` times itself at a vertex. One vertex attains all.
//!
//! *The ball*, `|x| <= R = 1`, `|y| <= B = 1` without loss of generality. Let `b = 2 r e` for the features with a unit vector `e`, and write
//! `(x + x')/2 = u e + v`, `v` orthogonal to `e`, `u >= 0`: from `|x|, |x'| <= 1` follows `(u + r)^2 + |v|^2 <= 1`. (4) The change is convex
//! in the companions' sum, so that has norm `N`: `N (c e + s)`, `c^2 + |s|^2 = 1`. The three blocks of `[svec(x x'), x y, y^2]` are bounded one by one.
//! 1. `x x'`: the squared change is `2 (|m|^2 |b|^2 + (m.b)^2) = 8 r^2 (2 (N c + u)^2 + |N s + v|^2)`. The bracket is
//!    `2 N^2 + 4 N c u + 2 u^2 + |v|^2 + (2 N s.v - N^2 |s|^2) <= 2 (N + u)^2 + 2 |v|^2`, by (4) at most `2 (N^2 + 2 u (N - r) + 1 - r^2)`, which
//!    grows with `u <= 1 - r`: at most `2 (N + 1 - r)^2`. By (2) the change is at most `4 N`.
//! 2. `x y`: let `b_y = 2 t`, `|m_y| <= M = N + 1 - t`. The change is `2 |t m + r m_y e|`. As `t m = t N (c e + s) + t (u e + v)`, its half is at most
//!    `t N + A` with `A^2 = (t u + r M)^2 + t^2 |v|^2`, by (4) at most `t^2 (1 - r^2) + 2 t u r (M - t) + r^2 M^2`, which grows with `u <= 1 - r` because
//!    `M >= t`: at most `(t (1 - r) + r M)^2`. So the change is at most `2 (t (N + 1 - r) + r (N + 1 - t))`, by (3) at most `4 N`.
//! 3. `y^2`: one coordinate, at most `4 N`.
//!
//! All three are attained together, in the upper layout by features along an axis. In the L1 norm the ball's bound is by Cauchy and Schwarz.

use super::{Bound, Geometry, Shape, ball};
use crate::privacy::{Neighbours, Norm};

/// Sensitivity of the Gram matrix of sums of `averaged >= 2` records over `sqrt(averaged)`, one record exchanged.
pub(super) fn sensitivity(shape: &Shape, norm: Norm, averaged: u64) -> Bound {
    let one_record = Shape { neighbours: Neighbours::AddRemove, ..*shape };
    let factor = 4.0 * (averaged - 1) as f64 / averaged as f64;
    let scaled = |bound: Bound| Bound { value: factor * bound.value, ..bound };
    match (shape.geometry, norm) {
        (Geometry::Ball { radius, response_bound }, Norm::L1) => {
            let by_l2 = factor * ball::l2(&one_record, radius, response_bound).value;
            Bound { value: by_l2 * ball::inverse_weights(shape).sqrt(), tight: false }
        }
        _ => scaled(one_record.sensitivity(norm)),
    }
}
