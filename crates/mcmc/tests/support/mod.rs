//! A random-walk Metropolis kernel, targets and z-tests.
#![allow(dead_code, unused_imports, reason = "each test uses a part")]

pub mod targets;

use organza_mcmc::diagnostics::{Traces, ess_mean, ess_quantile};
use organza_mcmc::{ChainRng, Info, Kernel, LogDensity, Statistic, Stop, Thinned};
pub use organza_release::testing::critical_z;
use rand::RngExt;
use rand_distr::StandardNormal;

/// Independent normal coordinates with these means and standard deviations.
pub struct Normal(pub Vec<(f64, f64)>);

impl LogDensity for Normal {
    fn dim(&self) -> usize {
        self.0.len()
    }

    fn log_density(&self, theta: &[f64]) -> f64 {
        let term = |(x, (mean, sd)): (&f64, &(f64, f64))| -0.5 * ((x - mean) / sd).powi(2);
        theta.iter().zip(&self.0).map(term).sum()
    }
}

/// Random-walk Metropolis with one proposal scale, which warm-up moves towards a rate of acceptance of 0.3.
#[derive(Clone)]
pub struct Metropolis {
    pub scale: f64,
    pub adapted: usize,
    pub frozen: bool,
}

impl Metropolis {
    pub fn new(scale: f64) -> Self {
        Self { scale, adapted: 0, frozen: false }
    }
}

pub struct Walker {
    theta: Vec<f64>,
    log_density: f64,
}

pub struct Acceptance {
    pub probability: f64,
    pub scale: f64,
    pub adapted: usize,
    pub frozen: bool,
}

impl Info for Acceptance {
    const STATISTICS: &'static [Statistic] = &[
        Statistic { name: "acceptance", thinned: Thinned::Mean },
        Statistic { name: "scale", thinned: Thinned::Last },
        Statistic { name: "adapted", thinned: Thinned::Last },
        Statistic { name: "frozen", thinned: Thinned::Sum },
    ];

    fn write(&self, values: &mut [f64]) {
        let frozen = f64::from(u8::from(self.frozen));
        values.copy_from_slice(&[self.probability, self.scale, self.adapted as f64, frozen]);
    }
}

impl<T: LogDensity + ?Sized> Kernel<T> for Metropolis {
    type State = Walker;
    type Info = Acceptance;

    fn init(&self, target: &T, rng: &mut ChainRng) -> Result<Walker, Stop> {
        let theta: Vec<f64> = (0..target.dim()).map(|_| 3.0 * rng.sample::<f64, _>(StandardNormal)).collect();
        Ok(Walker { log_density: target.log_density(&theta), theta })
    }

    fn step(&self, target: &T, state: &mut Walker, rng: &mut ChainRng) -> Result<Acceptance, Stop> {
        let proposal: Vec<f64> =
            state.theta.iter().map(|x| x + self.scale * rng.sample::<f64, _>(StandardNormal)).collect();
        let log_density = target.log_density(&proposal);
        if log_density.is_nan() {
            return Err(Stop::numerical("the density is NaN at the proposal"));
        }
        let probability = (log_density - state.log_density).exp().min(1.0);
        if rng.random::<f64>() < probability {
            *state = Walker { theta: proposal, log_density };
        }
        Ok(Acceptance { probability, scale: self.scale, adapted: self.adapted, frozen: self.frozen })
    }

    fn position<'s>(&self, state: &'s Walker) -> &'s [f64] {
        &state.theta
    }

    fn adapt(&mut self, _state: &Walker, info: &Acceptance) {
        self.adapted += 1;
        self.scale *= ((info.probability - 0.3) / (self.adapted as f64).sqrt()).exp();
    }

    fn freeze(&mut self) {
        self.frozen = true;
    }
}

/// z of the mean of a function of the draws with known mean and standard deviation, from its own effective
/// size.
pub fn mean_z(traces: &Traces, mean: f64, sd: f64) -> f64 {
    let found = traces.values().iter().sum::<f64>() / traces.values().len() as f64;
    (found - mean) / sd * ess_mean(traces).sqrt()
}

/// z of the share of draws below the true quantile.
pub fn tail_z(traces: &Traces, bound: f64, probability: f64) -> f64 {
    let below = traces.values().iter().filter(|x| **x <= bound).count() as f64 / traces.values().len() as f64;
    let sd = (probability * (1.0 - probability)).sqrt();
    (below - probability) / sd * ess_quantile(traces, probability).sqrt()
}
