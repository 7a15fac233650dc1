//! The table and its warnings.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod support;

use organza_mcmc::{ChainRng, Draws, DrawsError, Info, Kernel, Plan, Statistic, Stop, Summary, Thinned, run};
use rand::RngExt;
use rand_distr::StandardNormal;

/// Independent normal draws around a mean that depends on the chain by `spread`, which diverge now and then.
#[derive(Clone)]
struct Independent {
    spread: f64,
    divergent: bool,
}

struct Report(bool);

impl Info for Report {
    const STATISTICS: &'static [Statistic] = &[
        Statistic { name: Statistic::DIVERGENT, thinned: Thinned::Sum },
        Statistic { name: Statistic::ENERGY, thinned: Thinned::Last },
    ];

    fn write(&self, values: &mut [f64]) {
        values.copy_from_slice(&[f64::from(u8::from(self.0)), 1.0]);
    }
}

impl Kernel<()> for Independent {
    type State = [f64; 3];
    type Info = Report;

    fn init(&self, _: &(), rng: &mut ChainRng) -> Result<[f64; 3], Stop> {
        Ok([self.spread * rng.sample::<f64, _>(StandardNormal), 0.0, 0.0])
    }

    fn step(&self, _: &(), state: &mut [f64; 3], rng: &mut ChainRng) -> Result<Report, Stop> {
        state[1] = state[0] + rng.sample::<f64, _>(StandardNormal);
        state[2] = rng.sample::<f64, _>(StandardNormal);
        Ok(Report(self.divergent && state[2] > 2.0))
    }

    fn position<'s>(&self, state: &'s [f64; 3]) -> &'s [f64] {
        &state[1..]
    }
}

fn draws(spread: f64, divergent: bool, draws: usize) -> Draws {
    let plan = Plan { chains: 4, warmup: 0, draws, thin: 3, seed: 2, threads: 2 };
    let draws = run(&Independent { spread, divergent }, &(), &plan).unwrap();
    draws.named(vec!["shift".to_string(), "beta[1,2]".to_string()]).unwrap()
}

#[test]
fn good_draws_have_no_warnings() {
    let summary = Summary::new(&draws(0.0, false, 500), 0.9).unwrap();
    assert_eq!(summary.warnings(), Vec::<String>::new());
    assert_eq!(summary.divergences, Some(0.0));
    assert_eq!((summary.chains, summary.draws, summary.parameters.len()), (4, 500, 2));
    let row = &summary.parameters[1];
    assert_eq!(row.name, "beta[1,2]");
    assert!(row.highest_density.lower < -1.4 && row.highest_density.upper > 1.4);
    let json: serde_json::Value = serde_json::to_value(&summary).unwrap();
    assert_eq!(json["parameters"][0]["name"], "shift");
    assert_eq!(json["records"][3]["end"], "complete");
}

#[test]
fn the_table_shows_every_parameter() {
    let text = Summary::new(&draws(0.0, false, 500), 0.9).unwrap().to_string();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4);
    assert!(lines[1].starts_with("shift ") && lines[2].starts_with("beta[1,2] "));
    assert_eq!(lines[0].len(), lines[1].len());
    assert_eq!(lines[3], "4 chains of 500 draws; intervals hold 90 %");
}

#[test]
fn bad_draws_are_named_in_words() {
    let warnings = Summary::new(&draws(3.0, true, 60), 0.9).unwrap().warnings();
    let has = |parts: &[&str]| warnings.iter().any(|warning| parts.iter().all(|part| warning.contains(part)));
    assert!(has(&["R-hat of 1 of 2 parameters", "shift", "above 1.01"]), "{warnings:#?}");
    assert!(has(&["effective size of the bulk", "below 400"]), "{warnings:#?}");
    assert!(has(&["effective size of the tails", "below 400"]), "{warnings:#?}");
    // Thinning by 3 hides no divergence: 720 steps with probability 0.023 each.
    let count: f64 =
        warnings.iter().find_map(|text| text.split_once(" steps diverged")).unwrap().0.parse().unwrap();
    assert!((3.0..40.0).contains(&count), "{count}");
}

#[test]
fn stuck_and_short_chains_are_named() {
    let names = || vec!["a".to_string()];
    let constant = Draws::from_values(names(), 2, vec![0.1; 40]).unwrap();
    let warnings = Summary::new(&constant, 0.5).unwrap().warnings();
    assert!(warnings[0].contains("undefined for 1 of 1 parameters (a)"), "{warnings:?}");
    let short = Draws::from_values(names(), 2, vec![1.0, 2.0, 3.0, 4.0]).unwrap();
    let warnings = Summary::new(&short, 0.5).unwrap().warnings();
    assert_eq!(warnings, ["chains have 2 draws each; diagnostics need at least 4"]);
    let none = Draws::from_values(vec![], 0, vec![]).unwrap();
    assert!(!Summary::new(&none, 0.5).unwrap().warnings().is_empty());
}

#[test]
fn wrong_sizes_names_and_masses_are_refused() {
    let names = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
    assert!(matches!(Draws::from_values(names(&["a", "b"]), 2, vec![0.0; 6]), Err(DrawsError::Size { .. })));
    assert!(matches!(Draws::from_values(names(&["a", "a"]), 1, vec![0.0; 6]), Err(DrawsError::Name { .. })));
    assert!(matches!(Draws::from_values(names(&[".chain"]), 1, vec![0.0; 6]), Err(DrawsError::Name { .. })));
    assert!(matches!(Draws::from_values(vec![], 1, vec![0.0]), Err(DrawsError::Size { .. })));
    let draws = Draws::from_values(names(&["a"]), 2, vec![0.0; 6]).unwrap();
    let error = draws.clone().named(names(&["a", "b"])).unwrap_err();
    assert_eq!(error.to_string(), "parameter names: expected 1, found 2");
    for mass in [0.0, 1.0, f64::NAN] {
        assert!(matches!(Summary::new(&draws, mass), Err(DrawsError::Mass { .. })));
    }
}
