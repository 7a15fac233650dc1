//! The marginal posterior of `normal-x` for NUTS: theta, Sigma_x and mu integrated out.
//!
//! **Target.** (S_1..S_J, sigma^2) given all releases, in the coordinates of `coordinates` and ln sigma^2; what was integrated out
//! is drawn exactly when a draw is written. Up to a constant the log density of (S, ln sigma^2) is
//!
//! ```text
//! sum_j [(n_j - d - 1)/2 ln|S_j| + ln p(S-hat_j | S_j) - 1/2 ln|V_j| - 1/2 z_j'V_j^-1 z_j]
//!   - (kappa + n)/2 ln|Lambda_0 + sum S_j| - 1/2 ln|P| + 1/2 h'P^-1 h + ln p(ln sigma^2),
//! V_j = sigma^2 S_j + D_j,  P = C^-1 + sum S_j V_j^-1 S_j,  h = C^-1 m + sum S_j V_j^-1 z_j.
//! ```
//!
//! The Jacobian of S_j = E T T'E' turns the first term into the sum of (n_j - i) ln T_ii, i from 0.
//!
//! **Exactness.** Exact. **Cost.** O(J d^3) for the density and its gradient. **Citation.** \[AYB23\] Algorithm 1 has the same
//! posterior with everything sampled.

use organza_mcmc::{ChainRng, Gradient, LogDensity};

use super::NormalX;
use super::coordinates::{count, write_transform};
use super::factor::{add_gram, multiply_lower, square_lower};
use super::observed::Observed;
use super::proposal::factorise_covariance;
use super::workspace::{Evaluated, Workspace};
use crate::lent::Lent;
use crate::linalg::{
    dot, factorise, invert_lower, log_determinant, solve_lower, solve_lower_transposed, sum_of_logarithms,
};
use crate::random::fill_normal;

/// The density, with memory for evaluations on any number of threads.
#[derive(Debug)]
pub struct NormalXDensity {
    pub(super) model: NormalX,
    pool: Lent<Workspace>,
    /// Where ln sigma^2 is at the origin, and its unit: those of its prior.
    centre: f64,
    pub(super) unit: f64,
}

impl NormalXDensity {
    /// The density of a model.
    pub fn new(model: NormalX) -> Self {
        let (centre, unit) = (model.prior.log_variance_mode(), 1.0 / model.prior.variance().0.sqrt());
        Self { model, pool: Lent::default(), centre, unit: unit.min(1.0) }
    }

    /// Lends memory: after the first evaluation on every thread nothing is allocated.
    fn with_workspace<R>(&self, evaluate: impl FnOnce(&mut Workspace) -> R) -> R {
        self.pool.with(|| Workspace::new(&self.model), evaluate)
    }

    /// The log density; fills the workspace. None where a matrix is not positive definite to rounding.
    fn evaluate(&self, workspace: &mut Workspace, point: &[f64]) -> Option<f64> {
        let (model, size) = (&self.model, self.model.dimension());
        let log_variance = self.centre + self.unit * point[point.len() - 1];
        let variance = libm::exp(log_variance);
        let factor = model.prior.precision_factor(variance);
        workspace.variance = variance;
        workspace.total.copy_from_slice(&model.scale);
        let prior = model.prior.precision().iter().map(|value| factor * value);
        workspace.precision.iter_mut().zip(prior).for_each(|(sum, value)| *sum = value);
        workspace.shift.iter_mut().zip(&model.shift).for_each(|(sum, value)| *sum = factor * value);
        let mut value = model.prior.log_density_of_log_variance(log_variance)
            + 0.5 * (size as f64 * libm::log(factor) - factor * model.prior.mean_norm());
        for (place, point) in
            point.chunks_exact(count(size, model.constant)).take(model.parties.len()).enumerate()
        {
            value += self.evaluate_party(workspace, place, point)?;
        }
        factorise(&mut workspace.total, size).ok()?;
        factorise(&mut workspace.precision, size).ok()?;
        solve_lower(&workspace.precision, &mut workspace.shift);
        value -= 0.5 * model.degrees * log_determinant(&workspace.total, size);
        value +=
            0.5 * (dot(&workspace.shift, &workspace.shift) - log_determinant(&workspace.precision, size));
        workspace.theta.copy_from_slice(&workspace.shift);
        solve_lower_transposed(&workspace.precision, &mut workspace.theta);
        value.is_finite().then_some(value)
    }

    /// The terms of one party; adds to the sums over parties.
    fn evaluate_party(&self, workspace: &mut Workspace, place: usize, point: &[f64]) -> Option<f64> {
        let (party, constant) = (&self.model.parties[place], self.model.constant);
        let size = self.model.dimension();
        let Evaluated { lower, gram, inverse, lever } = &mut workspace.parties[place];
        write_transform(party, constant, point, &mut workspace.matrix);
        multiply_lower(&party.estimate, &workspace.matrix, lower, size);
        square_lower(lower, gram, size);
        workspace.total.iter_mut().zip(gram.iter()).for_each(|(sum, value)| *sum += value);
        let factor = &mut workspace.matrix;
        if !factorise_covariance(party, gram, workspace.variance, factor) {
            return None;
        }
        invert_lower(factor, inverse, size);
        multiply_lower_by_full(inverse, gram, lever, size);
        add_gram(lever, &mut workspace.precision, size);
        let mut square = 0.0;
        for (line, row) in inverse.chunks_exact(size).zip(lever.chunks_exact(size)) {
            let standardised = dot(line, &party.cross);
            square += standardised * standardised;
            workspace.shift.iter_mut().zip(row).for_each(|(sum, value)| *sum += standardised * value);
        }
        let spread = sum_of_logarithms((0..size).map(|k| factor[k * size + k]));
        Some(log_transform(party, constant, point) + party.log_noise(gram) - spread - 0.5 * square)
    }
}

/// sum_i (n - i) ln T_ii: the Wishart density's power of |S| and the Jacobian.
fn log_transform(party: &Observed, constant: usize, point: &[f64]) -> f64 {
    let size = party.cross.len();
    // The diagonal ends every row.
    let ends = (constant..size).scan(0, |start, row| {
        *start += row + 1;
        Some((row, *start - 1))
    });
    ends.map(|(row, end)| (party.records - row as f64) * party.spread[row * size + row] * point[end]).sum()
}

/// out = L A.
fn multiply_lower_by_full(lower: &[f64], matrix: &[f64], out: &mut [f64], size: usize) {
    for (row, target) in out.chunks_exact_mut(size).enumerate() {
        target.fill(0.0);
        for (factor, other) in lower[row * size..row * size + row + 1].iter().zip(matrix.chunks_exact(size)) {
            target.iter_mut().zip(other).for_each(|(sum, value)| *sum += factor * value);
        }
    }
}

impl LogDensity for NormalXDensity {
    fn dim(&self) -> usize {
        self.model.parties.len() * count(self.model.dimension(), self.model.constant) + 1
    }

    fn log_density(&self, theta: &[f64]) -> f64 {
        self.with_workspace(|workspace| self.evaluate(workspace, theta)).unwrap_or(f64::NEG_INFINITY)
    }

    /// One expected standard deviation from the estimate, in every coordinate.
    fn start(&self, rng: &mut ChainRng, point: &mut [f64]) {
        fill_normal(rng, point);
    }
}

impl Gradient for NormalXDensity {
    fn log_density_and_gradient(&self, theta: &[f64], gradient: &mut [f64]) -> f64 {
        self.with_workspace(|workspace| match self.evaluate(workspace, theta) {
            Some(value) => {
                self.differentiate(workspace, gradient);
                value
            }
            None => {
                gradient.fill(0.0);
                f64::NEG_INFINITY
            }
        })
    }

    fn outputs(&self) -> usize {
        self.model.outputs()
    }

    /// theta, sigma^2 and R^2, with theta and Sigma_x drawn from their distribution given the point.
    fn write_outputs(&self, point: &[f64], rng: &mut ChainRng, outputs: &mut [f64]) {
        let size = self.model.dimension();
        let written = self.with_workspace(|workspace| {
            self.evaluate(workspace, point)?;
            let theta = &mut outputs[..size];
            fill_normal(rng, theta);
            theta.iter_mut().zip(&workspace.shift).for_each(|(value, shift)| *value += shift);
            solve_lower_transposed(&workspace.precision, theta);
            let Workspace { parties, population, variance, .. } = workspace;
            population.draw_scale(&self.model, parties.iter().map(|party| &party.gram[..]), rng).ok()?;
            outputs[size + 1] =
                population.explained_share(&outputs[..size], *variance, self.model.scaled_constant);
            outputs[size] = *variance;
            Some(())
        });
        if written.is_none() {
            outputs.fill(f64::NAN);
        }
    }
}
