//! The log-linear model of \[JAGR22\] section 4: N = 100, five classes, five features of three levels.

use crate::{Failure, chain, plan};
use organza_infer::augmentation::{Augmented, NaiveBayesRecords, Plain, TableMechanism};
use organza_infer::tables::{
    CountModel, ExactCounts, IndependentCounts, RecordsPrior, TableEvidence, TablePrior,
};
use organza_mcmc::ChainRng;
use organza_release::{
    COUNTS_SCHEMA, CountFamily, CountNoise, CountRelease, LevelColumn, Missing, Neighbours, Norm,
    PrivacyLoss, Tool,
};
use rand::RngExt;

const CLASSES: [f64; 5] = [0.097, 0.148, 0.145, 0.446, 0.164];
const FEATURES: usize = 5;
const LEVELS: usize = 3;

/// Counts of every feature by class with noise of scale 2K/epsilon.
fn release(epsilon: f64, records: usize, rng: &mut ChainRng) -> CountRelease {
    let scale = 2.0 * FEATURES as f64 / epsilon;
    let column = |name: String, count: usize| LevelColumn {
        name,
        levels: (0..count).map(|level| level.to_string()).collect(),
    };
    let names: Vec<String> = (1..=FEATURES).map(|k| format!("x{k}")).collect();
    let features = names.iter().map(|name| column(name.clone(), LEVELS));
    let mut value = vec![0.0; FEATURES * CLASSES.len() * LEVELS];
    for _ in 0..records {
        let mut left: f64 = rng.random();
        let class = CLASSES.iter().position(|share| {
            left -= share;
            left < 0.0
        });
        let class = class.unwrap_or(CLASSES.len() - 1);
        for feature in 0..FEATURES {
            let level = ((rng.random::<f64>() * 2.0) as usize + class) % LEVELS;
            value[(feature * CLASSES.len() + class) * LEVELS + level] += 1.0;
        }
    }
    for value in &mut value {
        let uniform: f64 = rng.random::<f64>() - 0.5;
        *value -= scale * uniform.signum() * (1.0 - 2.0 * uniform.abs()).ln();
    }
    CountRelease {
        schema: COUNTS_SCHEMA.into(),
        party: "north".into(),
        created: "2026-01-31T12:00:00Z".into(),
        records: Some(records as u64),
        missing: Missing::Refused,
        columns: [column("class".into(), CLASSES.len())].into_iter().chain(features).collect(),
        tables: names.iter().map(|name| vec!["class".into(), name.clone()]).collect(),
        value,
        noise: CountNoise { family: CountFamily::Laplace, scale },
        privacy: PrivacyLoss {
            neighbours: Neighbours::Substitute,
            epsilon,
            delta: 0.0,
            norm: Norm::L1,
            sensitivity: 2.0 * FEATURES as f64,
            public_bounds: true,
        },
        tool: Tool { name: "bench".into(), version: "0".into() },
    }
}

/// The paper's chain and independent draws, preparation included.
pub fn report() -> Result<(), Failure> {
    println!(
        "| epsilon | plain, microseconds per sweep | exact, microseconds per independent draw (5,000 draws) |"
    );
    println!("| --- | --- | --- |");
    for epsilon in [0.1, 0.3, 1.0, 3.0, 10.0] {
        let release = release(epsilon, 100, &mut ChainRng::new(7, 0));
        let model = NaiveBayesRecords::new(&release.columns, "class", 2.0)?;
        let target = Augmented { model, parties: vec![TableMechanism::of(&release)?] };
        let (_, sweeps) = chain(&Plain, &target, &plan(0, 20_000, 1))?;
        let (exact, seconds) = crate::clock::timed(|| -> Result<_, Failure> {
            let evidence = TableEvidence::new(std::slice::from_ref(&release), false)?;
            let (prior, records) = (TablePrior::default(), RecordsPrior::default());
            let target = ExactCounts::new(CountModel::naive_bayes(&evidence, &prior, &records, None)?)?;
            Ok(organza_mcmc::run(&IndependentCounts, &target, &plan(0, 5000, 1))?)
        });
        exact?;
        println!("| {epsilon} | {:.1} | {:.1} |", 1e6 * sweeps / 20_000.0, 1e6 * seconds / 5000.0);
    }
    println!();
    Ok(())
}
