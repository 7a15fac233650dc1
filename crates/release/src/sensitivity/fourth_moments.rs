//! Sums of products of four coordinates of `x = (1, u)`, `u` in `[-1, 1]^d` (\[BS19\] section 3.4.4).
//!
//! The monomials `m(u)` of degree 1 to 4 are `E = C(d + 4, 4) - 1` in number. A square of a monomial lies in [0, 1], any other one in [-1, 1], and
//! exchanging a record changes each by at most its range. Beyond that sum of ranges:
//!
//! **Claim.** `sum_m (m(u) - m(u'))^2 <= 2 E + 23/12`.
//! The left side is `sum m(u)^2 + sum m(u')^2 - 2 sum m(u) m(u') <= 2 E - 2 sum m(z)` with `z_i = u_i u'_i`. With the constant monomial,
//! `1 + sum m(z) = h_4(1, z)`, the complete homogeneous symmetric polynomial of degree 4. Let `e_0, .., e_d` be independent and
//! exponentially distributed, `S = e_0 + sum z_i e_i`. Since the k-th moment of `e_i` is `k!`, the multinomial theorem gives `E[S^4] = 24 h_4(1, z)`. By Jensen
//! `E[S^4] >= E[S^2]^2 >= Var(S)^2 = (1 + |z|^2)^2 >= 1`, so `sum m(z) >= 1/24 - 1`.
//!
//! The L1 norm is at most `sqrt(E)` times the L2 norm. Of both bounds the smaller one is taken in each norm; neither is claimed
//! to be attained.

use super::Bound;
use crate::privacy::Norm;

/// Sensitivity of the sums of all monomials of degree 1 to 4 of this many features, one record exchanged.
pub fn fourth_moments(features: usize, norm: Norm) -> Bound {
    let d = features as f64;
    let monomials = (d + 1.0) * (d + 2.0) * (d + 3.0) * (d + 4.0) / 24.0 - 1.0;
    // u_i^2, u_i^4 and u_i^2 u_j^2.
    let squares = 2.0 * d + d * (d - 1.0) / 2.0;
    let others = monomials - squares;
    let l2 = (squares + 4.0 * others).min(2.0 * monomials + 23.0 / 12.0).sqrt();
    let value = match norm {
        Norm::L2 => l2,
        Norm::L1 => (squares + 2.0 * others).min(l2 * monomials.sqrt()),
    };
    Bound { value, tight: false }
}
