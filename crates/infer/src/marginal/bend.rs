//! Bends the tails of logarithms of scales that end at a wall.
//!
//! The prior has -b / sigma^2 in its logarithm, b e^-u in u = ln sigma^2, and e^-2u in the logarithm u of a diagonal entry of Z: walls, against which long steps diverge
//! where noise hides these numbers and the chain comes near them. With u = -k asinh(-t / k) below the centre, e^(-2u/k) is about 4 (t / k)^2 for large -t: the
//! tail of a normal density. k is 2 for a variance and 1 for a standard deviation. Above the centre u = t as a rule, because what is left of the prior there,
//! e^(-a u), would become a power. Value, slope and curvature agree at 0.

/// The map from t to u at a point.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bend {
    /// u.
    pub value: f64,
    /// ln du/dt, the Jacobian.
    pub log_slope: f64,
    slope: f64,
    /// d/dt ln du/dt.
    turn: f64,
}

impl Bend {
    /// Bent on both sides.
    pub fn both(t: f64, k: f64) -> Self {
        let ratio = t / k;
        let square = 1.0 + ratio * ratio;
        Self {
            value: k * libm::asinh(ratio),
            log_slope: -0.5 * libm::log(square),
            slope: 1.0 / square.sqrt(),
            turn: -ratio / (k * square),
        }
    }

    /// Bent below 0.
    pub fn below(t: f64, k: f64) -> Self {
        if t < 0.0 { Self::both(t, k) } else { Self { value: t, log_slope: 0.0, slope: 1.0, turn: 0.0 } }
    }

    /// The gradient with respect to t of a function of u, and of the Jacobian.
    pub fn pull_back(self, gradient: f64) -> f64 {
        self.slope * gradient + self.turn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a slope or a Jacobian of another map.
    #[test]
    fn slopes_are_those_of_the_map() {
        for (k, map) in [(1.0, Bend::below as fn(f64, f64) -> Bend), (2.0, Bend::below), (2.0, Bend::both)] {
            for t in [-1e3, -30.0, -2.0, -0.1, 0.1, 5.0] {
                let (h, bend) = (1e-6 * f64::abs(t), map(t, k));
                let difference = |of: fn(Bend) -> f64| (of(map(t + h, k)) - of(map(t - h, k))) / (2.0 * h);
                assert!((difference(|at| at.value) / bend.slope - 1.0).abs() < 1e-7, "{t}");
                assert!((difference(|at| at.log_slope) - bend.turn).abs() < 1e-7, "{t}");
                assert!((bend.log_slope.exp() / bend.slope - 1.0).abs() < 1e-12, "{t}");
            }
        }
    }

    /// Catches a wall that is left: twice as far out, e^(-2u/k) is four times as large.
    #[test]
    fn walls_become_normal_tails() {
        for k in [1.0, 2.0] {
            let wall = |t: f64| (-2.0 * Bend::below(t, k).value / k).exp();
            assert!((wall(-2000.0) / wall(-1000.0) - 4.0).abs() < 1e-4);
        }
    }
}
