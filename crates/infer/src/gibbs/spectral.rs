//! The full conditional of a Gram matrix in O(p^3), for normal records and isometric Gaussian noise.
//!
//! In weighted units the covariance of G is the map H -> 2n M H M, less 2n <m m', H> m m' where a coordinate is the constant g, and
//! the noise is tau^2 times the identity but for y'y, whose scale is its own. In the eigenbasis of M = E diag(l) E' the first and the
//! identity are diagonal, with 2n l_i l_j and tau^2 in place (i, j); what is left has rank two at most. So Matheron's rule (see the
//! dense path) costs two rotations and sums over p^2 places: the two terms of rank one are handled by Sherman and Morrison's formula.
//!
//! With a constant m = M e_0 / g, so m m' is (rho rho') up to the roots of 2n l_i l_j on both sides, rho_i = sqrt(l_i) E_0i / g, and
//! |rho| = 1: the sampling part is a *projection* orthogonal to rho rho', which takes the variance of the constant's own entry away.

use organza_mcmc::{ChainRng, Stop};

use super::normal::NormalRecord;
use super::pool::Pool;
use crate::evidence::Isometry;
use crate::linalg::{EigenWorkspace, congruence, multiply, quadratic_form, transpose_multiply};
use crate::random::normal;

/// Pools with the same weights: they share an eigenbasis.
#[derive(Debug, Clone)]
pub(super) struct Basis {
    weights: Vec<f64>,
    pools: Vec<SpectralPool>,
}

/// A pool in weighted units.
#[derive(Debug, Clone)]
struct SpectralPool {
    records: f64,
    gram: Vec<f64>,
    /// tau.
    scale: f64,
    /// The scale of y'y.
    response_scale: f64,
}

impl Basis {
    /// Adds a pool to the basis with its weights.
    pub fn insert(bases: &mut Vec<Self>, pool: &Pool, isometry: Isometry) {
        let widen = pool.parties.sqrt();
        let (scale, response_scale) = (widen * isometry.scale, widen * isometry.response_scale);
        let item = SpectralPool { records: pool.records(), gram: pool.gram.clone(), scale, response_scale };
        match bases.iter_mut().find(|basis| basis.weights == pool.noise.weights) {
            Some(basis) => basis.pools.push(item),
            None => bases.push(Self { weights: pool.noise.weights.clone(), pools: vec![item] }),
        }
    }

    /// Adds released values and variances of their noise, in plain units.
    pub fn add_released(&self, gram: &mut [f64], variance: &mut [f64]) {
        let size = self.weights.len();
        for pool in &self.pools {
            for place in 0..size * size {
                let (row, column) = (place / size, place % size);
                let weight = self.weights[row] * self.weights[column];
                let square = pool.scale * pool.scale;
                gram[place] += pool.gram[place] / weight;
                variance[place] += match (row == column, place + 1 == size * size) {
                    (_, true) => pool.response_scale * pool.response_scale,
                    (true, _) => square,
                    (false, _) => 0.5 * square,
                } / (weight * weight);
            }
        }
    }
}

/// Memory for the draws; matrices are in the eigenbasis.
#[derive(Debug, Clone)]
pub(super) struct SpectralConditional {
    size: usize,
    constant: bool,
    eigen: EigenWorkspace,
    weighted: Vec<f64>,
    scratch: Vec<f64>,
    /// sqrt(l), rho, and the response's coordinates.
    roots: Vec<f64>,
    rho: Vec<f64>,
    response: Vec<f64>,
    /// 1 / (2n l_i l_j + tau^2).
    inverse: Vec<f64>,
    /// Covariance^-1 of the response's square, before its own noise is accounted for.
    lift: Vec<f64>,
    latent: Vec<f64>,
    residual: Vec<f64>,
    sum: Vec<f64>,
}

impl SpectralConditional {
    pub fn new(size: usize, constant: bool) -> Self {
        let (square, line) = (vec![0.0; size * size], vec![0.0; size]);
        let new = || square.clone();
        let (weighted, scratch, inverse, lift) = (new(), new(), new(), new());
        let (latent, residual, sum) = (new(), new(), new());
        let (roots, rho, response) = (line.clone(), line.clone(), line);
        let eigen = EigenWorkspace::new(size);
        Self {
            size,
            constant,
            eigen,
            weighted,
            scratch,
            roots,
            rho,
            response,
            inverse,
            lift,
            latent,
            residual,
            sum,
        }
    }

    /// Draws the Gram matrices of all pools given the law of a record and adds them to `total`.
    pub fn draw(
        &mut self,
        rng: &mut ChainRng,
        bases: &[Basis],
        record: &NormalRecord,
        total: &mut [f64],
    ) -> Result<(), Stop> {
        let size = self.size;
        for basis in bases {
            self.rotate(basis, record)?;
            self.sum.fill(0.0);
            for pool in &basis.pools {
                self.propose(rng, pool);
                self.correct(pool);
                self.sum.iter_mut().zip(&self.latent).for_each(|(sum, value)| *sum += value);
            }
            // Back: E sum E', then to plain units.
            multiply(&self.sum, &self.eigen.rows, &mut self.scratch, size);
            transpose_multiply(&self.eigen.rows, &self.scratch, &mut self.latent, size);
            for row in 0..size {
                for column in row..size {
                    let place = row * size + column;
                    total[place] += self.latent[place] / (basis.weights[row] * basis.weights[column]);
                    total[column * size + row] = total[place];
                }
            }
        }
        Ok(())
    }

    /// The eigenbasis of M in the units of these weights.
    fn rotate(&mut self, basis: &Basis, record: &NormalRecord) -> Result<(), Stop> {
        let size = self.size;
        for (place, value) in self.weighted.iter_mut().enumerate() {
            *value = record.second[place] * basis.weights[place / size] * basis.weights[place % size];
        }
        if !self.eigen.decompose(&self.weighted) {
            return Err(Stop::numerical(
                "the second moments of a record are not finite: give a stronger prior",
            ));
        }
        for k in 0..size {
            let vector = &self.eigen.rows[k * size..(k + 1) * size];
            self.roots[k] = self.eigen.values[k].max(0.0).sqrt();
            self.rho[k] = self.roots[k] * vector[0] / basis.weights[0];
            self.response[k] = vector[size - 1];
        }
        Ok(())
    }

    /// s0 in `latent`, and z - s0 - noise in `residual`.
    fn propose(&mut self, rng: &mut ChainRng, pool: &SpectralPool) {
        let size = self.size;
        congruence(&self.eigen.rows, &pool.gram, &mut self.residual, &mut self.scratch, size);
        isometric_normal(rng, &mut self.latent, size);
        if self.constant {
            add_square(&mut self.latent, &self.rho, -1.0);
        }
        isometric_normal(rng, &mut self.scratch, size);
        // The noise of y'y, a unit vector in this basis too, has its own scale.
        add_square(&mut self.scratch, &self.response, pool.response_scale / pool.scale - 1.0);
        let spread = (2.0 * pool.records).sqrt();
        for row in 0..size {
            for column in 0..size {
                let place = row * size + column;
                self.latent[place] *= spread * self.roots[row] * self.roots[column];
            }
            self.latent[row * size + row] += pool.records * self.roots[row] * self.roots[row];
        }
        for ((value, latent), noise) in self.residual.iter_mut().zip(&self.latent).zip(&self.scratch) {
            *value -= latent + pool.scale * noise;
        }
    }

    /// Adds the covariance of s times the inverse covariance of z times the residual to `latent`.
    fn correct(&mut self, pool: &SpectralPool) {
        let size = self.size;
        let (twice, square) = (2.0 * pool.records, pool.scale * pool.scale);
        for row in 0..size {
            let value = twice * self.roots[row] * self.roots[row];
            for column in 0..size {
                let place = row * size + column;
                self.inverse[place] = 1.0 / (value * self.roots[column] * self.roots[column] + square);
                self.residual[place] *= self.inverse[place];
                self.lift[place] = self.inverse[place] * self.response[row] * self.response[column];
            }
        }
        if self.constant {
            self.exempt_constant(twice, square);
        }
        let excess = pool.response_scale * pool.response_scale - square;
        let along = quadratic_form(&self.residual, &self.response);
        let gain = excess * along / (1.0 + excess * quadratic_form(&self.lift, &self.response));
        for (value, lift) in self.residual.iter_mut().zip(&self.lift) {
            *value -= gain * lift;
        }
        self.add_image(twice);
    }

    /// Adds the covariance of s times `residual` to `latent`.
    fn add_image(&mut self, twice: f64) {
        let size = self.size;
        self.scale_rho();
        let removed = if self.constant { quadratic_form(&self.residual, &self.scratch[..size]) } else { 0.0 };
        for row in 0..size {
            for column in 0..size {
                let (a, b) = (self.roots[row] * self.roots[row], self.roots[column] * self.roots[column]);
                let place = row * size + column;
                let image = a * b * self.residual[place] - removed * self.scratch[row] * self.scratch[column];
                self.latent[place] += twice * image;
            }
        }
    }

    /// m in the eigenbasis, sqrt(l) rho, into the first line of `scratch`.
    fn scale_rho(&mut self) {
        for ((value, root), rho) in self.scratch.iter_mut().zip(&self.roots).zip(&self.rho) {
            *value = root * rho;
        }
    }

    /// Turns A^-1 r into (A - 2n m m' (.) m m')^-1 r for `residual` and for `lift`.
    ///
    /// The denominator 1 - 2n <m m', A^-1 m m'> is summed as its own positive terms: it is as small as tau^2 / (2n l^2).
    fn exempt_constant(&mut self, twice: f64, square: f64) {
        let size = self.size;
        self.scale_rho();
        let mean = &self.scratch[..size];
        let (mut of_residual, mut of_lift, mut rest) = (0.0, 0.0, 0.0);
        for row in 0..size {
            for column in 0..size {
                let place = row * size + column;
                let product = mean[row] * mean[column];
                let share = self.rho[row] * self.rho[column];
                of_residual += product * self.residual[place];
                of_lift += product * self.lift[place];
                rest += share * share * square * self.inverse[place];
            }
        }
        let (of_residual, of_lift) = (twice * of_residual / rest, twice * of_lift / rest);
        for row in 0..size {
            for column in 0..size {
                let place = row * size + column;
                let direction = self.inverse[place] * mean[row] * mean[column];
                self.residual[place] += of_residual * direction;
                self.lift[place] += of_lift * direction;
            }
        }
    }
}

/// A symmetric matrix, standard normal in every direction: variance 1 on the diagonal, 1/2 beside it.
fn isometric_normal(rng: &mut ChainRng, out: &mut [f64], size: usize) {
    for row in 0..size {
        out[row * size + row] = normal(rng);
        for column in row + 1..size {
            let value = std::f64::consts::FRAC_1_SQRT_2 * normal(rng);
            out[row * size + column] = value;
            out[column * size + row] = value;
        }
    }
}

/// Multiplies the component along v v' (|v| = 1) by 1 + `change`.
fn add_square(matrix: &mut [f64], direction: &[f64], change: f64) {
    let along = change * quadratic_form(matrix, direction);
    for (row, x) in matrix.chunks_exact_mut(direction.len()).zip(direction) {
        row.iter_mut().zip(direction).for_each(|(entry, y)| *entry += along * x * y);
    }
}
