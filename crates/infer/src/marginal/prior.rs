//! The log density of the prior at a point, and its gradient.
//!
//! **The default** knows the bounds only as what they are: the means of columns lie in them, and a column's variance is at most (1 - mu)(1 + mu).
//!
//! | what | law |
//! | --- | --- |
//! | mean of a column | uniform inside its bounds |
//! | spread of a column | q = s^2 / (1 - mu^2): a power at zero, so that bounds may be far too wide, down to a floor |
//! | regression of a feature on those before it | Cauchy: R^2 near 1 is as likely as R^2 near 0, so that features may be collinear |
//! | coefficients | what features explain, in units of sigma, has a spherical law with tails a bit heavier than Cauchy; theta_k s_k / s_y are Cauchy with scale 2, together |
//! | residual variance | from the spread of the response and R^2 |
//!
//! In users' units a change of bounds moves nothing of it but the walls of means and spreads. Parts of a prior that were given take the place of these: normal
//! coefficients, an inverse gamma residual variance, an inverse Wishart law of the features.

use super::parties::Sums;
use super::population::{Population, Shape, log_cosh};
use crate::linalg::{dot, invert_lower, matrix_vector};
use crate::prior::{FeaturePrior, Prior};
use crate::{Evidence, InferError};

/// Shapes of the law of q, q^low (1 + q)^-(low + high) / (1 + floor / q) per ln q: q is hardly ever above 1, and seldom below the floor. A column whose standard
/// deviation is a hundredth of the half-range of its bounds has q = 1e-4.
pub(super) const SPREAD: (f64, f64) = (0.25, 2.0);
/// The floor of q.
pub(super) const FLOOR: f64 = 1e-5;

/// The same for the response: where noise hides its variance, a larger one is the safer guess.
pub(super) const RESPONSE_SPREAD: (f64, f64) = (2.0, 2.0);

/// Scale of what a standard deviation of a feature may do to the response, in standard deviations of it.
pub(super) const LARGEST_EFFECT: f64 = 2.0;

/// Tail of what all features together explain in units of sigma: P(|t| > T) falls like T to minus twice this.
pub(super) const SLOPES_TAIL: f64 = 0.375;

/// The prior in the coordinates of the chain.
#[derive(Debug, Clone)]
pub(super) struct PointPrior {
    /// Normal coefficients: precision, precision times mean, and, where they are in units of sigma, half the square of the mean.
    coefficients: Option<(Vec<f64>, Vec<f64>, Option<f64>)>,
    /// Slopes that have the default prior, with their centres.
    slopes: Vec<(usize, f64)>,
    /// Slopes that have not.
    given: Vec<usize>,
    /// Shape and rate of the residual variance.
    variance: Option<(f64, f64)>,
    features: Option<FeaturePrior>,
    /// For every number of records that is not public, the most that it can be.
    counts: Vec<Option<f64>>,
    /// For every variance that is a parameter, the shape of its gamma law.
    variances: Vec<f64>,
}

/// Memory of an evaluation.
#[derive(Debug, Clone)]
pub(super) struct PriorSpace {
    theta: Vec<f64>,
    theta_slope: Vec<f64>,
    centre: Vec<f64>,
    new: Vec<f64>,
    pulls: Vec<f64>,
}

impl PointPrior {
    pub fn new(prior: &Prior, evidence: &Evidence, sums: &Sums) -> Result<Self, InferError> {
        prior.check(evidence)?;
        let offset = usize::from(evidence.domain().intercept());
        let features = evidence.dimension() - offset;
        let given = prior.given();
        let (of_slopes, rest): (Vec<usize>, Vec<usize>) =
            (0..features).partition(|k| given.coefficients[k + offset]);
        Ok(Self {
            coefficients: given.coefficients.contains(&true).then(|| {
                let (precision, shift) = prior.of_given();
                let centre = prior.is_conjugate().then(|| 0.5 * dot(&shift, prior.mean()));
                (precision, shift, centre)
            }),
            slopes: rest.into_iter().map(|k| (k, prior.mean()[k + offset])).collect(),
            given: of_slopes,
            variance: given.variance.then(|| prior.variance()),
            features: prior.given_features(evidence)?,
            counts: sums.counts.clone(),
            variances: sums.variances.clone(),
        })
    }

    pub fn space(&self, shape: Shape) -> PriorSpace {
        let (all, line) = (vec![0.0; shape.coefficients()], vec![0.0; shape.features]);
        PriorSpace {
            theta: all.clone(),
            theta_slope: all,
            centre: line.clone(),
            new: line.clone(),
            pulls: line,
        }
    }

    /// Log density of the population, in the coordinates mu, ln s, t, b and the logarithms of counts; adds its gradient to that of the population.
    pub fn add(&self, to: &mut Population, space: &mut PriorSpace) -> f64 {
        let last = to.shape.features;
        let mut value = match &self.features {
            None => (0..last)
                .map(|column| add_spread(to, column) + add_collinearity(to, column, &mut space.pulls))
                .sum(),
            Some(law) => add_inverse_wishart(law, to),
        };
        if self.variance.is_none() {
            value += add_spread(to, last);
        }
        value + self.add_regression(to, space) + self.add_counts(to) + self.add_variances(to)
    }

    /// Coefficients and residual variance.
    fn add_regression(&self, to: &mut Population, space: &mut PriorSpace) -> f64 {
        let sigma = to.residual_sd();
        to.coefficients(&mut space.theta);
        space.theta_slope.fill(0.0);
        let (mut value, mut log_sd_slope) = (0.0, 0.0);
        if let Some((shape, rate)) = self.variance {
            let precision = rate / (sigma * sigma);
            value -= 2.0 * shape * libm::log(sigma) + precision;
            log_sd_slope += 2.0 * (precision - shape);
        }
        if let Some((precision, shift, conjugate)) = &self.coefficients {
            let PriorSpace { theta, theta_slope, .. } = space;
            let factor = if conjugate.is_some() { 1.0 / (sigma * sigma) } else { 1.0 };
            matrix_vector(precision, theta, theta_slope);
            let square = 0.5 * dot(theta_slope, theta) - dot(shift, theta) + conjugate.unwrap_or(0.0);
            value -= factor * square;
            theta_slope.iter_mut().zip(shift).for_each(|(slope, shift)| *slope = factor * (shift - *slope));
            if conjugate.is_some() {
                // All coefficients are given then.
                log_sd_slope += 2.0 * factor * square - theta.len() as f64;
                value -= theta.len() as f64 * libm::log(sigma);
            }
        }
        // d theta_k / d t_k = sigma n_k / s_k for those that are given.
        let columns = to.shape.columns();
        for k in &self.given {
            value += libm::log(sigma * to.norms[*k]) - to.log_scale[*k];
            log_sd_slope += 1.0;
            to.log_scale_slope[*k] -= 1.0;
            let square = to.norms[*k] * to.norms[*k];
            (0..*k).for_each(|j| to.rows_slope[k * columns + j] += to.rows[k * columns + j] / square);
        }
        if self.variance.is_none() && !self.given.is_empty() {
            // Given coefficients and the spread of the response are independent: d ln s_y / d ln sigma = 1 / n^2 where coefficients stay.
            let (last, norm) = (to.shape.features, to.norms[to.shape.features]);
            value -= 2.0 * libm::log(norm);
            for place in last * columns..last * columns + last {
                to.rows_slope[place] -= 2.0 * to.rows[place] / (norm * norm);
            }
        }
        value += self.add_slopes(to, space, &mut log_sd_slope);
        to.add_residual_sd(log_sd_slope);
        to.add_coefficients(&space.theta, &mut space.theta_slope);
        value
    }

    /// The default law of the slopes, per t.
    ///
    /// Two factors. What the features explain, in units of sigma, has a spherical law with heavy tails: this is a law of R^2.
    /// (Independent heavy tails are a star, along whose rays chains get lost, and believe in R^2 near 1 too easily.) And what a
    /// standard deviation of each feature does, in standard deviations of the response, has a Cauchy law: where features are
    /// collinear and noise hides how they differ, this one alone says how large their coefficients may be.
    fn add_slopes(&self, to: &mut Population, space: &mut PriorSpace, log_sd_slope: &mut f64) -> f64 {
        let (last, columns, sigma) = (to.shape.features, to.shape.columns(), to.residual_sd());
        let offset = to.shape.coefficients() - last;
        let PriorSpace { theta, theta_slope, centre, new, pulls } = space;
        // The response without what is given: given slopes, and centres of the others.
        centre.copy_from_slice(&theta[offset..]);
        self.slopes.iter().for_each(|(k, middle)| centre[*k] = *middle);
        let row = &to.rows[last * columns..last * columns + last];
        for (j, (new, t)) in new.iter_mut().zip(row).enumerate() {
            let known: f64 = (j..last).map(|k| to.root[k * columns + j] * centre[k]).sum();
            *new = t - known / sigma;
        }
        let mut value = spherical(new, SLOPES_TAIL, pulls);
        for (j, pull) in pulls.iter().enumerate() {
            to.rows_slope[last * columns + j] += pull;
            *log_sd_slope += pull * (to.rows[last * columns + j] - new[j]);
            for (k, centre) in centre.iter().enumerate().skip(j) {
                to.root_slope[k * columns + j] -= pull * centre / sigma;
            }
        }
        for k in &self.given {
            let row = &to.root[k * columns..k * columns + k + 1];
            theta_slope[k + offset] -= dot(row, &pulls[..=*k]) / sigma;
        }
        let response = to.scale[last];
        // The places of what was new hold the effects now.
        let effects = &mut new[..self.slopes.len()];
        for (effect, (k, middle)) in effects.iter_mut().zip(&self.slopes) {
            *effect = (theta[k + offset] - middle) * to.scale[*k] / response;
        }
        let inner = LARGEST_EFFECT * LARGEST_EFFECT + dot(effects, effects);
        let power = self.slopes.len() as f64 + 1.0;
        value -= 0.5 * power * libm::log(inner);
        for (effect, (k, _)) in effects.iter().zip(&self.slopes) {
            let steep = -power * effect / inner;
            theta_slope[k + offset] += steep * to.scale[*k] / response;
            to.log_scale_slope[*k] += steep * effect;
            to.log_scale_slope[last] -= steep * effect;
        }
        value
    }

    /// Numbers of records: within their limits where these are public, else of the size that was found.
    fn add_counts(&self, to: &mut Population) -> f64 {
        let mut value = 0.0;
        let counts = self.counts.iter().zip(&to.counts).zip(&mut to.counts_slope);
        for ((most, count), slope) in counts {
            let (log, turn) = match most {
                // Uniform up to the most, with a soft wall.
                Some(most) => {
                    let power = (count / most).powi(8);
                    (libm::log(*count) - libm::log1p(power), 1.0 - 8.0 * power / (1.0 + power))
                }
                None => {
                    let x = libm::log(*count);
                    (-2.0 * log_cosh(0.5 * x), -libm::tanh(0.5 * x))
                }
            };
            value += log;
            *slope += turn;
        }
        value
    }

    /// Variances of Laplace noise: gamma laws with mean 1, per logarithm.
    fn add_variances(&self, to: &mut Population) -> f64 {
        let all = self.variances.iter().zip(&to.variances).zip(&mut to.variances_slope);
        all.map(|((shape, value), slope)| {
            *slope += shape * (1.0 - value);
            shape * (libm::log(*value) - value)
        })
        .sum()
    }
}

/// Log density of (1 + k |t|^2)^-(k / 2 + tail) in k dimensions, up to a constant; sets its gradient.
pub(super) fn spherical(t: &[f64], tail: f64, gradient: &mut [f64]) -> f64 {
    let k = t.len() as f64;
    let (power, inner) = (0.5 * k + tail, 1.0 + k * dot(t, t));
    gradient.iter_mut().zip(t).for_each(|(to, t)| *to = -2.0 * power * k * t / inner);
    -power * libm::log(inner)
}

/// The spread of a column, per ln s.
fn add_spread(to: &mut Population, column: usize) -> f64 {
    let law = if column == to.shape.features { RESPONSE_SPREAD } else { SPREAD };
    let (value, slope) = spread(2.0 * to.log_scale[column], to.mean_place[column], law);
    to.log_scale_slope[column] += 2.0 * slope;
    add_mean(to, column, slope);
    value
}

/// d ln q / d mu = 2 mu / (1 - mu^2).
fn add_mean(to: &mut Population, column: usize, slope: f64) {
    let mean = to.mean[column];
    to.mean_slope[column] += slope * 2.0 * mean / (1.0 - mean * mean);
}

/// Log density of ln q = ln variance - ln(1 - mu^2), and its slope; 1 / (1 - mu^2) = cosh^2 artanh mu.
fn spread(log_variance: f64, mean_place: f64, (low, high): (f64, f64)) -> (f64, f64) {
    let log_q = log_variance + 2.0 * log_cosh(mean_place);
    let q = libm::exp(log_q);
    let value = low * log_q - (low + high) * libm::log1p(q) - libm::log1p(FLOOR / q);
    (value, low - (low + high) * q / (1.0 + q) + FLOOR / (FLOOR + q))
}

/// The regression of a feature on those before it: Cauchy.
fn add_collinearity(to: &mut Population, column: usize, slope: &mut [f64]) -> f64 {
    let columns = to.shape.columns();
    let places = column * columns..column * columns + column;
    let value = spherical(&to.rows[places.clone()], 0.5, &mut slope[..column]);
    to.rows_slope[places].iter_mut().zip(slope).for_each(|(sum, slope)| *sum += *slope);
    value
}

/// Sigma_x ~ IW(Lambda, kappa) and mu ~ N(mu_0, Sigma_x / k_0), per ln s, t and mu.
///
/// With q features and k from 0 the Jacobian of L -> Sigma_x is prod L_kk^(q - k), that of (ln s, t) -> the row of L is (s / n)^(k + 1).
fn add_inverse_wishart(law: &FeaturePrior, to: &mut Population) -> f64 {
    let (q, columns) = (to.shape.features, to.shape.columns());
    let root: Vec<f64> = (0..q * q).map(|k| to.root[k / q * columns + k % q]).collect();
    let mut inverse = vec![0.0; q * q];
    invert_lower(&root, &mut inverse, q);
    let shift: Vec<f64> = match law.mean().is_empty() {
        true => vec![0.0; q],
        false => to.mean[..q].iter().zip(law.mean()).map(|(mean, centre)| mean - centre).collect(),
    };
    let records = if law.mean().is_empty() { 0.0 } else { law.mean_records() };
    // tr(Lambda Sigma^-1) + k_0 shift' Sigma^-1 shift = tr(A Sigma^-1).
    let a: Vec<f64> = (0..q * q).map(|k| law.scale()[k] + records * shift[k / q] * shift[k % q]).collect();
    // B = L^-1 A L^-T; d/dL of -1/2 tr(A Sigma^-1) is L^-T B, its lower triangle.
    let image: Vec<f64> = inverse
        .chunks_exact(q.max(1))
        .flat_map(|row| {
            let mut line = vec![0.0; q];
            matrix_vector(&a, row, &mut line);
            line
        })
        .collect();
    let b: Vec<f64> = (0..q * q).map(|k| dot(&image[k / q * q..][..q], &inverse[k % q * q..][..q])).collect();
    let mut value = 0.0;
    let degrees = law.degrees() + q as f64 + 1.0 + if records > 0.0 { 1.0 } else { 0.0 };
    for row in 0..q {
        value -= 0.5 * b[row * q + row];
        let power = (q - row) as f64 - degrees;
        let (norm, log_norm) = (to.norms[row], libm::log(to.norms[row]));
        value += power * (to.log_scale[row] - log_norm) + (row + 1) as f64 * (to.log_scale[row] - log_norm);
        let total = power + (row + 1) as f64;
        to.log_scale_slope[row] += total;
        for column in 0..row {
            let t = to.rows[row * columns + column];
            to.rows_slope[row * columns + column] -= total * t / (norm * norm);
        }
        for column in 0..=row {
            let slope: f64 = (0..q).map(|k| inverse[k * q + row] * b[k * q + column]).sum();
            to.root_slope[row * columns + column] += slope;
        }
    }
    if records > 0.0 {
        let mut along = vec![0.0; q];
        matrix_vector(&inverse, &shift, &mut along);
        for k in 0..q {
            let slope: f64 = (0..q).map(|row| inverse[row * q + k] * along[row]).sum();
            to.mean_slope[k] -= records * slope;
        }
    }
    value
}
