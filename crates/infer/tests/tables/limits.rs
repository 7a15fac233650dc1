//! Limits, strange values and large tables.

use organza_infer::tables::{
    CountModel, ExactCounts, IndependentCounts, RecordsPrior, TableEvidence, TablePrior,
};
use organza_mcmc::{Plan, run};
use organza_release::{CountFamily, LevelColumn};

use crate::support::*;

fn table_model(columns: &[LevelColumn], values: &[f64], shown: (CountFamily, f64), n: u64) -> CountModel {
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let release = release("one", columns, &[&names], values, (noise(shown.0, shown.1), Some(n)));
    let evidence = TableEvidence::new(&[release], false).unwrap();
    CountModel::table(&evidence, &TablePrior::default(), &RecordsPrior::default()).unwrap()
}

fn assert_dirichlet(name: &str, model: CountModel, counts: &[usize]) {
    let concentrations = vec![1.0; counts.len()];
    let (means, products) = dirichlet_moments(&concentrations, counts);
    let (draws, size) = (draw(model), counts.len());
    let critical = critical_z(40 * size);
    for k in 0..size {
        let first = z_of(&draws, |row| row[k], means[k]);
        let second = z_of(&draws, |row| row[k] * row[(k + 1) % size], products[k]);
        assert!(first.abs() < critical && second.abs() < critical, "{name} {k}: {first} {second}");
    }
}

/// Catches a prior that does not come back.
#[test]
fn overwhelming_noise_leaves_the_prior() {
    for family in [CountFamily::Laplace, CountFamily::DiscreteGaussian] {
        let model = table_model(&[column("a", 4)], &[3e7, -2e7, 0.0, 1e8], (family, 1e12), 50);
        assert_dirichlet("prior", model, &[0; 4]);
    }
}

/// Catches windows that are empty where the next count is millions of scales away.
#[test]
fn without_noise_the_posterior_is_conjugate() {
    for family in [CountFamily::Laplace, CountFamily::Gaussian, CountFamily::DiscreteLaplace] {
        for scale in [1e-2, 1e-7] {
            let model = table_model(&[column("a", 3)], &[12.0, 7.0, 1.0], (family, scale), 20);
            assert_dirichlet("conjugate", model, &[12, 7, 1]);
        }
    }
}

/// Noisy counts that disagree with the number of records by thousands of scales: the nearest table is the answer.
///
/// Seen to catch: sums that underflow and are not taken again with logarithms.
#[test]
fn contradictions_of_a_thousand_scales_are_survived() {
    // Gaussian: the surplus of 12 is shared equally by three cells.
    let model = table_model(&[column("a", 3)], &[10.0, 14.0, 18.0], (CountFamily::Gaussian, 1e-3), 30);
    assert_dirichlet("shared", model, &[6, 10, 14]);
    let model = table_model(&[column("a", 2)], &[-5.0, 5.2], (CountFamily::Laplace, 1e-3), 5);
    assert_dirichlet("negative", model, &[0, 5]);
    let values = [1e9, -1e9, 3.5, 0.0];
    for family in [CountFamily::Laplace, CountFamily::DiscreteGaussian] {
        let draws = draw(table_model(&[column("a", 2), column("b", 2)], &values, (family, 1.0), 1000));
        assert!((0..4).all(|k| z_of(&draws, |row| f64::from(u8::from(row[k].is_finite())), 1.0) == 0.0));
    }
}

/// A million records in a hundred cells: windows, not the number of records, decide the cost.
#[test]
fn a_million_records() {
    let columns = [column("a", 10), column("b", 10)];
    let values: Vec<f64> =
        (0..100).map(|k| 5050.0 + 100.0 * f64::from(k) + f64::from(k * 37 % 11) - 5.0).collect();
    let model = table_model(&columns, &values, (CountFamily::DiscreteGaussian, 6.32), 1_000_000);
    let target = ExactCounts::new(model).unwrap();
    let plan = Plan { chains: 1, draws: 2000, ..PLAN };
    let draws = run(&IndependentCounts, &target, &plan).unwrap();
    let critical = critical_z(100);
    let total: f64 = values.iter().sum();
    for (k, value) in values.iter().enumerate() {
        // The surplus of the noisy total is spread equally; its error is far below a standard error.
        let mean = (value - (total - 1e6) / 100.0 + 1.0) / (1e6 + 100.0);
        let z = z_of(&draws, |row| row[k], mean);
        assert!(z.abs() < critical, "{k}: {z}");
    }
}
