//! Answers one request per line of standard input, so that `run.py` can take turns between contestants. The first number of an
//! answer is CPU seconds.
//!
//! `simulate FEATURES PARTIES RECORDS equal|unequal PATH` writes releases; `load PATH` reads them; `run METHOD CHAINS WARMUP DRAWS SEED`
//! times a run; `steps METHOD WARMUP COUNT` times the steps of a chain after its warm-up; `prepare` times the target of independent
//! draws; `gradients METHOD COUNT` times gradients; `diagnose PATH` judges the draws that another program has written.
#![forbid(unsafe_code)]

mod clock;
mod contest;
mod releases;
mod report;
mod simulate;

use contest::Problem;
use organza_mcmc::Plan;
use std::io::{BufRead, Write};

/// Any error: run.py shows it and stops.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let mut problem = None;
    for line in std::io::stdin().lock().lines() {
        let (seconds, answer) = answer(&line?, &mut problem)?;
        println!("{seconds} {answer}");
        std::io::stdout().flush()?;
    }
    Ok(())
}

fn answer(line: &str, problem: &mut Option<Problem>) -> Result<(f64, String), Failure> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let loaded = || problem.as_ref().ok_or("load releases first");
    let nothing = String::new();
    Ok(match words[..] {
        ["simulate", features, parties, records, sizes, path] => {
            let (features, parties, records) = (features.parse()?, parties.parse()?, records.parse()?);
            std::fs::write(path, simulate::simulate(features, parties, records, sizes == "equal")?)?;
            (0.0, nothing)
        }
        ["load", path] => {
            *problem = Some(Problem::new(&releases::read(&std::fs::read_to_string(path)?)?)?);
            (0.0, nothing)
        }
        ["run", method, chains, warmup, draws, seed] => {
            let (chains, warmup, draws) = (chains.parse()?, warmup.parse()?, draws.parse()?);
            let plan = Plan { chains, warmup, draws, thin: 1, seed: seed.parse()?, threads: 1 };
            let (draws, seconds) = loaded()?.run(method, &plan)?;
            (seconds, report::report(&draws, loaded()?.dimension())?)
        }
        ["steps", method, warmup, count] => {
            (loaded()?.steps(method, warmup.parse()?, count.parse()?)?, nothing)
        }
        ["prepare"] => (loaded()?.prepare()?, nothing),
        ["gradients", method, count] => (loaded()?.gradients(method, count.parse()?)?, nothing),
        ["diagnose", path] => {
            let coefficients = loaded()?.dimension();
            (0.0, report::report(&report::read_draws(path, coefficients)?, coefficients)?)
        }
        _ => return Err(format!("unknown request: {line}").into()),
    })
}
