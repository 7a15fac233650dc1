//! First two moments of w w' for one record w = (x, y) with normal features.
//!
//! Then w is normal itself, w ~ N(m, F F'), M = E[w w'] = m m' + F F', and by Isserlis
//! Cov(w_i w_j, w_k w_l) = M_ik M_jl + M_il M_jk - 2 m_i m_j m_k m_l: Equation (3) without its sums over fourth moments.

use organza_mcmc::ChainRng;

use super::features::FeatureLaw;
use crate::linalg::{congruence, dot, multiply_by_transpose, quadratic_form};
use crate::random::normal;

/// A normal record; the first coordinate may be the constant 1.
#[derive(Debug, Clone)]
pub(super) struct NormalRecord {
    size: usize,
    /// 1 if the first coordinate is the constant.
    constant: usize,
    /// m; zeros without a constant.
    pub mean: Vec<f64>,
    /// M, row-major.
    pub second: Vec<f64>,
    factor: Vec<f64>,
    symmetric: Vec<f64>,
    scratch: Vec<f64>,
    line: Vec<f64>,
}

impl NormalRecord {
    /// Records of `size` coordinates, the response included.
    pub fn new(size: usize, constant: bool) -> Self {
        let (square, line) = (vec![0.0; size * size], vec![0.0; size]);
        let (second, factor, symmetric, scratch) =
            (square.clone(), square.clone(), square.clone(), square.clone());
        let constant = usize::from(constant);
        Self { size, constant, mean: line.clone(), second, factor, symmetric, scratch, line }
    }

    /// Takes new parameters: y = x'theta + e, Var(e) = variance.
    pub fn set(&mut self, theta: &[f64], variance: f64, features: &FeatureLaw) {
        let (size, constant) = (self.size, self.constant);
        let varying = size - 1 - constant;
        let slopes = &theta[constant..];
        let (above, last) = self.factor.split_at_mut((size - 1) * size);
        last.fill(0.0);
        for (row, (slope, source)) in
            slopes.iter().zip(features.lower.chunks_exact(varying.max(1))).enumerate()
        {
            let start = (row + constant) * size + constant;
            above[start..start + varying].copy_from_slice(source);
            // y - E y = slopes' L noise + e.
            for (entry, value) in last[constant..].iter_mut().zip(source) {
                *entry += slope * value;
            }
        }
        last[size - 1] = variance.sqrt();
        multiply_by_transpose(&self.factor, &self.factor, &mut self.second, size);
        if constant == 1 {
            self.mean[0] = 1.0;
            self.mean[1..size - 1].copy_from_slice(&features.mean);
            self.mean[size - 1] = dot(theta, &self.mean[..size - 1]);
            for (row, &value) in self.second.chunks_exact_mut(size).zip(&self.mean) {
                row.iter_mut().zip(&self.mean).for_each(|(entry, other)| *entry += value * other);
            }
        }
    }

    /// Draws a symmetric matrix with mean zero and the covariance of w w'. Nothing is factorised:
    /// (w - m)(w - m)' has the covariance of F (Z + Z') F' / sqrt(2), and m (w - m)' is uncorrelated with it.
    pub fn fluctuate(&mut self, rng: &mut ChainRng, out: &mut [f64]) {
        let size = self.size;
        for row in self.constant..size {
            self.symmetric[row * size + row] = std::f64::consts::SQRT_2 * normal(rng);
            for column in row + 1..size {
                let value = normal(rng);
                self.symmetric[row * size + column] = value;
                self.symmetric[column * size + row] = value;
            }
        }
        congruence(&self.factor, &self.symmetric, out, &mut self.scratch, size);
        if self.constant == 0 {
            return;
        }
        let noise = &mut self.scratch[..size];
        noise.iter_mut().for_each(|value| *value = normal(rng));
        for (value, row) in self.line.iter_mut().zip(self.factor.chunks_exact(size)) {
            *value = dot(row, noise);
        }
        for row in 0..size {
            for column in 0..size {
                out[row * size + column] +=
                    self.mean[row] * self.line[column] + self.mean[column] * self.line[row];
            }
        }
    }

    /// The covariance applied to a vector over the upper triangle, given as the symmetric matrix V that has half of its
    /// entries beside the diagonal: 2 M V M - 2 (m'V m) m m'.
    pub fn apply(&mut self, dual: &[f64], out: &mut [f64]) {
        let size = self.size;
        congruence(&self.second, dual, out, &mut self.scratch, size);
        let along = if self.constant == 1 { quadratic_form(dual, &self.mean) } else { 0.0 };
        for (row, &value) in out.chunks_exact_mut(size).zip(&self.mean) {
            for (entry, other) in row.iter_mut().zip(&self.mean) {
                *entry = 2.0 * (*entry - along * value * other);
            }
        }
    }

    /// Writes the lower triangle of `factor` times the covariance of the upper triangle of w w', in row-major order without the
    /// entry of the constant with itself.
    pub fn covariance(&self, factor: f64, out: &mut [f64]) {
        let (size, constant) = (self.size, self.constant);
        let entries = size * (size + 1) / 2 - constant;
        let mut rows = out.chunks_exact_mut(entries);
        for i in 0..size {
            for j in i.max(constant)..size {
                let Some(row) = rows.next() else { return };
                let (of_i, of_j) = (&self.second[i * size..][..size], &self.second[j * size..][..size]);
                let product = 2.0 * factor * self.mean[i] * self.mean[j];
                let mut rest = row;
                for k in 0..=i {
                    // Whole rows of the triangle: the last one runs past the diagonal, into what nobody reads.
                    let first = k.max(constant);
                    let (here, after) = rest.split_at_mut(size - first);
                    rest = after;
                    let (a, b, c) = (factor * of_i[k], factor * of_j[k], product * self.mean[k]);
                    let columns = of_i[first..].iter().zip(&of_j[first..]).zip(&self.mean[first..]);
                    for (entry, ((x, y), mean)) in here.iter_mut().zip(columns) {
                        *entry = a * y + b * x - c * mean;
                    }
                }
            }
        }
    }
}
