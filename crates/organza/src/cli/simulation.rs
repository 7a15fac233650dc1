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
struct Law {
    centre: f64,
    sd: f64,
    coefficient: f64,
}

/// Correlation of neighbouring features.
const CORRELATION: f64 = 0.3;

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
        let laws: Vec<Law> = self.features.iter().map(|_| Law::draw(&mut rng)).collect();
        let intercept = f64::from(rng.random_range(-20..=20));
        let tables = (1..).zip(&self.parties).map(|(stream, party)| {
            let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
            rng.set_stream(stream);
            (party.clone(), self.table(&laws, intercept, &mut rng))
        });
        let coefficients =
            self.features.iter().cloned().zip(laws.iter().map(|law| law.coefficient)).collect();
        let formula = format!("{} ~ {}", self.response, self.features.join(" + "));
        Simulated {
            tables: tables.collect(),
            bounds: self.bounds(&laws, intercept),
            truth: Truth { formula, intercept, coefficients, sigma: self.sigma, seed: self.seed },
        }
    }

    fn table(&self, laws: &[Law], intercept: f64, rng: &mut ChaCha8Rng) -> String {
        let mut text = format!("{},{}\n", self.features.join(","), self.response);
        for _ in 0..self.records {
            let (mut previous, mut response) = (0.0, intercept);
            for law in laws {
                let fresh: f64 = StandardNormal.sample(rng);
                previous = CORRELATION * previous + (1.0 - CORRELATION * CORRELATION).sqrt() * fresh;
                // Written and used with the same four decimals.
                let value = ((law.centre + law.sd * previous) * 1e4).round() / 1e4;
                response += law.coefficient * value;
                let _ = write!(text, "{value:.4},");
            }
            let noise: f64 = StandardNormal.sample(rng);
            let _ = writeln!(text, "{:.4}", response + self.sigma * noise);
        }
        text
    }

    /// Bounds that an expert might know: about four standard deviations, in round numbers.
    fn bounds(&self, laws: &[Law], intercept: f64) -> String {
        let section = |name: &str, centre: f64, sd: f64| {
            let (lower, upper) = ((centre - 4.0 * sd).floor(), (centre + 4.0 * sd).ceil());
            format!("[{name}]\nlower = {lower}\nupper = {upper}\n\n")
        };
        let mut text = "# Public bounds: chosen without looking at any table.\n\n".to_string();
        for (name, law) in self.features.iter().zip(laws) {
            text += &section(name, law.centre, law.sd);
        }
        let centre = intercept + laws.iter().map(|law| law.coefficient * law.centre).sum::<f64>();
        let spread: f64 = laws.iter().map(|law| (law.coefficient * law.sd).powi(2)).sum();
        text + &section(
            &self.response,
            centre,
            (spread * (1.0 + CORRELATION) + self.sigma * self.sigma).sqrt(),
        )
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
