//! The log-linear model of \[JAGR22\] section 4: a class, five features of three levels, noisy tables of the class with each feature.

use organza_infer::augmentation::{Augmented, NaiveBayesRecords, Plain, TableMechanism};
use organza_infer::tables::TableSpec;
use organza_infer::{MethodSpec, Model, ModelSpec, Sampler, fit as posterior_of};
use organza_mcmc::diagnostics::{ess_bulk, quantile};
use organza_mcmc::{Draws, Monitor, Plan, run};
use organza_release::{
    COUNTS_SCHEMA, CountFamily, CountNoise, CountRelease, Family, LevelColumn, Missing, Neighbours, Norm,
    PrivacyLoss, Tool,
};
use rand::{Rng, RngExt};
use rand_distr::{Distribution, Exp1};

use crate::reproduce::Variant;
use organza_studies::generator;
use organza_studies::seeded::standard_noise;

/// Budgets of all experiments of the paper.
pub const EPSILONS: [f64; 5] = [0.1, 0.3, 1.0, 3.0, 10.0];
/// Number of classes.
pub const CLASSES: usize = 5;
/// Their probabilities, as Table 1 prints them.
pub const TRUTH: [f64; CLASSES] = [0.097, 0.148, 0.145, 0.446, 0.163];
/// Concentration of all priors.
const CONCENTRATION: f64 = 2.0;
const RECORDS: usize = 100;
const FEATURES: usize = 5;
const LEVELS: usize = 3;
/// Steps of a chain, half of them before the first draw.
const STEPS: usize = 10_000;
/// Seed of the parameters, which are the same in all replicates.
const PARAMETERS: u64 = 2022;

/// The probability of a class; the printed ones sum to 0.999.
pub fn probability(class: usize) -> f64 {
    TRUTH[class] / TRUTH.iter().sum::<f64>()
}

/// Counts of every feature with the class: feature by feature, class by class.
#[derive(Debug, Clone, PartialEq)]
pub struct Database {
    counts: Vec<f64>,
}

impl Database {
    /// Records of the model; the laws of the features given the class are one draw of the prior.
    pub fn new(rng: &mut impl Rng) -> Self {
        let mut parameters = generator(PARAMETERS, 0);
        // Dirichlet(2): sums of two exponential numbers.
        let mut weight = || -> f64 {
            let (one, two): (f64, f64) = (Exp1.sample(&mut parameters), Exp1.sample(&mut parameters));
            one + two
        };
        let laws: Vec<[f64; LEVELS]> =
            (0..FEATURES * CLASSES).map(|_| std::array::from_fn(|_| weight())).collect();
        let mut counts = vec![0.0; FEATURES * CLASSES * LEVELS];
        for _ in 0..RECORDS {
            let class = pick(&TRUTH, rng);
            for feature in 0..FEATURES {
                let block = feature * CLASSES + class;
                counts[block * LEVELS + pick(&laws[block], rng)] += 1.0;
            }
        }
        Self { counts }
    }

    /// Mean of the probabilities of the classes given the records.
    pub fn posterior_mean(&self) -> [f64; CLASSES] {
        let prior = CONCENTRATION * CLASSES as f64;
        let count = |class: usize| self.counts[class * LEVELS..(class + 1) * LEVELS].iter().sum::<f64>();
        std::array::from_fn(|class| (count(class) + CONCENTRATION) / (RECORDS as f64 + prior))
    }

    /// All tables with Laplace noise of scale 2K/epsilon: exchanging a record moves two counts of each by one.
    pub fn release(&self, epsilon: f64, rng: &mut impl Rng) -> CountRelease {
        let sensitivity = 2.0 * FEATURES as f64;
        let scale = sensitivity / epsilon;
        let names: Vec<String> = (1..=FEATURES).map(|k| format!("x{k}")).collect();
        let mut columns = vec![column("y", CLASSES)];
        columns.extend(names.iter().map(|name| column(name, LEVELS)));
        CountRelease {
            schema: COUNTS_SCHEMA.into(),
            party: "all".into(),
            created: "2026-01-31T12:00:00Z".into(),
            records: Some(RECORDS as u64),
            missing: Missing::Refused,
            columns,
            tables: names.into_iter().map(|name| vec!["y".into(), name]).collect(),
            value: self
                .counts
                .iter()
                .map(|count| count + scale * standard_noise(Family::Laplace, rng))
                .collect(),
            noise: CountNoise { family: CountFamily::Laplace, scale },
            privacy: PrivacyLoss {
                neighbours: Neighbours::Substitute,
                epsilon,
                delta: 0.0,
                norm: Norm::L1,
                sensitivity,
                public_bounds: false,
            },
            tool: Tool { name: "organza-lab".into(), version: env!("CARGO_PKG_VERSION").into() },
        }
    }
}

fn column(name: &str, levels: usize) -> LevelColumn {
    LevelColumn { name: name.into(), levels: (0..levels).map(|level| level.to_string()).collect() }
}

fn pick(weights: &[f64], rng: &mut impl Rng) -> usize {
    let mut left = rng.random::<f64>() * weights.iter().sum::<f64>();
    let found = weights.iter().position(|weight| {
        left -= weight;
        left < 0.0
    });
    found.unwrap_or(weights.len() - 1)
}

/// A posterior of the probabilities of the classes.
#[derive(Debug, Clone, PartialEq)]
pub struct Posterior {
    /// Means.
    pub mean: [f64; CLASSES],
    /// Central intervals of 90 percent.
    pub intervals: [[f64; 2]; CLASSES],
    /// Mean and smallest probability of acceptance of a record; 1 where there is no chain.
    pub acceptance: [f64; 2],
    /// Effective draws of the class that mixes worst.
    pub effective: f64,
}

/// The posterior: by the paper's chain over latent records, or (ours) by independent draws with all counts summed out.
pub fn fit(release: CountRelease, variant: Variant, seed: u64) -> Result<Posterior, String> {
    let plan = Plan { chains: 1, warmup: STEPS / 2, draws: STEPS / 2, thin: 1, seed, threads: 1 };
    if variant == Variant::Ours {
        let tables = TableSpec { class: Some("y".to_string()), ..TableSpec::default() };
        let spec = ModelSpec { model: Some(Model::NaiveBayes), tables, ..ModelSpec::default() };
        let method = MethodSpec { method: None, sampler: Some(Sampler::Exact) };
        let plan = Plan { warmup: 0, ..plan };
        let found = posterior_of(&method, &spec, &[release], &plan, &Monitor::default());
        return summarise(&found.map_err(|error| error.to_string())?.draws, [1.0; 2]);
    }
    let text = |error: organza_infer::InferError| error.to_string();
    let model = NaiveBayesRecords::new(&release.columns, "y", CONCENTRATION).map_err(text)?;
    let target = Augmented { model, parties: vec![TableMechanism::of(&release).map_err(text)?] };
    let draws = run(&Plain, &target, &plan).map_err(|error| error.to_string())?;
    let statistic = |name: &str| draws.statistic(name).unwrap_or_default().concat();
    let mean = statistic("acceptance").iter().sum::<f64>() / plan.draws as f64;
    let smallest = statistic("smallest_acceptance").into_iter().fold(1.0, f64::min);
    summarise(&draws, [mean, smallest])
}

fn summarise(draws: &Draws, acceptance: [f64; 2]) -> Result<Posterior, String> {
    let mut posterior = Posterior {
        mean: [0.0; CLASSES],
        intervals: [[0.0; 2]; CLASSES],
        acceptance,
        effective: f64::INFINITY,
    };
    for class in 0..CLASSES {
        let traces = draws.traces(&draws.names()[class]).ok_or("a probability of a class is missing")?;
        let values = traces.values();
        posterior.mean[class] = values.iter().sum::<f64>() / values.len() as f64;
        posterior.intervals[class] = [0.05, 0.95].map(|level| quantile(values, level));
        posterior.effective = posterior.effective.min(ess_bulk(&traces));
    }
    Ok(posterior)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both samplers have the same target: means within six standard errors by the effective draws of the chain (sd at most 0.1). Catches
    /// columns in another order and noise of another scale.
    #[test]
    fn the_chain_agrees_with_independent_draws() {
        let database = Database::new(&mut generator(1, 0));
        assert!((database.counts.iter().sum::<f64>() - 500.0).abs() < 1e-9);
        assert!((database.posterior_mean().iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let release = database.release(3.0, &mut generator(1, 1));
        let chain = fit(release.clone(), Variant::Published, 1).unwrap();
        let exact = fit(release, Variant::Ours, 1).unwrap();
        let error = 0.1 * (1.0 / chain.effective + 1.0 / exact.effective).sqrt();
        for (one, other) in chain.mean.iter().zip(exact.mean) {
            assert!((one - other).abs() < 6.0 * error, "{chain:?} {exact:?}");
        }
        assert!(chain.acceptance[1] >= (-3.0_f64).exp() && chain.acceptance[0] > 0.3, "{chain:?}");
        assert!(exact.effective > 3_000.0);
    }
}
