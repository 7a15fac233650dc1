//! Answers one request per line of standard input, so that `run.py` can take turns between contestants. The first two numbers of an
//! answer are wall and CPU seconds.
//!
//! `load PROBLEM ROWS PATH` reads records; `chains METHOD THREADS STEPS` times four chains; `gradient CLIP` answers one noisy gradient; `pass QUESTION
//! MODEL ROWS CLIP THREADS REPETITIONS` times a pass over made-up records; `read BYTES THREADS REPETITIONS` and `operations THREADS REPETITIONS` time what
//! the machine can do; `noise SCALE REPETITIONS`, `sample ROWS REPETITIONS` and `account epsilon|steps SIGMA RATE STEPS` time the other parts of a run.
#![forbid(unsafe_code)]

mod clock;
mod contest;
mod limits;
mod parts;
mod passes;
mod settings;

use clock::{Seconds, timed};
use contest::Problem;
use passes::Pass;
use rayon::ThreadPool;
use std::io::{BufRead, Write};

/// Any error: run.py shows it and stops.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let mut problem = None;
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let (seconds, text) = match words.first() {
            Some(&"load" | &"chains" | &"gradient") => run(&words, &mut problem)?,
            _ => measure(&words)?,
        };
        println!("{} {} {text}", seconds.wall, seconds.cpu);
        std::io::stdout().flush()?;
    }
    Ok(())
}

fn run(words: &[&str], problem: &mut Option<Problem>) -> Result<(Seconds, String), Failure> {
    let loaded = || problem.as_ref().ok_or("load a problem first");
    match *words {
        ["load", name, rows, path] => {
            let (loaded, seconds) = timed(|| Problem::load(name, rows.parse()?, path));
            *problem = Some(loaded?);
            Ok((seconds, String::new()))
        }
        ["chains", method, threads, steps] => loaded()?.chains(method, (threads.parse()?, steps.parse()?)),
        ["gradient", clip] => {
            let problem = loaded()?;
            let (answer, seconds) = timed(|| problem.gradient(clip.parse()?));
            Ok((seconds, answer?))
        }
        _ => Err(format!("unknown request: {words:?}").into()),
    }
}

fn measure(words: &[&str]) -> Result<(Seconds, String), Failure> {
    match *words {
        ["pass", question, model, rows, clip, threads, repetitions] => {
            let (rows, clip, repetitions) = (rows.parse()?, clip.parse()?, repetitions.parse()?);
            let pass = Pass { question, model, rows, clip, repetitions };
            let passed = pass.time(&pool(threads)?)?;
            Ok((passed.seconds, format!("{} {}", passed.bytes, passed.clipped)))
        }
        ["read", bytes, threads, repetitions] => {
            Ok((limits::read(&pool(threads)?, bytes.parse()?, repetitions.parse()?), bytes.into()))
        }
        ["operations", threads, repetitions] => {
            let (count, seconds) = limits::operations(&pool(threads)?, repetitions.parse()?);
            Ok((seconds, count.to_string()))
        }
        ["noise", scale, repetitions] => {
            Ok((parts::noise(scale.parse()?, repetitions.parse()?)?, String::new()))
        }
        ["sample", rows, repetitions] => {
            Ok((parts::sample_bytes(rows.parse()?, repetitions.parse()?)?, String::new()))
        }
        ["account", question, sigma, rate, steps] => {
            parts::account(question, sigma.parse()?, rate.parse()?, steps.parse()?)
        }
        _ => Err(format!("unknown request: {words:?}").into()),
    }
}

fn pool(threads: &str) -> Result<ThreadPool, Failure> {
    Ok(rayon::ThreadPoolBuilder::new().num_threads(threads.parse()?).build()?)
}
