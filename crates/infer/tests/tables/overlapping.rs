//! The walk over cells against enumeration.

use organza_infer::tables::{CellWalk, OverlappingTables, RecordsPrior, TableEvidence, TablePrior};
use organza_mcmc::{Plan, run};
use organza_release::{CountFamily, CountRelease};

use crate::support::*;

const WALK: Plan = Plan { chains: 2, warmup: 500, draws: 20_000, thin: 1, seed: 5, threads: 2 };

/// Margins a x b and b x c of the cells of a x b x c.
fn margins(cells: &[usize]) -> Vec<usize> {
    let sum = |fits: &dyn Fn(usize) -> bool| (0..8).filter(|cell| fits(*cell)).map(|cell| cells[cell]).sum();
    let mut all: Vec<usize> = (0..4).map(|entry| sum(&|cell| cell / 2 == entry)).collect();
    all.extend((0..4).map(|entry| sum(&|cell| cell % 4 == entry)));
    all
}

fn log_likelihood(release: &CountRelease, cells: &[usize]) -> f64 {
    let mut seen = margins(cells);
    if release.tables.len() == 3 {
        seen.push(cells.iter().sum());
    }
    let residuals = release.value.iter().zip(&seen).map(|(value, count)| value - *count as f64);
    residuals.map(|residual| log_noise(&release.noise, residual)).sum()
}

fn assert_means(name: &str, release: CountRelease, records: &RecordsPrior, sizes: &[usize]) {
    let evidence = TableEvidence::new(std::slice::from_ref(&release), false).unwrap();
    let prior = TablePrior { concentration: Some(0.8), ..TablePrior::default() };
    let model = OverlappingTables::new(&evidence, &prior, records).unwrap();
    let draws = run(&CellWalk::default(), &model, &WALK).unwrap().named(model.names().to_vec()).unwrap();
    let alpha = [0.8; 8];
    let tables: Vec<Vec<usize>> = sizes.iter().flat_map(|n| compositions(*n, 8)).collect();
    let log = |cells: &Vec<usize>| {
        let choose: f64 = cells.iter().map(|count| ln_factorial(*count)).sum();
        ln_factorial(cells.iter().sum()) - choose + ln_beta(&alpha, cells) + log_likelihood(&release, cells)
    };
    let weights = normalise(&tables.iter().map(log).collect::<Vec<_>>());
    let (mut means, mut products) = (vec![0.0; 9], vec![0.0; 8]);
    for (weight, cells) in weights.iter().zip(&tables) {
        let (mut first, second) = dirichlet_moments(&alpha, cells);
        first.push(cells.iter().sum::<usize>() as f64);
        add(&mut means, *weight, &first);
        add(&mut products, *weight, &second);
    }
    let critical = critical_z(2 * 17);
    for k in 0..draws.names().len() {
        let z = z_of(&draws, |row| row[k], means[k]);
        assert!(z.abs() < critical, "{name}: {}, z {z}", draws.names()[k]);
    }
    for k in 0..8 {
        let z = z_of(&draws, |row| row[k] * row[(k + 1) % 8], products[k]);
        assert!(z.abs() < critical, "{name}: product {k}, z {z}");
    }
}

/// Seen to catch: two changed cells of one margin's entry that are scored one by one.
#[test]
fn two_overlapping_tables() {
    let columns = [column("a", 2), column("b", 2), column("c", 2)];
    let values = [1.2, 0.3, 2.8, 0.9, 2.5, 1.1, -0.4, 1.6];
    let shown = (noise(CountFamily::Laplace, 0.7), Some(5));
    let release = release("one", &columns, &[&["a", "b"], &["b", "c"]], &values, shown);
    assert_means("public", release, &RecordsPrior::default(), &[5]);
}

/// Seen to catch: a move of the number of records without its factorial.
#[test]
fn overlapping_tables_with_an_unknown_number_of_records() {
    let columns = [column("a", 2), column("b", 2), column("c", 2)];
    let values = [1.0, 0.0, 2.0, 1.0, 2.0, 1.0, 0.0, 1.0, 5.0];
    let shown = (noise(CountFamily::DiscreteGaussian, 1.2), None);
    let release = release("one", &columns, &[&["a", "b"], &["b", "c"], &[]], &values, shown);
    let records = RecordsPrior { uniform_most: Some(8), ..RecordsPrior::default() };
    assert_means("unknown", release, &records, &[0, 1, 2, 3, 4, 5, 6, 7, 8]);
}
