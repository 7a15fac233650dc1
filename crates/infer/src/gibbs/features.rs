//! The distribution of the features: what is known of it in a step, and its full conditional.

use organza_mcmc::{ChainRng, Stop};

use crate::FeaturePrior;
use crate::linalg::{dot, factorise, quadratic_form};
use crate::random::{InverseWishart, fill_normal};

/// Features x ~ N(mean, covariance), the constant not among them, and memory to draw both anew.
#[derive(Debug, Clone)]
pub(crate) struct FeatureLaw {
    size: usize,
    /// Sigma_x, row-major.
    pub covariance: Vec<f64>,
    /// Its lower factor.
    pub lower: Vec<f64>,
    /// mu; zeros where the features have no mean.
    pub mean: Vec<f64>,
    sampler: InverseWishart,
    scale: Vec<f64>,
    noise: Vec<f64>,
}

impl FeatureLaw {
    pub fn new(size: usize) -> Self {
        let (square, line) = (vec![0.0; size * size], vec![0.0; size]);
        let (covariance, lower, scale) = (square.clone(), square.clone(), square);
        let sampler = InverseWishart::new(size);
        Self { size, covariance, lower, mean: line.clone(), sampler, scale, noise: line }
    }

    /// Takes a covariance as given; false if it is not positive definite.
    pub fn fix(&mut self, covariance: &[f64], mean: &[f64]) -> bool {
        self.covariance.copy_from_slice(covariance);
        self.mean[..mean.len()].copy_from_slice(mean);
        self.refactor().is_ok()
    }

    /// A draw of the prior.
    pub fn draw_prior(&mut self, rng: &mut ChainRng, prior: &FeaturePrior) -> Result<(), Stop> {
        self.scale.copy_from_slice(prior.scale());
        self.draw_covariance(rng, prior.degrees())?;
        self.mean[..prior.mean().len()].copy_from_slice(prior.mean());
        if !prior.mean().is_empty() {
            self.draw_mean(rng, prior.mean_records());
        }
        Ok(())
    }

    /// A draw given the Gram matrix of all records (response last): NIW with a constant in the first place, IW without.
    /// \[BS19\] section 3.4.4; \[AYB23\] section C.1.
    pub fn draw(
        &mut self,
        rng: &mut ChainRng,
        prior: &FeaturePrior,
        gram: &[f64],
        records: f64,
    ) -> Result<(), Stop> {
        let (size, constant) = (self.size, usize::from(!prior.mean().is_empty()));
        let stride = size + constant + 1;
        for row in 0..size {
            let start = (row + constant) * stride + constant;
            let sums = &gram[start..start + size];
            for (column, sum) in sums.iter().enumerate() {
                self.scale[row * size + column] = prior.scale()[row * size + column] + sum;
            }
        }
        if constant == 1 {
            self.centre(prior, gram, records);
        }
        self.draw_covariance(rng, prior.degrees() + records)?;
        if constant == 1 {
            self.draw_mean(rng, prior.mean_records() + records);
        }
        Ok(())
    }

    /// The posterior mean of mu, and the scale matrix about it.
    fn centre(&mut self, prior: &FeaturePrior, gram: &[f64], records: f64) {
        let size = self.size;
        // Lambda + S + k_0 mu_0 mu_0' - k_n mu_n mu_n' is Lambda plus the scatter about both means.
        let (weight, total) = (prior.mean_records(), prior.mean_records() + records);
        for (k, mean) in self.mean.iter_mut().enumerate() {
            *mean = (weight * prior.mean()[k] + gram[1 + k]) / total;
        }
        for row in 0..size {
            for column in 0..size {
                let before = weight * prior.mean()[row] * prior.mean()[column];
                self.scale[row * size + column] += before - total * self.mean[row] * self.mean[column];
            }
        }
    }

    /// Sigma_x from its lower factor.
    pub fn multiply(&mut self) {
        let (size, lower) = (self.size, &self.lower);
        for row in 0..size {
            for column in 0..=row {
                let (left, right) = (row * size, column * size);
                let value = dot(&lower[left..=left + column], &lower[right..=right + column]);
                self.covariance[left + column] = value;
                self.covariance[right + row] = value;
            }
        }
    }

    /// theta' Sigma_x theta; where the first feature is a scaled constant, without what it explains.
    pub fn explained(&self, theta: &[f64], scaled_constant: bool) -> f64 {
        if theta.is_empty() {
            return 0.0;
        }
        let square = quadratic_form(&self.covariance, theta);
        let along = dot(&self.covariance[..self.size], theta);
        if scaled_constant { (square - along * along / self.covariance[0]).max(0.0) } else { square }
    }

    fn draw_covariance(&mut self, rng: &mut ChainRng, degrees: f64) -> Result<(), Stop> {
        // A regression on the constant alone has no features to draw.
        if self.size == 0 {
            return Ok(());
        }
        let drawn = self.sampler.sample(rng, &self.scale, degrees, &mut self.covariance);
        if drawn && self.refactor().is_ok() {
            return Ok(());
        }
        Err(Stop::numerical("the covariance of the features is not positive definite: give a stronger prior"))
    }

    /// mean + N(0, Sigma_x / records).
    fn draw_mean(&mut self, rng: &mut ChainRng, records: f64) {
        fill_normal(rng, &mut self.noise);
        let spread = 1.0 / records.sqrt();
        for (row, mean) in self.lower.chunks_exact(self.size).zip(&mut self.mean) {
            *mean += spread * row.iter().zip(&self.noise).map(|(factor, noise)| factor * noise).sum::<f64>();
        }
    }

    fn refactor(&mut self) -> Result<(), usize> {
        self.lower.copy_from_slice(&self.covariance);
        factorise(&mut self.lower, self.size)
    }
}
