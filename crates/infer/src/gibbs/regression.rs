//! Coefficients and residual variance given the Gram matrix: their full conditionals.

use organza_mcmc::{ChainRng, Stop};

use crate::Prior;
use crate::linalg::{dot, factorise, quadratic_form, solve_lower, solve_lower_transposed};
use crate::random::{fill_normal, inverse_gamma};

/// Memory for draws of the coefficients and of the variance.
#[derive(Debug, Clone)]
pub(crate) struct Regression {
    size: usize,
    prior_shift: Vec<f64>,
    mean_norm: f64,
    sums: Vec<f64>,
    precision: Vec<f64>,
    noise: Vec<f64>,
    /// theta.
    pub theta: Vec<f64>,
    /// sigma^2.
    pub variance: f64,
}

impl Regression {
    pub fn new(prior: &Prior) -> Self {
        let size = prior.dimension();
        let (square, line) = (vec![0.0; size * size], vec![0.0; size]);
        let (prior_shift, mean_norm) = (prior.shift(), prior.mean_norm());
        let (sums, noise) = (square.clone(), line.clone());
        Self { size, prior_shift, mean_norm, sums, precision: square, noise, theta: line, variance: 1.0 }
    }

    /// A draw of the prior.
    pub fn draw_prior(&mut self, rng: &mut ChainRng, prior: &Prior) -> Result<(), Stop> {
        let (shape, rate) = prior.variance();
        let variance = inverse_gamma(rng, shape, rate);
        self.draw_prior_given(rng, prior, variance)
    }

    /// A draw of the prior of the coefficients, the residual variance known.
    pub fn draw_prior_given(&mut self, rng: &mut ChainRng, prior: &Prior, variance: f64) -> Result<(), Stop> {
        self.variance = variance;
        self.sums.fill(0.0);
        self.theta.fill(0.0);
        self.draw_coefficients(rng, prior)
    }

    /// A draw of the coefficients given the Gram matrix (row-major, response last), the residual variance known.
    pub fn draw_given(
        &mut self,
        rng: &mut ChainRng,
        prior: &Prior,
        gram: &[f64],
        variance: f64,
    ) -> Result<(), Stop> {
        self.variance = variance;
        self.load(gram);
        self.draw_coefficients(rng, prior)
    }

    /// A draw given the Gram matrix (row-major, response last) of so many records.
    ///
    /// With a conjugate prior both at once, NIG(mu_n, Lambda_n, a_n, b_n), b_n as in the errata of \[AYB23\]; else theta given
    /// sigma^2, then sigma^2 given theta. The residual sum of squares is not negative for a positive semi-definite matrix;
    /// like the papers' code we floor the rate at b_0, here against rounding only.
    pub fn draw(
        &mut self,
        rng: &mut ChainRng,
        prior: &Prior,
        gram: &[f64],
        records: f64,
    ) -> Result<(), Stop> {
        let (size, stride) = (self.size, self.size + 1);
        self.load(gram);
        let (shape, rate) = prior.variance();
        let (shape, square) = (shape + 0.5 * records, gram[stride * stride - 1]);
        if prior.is_conjugate() {
            // [BS19] Eq. (1)
            let kept = self.half_solve(prior, 1.0)?;
            let residual = (square + self.mean_norm - kept).max(0.0);
            self.variance = inverse_gamma(rng, shape, rate + 0.5 * residual);
            self.spread(rng, self.variance.sqrt());
        } else {
            self.draw_coefficients(rng, prior)?;
            let cross: f64 =
                self.theta.iter().zip(gram.chunks_exact(stride)).map(|(t, row)| t * row[size]).sum();
            let residual = square - 2.0 * cross + quadratic_form(&self.sums, &self.theta);
            self.variance = inverse_gamma(rng, shape, rate + 0.5 * residual.max(0.0));
        }
        let finite = self.variance.is_finite() && self.theta.iter().all(|value| value.is_finite());
        finite.then_some(()).ok_or_else(|| {
            Stop::numerical("the coefficients or the residual variance are not finite: give a stronger prior")
        })
    }

    /// X'X into `sums` and X'y into `theta`.
    fn load(&mut self, gram: &[f64]) {
        let size = self.size;
        for (k, row) in gram.chunks_exact(size + 1).take(size).enumerate() {
            self.sums[k * size..(k + 1) * size].copy_from_slice(&row[..size]);
            self.theta[k] = row[size];
        }
    }

    /// theta given sigma^2, from X'X in `sums` and X'y in `theta`.
    fn draw_coefficients(&mut self, rng: &mut ChainRng, prior: &Prior) -> Result<(), Stop> {
        // In units of sigma^2 the precision of a prior that is not conjugate is sigma^2 C^-1.
        self.half_solve(prior, prior.precision_factor(self.variance) * self.variance)?;
        self.spread(rng, self.variance.sqrt());
        Ok(())
    }

    /// L^-1 (X'y + f C^-1 m) with L L' = X'X + f C^-1, into `theta`; returns its squared length.
    fn half_solve(&mut self, prior: &Prior, factor: f64) -> Result<f64, Stop> {
        for ((entry, sum), prior) in self.precision.iter_mut().zip(&self.sums).zip(prior.precision()) {
            *entry = sum + factor * prior;
        }
        self.theta.iter_mut().zip(&self.prior_shift).for_each(|(value, shift)| *value += factor * shift);
        factorise(&mut self.precision, self.size).map_err(|row| {
            Stop::numerical(format!("the precision of the coefficients is not positive definite (row {row})"))
        })?;
        solve_lower(&self.precision, &mut self.theta);
        Ok(dot(&self.theta, &self.theta))
    }

    /// L'^-1 (theta + sd noise): the mean and sd^2 (L L')^-1.
    fn spread(&mut self, rng: &mut ChainRng, sd: f64) {
        fill_normal(rng, &mut self.noise);
        self.theta.iter_mut().zip(&self.noise).for_each(|(value, noise)| *value += sd * noise);
        solve_lower_transposed(&self.precision, &mut self.theta);
    }
}
