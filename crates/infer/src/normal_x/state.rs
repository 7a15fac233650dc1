//! The state of the walk: every party's X'X, theta and sigma^2, and the exact draws among its steps.

use organza_mcmc::{ChainRng, Stop};

use super::NormalX;
use super::coordinates::{count, write_transform};
use super::factor::{add_gram, multiply_lower, solve_lower_columns};
use super::population::Population;
use super::proposal::{Latent, Move, factorise_covariance, log_fit};
use crate::linalg::{factorise, solve_lower, solve_lower_transposed};
use crate::random::{fill_normal, normal};

/// What the next step needs.
#[derive(Debug, Clone)]
pub struct NormalXState {
    pub(super) population: Population,
    pub(super) latents: Vec<Latent>,
    pub(super) proposed: Latent,
    pub(super) step: Move,
    /// Lower factors of V_j, one after the other, and room for those of another sigma^2.
    pub(super) factors: Vec<f64>,
    pub(super) next_factors: Vec<f64>,
    /// ln p(z-hat_j | S_j, theta, sigma^2), and the same for another sigma^2.
    pub(super) fits: Vec<f64>,
    pub(super) next_fits: Vec<f64>,
    /// S_j V_j^-1 S_j and S_j V_j^-1 z_j, one after the other; stale where S_j or sigma^2 have moved.
    contributions: Vec<f64>,
    pub(super) stale: Vec<bool>,
    precision: Vec<f64>,
    /// Probability with which the last proposal of every party was accepted.
    pub(super) acceptance: Vec<f64>,
    pub(super) matrix: Vec<f64>,
    pub(super) vector: Vec<f64>,
    /// theta, sigma^2, R^2.
    pub(super) position: Vec<f64>,
}

impl NormalXState {
    /// A start near the estimate, one expected standard deviation away in every coordinate.
    pub(super) fn new(model: &NormalX, rng: &mut ChainRng) -> Result<Self, Stop> {
        let (size, constant, parties) = (model.dimension(), model.constant, model.parties.len());
        let square = vec![0.0; size * size];
        let mut state = Self {
            population: Population::new(size, constant),
            latents: vec![Latent::new(size); parties],
            proposed: Latent::new(size),
            step: Move::new(size, constant),
            factors: vec![0.0; parties * size * size],
            next_factors: vec![0.0; parties * size * size],
            fits: vec![0.0; parties],
            next_fits: vec![0.0; parties],
            contributions: vec![0.0; parties * size * (size + 1)],
            stale: vec![true; parties],
            precision: square.clone(),
            acceptance: vec![0.0; parties],
            matrix: square,
            vector: vec![0.0; size],
            position: vec![0.0; size + 2],
        };
        state.position[size] = libm::exp(model.prior.log_variance_mode() + 0.5 * normal(rng));
        state.scatter(model, rng)?;
        state.draw_coefficients(model, rng)?;
        state.refit(model);
        Ok(state)
    }

    /// Throws every S_j near its estimate.
    fn scatter(&mut self, model: &NormalX, rng: &mut ChainRng) -> Result<(), Stop> {
        let size = model.dimension();
        let mut point = vec![0.0; count(size, model.constant)];
        let factors = self.factors.chunks_exact_mut(size * size);
        for ((latent, party), factor) in self.latents.iter_mut().zip(&model.parties).zip(factors) {
            fill_normal(rng, &mut point);
            write_transform(party, model.constant, &point, &mut self.matrix);
            multiply_lower(&party.estimate, &self.matrix, &mut latent.lower, size);
            latent.complete(party, model.constant);
            if !factorise_covariance(party, &latent.gram, self.position[size], factor) {
                return Err(Stop::numerical("the covariance of X'y is not positive definite at the start"));
            }
        }
        Ok(())
    }

    /// theta given S_1..S_J and sigma^2. \[AYB23\] Eq. (12)
    pub(super) fn draw_coefficients(&mut self, model: &NormalX, rng: &mut ChainRng) -> Result<(), Stop> {
        let size = model.dimension();
        self.refresh_contributions(model);
        let (theta, variance) = self.position.split_at_mut(size);
        let factor = model.prior.precision_factor(variance[0]);
        self.precision.iter_mut().zip(model.prior.precision()).for_each(|(sum, value)| *sum = factor * value);
        self.vector.iter_mut().zip(&model.shift).for_each(|(sum, value)| *sum = factor * value);
        for contribution in self.contributions.chunks_exact(size * (size + 1)) {
            let (precision, shift) = contribution.split_at(size * size);
            self.precision.iter_mut().zip(precision).for_each(|(sum, value)| *sum += value);
            self.vector.iter_mut().zip(shift).for_each(|(sum, value)| *sum += value);
        }
        factorise(&mut self.precision, size).map_err(|row| {
            Stop::numerical(format!("the precision of the coefficients is not positive definite (row {row})"))
        })?;
        solve_lower(&self.precision, &mut self.vector);
        // L L' theta = shift + L noise.
        fill_normal(rng, theta);
        theta.iter_mut().zip(&self.vector).for_each(|(value, shift)| *value += shift);
        solve_lower_transposed(&self.precision, theta);
        Ok(())
    }

    /// Brings the stale contributions up to date.
    fn refresh_contributions(&mut self, model: &NormalX) {
        let size = model.dimension();
        let factors = self.factors.chunks_exact(size * size);
        let parties = self.latents.iter().zip(&model.parties).zip(factors);
        let places = self.contributions.chunks_exact_mut(size * (size + 1)).zip(&mut self.stale);
        for (((latent, party), factor), (contribution, stale)) in parties.zip(places) {
            if !std::mem::replace(stale, false) {
                continue;
            }
            contribution.fill(0.0);
            let (precision, shift) = contribution.split_at_mut(size * size);
            self.matrix.copy_from_slice(&latent.gram);
            solve_lower_columns(factor, &mut self.matrix, size);
            add_gram(&self.matrix, precision, size);
            self.vector.copy_from_slice(&party.cross);
            solve_lower(factor, &mut self.vector);
            for (row, value) in self.matrix.chunks_exact(size).zip(&self.vector) {
                shift.iter_mut().zip(row).for_each(|(sum, entry)| *sum += value * entry);
            }
        }
    }

    /// The fits at another theta.
    pub(super) fn refit(&mut self, model: &NormalX) {
        let size = model.dimension();
        let factors = self.factors.chunks_exact(size * size);
        let parties = self.latents.iter().zip(&model.parties).zip(factors);
        for (((latent, party), factor), fit) in parties.zip(&mut self.fits) {
            *fit = log_fit(party, &latent.gram, &self.position[..size], factor, &mut self.vector);
        }
    }
}
