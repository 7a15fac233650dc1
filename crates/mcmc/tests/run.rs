//! The driver: same bits, thinning, early ends and failures.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod support;

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use organza_mcmc::{ChainRng, End, Kernel, Monitor, Plan, Progress, RunError, Stop, run, run_monitored};
use rand::RngExt;
use support::{Metropolis, Normal};

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

#[test]
fn same_seed_same_bits_on_any_number_of_threads() {
    let target = Normal(vec![(0.0, 1.0); 3]);
    let plan = Plan { chains: 5, warmup: 100, draws: 50, thin: 2, seed: 7, threads: 1 };
    let kernel = Metropolis::new(1.0);
    let one = run(&kernel, &target, &plan).unwrap();
    for threads in [1, 2, 5, 0] {
        let other = run(&kernel, &target, &Plan { threads, ..plan }).unwrap();
        assert_eq!(bits(one.values()), bits(other.values()), "{threads} threads");
        assert_eq!(bits(one.statistics()), bits(other.statistics()), "{threads} threads");
    }
    let other = run(&kernel, &target, &Plan { seed: 8, ..plan }).unwrap();
    assert_ne!(bits(one.values()), bits(other.values()));
    for chain in 1..5 {
        assert_ne!(one.draw(0, 0), one.draw(chain, 0), "chain {chain}");
    }
    // More chains do not change the first ones.
    let more = run(&kernel, &target, &Plan { chains: 6, ..plan }).unwrap();
    assert!(more.values().starts_with(one.values()));
}

/// Counts steps; what it does at certain steps is decided by a target.
#[derive(Clone)]
struct Counter;

/// Number of the chain's start (all start at 0) and step give what happens.
struct Script<F>(F);

impl<F: Fn(u32, usize) -> Result<f64, Stop> + Sync> Kernel<Script<F>> for Counter {
    type State = (u32, usize, Vec<f64>);
    type Info = ();

    fn init(&self, script: &Script<F>, rng: &mut ChainRng) -> Result<Self::State, Stop> {
        // The stream tells chains apart.
        let mine = rng.random::<u64>();
        let chain = (0..100).find(|chain| ChainRng::new(SEED, *chain).random::<u64>() == mine).unwrap();
        script.0(chain, 0).map(|value| (chain, 0, vec![value]))
    }

    fn step(&self, script: &Script<F>, state: &mut Self::State, _rng: &mut ChainRng) -> Result<(), Stop> {
        let value = script.0(state.0, state.1 + 1)?;
        state.1 += 1;
        // A value below 0 stands for a position that changes its length.
        state.2 = if value < 0.0 { vec![] } else { vec![value] };
        Ok(())
    }

    fn position<'s>(&self, state: &'s Self::State) -> &'s [f64] {
        &state.2
    }
}

const SEED: u64 = 3;
const PLAN: Plan = Plan { chains: 4, warmup: 3, draws: 10, thin: 2, seed: SEED, threads: 2 };

#[test]
fn thinning_keeps_the_last_step_of_each_group() {
    let draws = run(&Counter, &Script(|_, step| Ok(step as f64)), &PLAN).unwrap();
    let expected: Vec<f64> = (1..=10).map(|draw| (3 + 2 * draw) as f64).collect();
    assert_eq!(draws.parameter("theta[1]").unwrap(), vec![expected; 4]);
    assert!(draws.is_complete());
    assert_eq!((draws.total(), draws.records()[3].steps), (40, 23));
    assert_eq!(draws.draw(3, 9), Some(&[23.0][..]));
    assert!(draws.draw(3, 10).is_none() && draws.draw(4, 0).is_none());
}

#[test]
fn an_exhausted_budget_is_an_ordinary_end() {
    // Chain c may take 5 c steps: chain 0 does not even get through warm-up.
    let script = Script(|chain: u32, step| match step > 5 * chain as usize {
        true => Err(Stop::BudgetExhausted),
        false => Ok(step as f64),
    });
    let draws = run(&Counter, &script, &PLAN).unwrap();
    let records = draws.records();
    assert_eq!(records.iter().map(|record| record.draws).collect::<Vec<_>>(), [0, 1, 3, 6]);
    assert_eq!(records.iter().map(|record| record.steps).collect::<Vec<_>>(), [0, 5, 10, 15]);
    assert!(records.iter().all(|record| record.end == End::BudgetExhausted));
    assert_eq!(draws.parameter("theta[1]").unwrap()[2], [5.0, 7.0, 9.0]);
    // The largest rectangle: 1 x 6, 2 x 3 or 3 x 1 draws; of equal sizes the one with more chains.
    let traces = draws.traces("theta[1]").unwrap();
    assert_eq!((traces.chains(), traces.draws()), (2, 3));
    let none = run(&Counter, &Script(|_, _| Err(Stop::BudgetExhausted)), &PLAN).unwrap();
    assert_eq!((none.total(), none.chains()), (0, 4));
    assert_eq!(none.named(vec!["a".to_string(), "b".to_string()]).unwrap().names().len(), 2);
}

#[test]
fn an_interruption_keeps_finished_draws() {
    let interrupted = AtomicBool::new(false);
    let script = Script(|chain, step| {
        if (chain, step) == (1, 8) {
            interrupted.store(true, Ordering::Relaxed);
        }
        Ok(step as f64)
    });
    let monitor = Monitor { interrupted: Some(&interrupted), progress: None };
    let draws = run_monitored(&Counter, &script, &Plan { threads: 1, ..PLAN }, &monitor).unwrap();
    // One thread takes some chains before the interrupted one and some after it.
    let record = draws.records()[1];
    assert_eq!((record.draws, record.steps, record.end), (2, 8, End::Interrupted));
    assert_eq!(draws.parameter("theta[1]").unwrap()[1], [5.0, 7.0]);
    for chain in [0, 2, 3] {
        let record = draws.records()[chain];
        assert!(
            matches!((record.draws, record.end), (10, End::Complete) | (0, End::Interrupted)),
            "{record:?}"
        );
    }
    assert!(!draws.is_complete());
}

#[test]
fn a_failure_names_chain_and_step_whatever_the_threads() {
    let script = Script(|chain, step| match (chain, step) {
        (1, 20) => Err(Stop::numerical("first")),
        (3, 1) => Err(Stop::numerical("second")),
        _ => Ok(0.0),
    });
    for threads in [1, 2, 5] {
        let error = run(&Counter, &script, &Plan { threads, ..PLAN }).unwrap_err();
        assert_eq!(error.to_string(), "chain 2, step 20: first");
    }
    let message = |chain, at, stop: fn() -> Result<f64, Stop>| {
        let script = Script(move |c, step| if (c, step) == (chain, at) { stop() } else { Ok(0.0) });
        run(&Counter, &script, &PLAN).unwrap_err().to_string()
    };
    assert_eq!(message(3, 1, || Err(Stop::numerical("bad"))), "chain 4, step 1 (warm-up): bad");
    assert_eq!(message(0, 0, || Err(Stop::numerical("bad"))), "chain 1, start: bad");
    assert_eq!(message(2, 5, || Ok(f64::NAN)), "chain 3, step 5: parameter 1 is NaN, not a finite number");
    assert_eq!(message(2, 5, || Ok(-1.0)), "chain 3, step 5: the position has 0 values, but 1 before");
}

#[test]
fn progress_is_reported_to_the_end() {
    let seen = Mutex::new(Vec::new());
    let calls = AtomicUsize::new(0);
    let progress = |progress: Progress| {
        calls.fetch_add(1, Ordering::Relaxed);
        seen.lock().unwrap().push(progress);
    };
    let monitor = Monitor { interrupted: None, progress: Some(&progress) };
    let plan = Plan { draws: 5000, ..PLAN };
    run_monitored(&Counter, &Script(|_, _| Ok(0.0)), &plan, &monitor).unwrap();
    let seen = seen.lock().unwrap();
    for chain in 0..4 {
        let last = Progress { chain, step: 10_003, steps: 10_003, warmup: false };
        assert_eq!(seen.iter().rfind(|progress| progress.chain == chain), Some(&last));
    }
    assert!((600..=4 * 201).contains(&calls.load(Ordering::Relaxed)), "{calls:?} reports");
}

#[test]
fn impossible_plans_are_refused() {
    let refused = |plan: Plan| run(&Counter, &Script(|_, _| Ok(0.0)), &plan).unwrap_err();
    assert_eq!(refused(Plan { chains: 0, ..PLAN }).to_string(), "plan: chains: must be at least 1");
    assert_eq!(refused(Plan { thin: 0, ..PLAN }).to_string(), "plan: thin: must be at least 1");
    assert!(matches!(refused(Plan { draws: 0, ..PLAN }), RunError::Plan { field: "draws", .. }));
    assert!(matches!(refused(Plan { draws: usize::MAX, ..PLAN }), RunError::Plan { field: "draws", .. }));
    assert!(matches!(refused(Plan { chains: 1 << 32, ..PLAN }), RunError::Plan { field: "chains", .. }));
    let text = serde_json::to_string(&PLAN).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), PLAN);
    assert!(serde_json::from_str::<Plan>(r#"{"chain": 4}"#).is_err());
}
