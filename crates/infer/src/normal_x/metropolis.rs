//! The paper's chain for `normal-x`: a Wishart walk on every S_j, the rest exactly but for a walk on sigma^2.
//!
//! **Target.** That of [`NormalX`]. **Exactness.** Exact in the limit of many draws; the sizes of the walks are learnt in warm-up,
//! one alpha_j for each party, and then kept. It mixes slowly for many parties or features: NUTS on the marginal density is the
//! default. **Cost.** O(J d^3) per step. **Citation.** \[AYB23\] Algorithm 1.

use organza_mcmc::{ChainRng, Info, Kernel, Statistic, Stop, Thinned};

use super::NormalX;
use super::proposal::{factorise_covariance, log_acceptance, log_fit};
pub use super::state::NormalXState;
use crate::adaptation::StepSize;
use crate::fixed_gram::{SCALAR_ACCEPTANCE, log_prior, prior_distance};
use crate::random::{accept, normal};

/// The kernel; the position is (theta, sigma^2, R^2).
#[derive(Debug, Clone)]
pub struct NormalXMetropolis {
    /// 1 / size^2 is alpha_j but for its least value.
    grams: Vec<StepSize>,
    variance: StepSize,
    /// Features that vary, less 1: alpha must be larger.
    least: f64,
}

/// Rate of acceptance of the Wishart walk. \[AYB23\] section 4.1
const GRAM_ACCEPTANCE: f64 = 0.2;

impl NormalXMetropolis {
    /// A kernel for this model, with proposals of about the size of the expected posterior.
    pub fn new(model: &NormalX) -> Self {
        let size = |party: &super::Observed| {
            let free: Vec<f64> = party.spread.iter().filter(|sd| **sd > 0.0).copied().collect();
            let curvature: f64 = free.iter().map(|sd| 1.0 / (sd * sd)).sum();
            // 2.4 / sqrt(dimension) times the posterior's is the best size of a walk on a normal density.
            StepSize::new(2.4 / curvature.sqrt(), GRAM_ACCEPTANCE)
        };
        let (shape, rate) = model.prior.variance();
        Self {
            grams: model.parties.iter().map(size).collect(),
            variance: StepSize::new(0.5 * rate / shape, SCALAR_ACCEPTANCE),
            least: model.varying() as f64 - 1.0,
        }
    }

    /// The degrees of freedom of a party's proposals: more of them, smaller steps.
    fn alpha(&self, party: usize) -> f64 {
        let size = self.grams[party].size();
        self.least + (1.0 / (size * size)).max(1.0)
    }

    /// A step of the walk on one S_j.
    fn move_gram(
        &self,
        model: &NormalX,
        state: &mut NormalXState,
        place: usize,
        rng: &mut ChainRng,
    ) -> Result<(), Stop> {
        let (party, size, alpha) = (&model.parties[place], model.dimension(), self.alpha(place));
        let (theta, variance) = (&state.position[..size], state.position[size]);
        state.step.draw(rng, alpha);
        state.step.apply(&state.latents[place], &mut state.proposed);
        state.proposed.complete(party, model.constant);
        let inside = factorise_covariance(party, &state.proposed.gram, variance, &mut state.matrix);
        let ratio = if inside {
            let fit = log_fit(party, &state.proposed.gram, theta, &state.matrix, &mut state.vector);
            state.next_fits[place] = fit;
            let [before, after] = [(&state.latents[place], state.fits[place]), (&state.proposed, fit)];
            log_acceptance(party, &state.population.precision, before, after, state.step.log_ratio(alpha))
        } else {
            f64::NEG_INFINITY
        };
        if ratio.is_nan() {
            return Err(Stop::numerical(format!(
                "the density of X'X of party {} is not a number",
                place + 1
            )));
        }
        state.acceptance[place] = libm::exp(ratio.min(0.0));
        if accept(rng, ratio) {
            std::mem::swap(&mut state.latents[place], &mut state.proposed);
            state.factors[place * size * size..(place + 1) * size * size].copy_from_slice(&state.matrix);
            state.fits[place] = state.next_fits[place];
            state.stale[place] = true;
        }
        Ok(())
    }

    /// A step of the walk on sigma^2; the probability of acceptance. \[AYB23\] A.4
    fn move_variance(
        &self,
        model: &NormalX,
        state: &mut NormalXState,
        rng: &mut ChainRng,
    ) -> Result<f64, Stop> {
        let size = model.dimension();
        let (theta, variance) = (&state.position[..size], state.position[size]);
        let proposed = variance + self.variance.size() * normal(rng);
        let mut inside = proposed > 0.0;
        let factors = state.next_factors.chunks_exact_mut(size * size).zip(&mut state.next_fits);
        for ((latent, party), (factor, fit)) in state.latents.iter().zip(&model.parties).zip(factors) {
            inside = inside && factorise_covariance(party, &latent.gram, proposed, factor);
            if inside {
                *fit = log_fit(party, &latent.gram, theta, factor, &mut state.vector);
            }
        }
        let distance = prior_distance(&model.prior, theta);
        let prior = |variance: f64| log_prior(&model.prior, variance, distance);
        let gain = |(after, before): (&f64, &f64)| after - before;
        let ratio = match inside {
            true => {
                state.next_fits.iter().zip(&state.fits).map(gain).sum::<f64>() + prior(proposed)
                    - prior(variance)
            }
            false => f64::NEG_INFINITY,
        };
        if ratio.is_nan() {
            return Err(Stop::numerical(format!("the density of sigma^2 is not a number at {proposed}")));
        }
        if accept(rng, ratio) {
            std::mem::swap(&mut state.factors, &mut state.next_factors);
            std::mem::swap(&mut state.fits, &mut state.next_fits);
            state.stale.fill(true);
            state.position[size] = proposed;
        }
        Ok(libm::exp(ratio.min(0.0)))
    }
}

/// Rates of acceptance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NormalXInfo {
    /// Of the proposals of S_j, mean over the parties.
    pub acceptance: f64,
    /// Of the proposal of sigma^2.
    pub variance_acceptance: f64,
}

impl Info for NormalXInfo {
    const STATISTICS: &'static [Statistic] = &[
        Statistic { name: "acceptance", thinned: Thinned::Mean },
        Statistic { name: "variance_acceptance", thinned: Thinned::Mean },
    ];

    fn write(&self, values: &mut [f64]) {
        values.copy_from_slice(&[self.acceptance, self.variance_acceptance]);
    }
}

impl Kernel<NormalX> for NormalXMetropolis {
    type State = NormalXState;
    type Info = NormalXInfo;

    fn init(&self, target: &NormalX, rng: &mut ChainRng) -> Result<NormalXState, Stop> {
        if self.grams.len() != target.parties.len() {
            return Err(Stop::numerical(
                "the kernel was made for another model: make it with NormalXMetropolis::new",
            ));
        }
        NormalXState::new(target, rng)
    }

    fn step(
        &self,
        target: &NormalX,
        state: &mut NormalXState,
        rng: &mut ChainRng,
    ) -> Result<NormalXInfo, Stop> {
        let size = target.dimension();
        state.population.draw(target, state.latents.iter().map(|latent| &latent.gram[..]), rng)?;
        for place in 0..target.parties.len() {
            self.move_gram(target, state, place, rng)?;
        }
        state.draw_coefficients(target, rng)?;
        state.refit(target);
        let variance_acceptance = self.move_variance(target, state, rng)?;
        let share = state.population.explained_share(
            &state.position[..size],
            state.position[size],
            target.scaled_constant,
        );
        state.position[size + 1] = share;
        let acceptance = state.acceptance.iter().sum::<f64>() / state.acceptance.len() as f64;
        Ok(NormalXInfo { acceptance, variance_acceptance })
    }

    fn position<'s>(&self, state: &'s NormalXState) -> &'s [f64] {
        &state.position
    }

    fn adapt(&mut self, state: &NormalXState, info: &NormalXInfo) {
        self.grams.iter_mut().zip(&state.acceptance).for_each(|(size, rate)| size.learn(*rate));
        self.variance.learn(info.variance_acceptance);
    }
}
