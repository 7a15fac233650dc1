//! The diagnostics against ArviZ: see the heads of the files in golden/ for their provenance.
#![cfg(feature = "files")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

use std::path::{Path, PathBuf};

use organza_mcmc::diagnostics::*;
use organza_mcmc::{Draws, Summary};

const TOLERANCE: f64 = 1e-6;

/// Where the results differ on purpose; the head of the module `diagnostics` says why.
const DIFFERENT: [(&str, &str); 3] = [("one_chain", "r_hat"), ("tiny", "ess_sd"), ("tiny", "mcse_sd")];

fn golden(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(file)
}

fn lines(file: &str) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(golden(file)).unwrap();
    let rows = text.lines().filter(|line| !line.starts_with('#'));
    rows.map(|line| line.split(',').map(str::to_string).collect()).collect()
}

fn number(text: &str) -> f64 {
    text.parse().unwrap()
}

fn chains(set: &str) -> Vec<Vec<f64>> {
    let rows = lines(&format!("{set}.csv"));
    (0..rows[0].len()).map(|chain| rows.iter().map(|row| number(&row[chain])).collect()).collect()
}

fn compute(quantity: &str, traces: &Traces) -> f64 {
    let values = traces.values();
    if let Some((kind, probability)) = quantity.split_once("quantile_") {
        let probability = number(probability);
        return match kind {
            "" => quantile(values, probability),
            "ess_" => ess_quantile(traces, probability),
            "mcse_" => mcse_quantile(traces, probability),
            _ => panic!("unknown quantity {quantity}"),
        };
    }
    if let Some(chain) = quantity.strip_prefix("energy_") {
        return energy_fraction(traces.iter().nth(chain.parse().unwrap()).unwrap());
    }
    let names = vec!["x".to_string()];
    let summary = || {
        let draws = Draws::from_values(names.clone(), traces.chains(), values.to_vec()).unwrap();
        Summary::new(&draws, 0.89).unwrap().parameters.remove(0)
    };
    match quantity {
        "r_hat" => r_hat(traces),
        "ess_mean" => ess_mean(traces),
        "ess_sd" => ess_sd(traces),
        "ess_bulk" => ess_bulk(traces),
        "ess_tail" => ess_tail(traces),
        "ess_median" => ess_quantile(traces, 0.5),
        "mcse_mean" => mcse_mean(traces),
        "mcse_sd" => mcse_sd(traces),
        "hdi_lower" => summary().highest_density.lower,
        "hdi_upper" => summary().highest_density.upper,
        "mean" => summary().mean,
        "sd" => summary().sd,
        _ => panic!("unknown quantity {quantity}"),
    }
}

fn agree(found: f64, expected: f64) -> bool {
    // Of values near 1, rounding leaves a mean, sd or error of about 1e-17 where the truth is 0.
    found == expected
        || (found.is_nan() && expected.is_nan())
        || (found - expected).abs() <= TOLERANCE * expected.abs()
        || found.abs().max(expected.abs()) < 1e-15
}

#[test]
fn every_value_agrees() {
    let rows = lines("values.csv").split_off(1);
    let mut failures = Vec::new();
    for row in &rows {
        let [set, quantity, expected] = &row[..] else { panic!("not three fields: {row:?}") };
        let found = compute(quantity, &Traces::new(&chains(set)));
        let agree = agree(found, number(expected));
        if agree == DIFFERENT.contains(&(set, quantity)) {
            failures.push(format!("{set}, {quantity}: {found}, ArviZ says {expected}"));
        }
    }
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), rows.len(), failures.join("\n"));
    assert!(rows.len() > 550, "only {} rows", rows.len());
}

/// What the differences are.
#[test]
fn one_chain_has_an_r_hat_and_units_do_not_matter() {
    let found = r_hat(&Traces::new(&chains("one_chain")));
    assert!((0.99..1.1).contains(&found), "{found}");
    let tiny = Traces::new(&chains("tiny"));
    let large = tiny.map(|value| value * 2.0_f64.powi(30));
    assert_eq!(ess_sd(&tiny), ess_sd(&large));
    assert!(ess_sd(&tiny) < 119.0);
}
