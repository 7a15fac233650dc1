//! Hamiltonian Monte Carlo whose paths end when they turn back: the No-U-Turn sampler.
//!
//! **Targets.** Any density on the reals with a gradient ([`Gradient`]); constraints are left to the target,
//! which stores what it likes as a draw ([`Gradient::write_outputs`]).
//!
//! **Exactness.** Exact in the limit of many draws. Step size and metric are learnt in the first steps, whose
//! number is [`Nuts::warmup`], and never change afterwards. A log density or gradient that is not finite
//! within a path is a divergence: it ends the path and is counted.
//!
//! **Cost.** 2^depth - 1 gradients for a step, at most 2^max_depth - 1, and a few vector operations of the
//! dimension d for each; [`Mass::LowRank`] adds products with matrices of d times the number of unusual
//! directions. After warm-up nuts-rs allocates three vectors of length d for a step with [`Mass::Diagonal`],
//! and sometimes more with [`Mass::LowRank`]; nothing is allocated for a gradient.
//!
//! **Random numbers.** Starts are drawn from the generator of the chain; the next 32 bytes of it are the key
//! of a ChaCha8 generator, from which all steps draw; what a target draws given a point comes from the generator
//! of the chain again. So the same seed gives the same bits on any number of
//! threads. Sums use the vector instructions of the processor: other processors may differ in the last bits,
//! and then in the draws.
//!
//! **Citation.** Hoffman and Gelman 2014 (arXiv:1111.4246), with the multinomial choice of a point on the
//! path of Betancourt 2017 (arXiv:1701.02434). Paths, step size and metric are those of the crate nuts-rs: the
//! metric is learnt from draws and gradients together (Seyboldt, Carlson and Carpenter 2026,
//! arXiv:2603.18845).

mod chain;
mod density;
mod info;
mod start;

use serde::{Deserialize, Serialize};

use crate::{ChainRng, Gradient, Kernel, Plan, Stop};
use chain::Chain;
pub use info::NutsInfo;

/// The metric of the paths: what is learnt of the shape of the target.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Mass {
    /// One scale for each coordinate.
    #[default]
    Diagonal,
    /// The scales and the few directions that they describe worst, for strongly correlated coordinates.
    LowRank,
    /// One centre and one scale for each coordinate, learnt from 0 and 1 on, and paths that are exact for independent normal
    /// coordinates: steps may then be long in any dimension. For targets that choose their coordinates so that they are nearly
    /// standard normal, and start a chain with all of them at 1 or -1.
    NearNormal,
}

/// How many steps learn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Warmup {
    steps: usize,
    over: bool,
}

/// The No-U-Turn sampler.
///
/// The target is cloned into the state of every chain, so pass something that is cheap to clone: a reference
/// to the target, or an [`Arc`](std::sync::Arc).
///
/// ```
/// use organza_mcmc::{ChainRng, Gradient, LogDensity, Nuts, Plan, Summary, run};
///
/// /// sigma with density 2 exp(-sigma^2 / 2) / sqrt(2 pi), sampled as u = ln sigma.
/// struct HalfNormal;
///
/// impl LogDensity for HalfNormal {
///     fn dim(&self) -> usize { 1 }
///     fn log_density(&self, u: &[f64]) -> f64 {
///         -0.5 * libm::exp(2.0 * u[0]) + u[0] // the last term is the Jacobian
///     }
/// }
/// impl Gradient for HalfNormal {
///     fn log_density_and_gradient(&self, u: &[f64], gradient: &mut [f64]) -> f64 {
///         gradient[0] = 1.0 - libm::exp(2.0 * u[0]);
///         self.log_density(u)
///     }
///     fn write_outputs(&self, u: &[f64], _: &mut ChainRng, sigma: &mut [f64]) {
///         sigma[0] = libm::exp(u[0]);
///     }
/// }
///
/// let plan = Plan { seed: 1, ..Plan::default() };
/// let kernel = Nuts { target_accept: 0.95, ..Nuts::for_plan(&plan) };
/// let draws = run(&kernel, &&HalfNormal, &plan)?.named(vec!["sigma".to_string()])?;
/// let sigma = &Summary::new(&draws, 0.9)?.parameters[0];
/// assert!((sigma.mean - 0.798).abs() < 0.1 && sigma.r_hat < 1.05);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Nuts {
    /// Rate of acceptance that the step size is adapted to, between 0 and 1: a higher rate means smaller
    /// steps, which diverge less.
    pub target_accept: f64,
    /// Largest number of doublings of a path, at least 1.
    pub max_depth: u64,
    /// The metric.
    pub mass: Mass,
    /// Steps that learn; the plan of the run must have as many steps of warm-up, or more.
    pub warmup: Warmup,
}

impl Nuts {
    /// The sampler for a plan: it learns in all steps of its warm-up.
    pub fn for_plan(plan: &Plan) -> Self {
        let warmup = Warmup { steps: plan.warmup, over: false };
        Self { target_accept: 0.9, max_depth: 10, mass: Mass::Diagonal, warmup }
    }

    fn check(&self) -> Result<(), Stop> {
        if !(self.target_accept > 0.0 && self.target_accept < 1.0) {
            return Err(Stop::numerical(format!("target_accept: {} is not in (0, 1)", self.target_accept)));
        }
        if self.max_depth == 0 {
            return Err(Stop::numerical("max_depth: must be at least 1, or chains never move"));
        }
        Ok(())
    }
}

/// A chain of the sampler, with what it has learnt.
pub struct NutsState<T: Gradient> {
    chain: Chain<T>,
    steps: usize,
    /// Step size of the next path, once it is known.
    step_size: Option<f64>,
    outputs: Vec<f64>,
}

impl<T: Gradient> std::fmt::Debug for NutsState<T> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut state = formatter.debug_struct("NutsState");
        state.field("steps", &self.steps).field("outputs", &self.outputs).finish_non_exhaustive()
    }
}

impl<T: Gradient + Clone> Kernel<T> for Nuts {
    type State = NutsState<T>;
    type Info = NutsInfo;

    fn init(&self, target: &T, rng: &mut ChainRng) -> Result<NutsState<T>, Stop> {
        self.check()?;
        let point = start::find(target, rng)?;
        let chain = Chain::new(self, target, &point, rng)?;
        let mut outputs = vec![0.0; target.outputs()];
        target.write_outputs(&point, rng, &mut outputs);
        Ok(NutsState { chain, steps: 0, step_size: None, outputs })
    }

    fn step(&self, target: &T, state: &mut NutsState<T>, rng: &mut ChainRng) -> Result<NutsInfo, Stop> {
        if self.warmup.over && state.steps < self.warmup.steps {
            return Err(Stop::numerical(format!(
                "warmup: the sampler learns in {} steps, but the plan has only {} of warm-up; make it with \
                 Nuts::for_plan",
                self.warmup.steps, state.steps
            )));
        }
        let (point, info) = state.chain.draw()?;
        state.steps += 1;
        target.write_outputs(&point, rng, &mut state.outputs);
        // nuts-rs reports the step size after the step has been learnt from.
        let step_size = state.step_size.replace(info.step_size).unwrap_or(info.step_size);
        Ok(NutsInfo { step_size, ..info })
    }

    fn position<'s>(&self, state: &'s NutsState<T>) -> &'s [f64] {
        &state.outputs
    }

    fn freeze(&mut self) {
        self.warmup.over = true;
    }
}
