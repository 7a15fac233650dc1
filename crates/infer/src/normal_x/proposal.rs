//! The Wishart walk on a party's X'X, decided by pure functions.
//!
//! With S = L L' the proposal is S' = L C C'L', where sqrt(alpha) C is Bartlett's factor of alpha degrees of freedom: then S' ~
//! Wishart(S / alpha, alpha), with mean S. With a constant the first row of C is (1, 0) and its first column (1, beta), beta ~
//! N(0, I / alpha): the mean of the features moves by L_Q beta / sqrt n together with their scatter Q.

use organza_mcmc::ChainRng;

use super::factor::{inner_product, multiply_lower, square_lower, squared_norm};
use super::observed::Observed;
use crate::linalg::{dot, factorise, invert_lower, solve_lower, sum_of_logarithms};
use crate::random::{fill_normal, gamma};

/// A party's X'X with everything that its density needs.
#[derive(Debug, Clone)]
pub(super) struct Latent {
    /// Lower factor of S.
    pub lower: Vec<f64>,
    /// S.
    pub gram: Vec<f64>,
    /// ln |Q|: twice the logarithms of the varying diagonal of the factor.
    pub log_determinant: f64,
    /// ln p(S-hat | S).
    pub log_noise: f64,
}

impl Latent {
    pub fn new(size: usize) -> Self {
        let square = vec![0.0; size * size];
        Self { lower: square.clone(), gram: square, log_determinant: 0.0, log_noise: 0.0 }
    }

    /// Fills in the rest from the factor.
    pub fn complete(&mut self, party: &Observed, constant: usize) {
        let size = party.cross.len();
        square_lower(&self.lower, &mut self.gram, size);
        let diagonal = (constant..size).map(|k| self.lower[k * size + k]);
        self.log_determinant = 2.0 * sum_of_logarithms(diagonal);
        self.log_noise = party.log_noise(&self.gram);
    }

    /// Log density of (b, Q) given Sigma_x and mu and of S-hat given both, up to a constant; `exponent` is tr(Omega_0 S).
    pub fn log_density(&self, party: &Observed, exponent: f64) -> f64 {
        // (degrees - dimension - 1)/2: the constant counts in neither or in both.
        let power = 0.5 * (party.records - party.cross.len() as f64 - 1.0);
        power * self.log_determinant - 0.5 * exponent + self.log_noise
    }
}

/// C and its inverse.
#[derive(Debug, Clone)]
pub(super) struct Move {
    size: usize,
    constant: usize,
    pub factor: Vec<f64>,
    inverse: Vec<f64>,
}

impl Move {
    pub fn new(size: usize, constant: usize) -> Self {
        Self { size, constant, factor: vec![0.0; size * size], inverse: vec![0.0; size * size] }
    }

    /// Throws C.
    pub fn draw(&mut self, rng: &mut ChainRng, alpha: f64) {
        let (size, constant) = (self.size, self.constant);
        let shrink = 1.0 / alpha.sqrt();
        if constant == 1 {
            self.factor[0] = 1.0;
        }
        for row in constant..size {
            let values = &mut self.factor[row * size..row * size + row + 1];
            fill_normal(rng, &mut values[..row]);
            values[row] = (2.0 * gamma(rng, 0.5 * (alpha - (row - constant) as f64))).sqrt();
            values.iter_mut().for_each(|value| *value *= shrink);
        }
    }

    /// The factor of the proposal: L C.
    pub fn apply(&self, current: &Latent, proposed: &mut Latent) {
        multiply_lower(&current.lower, &self.factor, &mut proposed.lower, self.size);
    }

    /// ln q(S | S') - ln q(S' | S). \[AYB23\] A.3
    ///
    /// (alpha - (m + 1)/2)(ln|Q| - ln|Q'|) + alpha/2 (tr Q^-1 Q' - tr Q'^-1 Q) for m varying features, where the traces are
    /// the squared norms of C and of its inverse; the normal density of b, whose covariance is Q / (alpha n), adds (ln|Q| -
    /// ln|Q'|)/2 and the first columns of C and of its inverse to these norms.
    pub fn log_ratio(&mut self, alpha: f64) -> f64 {
        let size = self.size;
        invert_lower(&self.factor, &mut self.inverse, size);
        let varying = (size - self.constant) as f64;
        let growth = sum_of_logarithms((0..size).map(|k| self.factor[k * size + k]));
        let norms = squared_norm(&self.factor, size) - squared_norm(&self.inverse, size);
        0.5 * alpha * norms - (2.0 * alpha - varying - 1.0 + self.constant as f64) * growth
    }
}

/// Log of the probability of acceptance, before its cut at 0: ln p(S' | rest) q(S | S') - ln p(S | rest) q(S' | S). \[AYB23\] A.3
///
/// `precision` is Omega_0 of the population, a latent comes with its fit, `transition` is [`Move::log_ratio`].
pub(super) fn log_acceptance(
    party: &Observed,
    precision: &[f64],
    (before, fit): (&Latent, f64),
    (after, next_fit): (&Latent, f64),
    transition: f64,
) -> f64 {
    let size = party.cross.len();
    let density = |latent: &Latent| latent.log_density(party, inner_product(precision, &latent.gram, size));
    density(after) - density(before) + next_fit - fit + transition
}

/// ln p(z-hat | S, theta, sigma^2), up to a constant: normal with mean S theta and covariance V, whose lower factor is given.
/// \[AYB23\] Eq. (10)
pub(super) fn log_fit(
    party: &Observed,
    gram: &[f64],
    theta: &[f64],
    factor: &[f64],
    residual: &mut [f64],
) -> f64 {
    let size = theta.len();
    for ((value, row), z) in residual.iter_mut().zip(gram.chunks_exact(size)).zip(&party.cross) {
        *value = z - dot(row, theta);
    }
    solve_lower(factor, residual);
    -sum_of_logarithms((0..size).map(|k| factor[k * size + k])) - 0.5 * dot(residual, residual)
}

/// The lower factor of V = sigma^2 S + D; false if it is not positive definite to rounding.
pub(super) fn factorise_covariance(
    party: &Observed,
    gram: &[f64],
    variance: f64,
    factor: &mut [f64],
) -> bool {
    let size = party.cross.len();
    for row in 0..size {
        let line = row * size..row * size + row + 1;
        factor[line.clone()].iter_mut().zip(&gram[line]).for_each(|(v, s)| *v = variance * s);
        factor[row * size + row] += party.cross_variance[row];
    }
    factorise(factor, size).is_ok()
}
