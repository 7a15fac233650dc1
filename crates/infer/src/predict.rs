//! Posterior predictive distributions of new records, in users' units.
//!
//! Given features x the predictive distribution is the mixture over draws of N(x'beta, sigma^2). Its mean, quantiles and density
//! are computed from the mixture itself: no further Monte Carlo error beside that of the draws.

use organza_mcmc::Draws;
use organza_mcmc::diagnostics::Interval;

use crate::InferError;
use crate::fit::SIGMA;

/// Draws in the form that prediction needs.
#[derive(Debug, Clone)]
pub struct Predictor {
    coefficients: usize,
    /// Draw by draw: coefficients, then sigma.
    rows: Vec<f64>,
}

/// The predictive distribution of one record.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    /// Mean.
    pub mean: f64,
    /// Standard deviation, residual included.
    pub sd: f64,
    /// Interval with equal tails.
    pub interval: Interval,
    /// Log density at the observed response, if there is one.
    pub log_density: Option<f64>,
}

impl Predictor {
    /// Takes the coefficients `beta[..]` and `sigma` of draws; `residual_sd` stands in where sigma is not a parameter.
    pub fn new(draws: &Draws, residual_sd: Option<f64>) -> Result<Self, InferError> {
        let names = draws.names();
        let coefficients = names.iter().take_while(|name| name.starts_with("beta[")).count();
        let sigma = names.iter().position(|name| name == SIGMA);
        if coefficients == 0 || (sigma.is_none() && residual_sd.is_none()) {
            let reason = "hold no coefficients beta[..] with a residual sd: are they from organza fit?";
            return Err(InferError::Setting { field: "draws", reason: reason.into() });
        }
        let mut rows = Vec::with_capacity(draws.total() * (coefficients + 1));
        for row in draws.values().chunks_exact(names.len()) {
            rows.extend_from_slice(&row[..coefficients]);
            rows.push(sigma.map_or(residual_sd.unwrap_or(0.0), |place| row[place]));
        }
        match rows.is_empty() {
            true => Err(InferError::Setting { field: "draws", reason: "there are none".into() }),
            false => Ok(Self { coefficients, rows }),
        }
    }

    /// Number of coefficients: values that a record needs, the constant 1 for the intercept included.
    pub fn coefficients(&self) -> usize {
        self.coefficients
    }

    /// The prediction for features x (the constant first if there is an intercept), with an interval of this mass.
    pub fn predict(&self, features: &[f64], observed: Option<f64>, mass: f64) -> Prediction {
        let parts = self.components(features);
        let count = parts.len() as f64;
        let mean = parts.iter().map(|(centre, _)| centre).sum::<f64>() / count;
        let variance =
            parts.iter().map(|(centre, sd)| sd * sd + (centre - mean) * (centre - mean)).sum::<f64>() / count;
        let sd = variance.sqrt();
        let tail = 0.5 * (1.0 - mass);
        let interval = Interval {
            lower: quantile(&parts, tail, (mean, sd)),
            upper: quantile(&parts, 1.0 - tail, (mean, sd)),
        };
        Prediction { mean, sd, interval, log_density: observed.map(|value| log_density(&parts, value)) }
    }

    fn components(&self, features: &[f64]) -> Vec<(f64, f64)> {
        let rows = self.rows.chunks_exact(self.coefficients + 1);
        rows.map(|row| (crate::linalg::dot(&row[..self.coefficients], features), row[self.coefficients]))
            .collect()
    }
}

/// The distribution function of the mixture and its derivative.
fn distribution(parts: &[(f64, f64)], value: f64) -> (f64, f64) {
    let (mut below, mut density) = (0.0, 0.0);
    for (centre, sd) in parts {
        let z = (value - centre) / sd;
        below += 0.5 * libm::erfc(-z * std::f64::consts::FRAC_1_SQRT_2);
        density += libm::exp(-0.5 * z * z) / sd;
    }
    let count = parts.len() as f64;
    (below / count, density / (count * (2.0 * std::f64::consts::PI).sqrt()))
}

/// Newton's method, kept inside a bracket that shrinks.
fn quantile(parts: &[(f64, f64)], probability: f64, (mean, sd): (f64, f64)) -> f64 {
    // Cantelli's inequality bounds every quantile.
    let reach = |tail: f64| sd * ((1.0 - tail) / tail).sqrt();
    let (mut low, mut high) =
        (mean - reach(probability) - 1e-12 * sd, mean + reach(1.0 - probability) + 1e-12 * sd);
    let mut value = mean;
    for _ in 0..100 {
        let (below, density) = distribution(parts, value);
        if below < probability {
            low = value;
        } else {
            high = value;
        }
        let newton = value - (below - probability) / density;
        let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
        if (next - value).abs() <= 1e-10 * sd {
            return next;
        }
        value = next;
    }
    value
}

/// ln of the mean density, stable in the tails.
fn log_density(parts: &[(f64, f64)], value: f64) -> f64 {
    let logs: Vec<f64> = parts
        .iter()
        .map(|(centre, sd)| {
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
    use super::*;

    fn predictor(rows: &[[f64; 3]]) -> Predictor {
        let names = ["beta[intercept]", "beta[x]", "sigma"].map(String::from).to_vec();
        Predictor::new(&Draws::from_values(names, 1, rows.concat()).unwrap(), None).unwrap()
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
            let parts = predictor.components(&[1.0, 0.7]);
            let inside = distribution(&parts, prediction.interval.upper).0
                - distribution(&parts, prediction.interval.lower).0;
            assert!((inside - mass).abs() < 1e-9, "{mass}: {inside}");
        }
        // Far from every component the density is small but not zero.
        assert!(predictor.predict(&[1.0, 0.7], Some(1e6), 0.9).log_density.unwrap().is_finite());
    }
}
