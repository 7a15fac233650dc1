//! Times of steps: `cargo test -p organza-infer augmentation::tests::speed -- --ignored --nocapture`.

use organza_mcmc::Kernel;

use super::super::{Interweaving, Plain};
use super::categorical::log_linear;
use super::published::{target, worst};
use super::*;

/// Seconds that this thread has had of a processor, where the system says so.
fn clock() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split_whitespace().next().unwrap().parse::<f64>().unwrap() * 1e-9
}

/// Seconds of so many steps after a warm-up of two hundred.
fn seconds<T, K: Kernel<T>>(mut kernel: K, target: &T, steps: usize) -> f64 {
    let mut rng = ChainRng::new(3, 0);
    let mut state = kernel.init(target, &mut rng).unwrap();
    for _ in 0..steps.min(200) {
        let info = kernel.step(target, &mut state, &mut rng).unwrap();
        kernel.adapt(&state, &info);
    }
    let start = clock();
    for _ in 0..steps {
        kernel.step(target, &mut state, &mut rng).unwrap();
    }
    clock() - start
}

#[test]
#[ignore = "a measurement, not a test"]
fn times() {
    let paper = target(1.0, Some(15.0), 100);
    println!("plain, n = 100, 10,000 steps: {} s", seconds(Plain, &paper, 10_000));
    println!("interweaving, n = 100, 10,000 steps: {} s", seconds(Interweaving::new(&paper), &paper, 10_000));
    let effective = worst(&Interweaving::new(&paper), &paper, 10_000) / 40_000.0;
    let steps_per_second = 10_000.0 / seconds(Interweaving::new(&paper), &paper, 10_000);
    println!("effective draws per step {effective}, per second {}", effective * steps_per_second);
    for records in [1_000, 10_000, 100_000, 1_000_000] {
        let (target, steps) = (target(1.0, Some(15.0), records), (2_000_000 / records as usize).max(3));
        let per_record = |time: f64| 1e9 * time / (steps as f64 * records as f64);
        println!(
            "n = {records}: plain {:.1} ns, interweaving {:.1} ns per record and step",
            per_record(seconds(Plain, &target, steps)),
            per_record(seconds(Interweaving::new(&target), &target, steps))
        );
    }
}

#[test]
#[ignore = "a measurement, not a test"]
fn times_of_tables() {
    for epsilon in [0.1, 1.0, 10.0] {
        let time = seconds(Plain, &log_linear(epsilon), 100_000) / 100_000.0;
        println!("naive bayes, n = 100, epsilon {epsilon}: {:.1} microseconds per step", 1e6 * time);
    }
}
