//! Prints Markdown tables: CPU time of sweeps and effective draws per CPU second, one thread.
#![forbid(unsafe_code)]

#[path = "../../infer/src/clock.rs"]
mod clock;
mod log_linear;
mod population;
mod regression;

use clock::timed;
use organza_infer::augmentation::{Interweaving, Plain};
use organza_mcmc::diagnostics::ess_bulk;
use organza_mcmc::{Draws, Kernel, Plan, run};

/// Any error: it is shown and ends the run.
type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    sweeps()?;
    mixing()?;
    growth()?;
    log_linear::report()?;
    population::report()
}

/// One chain on this thread.
fn plan(warmup: usize, draws: usize, seed: u64) -> Plan {
    Plan { chains: 1, warmup, draws, thin: 1, seed, threads: 1 }
}

/// Draws, and the CPU seconds of the whole run.
fn chain<T: Sync, K: Kernel<T>>(kernel: &K, target: &T, plan: &Plan) -> Result<(Draws, f64), Failure> {
    let (draws, seconds) = timed(|| run(kernel, target, plan));
    Ok((draws?, seconds))
}

/// Bulk effective size of the worst of the first parameters.
fn worst(draws: &Draws, parameters: usize) -> f64 {
    let names = &draws.names()[..parameters];
    let sizes = names.iter().filter_map(|name| draws.traces(name)).map(|traces| ess_bulk(&traces));
    sizes.fold(f64::INFINITY, f64::min)
}

/// 10,000 plain sweeps in the setting of the paper, five times.
fn sweeps() -> Result<(), Failure> {
    let target = regression::target(1.0, Some(15.0), 100)?;
    let mut times = Vec::new();
    for seed in 0..5 {
        times.push(chain(&Plain, &target, &plan(0, 10_000, seed))?.1);
    }
    times.sort_by(f64::total_cmp);
    println!("10,000 plain sweeps, n = 100, p = 2, epsilon 1: {:.3} / {:.3} s\n", times[0], times[2]);
    Ok(())
}

/// Effective draws per CPU second, warm-up included, of both chains.
fn mixing() -> Result<(), Failure> {
    println!(
        "| epsilon | noise | plain: ESS of 20,000 | per second | interweaving: ESS of 20,000 | per second | better by |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for epsilon in [0.1, 0.3, 1.0, 3.0, 10.0] {
        for (name, sensitivity) in [("Delta = 15", Some(15.0)), ("ours", None)] {
            let target = regression::target(epsilon, sensitivity, 100)?;
            let plan = plan(2000, 20_000, 1);
            let (plain, slow) = chain(&Plain, &target, &plan)?;
            let (woven, fast) = chain(&Interweaving::new(&target), &target, &plan)?;
            let (before, after) = (worst(&plain, 3), worst(&woven, 3));
            let (slow, fast) = (before / slow, after / fast);
            println!(
                "| {epsilon} | {name} | {before:.0} | {slow:.0} | {after:.0} | {fast:.0} | {:.0} |",
                fast / slow
            );
        }
    }
    println!();
    Ok(())
}

/// Nanoseconds per record and sweep.
fn growth() -> Result<(), Failure> {
    println!("| n | plain, ns per record and sweep | interweaving |");
    println!("| --- | --- | --- |");
    for records in [100_usize, 1_000, 10_000, 100_000, 1_000_000] {
        let target = regression::target(1.0, Some(15.0), records)?;
        let steps = (3_000_000 / records).max(3);
        let per_record = |seconds: f64| 1e9 * seconds / (steps * records) as f64;
        let plain = per_record(chain(&Plain, &target, &plan(0, steps, 1))?.1);
        let woven = per_record(chain(&Interweaving::new(&target), &target, &plan(0, steps, 1))?.1);
        println!("| {records} | {plain:.0} | {woven:.0} |");
    }
    println!();
    Ok(())
}
