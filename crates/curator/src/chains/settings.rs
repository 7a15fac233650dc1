//! A plan as plain data, for files and reports.

use schemars::JsonSchema;
use serde::Serialize;

use super::kernels::{Langevin, Walk};
use super::plan::{ChainKernel, ChainPlan};
use super::words::{ChainMethod, ChainModel};

/// Everything that decides a run but the records: what the method does not have is left out.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ChainSettings {
    /// The model.
    pub model: ChainModel,
    /// The method.
    pub method: ChainMethod,
    /// Number of records.
    pub records: u64,
    /// Epsilon of everything together.
    pub epsilon: f64,
    /// Delta of everything together.
    pub delta: f64,
    /// Number of chains.
    pub chains: usize,
    /// Steps of each chain, warm-up included.
    pub steps: usize,
    /// Steps of each chain that are not kept.
    pub warmup: usize,
    /// Seed of proposals and starts.
    pub seed: u64,
    /// Step size.
    pub step_size: f64,
    /// Noisy gradient steps to the start.
    pub pilot_steps: u64,
    /// Their noise over the clip bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pilot_noise: Option<f64>,
    /// Leapfrog steps of a proposal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leapfrog_steps: Option<usize>,
    /// Clip bound of gradients.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gradient_clip: Option<f64>,
    /// Standard deviation of the noise of a gradient over its clip bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gradient_noise: Option<f64>,
    /// Clip bound of ratios over the distance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio_clip: Option<f64>,
    /// Standard deviation of the noise of a ratio over its clip bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio_noise: Option<f64>,
    /// Probability with which a record is in a step's sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// Friction to start from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub friction: Option<f64>,
    /// How much noise a Langevin step has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub langevin: Option<&'static str>,
    /// How a random walk proposes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub walk: Option<&'static str>,
    /// Weight of the count of clipped records in each question.
    pub count_weight: f64,
}

impl ChainPlan {
    /// The plan as plain data.
    pub fn settings(&self) -> ChainSettings {
        let queries = self.allowance.queries();
        let (gradient, ratio) = (queries.gradient, queries.ratio);
        let pilot = self.pilot.as_ref().map(|pilot| &pilot.allowance);
        let sampled = !self.request.method.is_exact();
        let mut settings = ChainSettings {
            model: self.model,
            method: self.request.method,
            records: self.request.records,
            epsilon: self.request.budget.epsilon,
            delta: self.request.budget.delta,
            chains: self.run.chains,
            steps: self.run.warmup + self.run.draws,
            warmup: self.run.warmup,
            seed: self.run.seed,
            step_size: self.kernel.step_size(),
            pilot_steps: pilot.map_or(0, |pilot| pilot.steps()),
            pilot_noise: pilot.and_then(|pilot| pilot.queries().gradient).map(|query| query.noise),
            leapfrog_steps: None,
            gradient_clip: gradient.map(|query| query.clip),
            gradient_noise: gradient.map(|query| query.noise),
            ratio_clip: ratio.map(|query| query.clip),
            ratio_noise: ratio.map(|query| query.noise),
            rate: gradient.filter(|_| sampled).map(|query| query.rate),
            friction: None,
            langevin: None,
            walk: None,
            count_weight: queries.count_weight,
        };
        match &self.kernel {
            ChainKernel::Hmc(kernel) => settings.leapfrog_steps = Some(kernel.leapfrog_steps),
            ChainKernel::Penalty(kernel) => settings.walk = Some(kernel.walk.word()),
            ChainKernel::Sgld(kernel) => settings.langevin = Some(kernel.noise.word()),
            ChainKernel::Sgnht(kernel) => settings.friction = Some(kernel.friction),
        }
        settings
    }
}

impl Walk {
    /// Its one word.
    pub fn word(self) -> &'static str {
        match self {
            Walk::All => "all",
            Walk::OneComponent => "one-component",
            Walk::Guided => "guided",
        }
    }
}

impl Langevin {
    /// Its one word.
    pub fn word(self) -> &'static str {
        match self {
            Langevin::Right => "right",
            Langevin::Published => "published",
        }
    }
}
