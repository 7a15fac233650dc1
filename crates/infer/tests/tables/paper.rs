//! The log-linear experiment of the data augmentation paper: 100 records, 5 classes, 5 features of 3 levels.

use organza_infer::tables::{
    CountModel, ExactCounts, IndependentCounts, RecordsPrior, TableEvidence, TablePrior,
};
use organza_mcmc::{ChainRng, Draws, Plan, run};
use organza_release::{CountFamily, CountRelease};
use rand::RngExt;

use crate::support::*;

const RECORDS: usize = 100;
const CLASSES: [f64; 5] = [0.097, 0.148, 0.145, 0.446, 0.163];
const FEATURES: usize = 5;
const LEVELS: usize = 3;

fn draw_index(rng: &mut ChainRng, probabilities: &[f64]) -> usize {
    let mut left = rng.random::<f64>() * probabilities.iter().sum::<f64>();
    probabilities
        .iter()
        .position(|p| {
            left -= p;
            left < 0.0
        })
        .unwrap_or(probabilities.len() - 1)
}

/// Dirichlet(2): sums of two exponential variates.
fn dirichlet(rng: &mut ChainRng) -> Vec<f64> {
    (0..LEVELS).map(|_| -(rng.random::<f64>() * rng.random::<f64>()).ln()).collect()
}

/// Counts of every feature with the class, feature by feature.
fn database(rng: &mut ChainRng) -> Vec<usize> {
    let laws: Vec<Vec<f64>> = (0..FEATURES * 5).map(|_| dirichlet(rng)).collect();
    let mut counts = vec![0; FEATURES * 5 * LEVELS];
    for _ in 0..RECORDS {
        let class = draw_index(rng, &CLASSES);
        for feature in 0..FEATURES {
            let level = draw_index(rng, &laws[feature * 5 + class]);
            counts[(feature * 5 + class) * LEVELS + level] += 1;
        }
    }
    counts
}

fn privatise(rng: &mut ChainRng, counts: &[usize], epsilon: f64) -> CountRelease {
    let scale = 2.0 * FEATURES as f64 / epsilon;
    let laplace = |rng: &mut ChainRng| {
        let uniform = rng.random::<f64>() - 0.5;
        -scale * uniform.signum() * (1.0 - 2.0 * uniform.abs()).ln()
    };
    let values: Vec<f64> = counts.iter().map(|count| *count as f64 + laplace(rng)).collect();
    let names: Vec<String> = (1..=FEATURES).map(|k| format!("x{k}")).collect();
    let mut columns: Vec<_> = names.iter().map(|name| column(name, LEVELS)).collect();
    columns.push(column("y", 5));
    let tables: Vec<Vec<&str>> = names.iter().map(|name| vec!["y", name.as_str()]).collect();
    let tables: Vec<&[&str]> = tables.iter().map(Vec::as_slice).collect();
    release("one", &columns, &tables, &values, (noise(CountFamily::Laplace, scale), Some(RECORDS as u64)))
}

fn posterior(release: CountRelease, plan: &Plan) -> Draws {
    let evidence = TableEvidence::new(&[release], false).unwrap();
    let records = RecordsPrior::default();
    let model = CountModel::naive_bayes(&evidence, &TablePrior::default(), &records, Some("y")).unwrap();
    run(&IndependentCounts, &ExactCounts::new(model).unwrap(), plan).unwrap()
}

fn column_of(draws: &Draws, place: usize) -> Vec<f64> {
    let names = vec!["f".to_string()];
    let one = draws.converted(names, |row, out| out[0] = row[place]).unwrap();
    one.traces("f").unwrap().values().to_vec()
}

/// Shares of 400 runs of an independent program whose 90 percent intervals hold p_i, for epsilon 0.1, 0.3, 1, 3 and 10.
const COVERAGE: [(f64, [f64; 5]); 5] = [
    (0.1, [1.0, 1.0, 1.0, 0.34, 1.0]),
    (0.3, [0.99, 1.0, 1.0, 0.61, 1.0]),
    (1.0, [0.97, 0.96, 0.98, 0.87, 0.95]),
    (3.0, [0.92, 0.92, 0.92, 0.90, 0.95]),
    (10.0, [0.93, 0.92, 0.91, 0.87, 0.92]),
];

/// Seen to catch: m! / Gamma(m + A) of a class for its first feature only.
#[test]
fn coverage_is_that_of_table_1() {
    let (replicates, mut rng) = (100, ChainRng::new(21, 0));
    let plan = Plan { chains: 1, draws: 400, ..PLAN };
    let critical = critical_z(25);
    for (epsilon, published) in COVERAGE {
        let mut covered = [0.0; 5];
        for replicate in 0..replicates {
            let counts = database(&mut rng);
            // Its own seed: with a shared one all intervals would err to the same side.
            let plan = Plan { seed: replicate, ..plan };
            let draws = posterior(privatise(&mut rng, &counts, epsilon), &plan);
            for (class, hits) in covered.iter_mut().enumerate() {
                let truth = CLASSES[class] / CLASSES.iter().sum::<f64>();
                let values = column_of(&draws, class);
                let below =
                    values.iter().filter(|value| **value < truth).count() as f64 / values.len() as f64;
                *hits += f64::from(u8::from((0.05..=0.95).contains(&below)));
            }
        }
        for (hits, share) in covered.iter().zip(published) {
            // Two binomial shares, each with one success and one failure added.
            let (one, other) = ((hits + 1.0) / 102.0, (400.0 * share + 1.0) / 402.0);
            let variance = one * (1.0 - one) / 102.0 + other * (1.0 - other) / 402.0;
            let z = (one - other) / variance.sqrt();
            assert!(z.abs() < critical, "epsilon {epsilon}: {one} against {other}, z {z}");
        }
    }
}

/// Figure 1a: from the prior's mean to the mean without privacy.
#[test]
fn the_posterior_mean_moves_from_the_prior_to_the_data() {
    let mut rng = ChainRng::new(22, 0);
    let counts = database(&mut rng);
    let classes: Vec<f64> = (0..5)
        .map(|class| counts[class * LEVELS..(class + 1) * LEVELS].iter().sum::<usize>() as f64)
        .collect();
    let exact: Vec<f64> = classes.iter().map(|count| (count + 2.0) / 110.0).collect();
    let plan = Plan { chains: 1, draws: 4000, ..PLAN };
    let critical = critical_z(10);
    for (epsilon, expected) in [(1e-6, vec![0.2; 5]), (1e5, exact.clone())] {
        let draws = posterior(privatise(&mut rng, &counts, epsilon), &plan);
        for (class, mean) in expected.iter().enumerate() {
            let z = z_of(&draws, |row| row[class], *mean);
            assert!(z.abs() < critical, "epsilon {epsilon}, class {class}: z {z}");
        }
    }
    let distance = |rng: &mut ChainRng, epsilon: f64| -> f64 {
        let runs = 20;
        let one = |rng: &mut ChainRng| -> f64 {
            let draws = posterior(privatise(rng, &counts, epsilon), &Plan { draws: 500, ..plan });
            let mean = |class: usize| column_of(&draws, class).iter().sum::<f64>() / 500.0;
            (0..5).map(|class| (mean(class) - exact[class]).abs()).sum()
        };
        (0..runs).map(|_| one(rng)).sum::<f64>() / f64::from(runs)
    };
    let distances: Vec<f64> = [0.1, 1.0, 10.0].map(|epsilon| distance(&mut rng, epsilon)).to_vec();
    assert!(distances[0] > 1.5 * distances[1] && distances[1] > 1.5 * distances[2], "{distances:?}");
}
