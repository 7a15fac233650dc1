//! A model of one's own beside the data: exponential waiting times in [0, 10] with an unknown log rate.
//!
//! `cargo run -p organza-curator --example private_model`. [`RecordModel`] is all that it takes; clipping, noise and payment are the oracle's.

use organza_curator::chains::kernels::{DpPenalty, Preconditioner, Start, Walk};
use organza_curator::chains::{
    Allowance, Block, Budget, Gradients, PrivateOracle, RatioQuery, RecordModel, Records, StepQueries,
};
use organza_mcmc::{Plan, Summary, run};
use organza_release::Neighbours;

/// t ~ exponential with rate e^theta, theta ~ N(0, 1).
struct Waiting;

impl RecordModel for Waiting {
    fn parameters(&self) -> Vec<String> {
        vec!["log_rate".into()]
    }
    fn columns(&self) -> usize {
        1
    }
    fn log_prior(&self, theta: &[f64]) -> f64 {
        -0.5 * theta[0] * theta[0]
    }
    fn add_prior_gradient(&self, theta: &[f64], gradient: &mut [f64]) {
        gradient[0] -= theta[0];
    }
    fn log_likelihood(&self, theta: &[f64], block: Block<'_>, values: &mut [f64]) {
        let rate = theta[0].exp();
        values.iter_mut().zip(block.column(0)).for_each(|(value, t)| *value = theta[0] - rate * t);
    }
    fn gradient(&self, theta: &[f64], block: Block<'_>, mut gradients: Gradients<'_>) {
        let rate = theta[0].exp();
        let slopes = gradients.coordinate(0).iter_mut();
        slopes.zip(block.column(0)).for_each(|(slope, t)| *slope = 1.0 - rate * t);
    }
}

/// Runs four private chains at (4, 1e-6) and prints the summary.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    // 50,000 waits of mean 1/2: the quantiles of the law in place of somebody's records.
    let times = (0..50_000).map(|k| -(1.0 - (f64::from(k) + 0.5) / 50_000.0).ln() / 2.0).collect();
    let records = Records::from_columns(&[times])?;
    let budget = Budget { epsilon: 4.0, delta: 1e-6, neighbours: Neighbours::Substitute };
    let ratio = Some(RatioQuery { clip: 4.0, noise: 1.0 });
    let asked = StepQueries { gradient: None, ratio, count_weight: 0.1, dimension: 1 };
    let asked = asked.with_noise_for(4 * 500, &budget)?;
    let oracle = PrivateOracle::new(Waiting, records, &Allowance::of(asked, 4 * 500, budget)?)?;
    let start = Start { centre: vec![0.5], sd: vec![0.02] };
    let (walk, preconditioner) = (Walk::All, Preconditioner::Identity);
    let kernel = DpPenalty { start, step_size: 0.003, walk, preconditioner };
    let plan = Plan { warmup: 100, draws: 400, ..Plan::default() };
    let summary = Summary::new(&run(&kernel, &oracle, &plan)?.named(Waiting.parameters())?, 0.95)?;
    println!("{summary}");
    assert!((summary.parameters[0].mean - 2f64.ln()).abs() < 0.05, "{}", summary.parameters[0].mean);
    Ok(())
}
