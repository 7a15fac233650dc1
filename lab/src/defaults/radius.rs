//! How far the radius may grow with the number of records: shrunk records are another regression where the truth is no
//! line.

use std::io::Write;

use organza_curator::defaults::{Scaling, grown, noise_allowed, scaling};
use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};

use super::design::curved_problem;
use super::evaluate::Trial;
use super::mechanism::Setting;
use super::report::{ESTIMATORS, Outcome, groups, summarise, write_csv};
use super::{FEATURES, Failure};

/// Problems of their own.
const SEED: u64 = 3;
/// Shares of the sampling variance that noise may have; 0 is the radius of few records, infinity shrinks nothing.
const SHARES: [f64; 7] = [0.0, 0.02, 0.05, 0.1, 0.2, 0.5, f64::INFINITY];

/// The setting of a share on a problem, with the number of records rounded down to a power of two.
fn setting(trial: &Trial, share: f64) -> Option<Setting> {
    let Scaling { radius, intercept_weight, response_weight } =
        scaling(trial.features(), trial.booleans(), trial.intercept())?;
    let at = |radius: f64| Setting::Scaled { radius, intercept_weight, response_weight };
    let constant = if trial.intercept() { intercept_weight } else { 0.0 };
    let longest = constant.hypot((trial.features() as f64).sqrt());
    let allowed = noise_allowed(1 << trial.records().ilog2(), response_weight, share);
    Some(at(grown((radius, longest), |radius| trial.noise_scale(&at(radius)) <= allowed)))
}

/// All shares on one problem; settings that are the same are tried once.
fn outcome(d: usize, index: usize, intercept: bool, replicates: usize) -> Option<Outcome> {
    let seed = if intercept { SEED } else { !SEED };
    let trial = Trial::new(curved_problem(d, intercept, (seed, index))?, replicates, index as u64);
    let mut tried: Vec<(Setting, [super::evaluate::Merit; 2])> = Vec::new();
    let mut merits = Vec::new();
    for share in SHARES {
        let setting = setting(&trial, share)?;
        let known = tried.iter().find(|(other, _)| *other == setting).map(|(_, merit)| *merit);
        let merit = known.unwrap_or_else(|| trial.merit(&setting));
        tried.push((setting, merit));
        merits.push(merit);
    }
    Some(Outcome::above(trial.sampling_error()?, trial.tags().to_vec(), merits, &[]))
}

/// Prints the criterion and writes all figures.
pub fn run(quick: bool, out: &mut dyn Write) -> Result<(), Failure> {
    let names: Vec<String> = SHARES.iter().map(|share| format!("share {share}")).collect();
    for (intercept, word) in [(true, "intercept"), (false, "no intercept")] {
        let problems = if quick { 4 } else { [24, 48][usize::from(intercept)] };
        let all: Vec<(usize, usize)> =
            FEATURES.iter().flat_map(|d| (0..problems).map(move |index| (*d, index))).collect();
        let found = all.into_par_iter().with_max_len(1);
        let outcomes: Vec<Outcome> =
            found.filter_map(|(d, index)| outcome(d, index, intercept, 20)).collect();
        print(word, &names, &outcomes);
        write_csv(out, &format!("radius {word}"), &names, &outcomes)?;
    }
    Ok(())
}

/// Geometric means of both errors over the best of all shares, and over the radius of few records.
fn print(word: &str, names: &[String], outcomes: &[Outcome]) {
    for (estimator, estimator_name) in ESTIMATORS.iter().enumerate() {
        println!(
            "\n{word}, {estimator_name}: slope error over the best (over share 0), prediction error, coverage"
        );
        for ((group, value), members) in groups(outcomes) {
            print!("| {group} {value} | {}", members.len());
            let first = summarise(&members, 0, estimator);
            for rule in 0..names.len() {
                let s = summarise(&members, rule, estimator);
                let over = s.mean[1] / first.mean[1];
                print!(" | {:.3} ({over:.3}) {:.2} {:.2}", s.mean[1], s.mean[0], s.interval[1]);
            }
            println!(" |");
        }
    }
}
