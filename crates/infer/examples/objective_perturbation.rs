//! A released *estimate* instead of a released sum: objective perturbation, the second kind of mechanism of \[JAGR22\] Assumption 2.
//!
//! `cargo run -p organza-infer --example objective_perturbation`. The data holder publishes the t that solves
//! `sum_i l'(t; x_i) + ridge t + b = 0` for the loss `l(t; x) = sqrt(1 + (t - x)^2)`, a robust mean, and noise b of density
//! proportional to `exp(-|b|/scale)`. The left side grows with t, so t and b determine each other, and with
//! `|db/dt| = sum_i l''(t; x_i) + ridge` the density of the estimate is
//! `p(t | x) = exp(-|sum_i l'(t; x_i) + ridge t|/scale)/(2 scale) * (sum_i l''(t; x_i) + ridge)`.
//! It depends on the records through the sums of l' and l'' *at the released t*: these are the contributions.
//! Another record changes the first sum by less than 2 and the second by less than 1, where it is at least `ridge`: the mechanism is
//! epsilon-differentially private with `epsilon = 2/scale + ln(1 + 1/ridge)`.

use organza_infer::augmentation::{Augmented, Generative, Plain, RecordAdditive};
use organza_mcmc::{ChainRng, Plan, Stop, Summary, run};
use rand_distr::{Distribution, StandardNormal};

/// A robust mean by objective perturbation.
pub struct RobustMean {
    /// Number of records.
    pub records: usize,
    /// The released t.
    pub released: f64,
    /// Weight of the ridge.
    pub ridge: f64,
    /// Scale of b.
    pub scale: f64,
}

impl RecordAdditive for RobustMean {
    fn party(&self) -> &str {
        "clinic"
    }
    fn records(&self) -> usize {
        self.records
    }
    fn size(&self) -> usize {
        2
    }
    /// l' and l'' at the released estimate.
    fn contribution(&self, record: &[f64], out: &mut [f64]) {
        let distance = self.released - record[0];
        let square = 1.0 + distance * distance;
        (out[0], out[1]) = (distance / square.sqrt(), 1.0 / (square * square.sqrt()));
    }
    fn log_density(&self, sum: &[f64]) -> f64 {
        (sum[1] + self.ridge).ln() - (sum[0] + self.ridge * self.released).abs() / self.scale
    }
    fn epsilon(&self) -> Option<f64> {
        Some(2.0 / self.scale + (1.0 / self.ridge).ln_1p())
    }
}

/// x ~ N(mean, 1), mean ~ N(0, 4).
pub struct NormalMean;

impl Generative for NormalMean {
    type Parameters = f64;

    fn width(&self) -> usize {
        1
    }
    fn start(&self, rng: &mut ChainRng) -> Result<f64, Stop> {
        let noise: f64 = StandardNormal.sample(rng);
        Ok(2.0 * noise)
    }
    fn draw_record(&self, mean: &f64, rng: &mut ChainRng, record: &mut [f64]) {
        let noise: f64 = StandardNormal.sample(rng);
        record[0] = mean + noise;
    }
    fn draw_parameters(&self, records: &[f64], mean: &mut f64, rng: &mut ChainRng) -> Result<(), Stop> {
        let (precision, noise): (f64, f64) = (0.25 + records.len() as f64, StandardNormal.sample(rng));
        *mean = records.iter().sum::<f64>() / precision + noise / precision.sqrt();
        Ok(())
    }
    fn names(&self) -> Vec<String> {
        vec!["mean".into()]
    }
    fn write(&self, mean: &f64, values: &mut [f64]) {
        values[0] = *mean;
    }
}

/// Runs four chains and prints the summary.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let clinic = RobustMean { records: 50, released: 1.1, ridge: 2.0, scale: 3.0 };
    let plan = Plan { chains: 4, warmup: 500, draws: 4000, seed: 7, ..Plan::default() };
    let draws = run(&Plain, &Augmented { model: NormalMean, parties: vec![clinic] }, &plan)?;
    let summary = Summary::new(&draws.named(NormalMean.names())?, 0.95)?;
    println!("{summary}");
    let mean = &summary.parameters[0];
    assert!((mean.mean - 1.1).abs() < 0.3 && mean.r_hat < 1.02, "{} {}", mean.mean, mean.r_hat);
    Ok(())
}
