//! Tables of simulated parties with a known truth. Seeded: these records are nobody's.

use std::fmt::Write as _;

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use serde::Serialize;

/// What is simulated.
#[derive(Debug, Clone)]
pub struct Simulation {
    /// Names of the parties.
    pub parties: Vec<String>,
    /// Names of the features.
    pub features: Vec<String>,
    /// Name of the response.
    pub response: String,
    /// Records of each party.
    pub records: usize,
    /// Standard deviation of the residuals.
    pub sigma: f64,
    /// Everything follows from this number.
    pub seed: u64,
}

/// The coefficients behind the tables.
#[derive(Debug, Clone, Serialize)]
pub struct Truth {
    /// The regression.
    pub formula: String,
    /// Constant term.
    pub intercept: f64,
    /// One per feature, by name and in order.
    pub coefficients: Vec<(String, f64)>,
    /// Standard deviation of the residuals.
    pub sigma: f64,
    /// The seed that made it.
    pub seed: u64,
}

/// A feature's law: normal around a centre, correlated with the one before.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Law {
    /// Mean.
    pub centre: f64,
    /// Standard deviation.
    pub sd: f64,
    /// Coefficient in the regression.
    pub coefficient: f64,
}

/// Correlation of neighbouring features.
const CORRELATION: f64 = 0.3;

/// Where records come from.
#[derive(Debug, Clone, PartialEq)]
pub struct Population {
    /// The features.
    pub laws: Vec<Law>,
    /// Constant term.
    pub intercept: f64,
    /// Standard deviation of the residuals.
    pub sigma: f64,
}

/// Simulated tables as CSV texts, with bounds and truth.
pub struct Simulated {
    /// Party name and its table.
    pub tables: Vec<(String, String)>,
    /// Public bounds as TOML.
    pub bounds: String,
    /// The truth.
    pub truth: Truth,
}

impl Simulation {
    /// Simulates all parties.
    pub fn run(&self) -> Simulated {
        // Stream 0 makes the truth, stream j the records of party j.
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        let population = Population::draw(self.features.len(), self.sigma, &mut rng);
        let tables = (1..).zip(&self.parties).map(|(stream, party)| {
            let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
            rng.set_stream(stream);
            (party.clone(), self.table(&population, &mut rng))
        });
        let coefficients =
            self.features.iter().cloned().zip(population.laws.iter().map(|law| law.coefficient)).collect();
        let formula = format!("{} ~ {}", self.response, self.features.join(" + "));
        let intercept = population.intercept;
        Simulated {
            tables: tables.collect(),
            bounds: population.bounds(&self.features, &self.response),
            truth: Truth { formula, intercept, coefficients, sigma: self.sigma, seed: self.seed },
        }
    }

    fn table(&self, population: &Population, rng: &mut ChaCha8Rng) -> String {
        let mut text = format!("{},{}\n", self.features.join(","), self.response);
        let mut record = vec![0.0; self.features.len() + 1];
        for _ in 0..self.records {
            population.record(rng, &mut record);
            let (response, features) = record.split_last().unwrap_or((&0.0, &[]));
            for value in features {
                let _ = write!(text, "{value:.4},");
            }
            let _ = writeln!(text, "{response:.4}");
        }
        text
    }
}

impl Population {
    /// A population of so many features.
    pub fn draw(features: usize, sigma: f64, rng: &mut ChaCha8Rng) -> Self {
        let laws: Vec<Law> = (0..features).map(|_| Law::draw(rng)).collect();
        Self { laws, intercept: f64::from(rng.random_range(-20..=20)), sigma }
    }

    /// The same with residuals such that features explain this share of the response's variance; 1 where all coefficients are 0.
    pub fn with_r_squared(self, share: f64) -> Self {
        let signal = self.variance_of(&self.laws.iter().map(|law| law.coefficient).collect::<Vec<_>>());
        let sigma = if signal > 0.0 { (signal * (1.0 - share) / share).sqrt() } else { 1.0 };
        Self { sigma, ..self }
    }

    /// Variance of a sum of features with these coefficients: correlations are powers of that of neighbours.
    pub fn variance_of(&self, coefficients: &[f64]) -> f64 {
        let (mut variance, mut carried) = (0.0, 0.0);
        for (law, coefficient) in self.laws.iter().zip(coefficients) {
            let own = coefficient * law.sd;
            // The covariance with everything before fades by one factor for each feature.
            carried *= CORRELATION;
            variance += own * own + 2.0 * own * carried;
            carried += own;
        }
        variance
    }

    /// Draws a record: features, then the response. Features have four decimals, in tables and in the response.
    pub fn record(&self, rng: &mut ChaCha8Rng, record: &mut [f64]) {
        let (mut previous, mut response) = (0.0, self.intercept);
        for (law, place) in self.laws.iter().zip(record.iter_mut()) {
            let fresh: f64 = StandardNormal.sample(rng);
            previous = CORRELATION * previous + (1.0 - CORRELATION * CORRELATION).sqrt() * fresh;
            *place = ((law.centre + law.sd * previous) * 1e4).round() / 1e4;
            response += law.coefficient * *place;
        }
        let noise: f64 = StandardNormal.sample(rng);
        record[self.laws.len()] = response + self.sigma * noise;
    }

    /// Bounds that an expert might know: about four standard deviations, in round numbers.
    pub fn bounds(&self, features: &[String], response: &str) -> String {
        let section = |name: &str, centre: f64, sd: f64| {
            let (lower, upper) = ((centre - 4.0 * sd).floor(), (centre + 4.0 * sd).ceil());
            format!("[{name}]\nlower = {lower}\nupper = {upper}\n\n")
        };
        let mut text = "# Public bounds: chosen without looking at any table.\n\n".to_string();
        for (name, law) in features.iter().zip(&self.laws) {
            text += &section(name, law.centre, law.sd);
        }
        let centre = self.intercept + self.laws.iter().map(|law| law.coefficient * law.centre).sum::<f64>();
        let spread: f64 = self.laws.iter().map(|law| (law.coefficient * law.sd).powi(2)).sum();
        text + &section(response, centre, (spread * (1.0 + CORRELATION) + self.sigma * self.sigma).sqrt())
    }
}

/// Largest distance of a column's mean from the middle of loose bounds, over their half-range.
const OFF_CENTRE: f64 = 0.5;

/// Where the mean of a column lies in bounds of half-range 1 whose share `fill` is its standard deviation: anywhere up
/// to half of it that leaves three standard deviations inside.
pub fn off_centre(fill: f64, rng: &mut ChaCha8Rng) -> f64 {
    (1.0 - 3.0 * fill).clamp(0.0, OFF_CENTRE) * (2.0 * rng.random::<f64>() - 1.0)
}

impl Population {
    /// Bounds as officers write them: every column's standard deviation is this share of their half-range, its mean off
    /// the middle.
    pub fn loose_bounds(&self, names: (&[String], &str), fill: f64, rng: &mut ChaCha8Rng) -> String {
        let coefficients: Vec<f64> = self.laws.iter().map(|law| law.coefficient).collect();
        let response_sd = (self.variance_of(&coefficients) + self.sigma * self.sigma).sqrt();
        let response = self.intercept + self.laws.iter().map(|law| law.coefficient * law.centre).sum::<f64>();
        let columns =
            names.0.iter().map(String::as_str).zip(self.laws.iter().map(|law| (law.centre, law.sd)));
        let section = |(name, (mean, sd)): (&str, (f64, f64))| {
            let half = sd / fill;
            let middle = mean - half * off_centre(fill, rng);
            format!("[{name}]\nlower = {:?}\nupper = {:?}\n", middle - half, middle + half)
        };
        columns.chain([(names.1, (response, response_sd))]).map(section).collect()
    }
}

impl Law {
    fn draw(rng: &mut ChaCha8Rng) -> Self {
        let sd = f64::from(rng.random_range(1..=10));
        Self {
            centre: f64::from(rng.random_range(-5..=60)),
            sd,
            coefficient: f64::from(rng.random_range(-30..=30)) / 10.0 / sd,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a chi of correlations that stops at neighbours, and a residual that is the share instead of the rest: six standard errors of
    /// the variances of 20,000 records.
    #[test]
    fn features_explain_the_share_that_they_should() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let population = Population::draw(4, 1.0, &mut rng).with_r_squared(0.8);
        let coefficients: Vec<f64> = population.laws.iter().map(|law| law.coefficient).collect();
        let signal = population.variance_of(&coefficients);
        assert!((signal / (signal + population.sigma.powi(2)) - 0.8).abs() < 1e-12);
        let mut record = vec![0.0; 5];
        let mut lines = Vec::new();
        for _ in 0..20_000 {
            population.record(&mut rng, &mut record);
            lines.push(record.iter().zip(&coefficients).map(|(x, beta)| x * beta).sum::<f64>());
        }
        let mean = lines.iter().sum::<f64>() / 20_000.0;
        let variance = lines.iter().map(|line| (line - mean).powi(2)).sum::<f64>() / 20_000.0;
        assert!((variance / signal - 1.0).abs() < 6.0 * (2.0_f64 / 20_000.0).sqrt(), "{variance} {signal}");
    }
}
