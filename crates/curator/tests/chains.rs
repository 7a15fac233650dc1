//! Private chains on a table, as far as no records are asked: reading, planning and rehearsing.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

use organza_curator::bounds::Bounds;
use organza_curator::chains::{
    Budget, ChainDesign, ChainMethod, ChainModel, ChainPlan, ChainRequest, Rehearsal, Tuning, rehearse,
};
use organza_curator::ledger::{Account, Ledger};
use organza_curator::table::{Input, ReadOptions, Reading};
use organza_mcmc::Monitor;
use organza_release::{Missing, Neighbours};

fn design(model: ChainModel, formula: &str, flags: &[&str]) -> ChainDesign {
    let mut bounds = Bounds::default();
    flags.iter().for_each(|flag| bounds.set_flag(flag).unwrap());
    ChainDesign::new(model, formula.parse().unwrap(), bounds, 2.5).unwrap()
}

fn of(model: ChainModel) -> ChainDesign {
    let response = match model {
        ChainModel::Logistic => "y=0:1",
        ChainModel::Poisson => "y=0:8",
        _ => "y=-3:5",
    };
    design(model, "y ~ x + z", &["x=0:10", "z=-1:1", response])
}

fn request(method: ChainMethod, records: u64, epsilon: f64) -> ChainRequest {
    let budget = Budget { epsilon, delta: 1e-6, neighbours: Neighbours::Substitute };
    let tuning = Tuning::default();
    ChainRequest { method, records, budget, chains: 4, seed: 1, threads: 1, tuning }
}

/// Reads a table with these options.
fn load(design: &ChainDesign, text: &str, missing: Missing) -> Result<Vec<Vec<f64>>, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    std::fs::write(&path, text).unwrap();
    let (input, options) = (Input::File(path), ReadOptions { missing, ..ReadOptions::default() });
    let reading = Reading { input: &input, options: &options, progress: &() };
    let (records, counts) = design.load(&reading).map_err(|error| error.to_string())?;
    assert_eq!(counts.records, records.rows() as u64);
    assert_eq!(design.count(&reading).unwrap(), counts);
    let row = |row: usize| (0..records.columns()).map(|column| records.value(row, column)).collect();
    Ok((0..records.rows()).map(row).collect())
}

/// Catches a response that is scaled where it must not be, a value that is not clamped, columns in another order.
#[test]
fn records_are_in_normalised_units() {
    let text = "y,z,x\n1,0.5,10\n0,-7,2.5\n";
    let logistic = load(&of(ChainModel::Logistic), text, Missing::Refused).unwrap();
    assert_eq!(logistic, [[1.0, 0.5, 1.0], [-0.5, -1.0, 0.0]]);
    let linear = load(&of(ChainModel::Linear), text, Missing::Refused).unwrap();
    assert_eq!(linear, [[1.0, 0.5, 0.0], [-0.5, -1.0, -0.25]]);
    let poisson = load(&of(ChainModel::Poisson), "y,z,x\n3,0,0\n99,0,5\n", Missing::Refused).unwrap();
    assert_eq!(poisson, [[-1.0, 0.0, 3.0], [0.0, 0.0, 8.0]]);
}

/// Catches rules for missing and unusable values that differ from those of a release, and a lost line number.
#[test]
fn unusable_cells_are_named() {
    let logistic = of(ChainModel::Logistic);
    let error = load(&logistic, "y,z,x\n1,0,1\n0.5,0,1\n", Missing::Refused).unwrap_err();
    assert!(error.contains("t.csv: line 3, column \"y\": neither 0 nor 1"), "{error}");
    let error = load(&of(ChainModel::Poisson), "y,z,x\n-1,0,1\n", Missing::Refused).unwrap_err();
    assert!(error.contains("line 2") && error.contains("not a whole number"), "{error}");
    let error = load(&of(ChainModel::Poisson), "y,z,x\n1.5,0,1\n", Missing::Refused).unwrap_err();
    assert!(error.contains("not a whole number"), "{error}");
    let gap = "y,z,x\n1,,10\n0,1,10\n";
    assert!(load(&logistic, gap, Missing::Refused).unwrap_err().contains("missing"));
    assert_eq!(load(&logistic, gap, Missing::Dropped).unwrap(), [[1.0, 1.0, 0.0]]);
    assert_eq!(load(&logistic, gap, Missing::Midpoint).unwrap()[0], [1.0, 0.0, 1.0]);
    let error = load(&logistic, "y,z,x\n,0,1\n", Missing::Midpoint).unwrap_err();
    assert!(error.contains("no midpoint"), "{error}");
    assert!(load(&logistic, "y,z,x\n,0,1\n", Missing::Dropped).unwrap_err().contains("no record"));
}

/// Catches a response that the model cannot have.
#[test]
fn unusable_responses_are_refused() {
    let refused = |model: ChainModel, formula: &str, flags: &[&str]| {
        let mut bounds = Bounds::default();
        flags.iter().for_each(|flag| bounds.set_flag(flag).unwrap());
        ChainDesign::new(model, formula.parse().unwrap(), bounds, 2.5).unwrap_err().to_string()
    };
    assert!(refused(ChainModel::Logistic, "y ~ x", &["y=0:2", "x=0:1"]).contains("bounds 0 and 1"));
    assert!(refused(ChainModel::Logistic, "sqrt(y) ~ x", &["y=0:1", "x=0:1"]).contains("bounds 0 and 1"));
    assert!(refused(ChainModel::Poisson, "y ~ x", &["y=1:2", "x=0:1"]).contains("lower bound 0"));
}

/// Catches a plan that costs more than the budget (a part that is forgotten, a lattice that takes more delta than is left), and one
/// that leaves much of it unused.
#[test]
fn plans_cost_the_budget_and_not_more() {
    let folder = tempfile::tempdir().unwrap();
    let mut ledger = Ledger::open(folder.path().join("ledger")).unwrap();
    for model in ChainModel::ALL {
        for method in ChainMethod::ALL {
            for epsilon in [0.5, 4.0, 20.0] {
                let plan = ChainPlan::new(&of(model), &request(method, 10_000, epsilon)).unwrap();
                let charge = plan.charge("chains").unwrap();
                let account = Account::new(format!("{model} {method} {epsilon}"), "me");
                let outcome = ledger.charge(&account, &charge).unwrap();
                let spent = outcome.spent.epsilon.unwrap();
                assert!(spent > 0.99 * epsilon && spent < epsilon * (1.0 + 1e-6), "{account}: {spent}");
            }
        }
    }
}

/// Catches a sampled plan whose noise is too small for its claim, or far too large.
#[test]
fn sampled_plans_cost_the_budget() {
    let mut request = request(ChainMethod::DpSgld, 1_000_000, 4.0);
    request.tuning = Tuning { rate: Some(0.02), ..Tuning::default() };
    let plan = ChainPlan::new(&of(ChainModel::Logistic), &request).unwrap();
    let queries = plan.allowance.queries();
    let epsilon = queries.epsilon(8_000, 1e-6, Neighbours::Substitute).unwrap();
    assert!(epsilon <= 4.0 && epsilon > 3.999, "{epsilon}");
}

/// Catches choices that are silently ignored.
#[test]
fn choices_that_a_method_does_not_have_are_refused() {
    let refused = |method: ChainMethod, tuning: Tuning| {
        let request = ChainRequest { tuning, ..request(method, 1_000, 1.0) };
        ChainPlan::new(&of(ChainModel::Logistic), &request).unwrap_err().to_string()
    };
    let leaps = Tuning { leapfrog_steps: Some(3), ..Tuning::default() };
    assert!(refused(ChainMethod::DpSgld, leaps).contains("`leapfrog_steps`: dp-sgld has no such thing"));
    let rate = Tuning { rate: Some(0.5), ..Tuning::default() };
    assert!(refused(ChainMethod::DpHmc, rate).contains("`rate`"));
    let size = Tuning { step_size: Some(-1.0), ..Tuning::default() };
    assert!(refused(ChainMethod::DpHmc, size).contains("`step_size`: must be a positive number"));
    let warmup = Tuning { steps: Some(10), warmup: Some(10), ..Tuning::default() };
    assert!(refused(ChainMethod::DpPenalty, warmup).contains("leave no draw"));
}

/// Catches a rehearsal that cannot be repeated, that ranks the worst first, and one whose scaling to fewer records changes what is tried:
/// ten times the records at the same noise must give more effective draws.
#[test]
fn rehearsals_are_seeded_and_scale() {
    let design = of(ChainModel::Logistic);
    let tried = |records: u64| {
        let mut request = request(ChainMethod::DpSgld, records, 4.0);
        request.tuning = Tuning { steps: Some(400), rate: Some(1.0), ..Tuning::default() };
        rehearse(&Rehearsal { design: &design, request: &request, data_sets: 1 }, &Monitor::default())
            .unwrap()
    };
    let (some, again, many) = (tried(10_000), tried(10_000), tried(100_000));
    assert_eq!(format!("{some:?}"), format!("{again:?}"));
    let least = some.iter().map(|trial| trial.error).fold(f64::INFINITY, f64::min);
    let fair: Vec<f64> = some
        .iter()
        .filter(|trial| trial.error <= 2.0 * least.max(1.0))
        .map(|trial| trial.effective)
        .collect();
    assert!(fair.is_sorted_by(|one, other| one >= other), "{some:?}");
    assert!(many[0].effective > 2.0 * some[0].effective, "{many:?} {some:?}");
    assert!(many[0].error < 6.0 && many[0].clipped_gradients.abs() < 0.05, "{many:?}");
}
