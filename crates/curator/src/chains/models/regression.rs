//! Regressions: a record is its features, in normalised units, and its response.
//!
//! With the linear predictor z = theta_0 + sum_k theta_k x_k the gradient of a record is its slope in z times (1, x): one number
//! for each record and then products. \[RKH21\] section 3 notes that logistic regression is a model whose ratios need no clipping: the slope is
//! at most 1, so |r| <= |(1, x)| |theta' - theta|.

use organza_mcmc::ChainRng;
use pulp::Simd;
use rand::RngExt;
use rand_distr::StandardNormal;

use super::functions::{exp, sigmoid, softplus};
use super::normal_prior::NormalPrior;
use crate::chains::gradient_sum::GradientSum;
use crate::chains::model::{RecordModel, Simulate};
use crate::chains::products::Products;
use crate::chains::records::{Block, Gradients};
use crate::chains::weighted::WeightedForm;

/// How the response of a record depends on its linear predictor.
pub trait Response: Sync {
    /// Whether there is a scale parameter, ln sigma, after the coefficients.
    const SCALE: bool;
    /// ln p(y | z), up to a constant; `precision` is sigma^-2, or 1 without a scale.
    fn log_likelihood(z: f64, y: f64, precision: f64) -> f64;
    /// Its derivative in z.
    fn slope(z: f64, y: f64, precision: f64, products: Products) -> f64;
    /// Draws a response for a rehearsal.
    fn draw(z: f64, sd: f64, rng: &mut ChainRng) -> f64;
}

/// y = z + sigma N(0, 1), with ln sigma a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Linear;

/// y is 1 with probability 1 / (1 + e^-z), else 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Logistic;

/// y is Poisson with mean e^z.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Poisson;

impl Response for Linear {
    const SCALE: bool = true;

    #[inline(always)]
    fn log_likelihood(z: f64, y: f64, precision: f64) -> f64 {
        -0.5 * precision * (y - z) * (y - z)
    }

    #[inline(always)]
    fn slope(z: f64, y: f64, precision: f64, _products: Products) -> f64 {
        precision * (y - z)
    }

    fn draw(z: f64, sd: f64, rng: &mut ChainRng) -> f64 {
        (z + sd * rng.sample::<f64, _>(StandardNormal)).clamp(-1.0, 1.0)
    }
}

impl Response for Logistic {
    const SCALE: bool = false;

    #[inline(always)]
    fn log_likelihood(z: f64, y: f64, _precision: f64) -> f64 {
        y * z - softplus(z)
    }

    #[inline(always)]
    fn slope(z: f64, y: f64, _precision: f64, products: Products) -> f64 {
        y - sigmoid(z, products)
    }

    fn draw(z: f64, _sd: f64, rng: &mut ChainRng) -> f64 {
        f64::from(u8::from(rng.random::<f64>() < sigmoid(z, Products::Separate)))
    }
}

impl Response for Poisson {
    const SCALE: bool = false;

    #[inline(always)]
    fn log_likelihood(z: f64, y: f64, _precision: f64) -> f64 {
        y * z - exp(z, Products::Separate)
    }

    #[inline(always)]
    fn slope(z: f64, y: f64, _precision: f64, products: Products) -> f64 {
        y - exp(z, products)
    }

    fn draw(z: f64, _sd: f64, rng: &mut ChainRng) -> f64 {
        rand_distr::Poisson::new(exp(z, Products::Separate).clamp(1e-9, 1e9))
            .map_or(0.0, |law| rng.sample(law))
    }
}

/// A regression of one kind of response on features.
#[derive(Debug, Clone, PartialEq)]
pub struct Regression<R> {
    response: R,
    names: Vec<String>,
    features: usize,
    intercept: bool,
    prior: NormalPrior,
}

impl<R: Response> Regression<R> {
    /// A regression on features with these names; coefficients have independent normal priors around 0 with standard deviation
    /// `prior_sd` in normalised units, and so has ln sigma.
    pub fn new(response: R, features: &[String], intercept: bool, prior_sd: f64) -> Self {
        let first = intercept.then(|| "intercept".to_string());
        let last = R::SCALE.then(|| "log_sigma".to_string());
        let names: Vec<String> = first.into_iter().chain(features.iter().cloned()).chain(last).collect();
        let prior = NormalPrior::new(vec![0.0; names.len()], vec![prior_sd; names.len()]);
        Self { response, names, features: features.len(), intercept, prior }
    }

    /// Number of coefficients, the intercept included.
    pub fn coefficients(&self) -> usize {
        self.features + usize::from(self.intercept)
    }

    /// The largest norm of (1, x) with features in [-1, 1].
    pub fn reach(&self) -> f64 {
        (self.coefficients() as f64).sqrt()
    }

    #[inline(always)]
    fn predict(&self, theta: &[f64], block: Block<'_>, z: &mut [f64]) {
        let first = usize::from(self.intercept);
        z.fill(if self.intercept { theta[0] } else { 0.0 });
        for (feature, slope) in theta[first..first + self.features].iter().enumerate() {
            for (z, x) in z.iter_mut().zip(block.column(feature)) {
                *z += slope * x;
            }
        }
    }

    /// Replaces linear predictors by the slopes there.
    #[inline(always)]
    fn replace_by_slopes(&self, block: Block<'_>, z: &mut [f64], precision: f64, products: Products) {
        for (z, y) in z.iter_mut().zip(block.column(self.features)) {
            *z = R::slope(*z, *y, precision, products);
        }
    }

    /// ln sigma and sigma^-2.
    #[inline(always)]
    fn scale(&self, theta: &[f64]) -> (f64, f64) {
        let log_sd = if R::SCALE { theta[self.coefficients()] } else { 0.0 };
        (log_sd, exp(-2.0 * log_sd, Products::Separate))
    }
}

impl<R: Response> RecordModel for Regression<R> {
    fn parameters(&self) -> Vec<String> {
        self.names.clone()
    }

    fn columns(&self) -> usize {
        self.features + 1
    }

    fn log_prior(&self, theta: &[f64]) -> f64 {
        self.prior.log_density(theta)
    }

    fn add_prior_gradient(&self, theta: &[f64], gradient: &mut [f64]) {
        self.prior.add_gradient(theta, gradient);
    }

    #[inline(always)]
    fn log_likelihood(&self, theta: &[f64], block: Block<'_>, values: &mut [f64]) {
        self.predict(theta, block, values);
        let (log_sd, precision) = self.scale(theta);
        for (value, y) in values.iter_mut().zip(block.column(self.features)) {
            *value = R::log_likelihood(*value, *y, precision) - log_sd;
        }
    }

    #[inline(always)]
    fn gradient(&self, theta: &[f64], block: Block<'_>, mut gradients: Gradients<'_>) {
        let (_, precision) = self.scale(theta);
        let (slopes, mut others) = gradients.split_first();
        self.predict(theta, block, slopes);
        self.replace_by_slopes(block, slopes, precision, Products::Separate);
        let later = self.coefficients() - 1;
        for index in 0..later {
            let x = block.column(index + usize::from(!self.intercept));
            for ((gradient, slope), x) in others.coordinate(index).iter_mut().zip(&*slopes).zip(x) {
                *gradient = slope * x;
            }
        }
        if R::SCALE {
            // d/d ln sigma of -ln sigma - r^2 / (2 sigma^2), and r / sigma^2 is the slope.
            for (gradient, slope) in others.coordinate(later).iter_mut().zip(&*slopes) {
                *gradient = slope * slope / precision - 1.0;
            }
        }
        if !self.intercept {
            slopes.iter_mut().zip(block.column(0)).for_each(|(slope, x)| *slope *= x);
        }
    }

    #[inline(always)]
    fn add_gradients<S: Simd>(&self, theta: &[f64], sum: GradientSum<'_, S>) {
        let form = WeightedForm { intercept: self.intercept, features: self.features, last: R::SCALE };
        let (_, precision) = self.scale(theta);
        sum.add_weighted(
            form,
            &theta[..self.coefficients()],
            #[inline(always)]
            |block, weights, last| {
                self.replace_by_slopes(block, weights, precision, Products::of::<S>());
                if R::SCALE {
                    for (last, slope) in last.iter_mut().zip(weights) {
                        *last = *slope * *slope / precision - 1.0;
                    }
                }
            },
        );
    }
}

impl<R: Response> Simulate for Regression<R> {
    /// Coefficients whose predictor is of the order of 1, or of a third of the response's half-width, and residuals of a fifth of it: the
    /// public guess of a regression that is worth fitting and whose responses are rarely clamped.
    fn draw_parameters(&self, rng: &mut ChainRng, theta: &mut [f64]) {
        let sd = self.prior.sd()[0].min(if R::SCALE { 0.3 } else { 1.0 }) / self.reach();
        theta.iter_mut().for_each(|value| *value = sd * rng.sample::<f64, _>(StandardNormal));
        if R::SCALE {
            theta[self.coefficients()] = -1.5 + 0.3 * rng.sample::<f64, _>(StandardNormal);
        }
    }

    fn draw_record(&self, theta: &[f64], rng: &mut ChainRng, record: &mut [f64]) {
        let (features, response) = record.split_at_mut(self.features);
        features.iter_mut().for_each(|x| *x = rng.random_range(-1.0..1.0));
        let first = usize::from(self.intercept);
        let products = features.iter().zip(&theta[first..]).map(|(x, slope)| x * slope);
        let z = products.sum::<f64>() + if self.intercept { theta[0] } else { 0.0 };
        response[0] = R::draw(z, exp(self.scale(theta).0, Products::Separate), rng);
    }
}
