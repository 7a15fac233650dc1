//! The methods on releases: posterior moments, intervals and draws in users' units.

use organza_infer::methods::{
    Fast, FixedGram, Gibbs, GibbsSampler, MarginalDensity, Moments, NormalX, NormalXMetropolis, Quadrature,
};
use organza_infer::{Evidence, Prior};
use organza_mcmc::diagnostics::equal_tailed;
use organza_mcmc::{Kernel, Plan, run};

use crate::linalg::quadratic_form;

/// Mass of the intervals.
pub const MASS: f64 = 0.9;
/// The point of the standard normal law above which half of the rest lies.
const NORMAL_95: f64 = 1.644_853_626_951_472_7;

/// A posterior of the coefficients in users' units.
#[derive(Debug, Clone, PartialEq)]
pub struct Posterior {
    /// Mean.
    pub mean: Vec<f64>,
    /// Covariance, row-major.
    pub covariance: Vec<f64>,
    /// Interval of every coefficient.
    pub intervals: Vec<[f64; 2]>,
    /// Draws, row by row; none for a posterior in closed form.
    pub draws: Vec<f64>,
}

impl Posterior {
    /// A normal law, every coefficient times its slope.
    fn normal(mean: &[f64], covariance: &[f64], slopes: &[f64]) -> Self {
        let size = mean.len();
        let mean: Vec<f64> = mean.iter().zip(slopes).map(|(value, slope)| slope * value).collect();
        let both = |k: usize| slopes[k / size] * slopes[k % size];
        let covariance: Vec<f64> = covariance.iter().enumerate().map(|(k, value)| both(k) * value).collect();
        let half = |k: usize| NORMAL_95 * covariance[k * (mean.len() + 1)].sqrt();
        let intervals = (0..mean.len()).map(|k| [mean[k] - half(k), mean[k] + half(k)]).collect();
        Self { intervals, mean, covariance, draws: Vec::new() }
    }

    /// An estimate without uncertainty.
    pub fn point(mean: Vec<f64>) -> Self {
        Self { mean, covariance: Vec::new(), intervals: Vec::new(), draws: Vec::new() }
    }

    /// From draws of so many values, the first of which are the coefficients.
    fn of_draws(values: &[f64], width: usize, slopes: &[f64]) -> Self {
        let size = slopes.len();
        let convert =
            |row: &[f64]| row.iter().zip(slopes).map(|(value, slope)| slope * value).collect::<Vec<_>>();
        let draws: Vec<f64> = values.chunks_exact(width).flat_map(convert).collect();
        let count = (draws.len() / size) as f64;
        let column = |k: usize| draws.iter().skip(k).step_by(size).copied();
        let mean: Vec<f64> = (0..size).map(|k| column(k).sum::<f64>() / count).collect();
        let product = |k: usize, l: usize| {
            column(k).zip(column(l)).map(|(a, b)| (a - mean[k]) * (b - mean[l])).sum::<f64>() / (count - 1.0)
        };
        let covariance = (0..size * size).map(|place| product(place / size, place % size)).collect();
        let interval = |k: usize| {
            let interval = equal_tailed(&column(k).collect::<Vec<_>>(), MASS);
            [interval.lower, interval.upper]
        };
        Self { covariance, intervals: (0..size).map(interval).collect(), mean, draws }
    }

    /// Expected squared error of predictions at the mean for features with this covariance.
    pub fn prediction_error(&self, truth: &[f64], covariance: &[f64]) -> f64 {
        let away: Vec<f64> = self.mean.iter().zip(truth).map(|(mean, truth)| mean - truth).collect();
        quadratic_form(covariance, &away)
    }

    /// What averaging the error over the posterior adds to the error at its mean.
    pub fn prediction_variance(&self, covariance: &[f64]) -> f64 {
        self.covariance.iter().zip(covariance).map(|(own, features)| own * features).sum()
    }

    /// Share of the intervals that hold these coefficients; not a number without intervals.
    pub fn held(&self, truth: &[f64]) -> f64 {
        let inside = |(interval, value): &(&[f64; 2], &f64)| interval[0] <= **value && **value <= interval[1];
        self.intervals.iter().zip(truth).filter(inside).count() as f64 / self.intervals.len() as f64
    }
}

/// Releases and what turns their units into users'.
pub struct Problem<'p> {
    /// The releases.
    pub evidence: &'p Evidence,
    /// Coefficients in users' units of one in normalised units.
    pub slopes: &'p [f64],
    /// Seed of chains.
    pub seed: u64,
}

impl Problem<'_> {
    /// `fast` with this residual variance, in normalised units.
    pub fn fast(&self, prior: &Prior, variance: f64) -> Result<Posterior, String> {
        let found = Fast { variance }.posterior(self.evidence, prior).map_err(|error| error.to_string())?;
        Ok(Posterior::normal(&found.mean, &found.covariance, self.slopes))
    }

    /// `fixed-gram`: the exact moments of what MCMC-fixedS draws from, by quadrature.
    pub fn fixed_gram(&self, prior: &Prior) -> Result<Posterior, String> {
        let target = FixedGram::new(self.evidence, prior).map_err(|error| error.to_string())?;
        let found = target.coefficients();
        Ok(Posterior::normal(&found.mean, &found.covariance, self.slopes))
    }

    /// The same with so many independent draws.
    pub fn fixed_gram_draws(&self, prior: &Prior, count: usize) -> Result<Posterior, String> {
        let target = FixedGram::new(self.evidence, prior).map_err(|error| error.to_string())?;
        let plan = Plan { warmup: 0, draws: count, ..self.plan(1) };
        let draws = run(&Quadrature, &target, &plan).map_err(|error| error.to_string())?;
        Ok(Posterior::of_draws(draws.values(), draws.names().len(), self.slopes))
    }

    /// `normal-x` by the paper's walk, so many steps of which the first half is warm-up.
    pub fn normal_x(&self, prior: &Prior, steps: usize) -> Result<Posterior, String> {
        let target = NormalX::new(self.evidence, prior).map_err(|error| error.to_string())?;
        self.chain(&NormalXMetropolis::new(&target), &target, steps)
    }

    /// `gibbs-update`, which is MCMC-B&S, so many steps of which the first half is warm-up.
    pub fn gibbs(&self, prior: &Prior, steps: usize) -> Result<Posterior, String> {
        let target = Gibbs::new(self.evidence, prior, Moments::Update).map_err(|error| error.to_string())?;
        self.chain(&GibbsSampler, &target, steps)
    }

    /// `marginal` by NUTS, so many steps of which the first half is warm-up.
    pub fn marginal(&self, prior: &Prior, steps: usize) -> Result<Posterior, String> {
        let target = MarginalDensity::new(self.evidence, prior).map_err(|error| error.to_string())?;
        self.chain(&target.sampler(&self.plan(steps)), &&target, steps)
    }

    fn plan(&self, steps: usize) -> Plan {
        Plan { chains: 1, warmup: steps / 2, draws: steps - steps / 2, thin: 1, seed: self.seed, threads: 1 }
    }

    fn chain<T: Sync, K: Kernel<T>>(
        &self,
        kernel: &K,
        target: &T,
        steps: usize,
    ) -> Result<Posterior, String> {
        let draws = run(kernel, target, &self.plan(steps)).map_err(|error| error.to_string())?;
        Ok(Posterior::of_draws(draws.values(), draws.names().len(), self.slopes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_and_intervals_by_hand() {
        let found = Posterior::of_draws(&[1.0, 9.0, 9.0, 2.0, 9.0, 9.0, 3.0, 9.0, 9.0], 3, &[2.0]);
        assert_eq!((found.mean[0], found.covariance[0], found.draws.len()), (4.0, 4.0, 3));
        let found = Posterior::normal(&[1.0, 0.0], &[0.25, 0.0, 0.0, 1.0], &[2.0, 2.0]);
        assert!((found.intervals[0][1] - (2.0 + NORMAL_95)).abs() < 1e-12);
        assert_eq!(found.held(&[2.0, 9.0]), 0.5);
    }
}
