//! The posterior of randomised answers for NUTS.
//!
//! **Target.** theta in the coordinates x of ln theta = H x - ln sum exp(H x), H the orthonormal Helmert matrix of vectors that sum to 0. The
//! Jacobian is proportional to the product of theta, so the log density is sum_c a_c ln theta_c + sum_j sum_y n_jy ln (M_j theta)_y.
//! **Exactness.** Exact in the limit of many draws. **Cost.** O(parties times answers times cells) for the density and its gradient.

use organza_mcmc::{ChainRng, Gradient, LogDensity};

use super::RandomisedAnswers;
use crate::lent::Lent;
use crate::random::{gamma, normal};

/// The density, with memory for evaluations on any number of threads.
#[derive(Debug)]
pub struct AnswerDensity {
    model: RandomisedAnswers,
    total: f64,
    pool: Lent<Workspace>,
}

#[derive(Debug)]
struct Workspace {
    theta: Vec<f64>,
    /// Probabilities of a party's answers, then the gradient by them, then by theta.
    mixed: Vec<f64>,
    sums: Vec<f64>,
    /// Gradient of the log density by H x.
    slopes: Vec<f64>,
}

impl AnswerDensity {
    /// The density of a model.
    pub fn new(model: RandomisedAnswers) -> Self {
        let total = model.concentrations.iter().sum();
        Self { model, total, pool: Lent::default() }
    }

    /// Names of the values of a draw.
    pub fn names(&self) -> &[String] {
        self.model.names()
    }

    /// Lends memory: after the first evaluation on every thread nothing is allocated.
    fn with_workspace<R>(&self, evaluate: impl FnOnce(&mut Workspace) -> R) -> R {
        let empty = || vec![0.0; self.model.concentrations.len()];
        let new = || Workspace { theta: empty(), mixed: empty(), sums: empty(), slopes: empty() };
        self.pool.with(new, evaluate)
    }

    /// The log density, and its gradient by H x in `slopes`.
    fn evaluate(&self, workspace: &mut Workspace, point: &[f64]) -> f64 {
        let Workspace { theta, mixed, sums, slopes } = workspace;
        let log_total = write_probabilities(point, slopes, theta);
        let concentrations = &self.model.concentrations;
        let mut value: f64 = concentrations.iter().zip(slopes.iter()).map(|(a, x)| a * (x - log_total)).sum();
        let prior = concentrations.iter().zip(theta.iter()).map(|(a, p)| a - self.total * p);
        slopes.iter_mut().zip(prior).for_each(|(slope, prior)| *slope = prior);
        for party in &self.model.parties {
            mixed.copy_from_slice(theta);
            party.channels.iter().for_each(|channel| channel.mix(mixed, sums));
            let mut records = 0.0;
            for (probability, count) in mixed.iter_mut().zip(&party.counts) {
                // An answer that nobody gave says nothing by itself.
                let seen = *count > 0.0;
                value += if seen { count * libm::log(*probability) } else { 0.0 };
                *probability = if seen { count / *probability } else { 0.0 };
                records += count;
            }
            party.channels.iter().for_each(|channel| channel.mix(mixed, sums));
            // theta' M' (n / M theta) is the number of records.
            let likelihood = theta.iter().zip(mixed.iter()).map(|(p, slope)| p * (slope - records));
            slopes.iter_mut().zip(likelihood).for_each(|(slope, more)| *slope += more);
        }
        value
    }
}

/// Writes H x and theta; the answer is ln sum exp(H x).
fn write_probabilities(point: &[f64], image: &mut [f64], theta: &mut [f64]) -> f64 {
    // Column k of H, from 1: k times 1, then -k, all over sqrt(k (k + 1)).
    let mut later = 0.0;
    for place in (0..image.len()).rev() {
        let own = if place == 0 { 0.0 } else { point[place - 1] * weight(place) };
        image[place] = later - place as f64 * own;
        later += own;
    }
    let peak = image.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    theta.iter_mut().zip(image.iter()).for_each(|(p, x)| *p = libm::exp(x - peak));
    let sum: f64 = theta.iter().sum();
    theta.iter_mut().for_each(|p| *p /= sum);
    peak + libm::log(sum)
}

fn weight(column: usize) -> f64 {
    1.0 / (column as f64 * (column as f64 + 1.0)).sqrt()
}

impl LogDensity for AnswerDensity {
    fn dim(&self) -> usize {
        self.model.concentrations.len() - 1
    }

    fn log_density(&self, theta: &[f64]) -> f64 {
        self.with_workspace(|workspace| self.evaluate(workspace, theta))
    }

    /// A draw from a flattened prior: H' of logarithms of gamma variates.
    fn start(&self, rng: &mut ChainRng, point: &mut [f64]) {
        let log = |rng: &mut ChainRng, place: usize| {
            libm::log(gamma(rng, self.model.concentrations[place] + 2.0)) + 0.1 * normal(rng)
        };
        let mut before = log(rng, 0);
        for (place, value) in point.iter_mut().enumerate() {
            let column = place + 1;
            let next = log(rng, column);
            *value = weight(column) * (before - column as f64 * next);
            before += next;
        }
    }
}

impl Gradient for AnswerDensity {
    fn log_density_and_gradient(&self, theta: &[f64], gradient: &mut [f64]) -> f64 {
        self.with_workspace(|workspace| {
            let value = self.evaluate(workspace, theta);
            let mut before = workspace.slopes[0];
            for (place, out) in gradient.iter_mut().enumerate() {
                let slope = workspace.slopes[place + 1];
                *out = weight(place + 1) * (before - (place + 1) as f64 * slope);
                before += slope;
            }
            value
        })
    }

    fn outputs(&self) -> usize {
        self.model.concentrations.len()
    }

    fn write_outputs(&self, point: &[f64], _rng: &mut ChainRng, outputs: &mut [f64]) {
        self.with_workspace(|workspace| {
            write_probabilities(point, &mut workspace.slopes, outputs);
        });
    }
}
