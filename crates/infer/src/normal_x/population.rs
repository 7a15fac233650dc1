//! The distribution of the features given all X'X: Sigma_x and mu, drawn exactly.

use organza_mcmc::{ChainRng, Stop};

use super::NormalX;
use super::factor::add_gram;
use crate::linalg::{dot, factorise, invert_lower, solve_lower};
use crate::random::{normal, wishart_factor};

/// A draw of the population and memory for the next.
#[derive(Debug, Clone)]
pub(super) struct Population {
    size: usize,
    constant: usize,
    /// Lambda_0 + sum S_j, then its lower factor.
    total: Vec<f64>,
    inverse: Vec<f64>,
    /// Bartlett's factor, of the features that vary.
    bartlett: Vec<f64>,
    /// Rows F_0 with F_0'F_0 = `precision`.
    root: Vec<f64>,
    /// The matrix Omega_0 for which -1/2 tr(Omega_0 S_j) is the exponent of the density of S_j, lower triangle: Sigma_x^-1
    /// without a constant, with one \[\[mu'Sigma_x^-1 mu, .\], \[-Sigma_x^-1 mu, Sigma_x^-1\]\].
    pub precision: Vec<f64>,
    image: Vec<f64>,
    axis: Vec<f64>,
}

impl Population {
    pub fn new(size: usize, constant: usize) -> Self {
        let (square, varying) = (vec![0.0; size * size], size - constant);
        let (total, inverse, precision) = (square.clone(), square.clone(), square.clone());
        let (bartlett, image) = (vec![0.0; varying * varying], vec![0.0; varying]);
        let axis = image.clone();
        Self { size, constant, total, inverse, bartlett, root: square, precision, image, axis }
    }

    /// Draws Sigma_x given S_1..S_J, mu integrated out, and mu given both. \[AYB23\] Eq. (11)
    pub fn draw<'g>(
        &mut self,
        model: &NormalX,
        grams: impl Iterator<Item = &'g [f64]>,
        rng: &mut ChainRng,
    ) -> Result<(), Stop> {
        self.condition(model, grams)?;
        let (size, varying) = (self.size, self.size - self.constant);
        wishart_factor(rng, model.degrees, &mut self.bartlett, varying);
        invert_lower(&self.total, &mut self.inverse, size);
        // With the factor A of the scale, Sigma_x^-1 = F'F with F = B'A^-1; the rows below the constant of the inverse
        // are A^-1 (-mean, I).
        self.root.fill(0.0);
        for k in 0..varying {
            let row = &self.inverse[(k + self.constant) * size..(k + self.constant + 1) * size];
            for (factor, target) in
                self.bartlett[k * varying..=k * varying + k].iter().zip(self.root.chunks_exact_mut(size))
            {
                target.iter_mut().zip(row).for_each(|(sum, value)| *sum += factor * value);
            }
        }
        if self.constant == 1 {
            // mu is its mean plus Sigma_x^(1/2) noise / sqrt(k_0 + n); F times that is the noise, and `inverse[0]` the root.
            let sd = self.inverse[0];
            self.root.chunks_exact_mut(size).take(varying).for_each(|row| row[0] -= sd * normal(rng));
        }
        self.precision.fill(0.0);
        add_gram(&self.root[..varying * size], &mut self.precision, size);
        Ok(())
    }

    /// Draws only what [`Self::explained_share`] needs.
    pub fn draw_scale<'g>(
        &mut self,
        model: &NormalX,
        grams: impl Iterator<Item = &'g [f64]>,
        rng: &mut ChainRng,
    ) -> Result<(), Stop> {
        self.condition(model, grams)?;
        wishart_factor(rng, model.degrees, &mut self.bartlett, self.size - self.constant);
        Ok(())
    }

    /// The lower factor of Lambda_0 + sum S_j.
    fn condition<'g>(&mut self, model: &NormalX, grams: impl Iterator<Item = &'g [f64]>) -> Result<(), Stop> {
        self.total.copy_from_slice(&model.scale);
        for gram in grams {
            self.total.iter_mut().zip(gram).for_each(|(sum, value)| *sum += value);
        }
        factorise(&mut self.total, self.size).map_err(|row| {
            Stop::numerical(format!("the sum of all X'X is not positive definite (row {row})"))
        })
    }

    /// theta_x' Sigma_x theta_x with Sigma_x = A B^-T B^-1 A'; where the first feature is a scaled constant, without what it
    /// explains.
    fn explained_variance(&mut self, theta: &[f64], scaled_constant: bool) -> f64 {
        let (size, first) = (self.size, self.constant);
        for (k, value) in self.image.iter_mut().enumerate() {
            *value = (k + first..size).map(|row| self.total[row * size + k + first] * theta[row]).sum();
        }
        solve_lower(&self.bartlett, &mut self.image);
        let square = dot(&self.image, &self.image);
        if !scaled_constant {
            return square;
        }
        self.axis.fill(0.0);
        self.axis[0] = self.total[0];
        solve_lower(&self.bartlett, &mut self.axis);
        let along = dot(&self.image, &self.axis);
        (square - along * along / dot(&self.axis, &self.axis)).max(0.0)
    }

    /// R^2 in the population.
    pub fn explained_share(&mut self, theta: &[f64], variance: f64, scaled_constant: bool) -> f64 {
        let explained = self.explained_variance(theta, scaled_constant);
        explained / (explained + variance)
    }
}
