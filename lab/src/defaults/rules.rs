//! Rules that turn public knowledge (number of features, how many of them are 0/1) into r, g and eta.

use super::evaluate::Trial;
use super::mechanism::Setting;

/// What T, the norm of a typical feature vector u, is thought to be.
#[derive(Clone, Copy, Debug)]
pub enum Typical {
    /// rho sqrt(d): every feature has size rho.
    Blind(f64),
    /// sqrt(rho^2 (d - b) + b): features declared as 0/1 have u = -1 or 1 exactly, and there are b of them.
    Boolean(f64),
}

/// How g is set.
#[derive(Clone, Copy, Debug)]
pub enum Intercept {
    /// The same for every d.
    Constant(f64),
    /// This times d^(1/4).
    FourthRoot(f64),
    /// This times T.
    OfTypical(f64),
    /// This times T, but at least 1/2.
    AtLeastHalf(f64),
}

/// How r is set.
#[derive(Clone, Copy, Debug)]
pub enum Radius {
    /// sqrt(g^2 + T^2): the norm of a typical record.
    Typical,
    /// This times sqrt(g^2 + T^2), to see how much r matters.
    Multiple(f64),
    /// This times sqrt(g^2 + d), the largest possible norm.
    Fraction(f64),
    /// The same for every d.
    Constant(f64),
}

/// How eta is set.
#[derive(Clone, Copy, Debug)]
pub enum Response {
    /// The same for every d.
    Constant(f64),
    /// This times r.
    OfRadius(f64),
}

/// A complete default, or no scaling.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// How the report calls it.
    pub name: &'static str,
    /// r, g and eta; none means the box release without scaling.
    pub scaled: Option<(Typical, Intercept, Radius, Response)>,
}

const fn rule(name: &'static str, t: Typical, g: Intercept, r: Radius, eta: Response) -> Rule {
    Rule { name, scaled: Some((t, g, r, eta)) }
}

/// The rules that are compared; the recommended ones are `boolean 0.3` and, without types, `blind 0.4`.
pub const RULES: [Rule; 24] = {
    use Intercept::{AtLeastHalf, FourthRoot, OfTypical};
    use Radius::Fraction;
    use Response::OfRadius;
    use Typical::{Blind, Boolean};
    const HALF: Intercept = OfTypical(std::f64::consts::FRAC_1_SQRT_2);
    const ONE: Intercept = Intercept::Constant(1.0);
    const FLAT: Response = Response::Constant(1.0);
    [
        Rule { name: "no scaling", scaled: None },
        rule("r = sqrt(1+d), g = 1, eta = 1", Blind(1.0), ONE, Radius::Typical, FLAT),
        rule("r = sqrt(1+d), g = 1, eta = r", Blind(1.0), ONE, Radius::Typical, OfRadius(1.0)),
        rule("r = 0.3 sqrt(1+d), g = 1, eta = r", Blind(1.0), ONE, Fraction(0.3), OfRadius(1.0)),
        rule("r = 0.5 sqrt(1+d), g = 1, eta = r", Blind(1.0), ONE, Fraction(0.5), OfRadius(1.0)),
        rule(
            "r = 1, g = 0.7, eta = r",
            Blind(1.0),
            Intercept::Constant(0.7),
            Radius::Constant(1.0),
            OfRadius(1.0),
        ),
        rule("r = sqrt(1+d/9), g = 1, eta = 1", Blind(1.0 / 3.0), ONE, Radius::Typical, FLAT),
        rule("r = sqrt(1+d/9), g = 1, eta = r", Blind(1.0 / 3.0), ONE, Radius::Typical, OfRadius(1.0)),
        rule("blind 0.3", Blind(0.3), FourthRoot(0.5), Radius::Typical, OfRadius(1.0)),
        rule("blind 0.4", Blind(0.4), FourthRoot(0.5), Radius::Typical, OfRadius(1.0)),
        rule("blind 0.5", Blind(0.5), FourthRoot(0.5), Radius::Typical, OfRadius(1.0)),
        rule("boolean 0.2", Boolean(0.2), HALF, Radius::Typical, OfRadius(1.0)),
        rule("boolean 0.25", Boolean(0.25), HALF, Radius::Typical, OfRadius(1.0)),
        rule("boolean 0.3", Boolean(0.3), HALF, Radius::Typical, OfRadius(1.0)),
        rule("boolean 0.4", Boolean(0.4), HALF, Radius::Typical, OfRadius(1.0)),
        rule("boolean 0.3, eta = 0.7 r", Boolean(0.3), HALF, Radius::Typical, OfRadius(0.7)),
        rule("boolean 0.3, eta = 1.4 r", Boolean(0.3), HALF, Radius::Typical, OfRadius(1.4)),
        rule("boolean 0.3, eta = 1", Boolean(0.3), HALF, Radius::Typical, FLAT),
        rule("boolean 0.3, r times 0.7", Boolean(0.3), HALF, Radius::Multiple(0.7), OfRadius(1.0)),
        rule("boolean 0.3, r times 1.4", Boolean(0.3), HALF, Radius::Multiple(1.4), OfRadius(1.0)),
        rule("boolean 0.3, r times 2", Boolean(0.3), HALF, Radius::Multiple(2.0), OfRadius(1.0)),
        rule("boolean 0.3, g = 1", Boolean(0.3), ONE, Radius::Typical, OfRadius(1.0)),
        rule("boolean 0.3, none declared", Blind(0.3), HALF, Radius::Typical, OfRadius(1.0)),
        rule("boolean 0.3, g at least 1/2", Boolean(0.3), AtLeastHalf(0.7), Radius::Typical, OfRadius(1.0)),
    ]
};

impl Rule {
    /// The setting for a problem.
    pub fn setting(&self, trial: &Trial) -> Setting {
        let Some((typical, intercept, radius, response)) = self.scaled else { return Setting::Unscaled };
        let (d, booleans) = (trial.features() as f64, trial.booleans() as f64);
        let t = match typical {
            Typical::Blind(rho) => rho * d.sqrt(),
            Typical::Boolean(rho) => (rho * rho * (d - booleans) + booleans).sqrt(),
        };
        let g = match intercept {
            Intercept::Constant(value) => value,
            Intercept::FourthRoot(factor) => factor * d.powf(0.25),
            Intercept::OfTypical(factor) => factor * t,
            Intercept::AtLeastHalf(factor) => (factor * t).max(0.5),
        };
        let present = if trial.intercept() { g } else { 0.0 };
        let radius = match radius {
            Radius::Typical => present.hypot(t),
            Radius::Multiple(factor) => factor * present.hypot(t),
            Radius::Fraction(fraction) => fraction * present.hypot(d.sqrt()),
            Radius::Constant(value) => value.min(present.hypot(d.sqrt())),
        };
        // Below g every record lies on the sphere: the same release as r = g, but |y| <= r / g would be wasted.
        let radius = radius.max(present);
        let response_weight = match response {
            Response::Constant(value) => value,
            Response::OfRadius(factor) => factor * radius,
        };
        Setting::Scaled { radius, intercept_weight: g, response_weight }
    }
}
