//! A model and a mechanism of one's own: visits per person are Poisson, their sum was released with Laplace noise.
//!
//! `cargo run -p organza-infer --example own_model`. Two traits are all that it takes: [`Generative`] says how a record comes about and how
//! the parameters are drawn when all records are known; [`RecordAdditive`] says what a record adds to the released sum and how likely the
//! release is given the sum. [`Plain`] does the rest. To mix well where noise is large, implement `Interweave` and `RecordDensity` too.

use organza_infer::augmentation::{Augmented, Generative, Plain, RecordAdditive};
use organza_mcmc::{ChainRng, Plan, Stop, Summary, run};
use rand_distr::{Distribution, Gamma, Poisson};

/// Visits ~ Poisson(rate), rate ~ Gamma(shape 2, rate 1).
struct Visits;

impl Generative for Visits {
    type Parameters = f64;
    fn width(&self) -> usize {
        1
    }
    fn start(&self, rng: &mut ChainRng) -> Result<f64, Stop> {
        let mut rate = 0.0;
        self.draw_parameters(&[], &mut rate, rng)?;
        Ok(rate)
    }
    fn draw_record(&self, rate: &f64, rng: &mut ChainRng, record: &mut [f64]) {
        record[0] = Poisson::new(*rate).map_or(f64::NAN, |visits| visits.sample(rng));
    }
    fn draw_parameters(&self, records: &[f64], rate: &mut f64, rng: &mut ChainRng) -> Result<(), Stop> {
        let posterior = Gamma::new(2.0 + records.iter().sum::<f64>(), 1.0 / (1.0 + records.len() as f64));
        *rate = posterior.map_err(|error| Stop::numerical(error.to_string()))?.sample(rng);
        Ok(())
    }
    fn names(&self) -> Vec<String> {
        vec!["rate".into()]
    }
    fn write(&self, rate: &f64, values: &mut [f64]) {
        values[0] = *rate;
    }
}

/// The sum of visits, each person's cut to at most 5, with Laplace noise of scale 5/epsilon.
struct ClampedSum {
    records: usize,
    released: f64,
    epsilon: f64,
}

impl RecordAdditive for ClampedSum {
    fn party(&self) -> &str {
        "clinic"
    }
    fn records(&self) -> usize {
        self.records
    }
    fn size(&self) -> usize {
        1
    }
    fn contribution(&self, record: &[f64], out: &mut [f64]) {
        out[0] = record[0].min(5.0);
    }
    fn log_density(&self, sum: &[f64]) -> f64 {
        -(self.released - sum[0]).abs() * self.epsilon / 5.0
    }
    fn epsilon(&self) -> Option<f64> {
        Some(self.epsilon)
    }
}

/// Runs four chains and prints the summary.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let clinic = ClampedSum { records: 40, released: 131.0, epsilon: 1.0 };
    let plan = Plan { chains: 4, warmup: 500, draws: 4000, seed: 7, ..Plan::default() };
    let draws = run(&Plain, &Augmented { model: Visits, parties: vec![clinic] }, &plan)?;
    let summary = Summary::new(&draws.named(Visits.names())?, 0.95)?;
    println!("{summary}");
    // 131/40 = 3.3 visits after the cut: a rate somewhat above that.
    let rate = &summary.parameters[0];
    assert!(rate.mean > 3.1 && rate.mean < 4.0 && rate.r_hat < 1.02, "{} {}", rate.mean, rate.r_hat);
    Ok(())
}
