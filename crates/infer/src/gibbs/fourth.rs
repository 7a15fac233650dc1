//! First two moments of w w' for one record w = (x, y) from the fourth moments of x.
//!
//! With y = x'theta + e the products are w w' = B'(x x')B + e (P x) + e^2 u u', B = [I, theta], u the unit vector of the response
//! and P x the matrix with x in its last row and column and 2 theta'x in the corner. The three parts are uncorrelated, so
//! Sigma_t = M C M' + s2 P E P' + 2 s2^2 u u': positive semi-definite by construction, drawn from without a factorisation.

use organza_mcmc::ChainRng;

use super::fourth_moments::{FourthMoments, pair};
use crate::linalg::{dot, matrix_vector, quadratic_form};
use crate::random::{fill_normal, normal};

/// A record of which the fourth moments of the features are given.
#[derive(Debug, Clone)]
pub(super) struct FourthRecord {
    moments: FourthMoments,
    theta: Vec<f64>,
    variance: f64,
    /// E[w w'], row-major.
    pub second: Vec<f64>,
    /// Over pairs.
    noise: Vec<f64>,
    products: Vec<f64>,
    /// Cov(x_i x_j, x_k y): pairs by coordinates.
    cross: Vec<f64>,
    line: Vec<f64>,
    along: Vec<f64>,
}

impl FourthRecord {
    pub fn new(moments: FourthMoments) -> Self {
        let size = moments.dimension();
        let pairs = size * (size + 1) / 2;
        let (line, over_pairs) = (vec![0.0; size], vec![0.0; pairs]);
        let (second, cross) = (vec![0.0; (size + 1) * (size + 1)], vec![0.0; pairs * size]);
        let (noise, products) = (over_pairs.clone(), over_pairs);
        let (theta, along) = (line.clone(), line.clone());
        Self { moments, theta, variance: 1.0, second, noise, products, cross, line, along }
    }

    /// Takes new parameters.
    pub fn set(&mut self, theta: &[f64], variance: f64) {
        self.theta.copy_from_slice(theta);
        self.variance = variance;
        let size = theta.len();
        let of_features = &self.moments.second;
        matrix_vector(of_features, theta, &mut self.line);
        for i in 0..size {
            let row = &mut self.second[i * (size + 1)..(i + 1) * (size + 1)];
            row[..size].copy_from_slice(&of_features[i * size..(i + 1) * size]);
            row[size] = self.line[i];
        }
        self.second[size * (size + 1)..size * (size + 2)].copy_from_slice(&self.line);
        self.second[size * (size + 2)] = variance + dot(theta, &self.line);
    }

    /// Draws a symmetric matrix with mean zero and the covariance of w w'.
    pub fn fluctuate(&mut self, rng: &mut ChainRng, out: &mut [f64]) {
        fill_normal(rng, &mut self.noise);
        matrix_vector(&self.moments.factor, &self.noise, &mut self.products);
        let size = self.theta.len();
        let sd = self.variance.sqrt();
        fill_normal(rng, &mut self.noise[..size]);
        matrix_vector(&self.moments.second_factor, &self.noise[..size], &mut self.line);
        self.line.iter_mut().for_each(|value| *value *= sd);
        let square = std::f64::consts::SQRT_2 * self.variance * normal(rng);
        self.assemble(square, out);
    }

    /// B'UB + P b + square u u' for U over pairs in `products` and b in `line`.
    fn assemble(&mut self, square: f64, out: &mut [f64]) {
        let size = self.theta.len();
        for i in 0..size {
            for j in 0..size {
                out[i * (size + 1) + j] = self.products[pair(size, i, j)];
            }
            let along = dot(&out[i * (size + 1)..i * (size + 1) + size], &self.theta);
            self.along[i] = along;
            out[i * (size + 1) + size] = along + self.line[i];
            out[size * (size + 1) + i] = along + self.line[i];
        }
        let corner = dot(&self.theta, &self.along) + 2.0 * dot(&self.theta, &self.line) + square;
        out[size * (size + 2)] = corner;
    }

    /// The covariance applied to a vector over the upper triangle, given as a symmetric matrix V with half of its entries
    /// beside the diagonal: the adjoints of M and P are B V B' and 2 V_xy + 2 V_yy theta.
    pub fn apply(&mut self, dual: &[f64], out: &mut [f64]) {
        let size = self.theta.len();
        let corner = dual[size * (size + 2)];
        let of_response = &dual[size * (size + 1)..size * (size + 2)];
        for i in 0..size {
            for j in i..size {
                let (a, b) = (self.theta[i], self.theta[j]);
                let lifted =
                    dual[i * (size + 1) + j] + a * of_response[j] + b * of_response[i] + a * b * corner;
                self.noise[pair(size, i, j)] = if i == j { lifted } else { 2.0 * lifted };
            }
        }
        matrix_vector(&self.moments.covariance, &self.noise, &mut self.products);
        for (k, value) in self.along.iter_mut().enumerate() {
            *value = 2.0 * self.variance * (of_response[k] + corner * self.theta[k]);
        }
        matrix_vector(&self.moments.second, &self.along, &mut self.line);
        self.assemble(2.0 * self.variance * self.variance * corner, out);
    }

    /// Writes the lower triangle of `factor` times the covariance of the upper triangle of w w', in row-major order without the
    /// entry of the constant with itself. \[BS19\] Eq. (3), with the errata's Cov(x_i y, x_j y).
    pub fn covariance(&mut self, factor: f64, out: &mut [f64]) {
        let size = self.theta.len();
        let pairs = size * (size + 1) / 2;
        for of_pair in 0..pairs {
            let row = &self.moments.covariance[of_pair * pairs..(of_pair + 1) * pairs];
            for k in 0..size {
                let terms = self.theta.iter().enumerate().map(|(l, theta)| theta * row[pair(size, k, l)]);
                self.cross[of_pair * size + k] = terms.sum();
            }
            self.products[of_pair] = dot(&self.theta, &self.cross[of_pair * size..(of_pair + 1) * size]);
        }
        matrix_vector(&self.moments.second, &self.theta, &mut self.line);
        for (k, value) in self.along.iter_mut().enumerate() {
            let terms =
                self.theta.iter().enumerate().map(|(l, theta)| theta * self.products[pair(size, k, l)]);
            *value = terms.sum();
        }
        let count = pairs + size;
        let entries = || (0..=size).flat_map(|i| (i..=size).map(move |j| (i, j))).skip(1);
        for ((i, j), row) in entries().zip(out.chunks_exact_mut(count)) {
            for ((k, l), entry) in entries().zip(row).take_while(|((k, l), _)| (*k, *l) <= (i, j)) {
                *entry = factor * self.entry((i, j), (k, l));
            }
        }
    }

    /// One covariance of two products, from the sums that [`Self::covariance`] has prepared.
    fn entry(&self, (i, j): (usize, usize), (k, l): (usize, usize)) -> f64 {
        let size = self.theta.len();
        let pairs = size * (size + 1) / 2;
        let variance = self.variance;
        match (i == size, j == size, k == size, l == size) {
            (_, false, _, false) => self.moments.covariance[pair(size, i, j) * pairs + pair(size, k, l)],
            (false, true, _, false) => self.cross[pair(size, k, l) * size + i],
            (_, false, false, true) => self.cross[pair(size, i, j) * size + k],
            (true, _, _, false) => self.products[pair(size, k, l)],
            (_, false, true, _) => self.products[pair(size, i, j)],
            (false, true, false, true) => {
                let explained = (0..size).map(|m| self.theta[m] * self.cross[pair(size, i, m) * size + k]);
                variance * self.moments.second[i * size + k] + explained.sum::<f64>()
            }
            (true, _, false, true) => self.along[k] + 2.0 * variance * self.line[k],
            (false, true, true, _) => self.along[i] + 2.0 * variance * self.line[i],
            (true, _, true, _) => {
                let explained = dot(&self.theta, &self.along);
                let mixed = quadratic_form(&self.moments.second, &self.theta);
                2.0 * variance * variance + explained + 4.0 * variance * mixed
            }
        }
    }
}
