//! The Gaussian mechanism, exactly: what epsilon, delta and noise scale mean for each other.
//!
//! A query with L2 sensitivity D and Gaussian noise of scale s (its standard deviation) has one parameter,
//! mu = D / s. Its smallest delta at a given epsilon is, for x = epsilon / mu - mu / 2,
//!
//! delta(epsilon) = Phi(-x) - e^epsilon Phi(-x - mu)   (\[BW18\] Theorem 8).
//!
//! Since e^epsilon phi(x + mu) = phi(x), it equals phi(x) (M(x) - M(x + mu)) with Mills' ratio M; the bracket
//! is computed as one integral of a positive function (see the file `mills.rs`), so nothing cancels.
//!
//! **Accuracy.** Over epsilon in [1e-3, 50] and delta in [1e-15, 0.5] all functions have relative errors
//! below 1e-12 (tested against 60 digits). Outside they stay as accurate as the condition of the problem
//! allows, and are never NaN. **Safe side.** The solvers return values at which [`gaussian_delta`], as
//! computed, is at most the delta that was asked for: they never promise less loss than the truth beyond the
//! rounding error of `gaussian_delta` itself.

use super::error::{LossError, inside_unit_interval, not_negative, positive, representable};
use super::mills::{mills_ratio, mills_ratio_drop};
use super::root::safe_root;
use std::f64::consts::{FRAC_1_SQRT_2, PI, SQRT_2};

/// The smallest delta for which Gaussian noise with mu = sensitivity / scale is (epsilon, delta)-private.
///
/// Relative error below 1e-12 for epsilon in [1e-3, 50] and delta in [1e-15, 0.5]. Underflows to 0 for tiny
/// mu and tends to 1 for huge mu. \[BW18\] Theorem 8.
///
/// ```
/// let delta = organza_release::loss::gaussian_delta(1.0, 0.5)?;
/// assert!((delta - 0.0068296).abs() < 1e-7);
/// # Ok::<(), organza_release::loss::LossError>(())
/// ```
pub fn gaussian_delta(epsilon: f64, mu: f64) -> Result<f64, LossError> {
    not_negative("epsilon", epsilon)?;
    positive("mu", mu)?;
    Ok(delta_at(epsilon, mu))
}

/// The smallest epsilon for which Gaussian noise with mu = sensitivity / scale is (epsilon, delta)-private.
///
/// It is 0 when the total variation, delta(0), is already at most `delta`. Relative error below 1e-12 for
/// results in [1e-3, 50] and delta in [1e-15, 0.5]; for results near 0 the absolute error is a few 1e-16.
/// Inverts \[BW18\] Theorem 8; never below the truth by more than rounding.
pub fn gaussian_epsilon(delta: f64, mu: f64) -> Result<f64, LossError> {
    inside_unit_interval("delta", delta)?;
    positive("mu", mu)?;
    if delta_at(0.0, mu) <= delta {
        return Ok(0.0);
    }
    // The classic conversion of rho = mu^2 / 2 zCDP is an upper bound, so a safe start.
    let safe = mu * (0.5 * mu + (-2.0 * libm::log(delta)).sqrt());
    let safe = representable("epsilon", safe)?;
    Ok(safe_root(safe, 0.0, |epsilon| {
        let (found, x) = (delta_at(epsilon, mu), standardised(epsilon, mu));
        // d delta / d epsilon = -e^epsilon Phi(-x - mu) = -phi(x) M(x + mu).
        (log_ratio(found, delta), -density(x) * mills_ratio(x + mu) / found)
    }))
}

/// The largest mu = sensitivity / scale for which Gaussian noise is (epsilon, delta)-private.
///
/// Relative error below 1e-12 for epsilon in [1e-3, 50] and delta in [1e-15, 0.5]; epsilon = 0 is allowed.
/// Inverts \[BW18\] Theorem 8; never above the truth by more than rounding.
pub fn gaussian_mu(epsilon: f64, delta: f64) -> Result<f64, LossError> {
    not_negative("epsilon", epsilon)?;
    inside_unit_interval("delta", delta)?;
    let safe = safe_mu(epsilon, delta);
    let mut risky = 2.0 * safe;
    while delta_at(epsilon, risky) <= delta {
        risky *= 2.0;
        representable("mu", risky)?;
    }
    Ok(safe_root(safe, risky, |mu| {
        let found = delta_at(epsilon, mu);
        // d delta / d mu = phi(x): the terms in which the limits of integration move cancel.
        (log_ratio(found, delta), density(standardised(epsilon, mu)) / found)
    }))
}

/// The smallest scale (standard deviation) of Gaussian noise that makes a query of this L2 sensitivity
/// (epsilon, delta)-private: sensitivity / [`gaussian_mu`], rounded up until sensitivity / scale keeps the
/// promise.
///
/// ```
/// let scale = organza_release::loss::gaussian_scale(1.0, 1.0 / 7655.0, 1.0)?;
/// assert!((scale - 3.1185).abs() < 1e-4);
/// # Ok::<(), organza_release::loss::LossError>(())
/// ```
pub fn gaussian_scale(epsilon: f64, delta: f64, sensitivity: f64) -> Result<f64, LossError> {
    positive("sensitivity", sensitivity)?;
    // Never 0, which would be no noise at all, when the quotient underflows.
    let mut scale = (sensitivity / gaussian_mu(epsilon, delta)?).max(f64::MIN_POSITIVE);
    // A few units in the last place at most: the quotient may have been rounded down.
    while delta_at(epsilon, sensitivity / scale) > delta {
        scale = scale.next_up();
    }
    representable("scale", scale)
}

/// A mu with delta(epsilon, mu) <= delta: from the classic zCDP bound, and from delta <= mu / sqrt(2 pi).
fn safe_mu(epsilon: f64, delta: f64) -> f64 {
    let log_term = -libm::log(delta);
    let from_zcdp = SQRT_2 * (epsilon / ((log_term + epsilon).sqrt() + log_term.sqrt()));
    // The factor absorbs the rounding of both bounds; the second is attained in the limit of small delta.
    from_zcdp.max(delta * (2.0 * PI).sqrt()) * (1.0 - 1e-12)
}

/// The point x = epsilon / mu - mu / 2 at which the likelihood ratio of the two worst outputs is e^epsilon.
fn standardised(epsilon: f64, mu: f64) -> f64 {
    epsilon / mu - 0.5 * mu
}

fn density(x: f64) -> f64 {
    libm::exp(-0.5 * x * x) / (2.0 * PI).sqrt()
}

/// ln(found / wanted), exact in its sign.
fn log_ratio(found: f64, wanted: f64) -> f64 {
    libm::log1p((found - wanted) / wanted)
}

/// [`gaussian_delta`] for arguments that have been checked.
pub(super) fn delta_at(epsilon: f64, mu: f64) -> f64 {
    let x = standardised(epsilon, mu);
    if x > 40.0 {
        return 0.0; // phi(40) is below the smallest double
    }
    if x < -1.0 {
        // Here the first term exceeds five times the second.
        let above = 0.5 * libm::erfc(x * FRAC_1_SQRT_2);
        return above - density(x) * mills_ratio(x + mu);
    }
    density(x) * mills_ratio_drop(x, mu) // [BW18] Theorem 8
}
