//! How many effective draws a plan promises, before anything is spent.
//!
//! With s the guessed posterior standard deviation and N the kept draws of all chains, an autoregression of rate x per step has N x / (2 - x) effective draws:
//!
//! | method | x |
//! | --- | --- |
//! | dp-sgld | e / s^2, the pull of a step towards the mode |
//! | dp-sgnht | h times the slower rate of a damped oscillator of frequency 1 / s: A/2 - sqrt(A^2/4 - 1/s^2), or A/2 |
//! | dp-hmc | 0.3 (1 - cos(0.75 L eta / s)): a noisy test accepts about 0.3 of the proposals, whose length varies around 0.75 L eta |
//! | dp-penalty | of a random walk: 0.3 times 0.66 / d at the best step, less by the square of a shorter one |
//!
//! The worst parameter of simulated regressions has about 0.6 of it under dp-sgld and dp-sgnht. The numbers 0.6 and 0.3 were chosen on the README's table of effective draws and tried on
//! nothing else. There dp-sgld and dp-sgnht are within a factor of 1.7 in all ten cases; dp-hmc and dp-penalty within 1.4 where they mix, and below
//! the measured sizes, which are those of chains that have not mixed, where they do not.

use super::kernels::Walk;
use super::load::ChainDesign;
use super::plan::{ChainKernel, ChainPlan};
use super::request::ChainRequest;
use super::words::ChainMethod;
use crate::CuratorError;

/// A plan that promises fewer is not worth its budget: intervals would mean little.
pub const LEAST_EFFECTIVE_DRAWS: f64 = 100.0;
/// The worst parameter against the guess, without an acceptance test.
const WORST: f64 = 0.6;
/// Proposals that noisy tests accept.
const ACCEPTED: f64 = 0.3;

impl ChainPlan {
    /// The effective draws of all chains together that can be expected of the worst parameter.
    pub fn effective_draws(&self) -> f64 {
        let sd = self.guess.posterior_sd;
        let rate = match &self.kernel {
            ChainKernel::Sgld(kernel) => kernel.step_size / (sd * sd),
            ChainKernel::Sgnht(kernel) => {
                let half = 0.5 * kernel.friction;
                kernel.step_size * (half - (half * half - 1.0 / (sd * sd)).max(0.0).sqrt())
            }
            ChainKernel::Hmc(kernel) => {
                let length = 0.75 * kernel.leapfrog_steps as f64 * kernel.step_size / sd;
                ACCEPTED * (1.0 - libm::cos(length.min(std::f64::consts::PI)))
            }
            ChainKernel::Penalty(kernel) => {
                let dimension = self.guess.dimension as f64;
                let moved = if kernel.walk == Walk::All { dimension } else { 1.0 };
                let part = kernel.step_size * moved.sqrt() / (2.4 * sd);
                ACCEPTED * 0.66 / dimension * part.min(1.0 / part).powi(2)
            }
        };
        let rate = rate.min(1.0);
        let worst = if self.request.method.is_exact() { 1.0 } else { WORST };
        worst * (self.run.chains * self.run.draws) as f64 * rate / (2.0 - rate)
    }

    /// The plan of the method that promises the most effective draws, among those that have all choices that were made by hand. The method of the request is not looked at.
    pub fn best(design: &ChainDesign, request: &ChainRequest) -> Result<Self, CuratorError> {
        let plan = |method: ChainMethod| Self::new(design, &ChainRequest { method, ..request.clone() });
        let mut best: Result<Self, CuratorError> = plan(ChainMethod::DpSgld);
        for method in [ChainMethod::DpSgnht, ChainMethod::DpPenalty, ChainMethod::DpHmc] {
            best = match (best, plan(method)) {
                (Ok(best), Ok(other)) if other.effective_draws() > best.effective_draws() => Ok(other),
                (Err(_), Ok(other)) => Ok(other),
                (best, _) => best,
            };
        }
        best
    }
}
