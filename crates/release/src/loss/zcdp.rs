//! Zero-concentrated privacy (zCDP) and its conversion to epsilon and delta.
//!
//! A mechanism is rho-zCDP if its Rényi divergence of every order alpha > 1 is at most rho alpha. Two
//! conversions:
//!
//! - **classic** (Bun and Steinke 2016, Proposition 1.3): epsilon = rho + 2 sqrt(rho ln(1/delta));
//! - **optimal order** (\[CKS20\] Corollary 13), never worse:
//!   delta = inf over alpha > 1 of exp((alpha - 1)(alpha rho - epsilon)) / (alpha - 1) (1 - 1/alpha)^alpha.
//!
//! With b = alpha - 1 the logarithm of the latter is
//!
//! F(b) = b ((b + 1) rho - epsilon) - b ln(1 + 1/b) - ln(1 + b),
//!
//! whose derivative F'(b) = (2 b + 1) rho - epsilon - ln(1 + 1/b) increases: F is convex, the infimum is at
//! the only root. Solved for epsilon at a given b, the derivative vanishes where
//! rho b^2 + ln(1 + b) = ln(1/delta), which again has one root. An error in b enters only quadratically.
//!
//! **Accuracy.** Relative errors below 1e-12 over epsilon in [1e-3, 50] and delta in [1e-15, 0.5].

use super::error::{LossError, inside_unit_interval, not_negative, positive, representable};
use super::root::safe_root;
use super::sum::CompensatedSum;

/// The rho of Gaussian noise with mu = sensitivity / scale: mu^2 / 2, for continuous and for discrete
/// Gaussian noise alike (\[CKS20\] Theorem 4 for one coordinate; coordinates add).
pub fn gaussian_rho(mu: f64) -> Result<f64, LossError> {
    positive("mu", mu)?;
    representable("rho", 0.5 * mu * mu)
}

/// The rho of any epsilon-private mechanism: epsilon^2 / 2 (Bun and Steinke 2016, Proposition 1.4).
pub fn pure_rho(epsilon: f64) -> Result<f64, LossError> {
    not_negative("epsilon", epsilon)?;
    representable("rho", 0.5 * epsilon * epsilon)
}

/// The rho of several mechanisms on the same records: the sum. Also when each is chosen after seeing the
/// others.
pub fn composed_rho(rhos: impl IntoIterator<Item = f64>) -> Result<f64, LossError> {
    let mut sum = CompensatedSum::default();
    for rho in rhos {
        sum.add(not_negative("rho", rho)?);
    }
    representable("rho", sum.total())
}

/// The epsilon of rho-zCDP at `delta` by the classic conversion: rho + 2 sqrt(rho ln(1/delta)).
pub fn zcdp_epsilon_classic(rho: f64, delta: f64) -> Result<f64, LossError> {
    positive("rho", rho)?;
    let log_term = log_inverse(delta)?;
    representable("epsilon", rho + 2.0 * (rho * log_term).sqrt())
}

/// The delta of rho-zCDP at `epsilon` by the classic conversion: exp(-(epsilon - rho)^2 / (4 rho)), or 1 when
/// epsilon is below rho.
pub fn zcdp_delta_classic(rho: f64, epsilon: f64) -> Result<f64, LossError> {
    positive("rho", rho)?;
    not_negative("epsilon", epsilon)?;
    let excess = (epsilon - rho).max(0.0);
    Ok(libm::exp(-0.25 * excess * (excess / rho)))
}

/// The largest rho that the classic conversion turns into (epsilon, delta).
pub fn zcdp_rho_classic(epsilon: f64, delta: f64) -> Result<f64, LossError> {
    positive("epsilon", epsilon)?;
    let log_term = log_inverse(delta)?;
    // sqrt(log_term + epsilon) - sqrt(log_term), without cancellation.
    let root = epsilon / ((log_term + epsilon).sqrt() + log_term.sqrt());
    Ok((root * root).min(epsilon)) // rho is below epsilon; the square may overflow
}

/// The epsilon of rho-zCDP at `delta` by the conversion with the optimal order, and at least 0.
/// \[CKS20\] Corollary 13.
pub fn zcdp_epsilon(rho: f64, delta: f64) -> Result<f64, LossError> {
    positive("rho", rho)?;
    let log_term = log_inverse(delta)?;
    // Each of the two terms alone reaches ln(1/delta) here.
    let risky = (log_term.sqrt() / rho.sqrt()).min(libm::expm1(log_term));
    let root =
        safe_root(0.0, risky, |b| (rho * b * b + libm::log1p(b) - log_term, 2.0 * rho * b + 1.0 / (1.0 + b)));
    // Every order gives a valid bound, so another one will do when the best underflows.
    let order = if root > 0.0 { root } else { risky };
    let epsilon = (1.0 + order) * rho - libm::log1p(1.0 / order) + (log_term - libm::log1p(order)) / order;
    representable("epsilon", epsilon.max(0.0))
}

/// The delta of rho-zCDP at `epsilon` by the conversion with the optimal order. \[CKS20\] Corollary 13.
pub fn zcdp_delta(rho: f64, epsilon: f64) -> Result<f64, LossError> {
    positive("rho", rho)?;
    not_negative("epsilon", epsilon)?;
    Ok(libm::exp(log_delta_and_order(rho, epsilon).0))
}

/// The largest rho that the conversion with the optimal order turns into (epsilon, delta).
/// \[CKS20\] Corollary 13.
pub fn zcdp_rho(epsilon: f64, delta: f64) -> Result<f64, LossError> {
    not_negative("epsilon", epsilon)?;
    let log_term = log_inverse(delta)?;
    let excess = |rho: f64| log_delta_and_order(rho, epsilon).0 + log_term;
    // The classic rho is safe; with epsilon = 0 it vanishes, and delta is then near sqrt(2 rho / e).
    let mut safe = if epsilon > 0.0 { zcdp_rho_classic(epsilon, delta)? } else { 0.0 }.max(delta * delta);
    while excess(safe) > 0.0 {
        safe *= 0.5;
    }
    if safe == 0.0 {
        return Ok(0.0); // the answer underflows
    }
    let mut risky = 2.0 * safe;
    while excess(risky) <= 0.0 {
        risky = representable("rho", 2.0 * risky)?;
    }
    Ok(safe_root(safe, risky, |rho| {
        let (log_delta, order) = log_delta_and_order(rho, epsilon);
        // At the infimum only the explicit rho counts: dF/drho = b (b + 1).
        (log_delta + log_term, order * (order + 1.0))
    }))
}

fn log_inverse(delta: f64) -> Result<f64, LossError> {
    Ok(-libm::log(inside_unit_interval("delta", delta)?))
}

/// ln delta and the optimal b = alpha - 1 for arguments that have been checked.
fn log_delta_and_order(rho: f64, epsilon: f64) -> (f64, f64) {
    let slope = |b: f64| (2.0 * b + 1.0) * rho - epsilon - libm::log1p(1.0 / b);
    let curvature = |b: f64| 2.0 * rho + 1.0 / (b * (1.0 + b));
    let mut risky = 0.5 * epsilon / rho + (0.5 / rho).sqrt();
    if rho > epsilon {
        // Without the term 2 b rho the root would be here, and that term moves it to the left.
        risky = risky.min(1.0 / libm::expm1(rho - epsilon));
    }
    if risky < 1e-300 {
        return (0.0, 0.0); // delta = 1 - O(1e-300)
    }
    if !risky.is_finite() {
        // epsilon / rho overflows, so delta < exp(-epsilon^2 / (4 rho)) underflows.
        return (f64::NEG_INFINITY, f64::MAX);
    }
    let mut safe = 0.5 * risky;
    while slope(safe) > 0.0 {
        safe *= 0.5;
    }
    let b = safe_root(safe, risky, |b| (slope(b), curvature(b)));
    // [CKS20] Corollary 13, the logarithm at the optimal order.
    let log_delta = b * ((b + 1.0) * rho - epsilon) - b * libm::log1p(1.0 / b) - libm::log1p(b);
    (log_delta.min(0.0), b)
}
