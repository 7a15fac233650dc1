//! Chooses default values of the record-scale radius r, the intercept weight g and the response weight eta; `--bounds`
//! asks whether default fits are honest, `--radius` how the radius grows with n, `--private-bounds` what bounds that are
//! found with noise cost.
//!
//! Tables on the terminal, every figure in the CSV file.

mod bounds;
mod design;
mod evaluate;
mod fast;
mod grid;
mod mechanism;
mod private_bounds;
mod radius;
mod real;
mod report;
mod rules;
mod table;

use evaluate::Trial;
use grid::Grid;
use report::{CSV_HEAD, ESTIMATORS, Outcome, groups, summarise, write_csv};
use rules::RULES;
use std::{fs::File, io::Write, path::PathBuf};

const FEATURES: [usize; 7] = [1, 2, 3, 5, 8, 12, 20];
/// Problems of the search and of the comparison never meet.
const SEARCH_SEED: u64 = 1;
const COMPARISON_SEED: u64 = 2;

type Merits = Vec<[evaluate::Merit; 2]>;

/// Why the experiment cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// A public data set cannot be read.
    #[error(transparent)]
    Data(#[from] real::DataError),
    /// A fit failed.
    #[error("a fit failed: {0}")]
    Fit(String),
    /// Results cannot be written.
    #[error("results could not be written: {0}; choose another file with --output")]
    Write(#[from] std::io::Error),
}

/// What to ask, of how many problems.
#[derive(clap::Args, Debug)]
pub struct DefaultsArguments {
    /// Are default fits of default releases honest, whatever the bounds?
    #[arg(long, conflicts_with_all = ["radius", "private_bounds"])]
    bounds: bool,
    /// How does the radius grow with the number of records?
    #[arg(long, conflicts_with = "private_bounds")]
    radius: bool,
    /// What do bounds cost that are found with noise?
    #[arg(long)]
    private_bounds: bool,
    /// Studies of every stratum of --bounds and of every table of --private-bounds
    #[arg(long, default_value_t = 200)]
    studies: u64,
    /// Only the strata of --bounds whose names hold these words
    #[arg(long, value_name = "WORDS", default_value = "")]
    only: String,
    /// Few problems: too few to conclude from
    #[arg(long)]
    quick: bool,
    /// Folder of the public data sets; without it only simulated tables
    #[arg(long, value_name = "FOLDER")]
    data: Option<PathBuf>,
    /// File of every figure
    #[arg(long, value_name = "FILE", default_value = "results.csv")]
    output: PathBuf,
}

impl DefaultsArguments {
    /// Problems per number of features, and noise replicates.
    fn size(&self, intercept: bool) -> (usize, usize) {
        match (self.quick, intercept) {
            (true, _) => (3, 5),
            (false, true) => (72, 20),
            (false, false) => (36, 20),
        }
    }
}

/// All points of the grid as if they were rules.
fn search(intercept: bool, options: &DefaultsArguments) -> Vec<Outcome> {
    let grid = Grid::new(intercept);
    synthetic(SEARCH_SEED, intercept, options, |trial| (grid.merits(trial), Vec::new()))
}

/// The named rules, with the grid as what they could have been.
fn compare(intercept: bool, options: &DefaultsArguments) -> Vec<Outcome> {
    let grid = Grid::new(intercept);
    synthetic(COMPARISON_SEED, intercept, options, |trial| (ruled(trial), grid.merits(trial)))
}

fn ruled(trial: &Trial) -> Merits {
    RULES.iter().map(|rule| trial.merit(&rule.setting(trial))).collect()
}

fn synthetic(
    seed: u64,
    intercept: bool,
    options: &DefaultsArguments,
    score: impl Fn(&Trial) -> (Merits, Merits),
) -> Vec<Outcome> {
    let (problems, replicates) = options.size(intercept);
    let mut outcomes = Vec::new();
    for d in FEATURES {
        for index in 0..problems {
            // Without an intercept the streams differ, as the seed is the other one's complement.
            let seed = if intercept { seed } else { !seed };
            let problem = design::problem(d, intercept, &[0.2, 0.5, 0.9], (seed, index));
            let trial = Trial::new(problem, replicates, index as u64);
            let (merits, others) = score(&trial);
            outcomes.push(Outcome::new(trial.tags().to_vec(), merits, &others));
        }
    }
    outcomes
}

fn real_sets(folder: &std::path::Path, intercept: bool, quick: bool) -> Result<Vec<Outcome>, Failure> {
    let grid = Grid::new(intercept);
    let mut outcomes = Vec::new();
    for file in real::FILES {
        for epsilon in [0.1, 1.0, 5.0] {
            let problem = real::problem(folder, file, intercept, epsilon)?;
            let trial = Trial::new(problem, if quick { 5 } else { 50 }, 0);
            outcomes.push(Outcome::new(trial.tags().to_vec(), ruled(&trial), &grid.merits(&trial)));
        }
    }
    Ok(outcomes)
}

/// The five grid points that are best on average, overall and per number of features.
fn print_search(set: &str, names: &[String], outcomes: &[Outcome]) {
    for (estimator, estimator_name) in ESTIMATORS.iter().enumerate() {
        for ((group, value), members) in groups(outcomes) {
            if group != "all" && group != "d" {
                continue;
            }
            let mut scored: Vec<(f64, usize)> =
                (0..names.len()).map(|rule| (summarise(&members, rule, estimator).mean[0], rule)).collect();
            scored.sort_by(|a, b| a.0.total_cmp(&b.0));
            for (factor, rule) in scored.into_iter().take(if group == "all" { 5 } else { 1 }) {
                println!("{set} | {estimator_name} | {group} {value} | {} | {factor:.2}", names[rule]);
            }
        }
    }
}

/// Mean and 90th percentile factor of every rule; then groups in columns for each.
fn print_comparison(set: &str, names: &[String], outcomes: &[Outcome]) {
    for (estimator, name) in ESTIMATORS.iter().enumerate() {
        println!("\n{set}, {name}: factor over the best setting, geometric mean (90th percentile)");
        println!(
            "| rule | excess error | slope error | 90% width | coverage |\n| --- | --- | --- | --- | --- |"
        );
        let all: Vec<&Outcome> = outcomes.iter().collect();
        for (rule, name) in names.iter().enumerate() {
            let s = summarise(&all, rule, estimator);
            let pair = |m: usize| format!("{:.2} ({:.1})", s.mean[m], s.high[m]);
            println!("| {name} | {} | {} | {:.2} | {:.2} |", pair(0), pair(1), s.interval[0], s.interval[1]);
        }
    }
}

fn print_real(set: &str, names: &[String], outcomes: &[Outcome]) {
    for outcome in outcomes {
        let tags: Vec<&str> = outcome.tags.iter().map(|(_, value)| value.as_str()).collect();
        for (rule, name) in names.iter().enumerate() {
            let [plain, aware] = &outcome.merits[rule];
            let (tags, best) = (tags.join(" | "), outcome.factor(rule, 0, 0));
            println!("{set} | {tags} | {name} | {:.4} | {:.4} | {best:.2}", plain.excess, aware.excess);
        }
    }
}

/// Runs the experiment.
pub fn run(options: &DefaultsArguments) -> Result<(), Failure> {
    let mut out = File::create(&options.output)?;
    if options.bounds {
        return bounds::run((options.studies, &options.only), options.data.as_deref(), &mut out);
    }
    if options.private_bounds {
        return private_bounds::run(options.studies, options.data.as_deref(), &mut out);
    }
    writeln!(out, "{CSV_HEAD}")?;
    if options.radius {
        return radius::run(options.quick, &mut out);
    }
    let rule_names: Vec<String> = RULES.iter().map(|rule| rule.name.to_string()).collect();
    for (intercept, word) in [(true, "intercept"), (false, "no intercept")] {
        let grid = Grid::new(intercept);
        let grid_names: Vec<String> = (0..grid.len()).map(|index| grid.name(index)).collect();
        print_search(&format!("search, {word}"), &grid_names, &search(intercept, options));
        let outcomes = compare(intercept, options);
        print_comparison(word, &rule_names, &outcomes);
        write_csv(&mut out, word, &rule_names, &outcomes)?;
        if let Some(folder) = &options.data {
            let outcomes = real_sets(folder, intercept, options.quick)?;
            print_real(&format!("real, {word}"), &rule_names, &outcomes);
            write_csv(&mut out, &format!("real {word}"), &rule_names, &outcomes)?;
        }
    }
    Ok(())
}
