//! Where private chains start: around a public guess, so that starting costs nothing.

use organza_mcmc::ChainRng;
use rand::RngExt;
use rand_distr::StandardNormal;

/// A normal distribution to start from, with independent coordinates.
#[derive(Debug, Clone, PartialEq)]
pub struct Start {
    /// A public guess.
    pub centre: Vec<f64>,
    /// How far chains scatter around it, coordinate by coordinate.
    pub sd: Vec<f64>,
}

impl Start {
    pub(super) fn draw(&self, rng: &mut ChainRng) -> Vec<f64> {
        let draw = |(centre, sd): (&f64, &f64)| centre + sd * rng.sample::<f64, _>(StandardNormal);
        self.centre.iter().zip(&self.sd).map(draw).collect()
    }
}
