//! ArviZ reads our netCDF files. Set `ORGANZA_PYTHON` to a Python with arviz, h5netcdf and netCDF4.
#![cfg(feature = "files")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod support;

use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

use organza_mcmc::diagnostics::Traces;
use organza_mcmc::files::write_netcdf;
use organza_mcmc::{ChainRng, Draws, DrawsError, Kernel, Nuts, Plan, Stop, Summary, run};
use rand::RngExt;
use serde_json::{Map, Value, json};
use support::targets::{Correlated, Funnel};

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| name.to_string()).collect()
}

fn file_of(draws: &Draws) -> Vec<u8> {
    let mut file = Vec::new();
    write_netcdf(draws, &mut file).unwrap();
    file
}

fn chains_of(traces: &Traces) -> Vec<&[f64]> {
    traces.iter().collect()
}

/// What ArviZ should find.
fn expected(draws: &Draws, chains: &[usize]) -> Value {
    let parameter = |name: &String| (name.clone(), json!(chains_of(&draws.traces(name).unwrap())));
    let parameters: Map<String, Value> = draws.names().iter().map(parameter).collect();
    let mut statistics = Map::new();
    for name in draws.statistic_names() {
        let traces = Traces::new(&draws.statistic(name).unwrap());
        let (theirs, values) = match name.as_str() {
            "divergent" => ("diverging", json!(traces.iter().map(truths).collect::<Vec<_>>())),
            "depth" => ("tree_depth", json!(traces.iter().map(counts).collect::<Vec<_>>())),
            "gradients" => ("n_steps", json!(traces.iter().map(counts).collect::<Vec<_>>())),
            name => (name, json!(chains_of(&traces))),
        };
        statistics.insert(theirs.to_string(), values);
    }
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "chains": chains,
        "parameters": parameters,
        "statistics": statistics,
        // ArviZ needs a minute for the table of 1,500 parameters.
        "summary": (draws.names().len() < 100).then(|| Summary::new(draws, 0.9).unwrap()),
    })
}

fn truths(values: &[f64]) -> Vec<bool> {
    values.iter().map(|value| *value > 0.0).collect()
}

fn counts(values: &[f64]) -> Vec<i64> {
    values.iter().map(|value| *value as i64).collect()
}

fn check_in_python(name: &str, draws: &Draws, chains: &[usize]) {
    let bytes = file_of(draws);
    let Some(python) = std::env::var_os("ORGANZA_PYTHON") else {
        // Past the capture of the test runner, so that it is seen.
        let text = format!("SKIPPED: ORGANZA_PYTHON is not set, so ArviZ does not read {name:?}\n");
        std::io::stderr().write_all(text.as_bytes()).unwrap();
        return;
    };
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let (file, values) = (folder.join(format!("{name}.nc")), folder.join(format!("{name}.json")));
    std::fs::write(&file, bytes).unwrap();
    std::fs::write(&values, expected(draws, chains).to_string()).unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/python/arviz_reads.py");
    let output = Command::new(python).arg(script).arg(file).arg(values).output().unwrap();
    let (said, failed) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{name}: {said}{failed}");
    eprintln!("{name}: {said}");
}

const PLAN: Plan = Plan { chains: 4, warmup: 200, draws: 150, thin: 2, seed: 5, threads: 1 };

/// Seen to catch: entries of a vector written chain by entry by draw.
#[test]
fn arviz_reads_vectors_and_numbers() {
    let draws = run(&Nuts::for_plan(&PLAN), &&Correlated { dim: 5, correlation: 0.5 }, &PLAN).unwrap();
    let names = ["beta[intercept]", "beta[age in years]", "beta[I(x / 2)]", "sigma", "größe[1,2]"];
    check_in_python("vectors", &draws.named(owned(&names)).unwrap(), &[0, 1, 2, 3]);
}

#[test]
fn arviz_reads_divergences_and_a_number_beside_a_vector() {
    let kernel = Nuts { target_accept: 0.6, ..Nuts::for_plan(&PLAN) };
    let draws = run(&kernel, &&Funnel(3), &PLAN).unwrap();
    assert!(draws.statistic_total("divergent").unwrap() > 0.0);
    check_in_python("funnel", &draws.named(owned(&["v[1]", "v", "(x)"])).unwrap(), &[0, 1, 2, 3]);
}

/// Uniform draws, as many for each chain as the target says.
#[derive(Clone)]
struct Limited;

impl Kernel<[usize]> for Limited {
    type State = (usize, [f64; 1]);
    type Info = ();

    fn init(&self, limits: &[usize], rng: &mut ChainRng) -> Result<Self::State, Stop> {
        // The stream tells chains apart.
        let mine = rng.random::<u64>();
        let is_mine = |chain: &usize| ChainRng::new(PLAN.seed, *chain as u32).random::<u64>() == mine;
        Ok((limits[(0..limits.len()).find(is_mine).unwrap()], [0.0]))
    }

    fn step(&self, _: &[usize], state: &mut Self::State, rng: &mut ChainRng) -> Result<(), Stop> {
        state.0 = state.0.checked_sub(1).ok_or(Stop::BudgetExhausted)?;
        state.1 = [rng.random()];
        Ok(())
    }

    fn position<'s>(&self, state: &'s Self::State) -> &'s [f64] {
        &state.1
    }
}

/// Seen to catch: chains numbered from 0 whichever were kept.
#[test]
fn arviz_reads_the_rectangle_of_unequal_chains() {
    let plan = Plan { warmup: 0, thin: 1, ..PLAN };
    let draws = run(&Limited, &[30, 100, 20, 120][..], &plan).unwrap();
    check_in_python("unequal", &draws.named(owned(&["a"])).unwrap(), &[1, 3]);
}

#[test]
fn the_same_draws_give_the_same_bytes() {
    let draws = Draws::from_values(owned(&["a[1]", "a[2]"]), 2, (0..40).map(f64::from).collect()).unwrap();
    assert_eq!(file_of(&draws), file_of(&draws));
    // No statistics.
    check_in_python("plain", &draws, &[0, 1]);
}

#[test]
fn many_parameters_are_written() {
    let names: Vec<String> = (0..1500).map(|number| format!("beta[{number}]")).collect();
    let values: Vec<f64> = (0..1500 * 8).map(|number| f64::from(number % 97)).collect();
    check_in_python("many", &Draws::from_values(names, 2, values).unwrap(), &[0, 1]);
}

#[test]
fn what_cannot_be_written_is_an_error() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("no space"))
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let draws = Draws::from_values(owned(&["a"]), 1, vec![1.0]).unwrap();
    let error = write_netcdf(&draws, Full).unwrap_err().to_string();
    assert!(error.contains("netCDF") && error.contains("no space"), "{error}");
    let none = Draws::from_values(owned(&["a"]), 1, vec![]).unwrap();
    assert!(write_netcdf(&none, Vec::new()).unwrap_err().to_string().contains("there are no draws"));
    let named = Draws::from_values(owned(&["draw"]), 1, vec![1.0]).unwrap();
    assert!(matches!(write_netcdf(&named, Vec::new()), Err(DrawsError::Name { .. })));
}
