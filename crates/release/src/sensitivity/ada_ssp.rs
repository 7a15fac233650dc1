//! The three parts of adaSSP (\[AYB23\] section C.2): the smallest eigenvalue of `X'X`, `svec(X'X)` and `X'y`.
//!
//! Let `|x| <= R` and `|y| <= B` in weighted units. One record is exchanged, so `X'X` changes by `E = x x' - x' x'^T`.
//! - *Smallest eigenvalue.* `-R^2 I <= -x' x'^T <= E <= x x' <= R^2 I`, and by Weyl's inequality `lambda_min(A + E)` differs from `lambda_min(A)` by
//!   at most the largest absolute eigenvalue of `E`: `R^2`.
//! - *`svec(X'X)`.* `|E|_F^2 = |x|^4 + |x'|^4 - 2 (x.x')^2 <= 2 R^4`.
//! - *`X'y`.* `|x y - x' y'| <= 2 R B`.
//!
//! Each part is divided by its own bound and receives noise of the same scale, so the three together have sensitivity at
//! most sqrt(3). One Gaussian mechanism with loss mu then gives each part mu/sqrt(3): less noise than three
//! mechanisms at (epsilon/3, delta/3), the published split, under the same guarantee.

use super::{Bound, Geometry};
use crate::domain::Domain;

/// Bounds of the three parts in weighted units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AdaSspParts {
    /// Of the smallest eigenvalue of `X'X`.
    pub smallest_eigenvalue: f64,
    /// Of `svec(X'X)`.
    pub gram: f64,
    /// Of `X'y`.
    pub cross: f64,
}

impl AdaSspParts {
    /// The bounds on a domain.
    pub fn of(domain: &Domain) -> Self {
        let (squared, response) = match Geometry::of(domain) {
            Geometry::Cube { intercept_weight, response_weight } => {
                let constant = if domain.intercept() { intercept_weight * intercept_weight } else { 0.0 };
                (constant + domain.feature_count() as f64, response_weight)
            }
            Geometry::Ball { radius, response_bound } => (radius * radius, response_bound),
        };
        Self {
            smallest_eigenvalue: squared,
            gram: std::f64::consts::SQRT_2 * squared,
            cross: 2.0 * squared.sqrt() * response,
        }
    }
}

/// The three parts together, each in units of its own bound.
pub(super) const TOGETHER: Bound = Bound { value: 1.732_050_807_568_877_4, tight: false };
