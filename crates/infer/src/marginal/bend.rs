//! Bends the lower tail of ln sigma^2.
//!
//! The prior has -b / sigma^2 in its logarithm, b e^-u in u = ln sigma^2: a wall, against which long steps diverge where noise hides sigma^2 and
//! the chain comes near it. With u = -2 asinh(-t / 2) below the centre, -b / sigma^2 is about -b t^2 for large -t: the tail of a normal density.
//! Above the centre u = t, because what is left of the prior there, e^(-a u), would become a power. Value, slope and bend agree at 0.

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
    pub fn at(t: f64) -> Self {
        if t >= 0.0 {
            return Self { value: t, log_slope: 0.0, slope: 1.0, turn: 0.0 };
        }
        let square = 1.0 + 0.25 * t * t;
        Self {
            value: 2.0 * libm::asinh(0.5 * t),
            log_slope: -0.5 * libm::log(square),
            slope: 1.0 / square.sqrt(),
            turn: -0.25 * t / square,
        }
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
        for t in [-1e3, -30.0, -2.0, -0.1, 0.1, 5.0] {
            let (h, bend) = (1e-6 * f64::abs(t), Bend::at(t));
            let difference = |of: fn(Bend) -> f64| (of(Bend::at(t + h)) - of(Bend::at(t - h))) / (2.0 * h);
            assert!((difference(|at| at.value) / bend.slope - 1.0).abs() < 1e-7, "{t}");
            assert!((difference(|at| at.log_slope) - bend.turn).abs() < 1e-7, "{t}");
            assert!((bend.log_slope.exp() / bend.slope - 1.0).abs() < 1e-12, "{t}");
        }
    }
}
