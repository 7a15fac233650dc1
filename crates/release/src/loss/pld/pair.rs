//! The worst pair of output laws of one step, P and Q, seen through its privacy loss L = ln dP/dQ.
//!
//! Noise of scale s is in units of the clipping bound C of one record, so a record shifts the sum by at most 1.
//!
//! - **Poisson sampling at rate q, one record more or less**: M = (1-q) N(0, s^2) + q N(1, s^2) against N(0, s^2),
//!   in both orders (\[ZDW22\] Theorem 11). With r(x) = 1 - q + q exp((2x - 1) / (2 s^2)) the losses are ln r(x) and
//!   -ln r(x), monotone in x, with a closed inverse.
//! - **Poisson sampling, one record exchanged**: (1-q) N(0, s^2) + q N(1, s^2) against (1-q) N(0, s^2) + q N(-1, s^2)
//!   (\[KJH20\] section 5): both the old and the new record are within C, so the shifts are +1 and -1, not 2. The loss
//!   ln r(x) - ln r(-x) is odd and increasing; its inverse solves a quadratic.
//! - **Laplace**: the loss is linear between two atoms at plus and minus epsilon.
//! - **Discrete Gaussian**: atoms at the odd multiples of 1 / (2 s^2), in `integers.rs`.
//! - **Any (epsilon, delta)-private mechanism** is dominated by randomised response that tells all with probability delta (proof of \[KOV15\] Theorem 3.3): P has
//!   delta at an infinite loss, (1 - delta) e^epsilon / (1 + e^epsilon) at epsilon and the rest at -epsilon.

use super::integers::Integers;
use std::f64::consts::FRAC_1_SQRT_2;
use std::rc::Rc;

/// Two neighbouring output laws, in an order.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Pair {
    /// The mixture against the plain normal.
    Removed { sigma: f64, rate: f64 },
    /// The plain normal against the mixture.
    Added { sigma: f64, rate: f64 },
    /// The mixture against its mirror image.
    Exchanged { sigma: f64, rate: f64 },
    /// Laplace noise with this epsilon.
    Laplace { epsilon: f64 },
    /// Discrete noise on a count.
    Integers(Rc<Integers>),
    /// Randomised response that tells all with probability delta.
    Response { epsilon: f64, delta: f64 },
}

/// The masses of P and Q on both sides of a loss, each to the relative error `error`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sides {
    pub(super) p_above: f64,
    pub(super) p_below: f64,
    pub(super) q_above: f64,
    pub(super) q_below: f64,
    pub(super) error: f64,
}

impl Sides {
    const ALL_BELOW: Self = Self { p_above: 0.0, p_below: 1.0, q_above: 0.0, q_below: 1.0, error: 0.0 };
    const ALL_ABOVE: Self = Self { p_above: 1.0, p_below: 0.0, q_above: 1.0, q_below: 0.0, error: 0.0 };

    fn swapped(self) -> Self {
        let Self { p_above, p_below, q_above, q_below, error } = self;
        Self { p_above: p_below, p_below: p_above, q_above: q_below, q_below: q_above, error }
    }
}

impl Pair {
    /// The masses with a loss above `loss`, and of the rest.
    pub(super) fn sides(&self, loss: f64) -> Sides {
        match *self {
            Self::Removed { sigma, rate } => {
                normal_sides(ratio_inverse(loss, sigma, rate), sigma, rate, 0.0, 0.0)
            }
            Self::Added { sigma, rate } => {
                let x = ratio_inverse(-loss, sigma, rate);
                // The loss falls in x: above a loss is below x. Here P has no second component, and Q has.
                let Sides { p_above, p_below, q_above, q_below, error } =
                    normal_sides(x, sigma, rate, 0.0, 0.0).swapped();
                Sides { p_above: q_above, p_below: q_below, q_above: p_above, q_below: p_below, error }
            }
            Self::Exchanged { sigma, rate } => {
                normal_sides(exchanged_inverse(loss, sigma, rate), sigma, rate, -1.0, rate)
            }
            Self::Laplace { epsilon } => laplace_sides(loss, epsilon),
            Self::Integers(ref integers) => integers.sides(loss),
            Self::Response { epsilon, delta } => response_sides(loss, epsilon, delta),
        }
    }

    /// The mass of an infinite loss.
    pub(super) fn infinite(&self) -> f64 {
        if let Self::Response { delta, .. } = self { *delta } else { 0.0 }
    }

    /// Losses outside which P has less than the mass of one normal tail beyond `deviations` standard deviations.
    pub(super) fn range(&self, deviations: f64) -> (f64, f64) {
        match *self {
            Self::Removed { sigma, rate } => {
                let reach = deviations * sigma;
                (log_ratio(-reach, sigma, rate), log_ratio(1.0 + reach, sigma, rate))
            }
            Self::Added { sigma, rate } => {
                let reach = deviations * sigma;
                (-log_ratio(reach, sigma, rate), -log_ratio(-reach, sigma, rate))
            }
            Self::Exchanged { sigma, rate } => {
                let loss = |x| log_ratio(x, sigma, rate) - log_ratio(-x, sigma, rate);
                let reach = deviations * sigma;
                (loss(-reach), loss(1.0 + reach))
            }
            Self::Laplace { epsilon } | Self::Response { epsilon, .. } => (-epsilon, epsilon),
            Self::Integers(ref integers) => integers.range(deviations),
        }
    }
}

/// ln r(x), without overflow.
fn log_ratio(x: f64, sigma: f64, rate: f64) -> f64 {
    let exponent = (x - 0.5) / (sigma * sigma);
    if rate == 1.0 {
        return exponent;
    }
    if exponent > 30.0 {
        return exponent + libm::log(rate) + libm::log1p((1.0 - rate) / rate * libm::exp(-exponent));
    }
    libm::log1p(rate * libm::expm1(exponent))
}

/// The x at which ln r(x) is `loss`; minus infinity below the smallest loss, ln(1 - q).
fn ratio_inverse(loss: f64, sigma: f64, rate: f64) -> f64 {
    let variance = sigma * sigma;
    if rate == 1.0 {
        return 0.5 + variance * loss;
    }
    if loss > 600.0 {
        return 0.5 + variance * (loss - libm::log(rate));
    }
    let excess = libm::expm1(loss) / rate;
    if excess <= -1.0 { f64::NEG_INFINITY } else { 0.5 + variance * libm::log1p(excess) }
}

/// The x at which ln r(x) - ln r(-x) is `loss`: with y = e^loss and z = e^(x / s^2), c z^2 + a (1 - y) z - c y = 0
/// for a = 1 - q and c = q e^(-1 / (2 s^2)).
fn exchanged_inverse(loss: f64, sigma: f64, rate: f64) -> f64 {
    let variance = sigma * sigma;
    if rate == 1.0 {
        return 0.5 * variance * loss;
    }
    let size = loss.abs();
    // y^(1/2) is divided out: z = y^(1/2) (w + sqrt(w^2 + 1)) for w = (a / c) sinh(loss / 2).
    let half = 0.5 * size;
    let log_c = libm::log(rate) - 0.5 / variance;
    let log_z = if half > 300.0 || log_c < -300.0 {
        let log_w = libm::log1p(-rate) - log_c + half + libm::log(-libm::expm1(-size) * 0.5);
        half + if log_w > 20.0 { log_w + std::f64::consts::LN_2 } else { libm::asinh(libm::exp(log_w)) }
    } else {
        half + libm::asinh((1.0 - rate) * libm::exp(-log_c) * libm::sinh(half))
    };
    (variance * log_z).copysign(loss)
}

/// Sides of x when P is (1-q) N(0) + q N(1), and Q is (1 - q') N(0) + q' N(shift) with weight q' = `weight`.
fn normal_sides(x: f64, sigma: f64, rate: f64, shift: f64, weight: f64) -> Sides {
    if x == f64::NEG_INFINITY {
        return Sides::ALL_ABOVE;
    }
    let above = |centre: f64| 0.5 * libm::erfc((x - centre) / sigma * FRAC_1_SQRT_2);
    let below = |centre: f64| 0.5 * libm::erfc((centre - x) / sigma * FRAC_1_SQRT_2);
    let z = ((x.abs() + 1.0) / sigma).min(1e3);
    Sides {
        p_above: (1.0 - rate) * above(0.0) + rate * above(1.0),
        p_below: (1.0 - rate) * below(0.0) + rate * below(1.0),
        q_above: (1.0 - weight) * above(0.0) + weight * above(shift),
        q_below: (1.0 - weight) * below(0.0) + weight * below(shift),
        // erfc is good to an ulp; a relative error of its argument counts z^2 times.
        error: 2.0 * f64::EPSILON * (2.0 + z * z),
    }
}

fn laplace_sides(loss: f64, epsilon: f64) -> Sides {
    if loss >= epsilon {
        return Sides::ALL_BELOW;
    }
    if loss < -epsilon {
        return Sides::ALL_ABOVE;
    }
    let (p, q) = (-0.5 * (epsilon - loss), -0.5 * (epsilon + loss));
    Sides {
        p_above: 1.0 - 0.5 * libm::exp(p),
        p_below: 0.5 * libm::exp(p),
        q_above: 0.5 * libm::exp(q),
        q_below: 1.0 - 0.5 * libm::exp(q),
        error: 2.0 * f64::EPSILON * (2.0 + epsilon),
    }
}

fn response_sides(loss: f64, epsilon: f64, delta: f64) -> Sides {
    // The true answer and the false one, when not all is told.
    let truth = (1.0 - delta) / (1.0 + libm::exp(-epsilon));
    let lie = (1.0 - delta) / (1.0 + libm::exp(epsilon));
    let (p_above, p_below) = match loss {
        loss if loss >= epsilon => (delta, truth + lie),
        loss if loss >= -epsilon => (delta + truth, lie),
        _ => (1.0, 0.0),
    };
    let (q_above, q_below) = match loss {
        loss if loss >= epsilon => (0.0, 1.0),
        loss if loss >= -epsilon => (lie, delta + truth),
        _ => (truth + lie, delta),
    };
    Sides { p_above, p_below, q_above, q_below, error: 4.0 * f64::EPSILON }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a wrong sign or a lost term in an inverse: the boundary of a loss has that loss.
    #[test]
    fn inverses_undo_the_losses() {
        for (sigma, rate) in [(0.05, 0.01), (0.5, 0.3), (1.0, 0.01), (8.0, 0.001), (100.0, 0.5), (2.0, 1.0)] {
            for step in -40..=40 {
                let x = 0.25 * f64::from(step) * sigma;
                let forward = log_ratio(x, sigma, rate);
                let odd = forward - log_ratio(-x, sigma, rate);
                let found = log_ratio(ratio_inverse(forward, sigma, rate), sigma, rate);
                assert!(
                    (found - forward).abs() < 1e-14 * (1.0 + forward.abs()),
                    "{sigma} {rate} {x}: {found} {forward}"
                );
                let back = exchanged_inverse(odd, sigma, rate);
                let found = log_ratio(back, sigma, rate) - log_ratio(-back, sigma, rate);
                assert!((found - odd).abs() < 1e-13 * (1.0 + odd.abs()), "{sigma} {rate} {x}: {found} {odd}");
            }
        }
    }

    /// Catches a swap of P and Q: dP/dQ at a loss, by differences of the masses, is e^loss.
    #[test]
    fn masses_have_the_ratio_that_the_loss_says() {
        let (sigma, rate) = (1.3, 0.2);
        let pairs = [
            Pair::Removed { sigma, rate },
            Pair::Added { sigma, rate },
            Pair::Exchanged { sigma, rate },
            Pair::Laplace { epsilon: 1.0 },
        ];
        for pair in pairs {
            for loss in [-0.12, -0.05, 0.03, 0.17] {
                let (left, right) = (pair.sides(loss - 1e-5), pair.sides(loss + 1e-5));
                let ratio = (left.p_above - right.p_above) / (left.q_above - right.q_above);
                assert!((libm::log(ratio) - loss).abs() < 1e-6, "{pair:?} at {loss}: {ratio}");
                assert!((left.p_above + left.p_below - 1.0).abs() < 1e-15);
                assert!((left.q_above + left.q_below - 1.0).abs() < 1e-15);
            }
        }
    }
}
