//! One setting on one problem: noise replicates, fits, and the four figures of merit.

use super::fast::{Known, Posterior, fit};
use super::mechanism::{NoiseScales, Setting, Statistic};
use super::table::Problem;
use rand::{SeedableRng, rngs::ChaCha8Rng};
use rand_distr::{Distribution, StandardNormal};

const DELTA: f64 = 1e-6;
/// 95 percent point of the standard normal: intervals hold 90 percent.
const NORMAL_95: f64 = 1.644_853_626_951_472_7;

/// Means over noise replicates; shares of the variance of the response.
#[derive(Clone, Copy, Debug, Default)]
pub struct Merit {
    /// Test mean squared error in excess of least squares (or of the true line), over var(y).
    pub excess: f64,
    /// Mean over slopes of (estimate - truth)^2 var(x) / var(y).
    pub slope_error: f64,
    /// Mean width of 90 percent intervals of slopes, times sd(x) / sd(y).
    pub width: f64,
    /// Share of 90 percent intervals of slopes that hold the truth.
    pub coverage: f64,
}

/// A problem with its standard normal draws, shared by all settings (common random numbers).
pub struct Trial {
    problem: Problem,
    draws: Vec<Vec<f64>>,
    mu: f64,
}

impl Trial {
    /// Fixes the random numbers.
    pub fn new(problem: Problem, replicates: usize, seed: u64) -> Trial {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let length = Statistic::draws(problem.truth.coefficients.len());
        let draws =
            (0..replicates).map(|_| StandardNormal.sample_iter(&mut rng).take(length).collect()).collect();
        // The problems' epsilons are constants of the calculation, so there is nothing to refuse.
        let mu = organza_release::loss::gaussian_mu(problem.epsilon, DELTA).unwrap_or(f64::NAN);
        Trial { problem, draws, mu }
    }

    /// Features of the problem.
    pub fn features(&self) -> usize {
        self.problem.table.features
    }

    /// Noise scale at which a release of a setting is private.
    pub fn noise_scale(&self, setting: &Setting) -> f64 {
        setting.noise(self.features(), self.intercept(), self.mu).diagonal
    }

    /// Records of the table.
    pub fn records(&self) -> usize {
        self.problem.table.records()
    }

    /// Sampling error of the answer, where it is least squares on the table: of predictions and of slopes.
    pub fn sampling_error(&self) -> Option<[f64; 2]> {
        self.problem.truth.sampling_error(self.records())
    }

    /// Features declared as 0/1.
    pub fn booleans(&self) -> usize {
        self.problem.booleans
    }

    /// Has it an intercept?
    pub fn intercept(&self) -> bool {
        self.problem.intercept
    }

    /// Groups for the report.
    pub fn tags(&self) -> &[(&'static str, String)] {
        &self.problem.tags
    }

    /// Merit of several response weights on one scaled table, `fast` and noise-aware `fast`.
    pub fn merits(&self, radius: f64, intercept_weight: f64, response_weights: &[f64]) -> Vec<[Merit; 2]> {
        let setting = |&response_weight: &f64| Setting::Scaled { radius, intercept_weight, response_weight };
        let Some(first) = response_weights.first() else { return Vec::new() };
        let exact = setting(first).statistic(&self.problem.table, self.intercept());
        response_weights.iter().map(|weight| self.score(&setting(weight), &exact)).collect()
    }

    /// Merit of one setting.
    pub fn merit(&self, setting: &Setting) -> [Merit; 2] {
        self.score(setting, &setting.statistic(&self.problem.table, self.intercept()))
    }

    fn score(&self, setting: &Setting, exact: &Statistic) -> [Merit; 2] {
        let scales = setting.noise(self.features(), self.intercept(), self.mu);
        let first = usize::from(self.intercept());
        let weight = setting.intercept_weight();
        // Prior N(0, 1) on every normalised coefficient; the record's own intercept is that divided by g.
        let mut prior = vec![1.0; exact.size];
        prior[..first].fill(weight * weight);
        let mut total = [Merit::default(); 2];
        for draws in &self.draws {
            let noisy = exact.noisy(&scales, draws);
            let effective_records = self.effective_records(setting, &noisy, &scales);
            let known = Known { prior_precision: &prior, effective_records, scales: &scales };
            let Some(posteriors) = fit(&noisy, &known) else {
                total.iter_mut().for_each(|merit| merit.excess = f64::NAN);
                break;
            };
            for (merit, posterior) in total.iter_mut().zip(&posteriors) {
                self.add(merit, posterior, weight);
            }
        }
        total.map(|merit| merit.divided(self.draws.len() as f64))
    }

    /// Sum of c^2: released with an intercept, else (as n is public) known to the experiment.
    fn effective_records(&self, setting: &Setting, noisy: &Statistic, scales: &NoiseScales) -> f64 {
        let table = &self.problem.table;
        let n = table.records() as f64;
        match setting {
            Setting::Scaled { radius, intercept_weight, .. } if self.intercept() => {
                let smallest =
                    (radius * radius / (intercept_weight.powi(2) + self.features() as f64)).min(1.0);
                let released = noisy.gram[0].max(scales.diagonal) / intercept_weight.powi(2);
                released.clamp(n * smallest, n)
            }
            Setting::Scaled { radius, .. } => {
                table.squared_norms.iter().map(|norm2| (radius * radius / norm2).min(1.0)).sum()
            }
            Setting::Unscaled => n,
        }
    }

    fn add(&self, merit: &mut Merit, posterior: &Posterior, intercept_weight: f64) {
        let truth = &self.problem.truth;
        let first = usize::from(self.intercept());
        let mut estimate = posterior.mean.clone();
        estimate[..first].iter_mut().for_each(|entry| *entry *= intercept_weight);
        merit.excess += (truth.test.squared_error(&estimate) - truth.base) / truth.response_variance;
        let slopes = truth.feature_sd.len() as f64;
        for (k, sd) in truth.feature_sd.iter().enumerate() {
            let miss = estimate[first + k] - truth.coefficients[first + k];
            let half = NORMAL_95 * posterior.variance[first + k].sqrt();
            merit.slope_error += (miss * sd).powi(2) / truth.response_variance / slopes;
            merit.width += 2.0 * half * sd / truth.response_variance.sqrt() / slopes;
            merit.coverage += f64::from(u8::from(miss.abs() <= half)) / slopes;
        }
    }
}

impl Merit {
    fn divided(self, count: f64) -> Merit {
        Merit {
            excess: self.excess / count,
            slope_error: self.slope_error / count,
            width: self.width / count,
            coverage: self.coverage / count,
        }
    }
}
