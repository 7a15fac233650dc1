//! The paper's chain for `fixed-gram`: theta given sigma^2 exactly, sigma^2 given theta by a random walk.
//!
//! **Target.** That of [`FixedGram`](super::FixedGram): (theta, sigma^2) given z-hat, S known. **Exactness.** Exact in the limit
//! of many draws; the standard deviation of the walk is learnt in warm-up and then kept. **Cost.** O(J d^2) per step, and
//! O(J d^3) in those that follow an accepted sigma^2, because only then the precision of theta changes.
//!
//! | paper | code |
//! | --- | --- |
//! | sigma_y^2 | `variance` |
//! | sigma_q^2 | square of `walk`'s size |
//! | z-hat_j, in the eigenbasis of S_j | `responses` |
//!
//! **Citation.** \[AYB23\] Algorithm 2, with the covariance sigma_y^2 S + sigma_z^2 I of the errata.

use organza_mcmc::{ChainRng, Info, Kernel, Statistic, Stop, Thinned};

use super::Spectrum;
use crate::adaptation::StepSize;
use crate::linalg::{dot, factorise, solve_lower, solve_lower_transposed, sum_of_logarithms};
use crate::random::{accept, fill_normal, normal};
use crate::{Evidence, InferError, Method, Prior, judge};

/// The model of `fixed-gram` as independent scalar observations: in the eigenbasis of its S every party has one for each
/// coordinate, z_k ~ N(v_k'theta, gain_k sigma^2 + noise_k).
#[derive(Debug, Clone)]
pub struct FixedGramModel {
    prior: Prior,
    shift: Vec<f64>,
    /// v_k, one row for each observation.
    levers: Vec<f64>,
    responses: Vec<f64>,
    gains: Vec<f64>,
    noise_variances: Vec<f64>,
}

impl FixedGramModel {
    /// Decomposes every party's X'X.
    pub fn new(evidence: &Evidence, prior: &Prior) -> Result<Self, InferError> {
        prior.check(evidence)?;
        let size = prior.dimension();
        let (shift, prior) = (prior.shift(), prior.clone());
        let (levers, responses, gains, noise_variances) = Default::default();
        let mut model = Self { prior, shift, levers, responses, gains, noise_variances };
        for party in Spectrum::of(judge::accept(Method::FixedGram, evidence)?) {
            // An empty direction tells nothing of theta and nothing of sigma^2.
            for k in (0..size).filter(|k| party.values[*k] > 0.0) {
                let value = party.values[k];
                model.levers.extend_from_slice(&party.levers[k * size..(k + 1) * size]);
                model.responses.push(party.rotated[k]);
                model.gains.push(party.response_scale * value);
                model.noise_variances.push(party.noise_variance);
            }
        }
        Ok(model)
    }

    /// Variance of every observation.
    fn spreads(&self, variance: f64) -> impl Iterator<Item = f64> {
        self.gains.iter().zip(&self.noise_variances).map(move |(gain, noise)| variance * gain + noise)
    }

    /// Log density of sigma^2 given theta, up to a constant. \[AYB23\] A.4
    fn log_density(&self, variance: f64, squares: &[f64], distance: f64) -> f64 {
        let mut quadratic = 0.0;
        let spreads = self.spreads(variance).zip(squares).map(|(spread, square)| {
            quadratic += square / spread;
            spread
        });
        let fit = -0.5 * (sum_of_logarithms(spreads) + quadratic);
        fit + log_prior(&self.prior, variance, distance)
    }

    /// Precision and shift of theta given sigma^2. \[AYB23\] Eq. (12)
    fn condition(&self, state: &mut FixedGramState) -> Result<(), Stop> {
        let size = self.shift.len();
        let factor = self.prior.precision_factor(state.position[size]);
        let (precision, shift) = (&mut state.precision, &mut state.shift);
        precision.iter_mut().zip(self.prior.precision()).for_each(|(sum, value)| *sum = factor * value);
        shift.iter_mut().zip(&self.shift).for_each(|(sum, value)| *sum = factor * value);
        let rows = self.levers.chunks_exact(size).zip(&self.responses);
        for ((lever, response), spread) in rows.zip(self.spreads(state.position[size])) {
            let weight = 1.0 / spread;
            for (k, (row, value)) in precision.chunks_exact_mut(size).zip(lever).enumerate() {
                let scaled = weight * value;
                row[..=k].iter_mut().zip(lever).for_each(|(sum, other)| *sum += scaled * other);
            }
            let scaled = weight * response;
            shift.iter_mut().zip(lever).for_each(|(sum, value)| *sum += scaled * value);
        }
        factorise(precision, size).map_err(|row| {
            Stop::numerical(format!("the precision of the coefficients is not positive definite (row {row})"))
        })?;
        solve_lower(precision, shift);
        state.stale = false;
        Ok(())
    }
}

/// Log prior density of sigma^2 and of theta given it, up to a constant; `distance` is (theta - m)'C^-1 (theta - m).
pub(crate) fn log_prior(prior: &Prior, variance: f64, distance: f64) -> f64 {
    let (shape, rate) = prior.variance();
    let (half, distance) = match prior.is_conjugate() {
        true => (0.5 * prior.dimension() as f64, distance),
        false => (0.0, 0.0),
    };
    -(shape + 1.0 + half) * libm::log(variance) - (rate + 0.5 * distance) / variance
}

/// (theta - m)'C^-1 (theta - m), where sigma^2 needs it.
pub(crate) fn prior_distance(prior: &Prior, theta: &[f64]) -> f64 {
    if !prior.is_conjugate() {
        return 0.0;
    }
    let mean = prior.mean();
    let rows = prior.precision().chunks_exact(mean.len());
    let image = |row: &[f64]| row.iter().zip(theta).zip(mean).map(|((c, t), m)| c * (t - m)).sum::<f64>();
    rows.zip(theta).zip(mean).map(|((row, t), m)| (t - m) * image(row)).sum()
}

/// The chain of the paper; the position is (theta, sigma^2).
#[derive(Debug, Clone, PartialEq)]
pub struct FixedGramMetropolis {
    walk: StepSize,
}

/// The best rate of acceptance of a random walk in one dimension.
pub(crate) const SCALAR_ACCEPTANCE: f64 = 0.44;

impl Default for FixedGramMetropolis {
    fn default() -> Self {
        Self { walk: StepSize::new(0.1, SCALAR_ACCEPTANCE) }
    }
}

/// What the next step needs.
#[derive(Debug, Clone)]
pub struct FixedGramState {
    /// Lower factor L of theta's precision, and L^-1 times its shift.
    precision: Vec<f64>,
    shift: Vec<f64>,
    /// Whether sigma^2 has moved since these were computed.
    stale: bool,
    /// Squared residuals of the observations.
    squares: Vec<f64>,
    position: Vec<f64>,
}

/// The rate of acceptance of sigma^2.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VarianceInfo {
    /// Probability with which the proposal was accepted.
    pub acceptance: f64,
}

impl Info for VarianceInfo {
    const STATISTICS: &'static [Statistic] = &[Statistic { name: "acceptance", thinned: Thinned::Mean }];

    fn write(&self, values: &mut [f64]) {
        values[0] = self.acceptance;
    }
}

impl Kernel<FixedGramModel> for FixedGramMetropolis {
    type State = FixedGramState;
    type Info = VarianceInfo;

    fn init(&self, target: &FixedGramModel, rng: &mut ChainRng) -> Result<FixedGramState, Stop> {
        let size = target.shift.len();
        let mut position = vec![0.0; size + 1];
        position[size] = libm::exp(target.prior.log_variance_mode() + normal(rng));
        let (precision, shift) = (vec![0.0; size * size], vec![0.0; size]);
        let squares = vec![0.0; target.responses.len()];
        Ok(FixedGramState { precision, shift, stale: true, squares, position })
    }

    fn step(
        &self,
        target: &FixedGramModel,
        state: &mut FixedGramState,
        rng: &mut ChainRng,
    ) -> Result<VarianceInfo, Stop> {
        if state.stale {
            target.condition(state)?;
        }
        let (theta, variance) = state.position.split_at_mut(state.shift.len());
        // L L' theta = shift + L noise.
        fill_normal(rng, theta);
        theta.iter_mut().zip(&state.shift).for_each(|(value, shift)| *value += shift);
        solve_lower_transposed(&state.precision, theta);
        let rows = target.levers.chunks_exact(theta.len()).zip(&target.responses);
        for ((lever, response), square) in rows.zip(&mut state.squares) {
            let residual = response - dot(lever, theta);
            *square = residual * residual;
        }
        let distance = prior_distance(&target.prior, theta);
        let density = |variance: f64| target.log_density(variance, &state.squares, distance);
        let (moved, acceptance) = walk(rng, variance[0], self.walk.size(), density)?;
        state.stale = moved != variance[0];
        variance[0] = moved;
        Ok(VarianceInfo { acceptance })
    }

    fn position<'s>(&self, state: &'s FixedGramState) -> &'s [f64] {
        &state.position
    }

    fn adapt(&mut self, _state: &FixedGramState, info: &VarianceInfo) {
        self.walk.learn(info.acceptance);
    }
}

/// A step of a random walk on a variance in its natural scale: where it is afterwards and the probability of acceptance.
/// \[AYB23\] A.4
fn walk(
    rng: &mut ChainRng,
    variance: f64,
    sd: f64,
    log_density: impl Fn(f64) -> f64,
) -> Result<(f64, f64), Stop> {
    let proposed = variance + sd * normal(rng);
    let ratio = match proposed > 0.0 {
        true => log_density(proposed) - log_density(variance),
        false => f64::NEG_INFINITY,
    };
    if ratio.is_nan() {
        return Err(Stop::numerical(format!("the density of sigma^2 is not a number at {proposed}")));
    }
    let moved = if accept(rng, ratio) { proposed } else { variance };
    Ok((moved, libm::exp(ratio.min(0.0))))
}
