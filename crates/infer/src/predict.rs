//! Posterior predictive distributions of new records, in users' units.
//!
//! Given features x the predictive distribution is the mixture over draws of N(x'beta, sigma^2). Its mean, quantiles and density
//! are computed from the mixture itself: no further Monte Carlo error beside that of the draws.
//!
//! Of a logistic regression the predictive distribution is that of two values: its mean is the mean probability of the
//! upper one over the draws, its spread and interval are those of that probability.
//!
//! Thousands of components for every record would be slow, so those that hardly differ are put together: draws whose sigma differs by
//! at most a fifth and whose centres share a bin of a quarter of sigma become one normal component of the same mean and variance, with
//! terms for the skewness and kurtosis that different variances leave. Quantiles move by less than 10^-3 predictive standard deviations; in
//! far tails, where that is not enough, every draw counts for itself.

use std::ops::Range;

use organza_mcmc::diagnostics::{Interval, equal_tailed};
use organza_mcmc::{Draws, normal_quantile};

use crate::fit::SIGMA;
use crate::{InferError, Model};

/// Largest ratio of two sigmas in one group of draws.
const RATIO: f64 = 1.2;
/// Bins of centres for one sigma.
const BINS: f64 = 4.0;
/// Tails below this, and densities below this for one standard deviation, are left to the single draws.
const FAR: f64 = 1e-4;
/// Beyond this many standard deviations a component is entirely on one side.
const REACH: f64 = 9.0;

/// Draws in the form that prediction needs.
#[derive(Debug, Clone)]
pub struct Predictor {
    /// One column for each coefficient. Draws are in ascending order of sigma.
    columns: Vec<Vec<f64>>,
    sigma: Vec<f64>,
    /// Draws of nearly the same sigma.
    groups: Vec<Range<usize>>,
    /// Whether centres are log odds.
    logistic: bool,
}

/// A part of the mixture: a normal distribution of that share, not quite symmetric and with a little kurtosis.
#[derive(Debug, Clone, Copy)]
struct Component {
    share: f64,
    centre: f64,
    sd: f64,
    /// Skewness over 6.
    skew: f64,
    /// Excess kurtosis over 24.
    excess: f64,
}

/// The predictive distribution of one record.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    /// Mean; of a logistic regression the probability of the upper level.
    pub mean: f64,
    /// Standard deviation, residual included; of a logistic regression that of the probability.
    pub sd: f64,
    /// Interval with equal tails.
    pub interval: Interval,
    /// Log density at the observed response, if there is one.
    pub log_density: Option<f64>,
}

impl Predictor {
    /// Takes draws of a model that has predictions: a regression.
    pub fn of(model: Model, draws: &Draws, residual_sd: Option<f64>) -> Result<Self, InferError> {
        let logistic = model == Model::Logistic;
        let residual_sd = residual_sd.or(logistic.then_some(0.0));
        Ok(Self { logistic, ..Self::new(draws, residual_sd)? })
    }

    /// Takes the coefficients `beta[..]` and `sigma` of draws; `residual_sd` stands in where sigma is not a parameter.
    pub fn new(draws: &Draws, residual_sd: Option<f64>) -> Result<Self, InferError> {
        let names = draws.names();
        let coefficients = names.iter().take_while(|name| name.starts_with("beta[")).count();
        let place = names.iter().position(|name| name == SIGMA);
        if coefficients == 0 || (place.is_none() && residual_sd.is_none()) {
            let reason = "hold no coefficients beta[..] with a residual sd: are they those of a regression?";
            return Err(InferError::Setting { field: "draws", reason: reason.into() });
        }
        if draws.total() == 0 {
            return Err(InferError::Setting { field: "draws", reason: "there are none".into() });
        }
        let sigma_of = |row: &[f64]| place.map_or(residual_sd.unwrap_or(0.0), |place| row[place]);
        let mut rows: Vec<&[f64]> = draws.values().chunks_exact(names.len()).collect();
        let usable = |row: &&[f64]| {
            row[..coefficients].iter().all(|value| value.is_finite())
                && (0.0..f64::INFINITY).contains(&sigma_of(row))
        };
        if !rows.iter().all(usable) {
            let reason = "hold a coefficient that is not finite, or a sigma that is none";
            return Err(InferError::Setting { field: "draws", reason: reason.into() });
        }
        rows.sort_by(|a, b| sigma_of(a).total_cmp(&sigma_of(b)));
        let sigma: Vec<f64> = rows.iter().map(|row| sigma_of(row)).collect();
        Ok(Self {
            columns: (0..coefficients).map(|k| rows.iter().map(|row| row[k]).collect()).collect(),
            groups: groups(&sigma),
            sigma,
            logistic: false,
        })
    }

    /// Number of coefficients: values that a record needs, the constant 1 for the intercept included.
    pub fn coefficients(&self) -> usize {
        self.columns.len()
    }

    /// The prediction for features x (the constant first if there is an intercept), with an interval of this mass.
    pub fn predict(&self, features: &[f64], observed: Option<f64>, mass: f64) -> Prediction {
        let centres = self.centres(features);
        if self.logistic {
            return of_log_odds(centres, observed, mass);
        }
        let tail = 0.5 * (1.0 - mass);
        let parts = if tail < FAR { self.single(&centres, 0..centres.len()) } else { self.grouped(&centres) };
        let mean: f64 = parts.iter().map(|part| part.share * part.centre).sum();
        let variance = |part: &Component| part.sd * part.sd + (part.centre - mean) * (part.centre - mean);
        let sd = parts.iter().map(|part| part.share * variance(part)).sum::<f64>().sqrt();
        let quantile = |probability: f64| quantile(&parts, probability, (mean, sd));
        let log_density = |value: f64| match distribution(&parts, value).1 {
            density if density * sd > FAR => libm::log(density),
            _ => log_density(&self.single(&centres, 0..centres.len()), value),
        };
        let interval = Interval { lower: quantile(tail), upper: quantile(1.0 - tail) };
        Prediction { mean, sd, interval, log_density: observed.map(log_density) }
    }

    /// x'beta of every draw.
    fn centres(&self, features: &[f64]) -> Vec<f64> {
        let mut centres = vec![0.0; self.sigma.len()];
        for (column, feature) in self.columns.iter().zip(features) {
            centres.iter_mut().zip(column).for_each(|(centre, beta)| *centre += beta * feature);
        }
        centres
    }

    /// A component for every one of these draws.
    fn single(&self, centres: &[f64], draws: Range<usize>) -> Vec<Component> {
        let share = 1.0 / centres.len() as f64;
        let each = |draw: usize| Component {
            share,
            centre: centres[draw],
            sd: self.sigma[draw],
            skew: 0.0,
            excess: 0.0,
        };
        draws.map(each).collect()
    }

    /// Components of draws that hardly differ, as the head of this file says.
    fn grouped(&self, centres: &[f64]) -> Vec<Component> {
        let mut parts = Vec::new();
        for draws in &self.groups {
            let inside = &centres[draws.clone()];
            let (low, high) = range(inside);
            let unit = BINS / self.sigma[draws.start];
            let bin = |centre: f64| (centre - low) * unit;
            if bin(high).is_nan() || bin(high) > 0.5 * inside.len() as f64 {
                parts.extend(self.single(centres, draws.clone()));
                continue;
            }
            // Number of draws, sums of centres, of variances, and of their squares and products.
            let mut sums = vec![[0.0; 6]; bin(high) as usize + 1];
            for (centre, sigma) in inside.iter().zip(&self.sigma[draws.clone()]) {
                let (from_low, variance) = (centre - low, sigma * sigma);
                let squares = [from_low * from_low, variance * variance, from_low * variance];
                let terms = [1.0, from_low, variance, squares[0], squares[1], squares[2]];
                sums[bin(*centre) as usize].iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
            }
            let used = sums.iter().filter(|sums| sums[0] > 0.0);
            parts.extend(used.map(|sums| component(sums, low, centres.len() as f64)));
        }
        parts
    }
}

/// The probability of the upper level, which is 1, from draws of its log odds; the log density is that of what was observed.
fn of_log_odds(mut values: Vec<f64>, observed: Option<f64>, mass: f64) -> Prediction {
    values.iter_mut().for_each(|value| *value = 1.0 / (1.0 + libm::exp(-*value)));
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let sd = (values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / count).sqrt();
    let log_density = observed.map(|value| libm::log(if value >= 1.0 { mean } else { 1.0 - mean }));
    Prediction { mean, sd, interval: equal_tailed(&values, mass), log_density }
}

/// The smallest and the largest value.
fn range(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &value| {
        (if value < low { value } else { low }, if value > high { value } else { high })
    })
}

/// The component of draws in one bin, from sums over them.
fn component(sums: &[f64; 6], low: f64, draws: f64) -> Component {
    let [from_low, residual, centres, variances, products] = [1, 2, 3, 4, 5].map(|k| sums[k] / sums[0]);
    let variance = residual + (centres - from_low * from_low).max(0.0);
    Component {
        share: sums[0] / draws,
        centre: low + from_low,
        sd: variance.sqrt(),
        // Centres and variances that grow together, and variances that differ.
        skew: (products - from_low * residual) / (2.0 * variance * variance.sqrt()),
        excess: (variances - residual * residual).max(0.0) / (8.0 * variance * variance),
    }
}

/// Cuts sigmas in ascending order where they have grown by the ratio.
fn groups(sigma: &[f64]) -> Vec<Range<usize>> {
    let (mut groups, mut start) = (Vec::new(), 0);
    while start < sigma.len() {
        let size = sigma[start..].partition_point(|&each| each <= RATIO * sigma[start]).max(1);
        groups.push(start..start + size);
        start += size;
    }
    groups
}

/// The distribution function of the mixture and its derivative.
fn distribution(parts: &[Component], value: f64) -> (f64, f64) {
    let root = (2.0 * std::f64::consts::PI).sqrt();
    let (mut below, mut density) = (0.0, 0.0);
    for Component { share, centre, sd, skew, excess } in parts {
        let z = (value - centre) / sd;
        if z.abs() > REACH {
            below += if z > 0.0 { *share } else { 0.0 };
            continue;
        }
        let (square, normal) = (z * z, libm::exp(-0.5 * z * z) / root);
        let under = 0.5 * libm::erfc(-z * std::f64::consts::FRAC_1_SQRT_2);
        // The first terms of Edgeworth's series: Hermite polynomials of degree 2 to 4.
        below += share * (under - (skew * (square - 1.0) + excess * z * (square - 3.0)) * normal);
        let fourth = (square - 6.0) * square + 3.0;
        density += share * normal / sd * (1.0 + skew * z * (square - 3.0) + excess * fourth);
    }
    (below, density)
}

/// Newton's method, kept inside a bracket that shrinks.
fn quantile(parts: &[Component], probability: f64, (mean, sd): (f64, f64)) -> f64 {
    // Cantelli's inequality bounds every quantile.
    let reach = |tail: f64| sd * ((1.0 - tail) / tail).sqrt();
    let (mut low, mut high) =
        (mean - reach(probability) - 1e-12 * sd, mean + reach(1.0 - probability) + 1e-12 * sd);
    // Where numbers are so large that their squares are infinite there is no bracket.
    let mut value = (mean + sd * normal_quantile(probability)).max(low).min(high);
    for _ in 0..100 {
        let (below, density) = distribution(parts, value);
        if below < probability {
            low = value;
        } else {
            high = value;
        }
        let newton = value - (below - probability) / density;
        let next = if newton >= low && newton <= high { newton } else { 0.5 * (low + high) };
        if (next - value).abs() <= 1e-8 * sd {
            return next;
        }
        value = next;
    }
    value
}

/// ln of the mean density, stable in the tails.
fn log_density(parts: &[Component], value: f64) -> f64 {
    let logs: Vec<f64> = parts
        .iter()
        .map(|Component { centre, sd, .. }| {
            let z = (value - centre) / sd;
            -0.5 * z * z - libm::log(*sd)
        })
        .collect();
    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = logs.iter().map(|log| libm::exp(log - largest)).sum();
    largest + libm::log(sum / parts.len() as f64) - 0.5 * libm::log(2.0 * std::f64::consts::PI)
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand::rngs::ChaCha12Rng;
    use rand_distr::{Distribution, StandardNormal};

    use super::*;

    fn predictor(rows: &[[f64; 3]]) -> Predictor {
        let names = ["beta[intercept]", "beta[x]", "sigma"].map(String::from).to_vec();
        Predictor::new(&Draws::from_values(names, 1, rows.concat()).unwrap(), None).unwrap()
    }

    /// Seen to fail: a panic for the second, predictions of nothing for the others.
    #[test]
    fn draws_of_strangers_are_refused_or_used() {
        let names = ["beta[intercept]", "beta[x]", "sigma"].map(String::from).to_vec();
        for row in [[f64::NAN, 1.0, 1.0], [1.0, 1.0, f64::INFINITY], [1.0, 1.0, -1.0]] {
            assert!(
                Predictor::new(&Draws::from_values(names.clone(), 1, row.to_vec()).unwrap(), None).is_err()
            );
        }
        predictor(&[[1e300, 1.0, 1.0], [-1e300, 1.0, 1e-300]]).predict(&[1.0, 3.0], Some(7.5), 0.95);
    }

    #[test]
    fn one_component_is_a_normal_distribution() {
        let prediction = predictor(&[[1.0, 2.0, 0.5]]).predict(&[1.0, 3.0], Some(7.5), 0.95);
        assert!((prediction.mean - 7.0).abs() < 1e-12 && (prediction.sd - 0.5).abs() < 1e-12);
        assert!((prediction.interval.lower - (7.0 - 0.5 * 1.959963984540054)).abs() < 1e-9);
        assert!((prediction.interval.upper - (7.0 + 0.5 * 1.959963984540054)).abs() < 1e-9);
        let density = (-0.5f64).exp() / (0.5 * (2.0 * std::f64::consts::PI).sqrt());
        assert!((prediction.log_density.unwrap() - density.ln()).abs() < 1e-12);
    }

    #[test]
    fn quantiles_of_a_mixture_hold_their_mass() {
        let predictor = predictor(&[[0.0, 1.0, 0.1], [5.0, -1.0, 2.0], [100.0, 0.0, 0.01], [0.0, 0.0, 1.0]]);
        for mass in [0.01, 0.5, 0.9, 0.9999] {
            let prediction = predictor.predict(&[1.0, 0.7], None, mass);
            let parts = predictor.single(&predictor.centres(&[1.0, 0.7]), 0..4);
            let inside = distribution(&parts, prediction.interval.upper).0
                - distribution(&parts, prediction.interval.lower).0;
            assert!((inside - mass).abs() < 1e-9, "{mass}: {inside}");
        }
        // Far from every component the density is small but not zero.
        assert!(predictor.predict(&[1.0, 0.7], Some(1e6), 0.9).log_density.unwrap().is_finite());
    }

    /// Draws of an intercept, a slope and sigma: centres at x = 1 vary by about `between` sigmas, sigma by the share `within`, and they grow together.
    fn posterior(between: f64, within: f64) -> Predictor {
        let mut random = ChaCha12Rng::seed_from_u64(5);
        let mut normal = || -> f64 { StandardNormal.sample(&mut random) };
        let rows: Vec<[f64; 3]> = (0..4000)
            .map(|_| {
                let (a, b, c) = (normal(), normal(), normal());
                [3.0 + between * 0.5 * a, between * (0.1 * b + 0.8 * c), (within * c).exp()]
            })
            .collect();
        predictor(&rows)
    }

    /// Catches bins that are too wide, a wrong kurtosis and sums that lose the dependence of centres and sigma.
    #[test]
    fn components_together_give_the_quantiles_of_all_draws() {
        for (between, within) in [0.01, 0.1, 0.5, 1.0, 3.0, 30.0, 1e3]
            .into_iter()
            .flat_map(|b| [0.0, 0.02, 0.1, 0.4].map(|w| (b, w)))
        {
            let predictor = posterior(between, within);
            let centres = predictor.centres(&[1.0, 1.0]);
            let all = predictor.single(&centres, 0..4000);
            for mass in [0.5, 0.95, 0.99, 0.999] {
                let found = predictor.predict(&[1.0, 1.0], Some(4.5), mass);
                let brute = |probability| quantile(&all, probability, (found.mean, found.sd));
                let errors = [
                    found.interval.lower - brute(0.5 * (1.0 - mass)),
                    found.interval.upper - brute(0.5 * (1.0 + mass)),
                ];
                let error = errors.map(|error| error.abs() / found.sd);
                assert!(error.iter().all(|error| *error < 1e-3), "{between} {within} {mass}: {error:?}");
                let density = found.log_density.unwrap() - log_density(&all, 4.5);
                assert!(density.abs() < 1e-3, "{between} {within}: {density}");
            }
        }
    }

    /// What makes predictions fast: of 4,000 draws few components are left.
    #[test]
    fn few_components_are_left() {
        for (between, within, most) in [(0.05, 0.02, 10), (0.3, 0.05, 50), (1.0, 0.1, 200)] {
            let predictor = posterior(between, within);
            let parts = predictor.grouped(&predictor.centres(&[1.0, 1.0]));
            assert!(parts.len() <= most, "{between} {within}: {}", parts.len());
            assert!((parts.iter().map(|part| part.share).sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }
}
