//! NUTS: draws have the distribution of the target, and what goes wrong is said.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use organza_mcmc::diagnostics::{Traces, r_hat};
use organza_mcmc::{
    ChainRng, Draws, End, Gradient, LogDensity, Mass, Monitor, Nuts, Plan, Progress, Statistic, Summary,
    gradient_error, run, run_monitored,
};
use rand::RngExt;
use support::targets::{Correlated, Failing, Funnel, HalfNormal};
use support::{Normal, critical_z, mean_z, tail_z};

const PLAN: Plan = Plan { chains: 4, warmup: 500, draws: 1000, thin: 1, seed: 3, threads: 0 };
/// Enough draws to see a variance that is wrong by a tenth.
const MANY: Plan = Plan { draws: 10_000, ..PLAN };

fn sample(target: &(impl Gradient + Sync), mass: Mass, plan: &Plan) -> Draws {
    run(&Nuts { mass, ..Nuts::for_plan(plan) }, &target, plan).unwrap()
}

/// z of mean, variance and two quantiles of draws that should be standard normal.
fn normal_scores(traces: &Traces) -> [f64; 4] {
    [
        mean_z(traces, 0.0, 1.0),
        mean_z(&traces.map(|x| x * x), 1.0, 2.0_f64.sqrt()),
        tail_z(traces, -1.281_551_565_544_6, 0.1),
        tail_z(traces, 1.281_551_565_544_6, 0.9),
    ]
}

fn assert_scores(what: &str, scores: &[f64], critical: f64) {
    for (place, z) in scores.iter().enumerate() {
        assert!(z.abs() < critical, "{what}: z number {place} is {z}, critical {critical}");
    }
}

/// Seen to catch: a log density that is multiplied by 1.1, gradient and all.
#[test]
fn normal_draws_have_their_moments_and_quantiles() {
    let moments: Vec<(f64, f64)> =
        (0..10).map(|place| (f64::from(place), 0.1 * f64::from(1 << place))).collect();
    let target = Normal(moments);
    let draws = sample(&target, Mass::Diagonal, &MANY);
    for (draws, mass) in [(&draws, "diagonal"), (&sample(&target, Mass::NearNormal, &MANY), "near normal")] {
        for (name, (mean, sd)) in draws.names().iter().zip(&target.0) {
            let traces = draws.traces(name).unwrap().map(|x| (x - mean) / sd);
            assert!(r_hat(&traces) < 1.01, "{mass}, {name}");
            assert_scores(name, &normal_scores(&traces), critical_z(80));
        }
    }
    let summary = Summary::new(&draws, 0.9).unwrap();
    assert_eq!(summary.warnings(), Vec::<String>::new());
    assert_eq!(summary.divergences, Some(0.0));
    // Independent normal coordinates refresh their energy quickly.
    assert_eq!(summary.energy_fractions.len(), 4);
    assert!(summary.energy_fractions.iter().all(|fraction| (0.5..2.0).contains(fraction)), "{summary:?}");
}

/// Seen to catch: paths of one step, which do not get along the ridge.
#[test]
fn strongly_correlated_draws_have_their_moments_with_all_metrics() {
    let target = Correlated { dim: 5, correlation: 0.99 };
    for mass in [Mass::Diagonal, Mass::LowRank, Mass::NearNormal] {
        let draws = sample(&target, mass, &MANY);
        let columns: Vec<Traces> = draws.names().iter().map(|name| draws.traces(name).unwrap()).collect();
        for (place, traces) in columns.iter().enumerate() {
            assert!(r_hat(traces) < 1.03, "{mass:?}, {place}: {}", r_hat(traces));
            assert_scores(&format!("{mass:?}, {place}"), &normal_scores(traces), critical_z(50));
        }
        for pair in columns.windows(2) {
            let (one, other) = (&pair[0], &pair[1]);
            let chains = one.iter().zip(other.iter());
            let product: Vec<Vec<f64>> =
                chains.map(|(x, y)| x.iter().zip(y).map(|(x, y)| x * y).collect()).collect();
            // Var(x y) = 1 + correlation^2.
            let z = mean_z(&Traces::new(&product), 0.99, (1.0 + 0.99_f64.powi(2)).sqrt());
            assert_scores(&format!("{mass:?}, product"), &[z], critical_z(50));
        }
    }
}

/// A standard normal target that starts as [`Mass::NearNormal`] wants it.
struct Standard(usize);

impl LogDensity for Standard {
    fn dim(&self) -> usize {
        self.0
    }

    fn log_density(&self, x: &[f64]) -> f64 {
        -0.5 * x.iter().map(|value| value * value).sum::<f64>()
    }

    fn start(&self, rng: &mut ChainRng, point: &mut [f64]) {
        point.iter_mut().for_each(|value| *value = if rng.random::<bool>() { 1.0 } else { -1.0 });
    }
}

impl Gradient for Standard {
    fn log_density_and_gradient(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
        gradient.iter_mut().zip(x).for_each(|(slope, value)| *slope = -value);
        self.log_density(x)
    }
}

/// Catches first scales that come from anything but the guess: they make hundreds of gradients of the first paths.
#[test]
fn near_normal_paths_are_short_in_many_dimensions_from_the_first_step_on() {
    let plan = Plan { chains: 2, warmup: 0, draws: 100, ..PLAN };
    let draws = sample(&Standard(2000), Mass::NearNormal, &plan);
    let gradients = draws.statistic("gradients").unwrap().concat();
    assert!(gradients.iter().all(|count| *count <= 7.0), "{gradients:?}");
    let learnt = sample(&Standard(2000), Mass::NearNormal, &Plan { warmup: 100, ..plan });
    let gradients = learnt.statistic("gradients").unwrap().concat();
    assert!(gradients.iter().all(|count| *count <= 15.0), "{gradients:?}");
    let first = learnt.traces("theta[1]").unwrap();
    assert!(r_hat(&first) < 1.1, "{}", r_hat(&first));
}

/// Seen to catch: a Jacobian left out, and the position stored instead of the outputs.
#[test]
fn a_transformed_half_normal_is_stored_as_itself() {
    let draws = sample(&HalfNormal, Mass::Diagonal, &MANY);
    assert_eq!(draws.names().len(), 2);
    let (sigma, square) = (draws.traces("theta[1]").unwrap(), draws.traces("theta[2]").unwrap());
    let mean = std::f64::consts::FRAC_2_PI.sqrt();
    let sd = (1.0 - std::f64::consts::FRAC_2_PI).sqrt();
    let scores = [
        mean_z(&sigma, mean, sd),
        mean_z(&square, 1.0, 2.0_f64.sqrt()),
        // Quantiles of |x|: those of x at 0.55 and 0.95.
        tail_z(&sigma, 0.125_661_346_855_074, 0.1),
        tail_z(&sigma, 1.644_853_626_951_47, 0.9),
    ];
    assert_scores("sigma", &scores, critical_z(4));
    assert!(sigma.values().iter().zip(square.values()).all(|(one, other)| one * one == *other));
}

#[test]
fn a_funnel_is_reported() {
    // Long steps, which do not fit into the neck.
    let kernel = Nuts { target_accept: 0.6, ..Nuts::for_plan(&PLAN) };
    let summary = Summary::new(&run(&kernel, &&Funnel(9), &PLAN).unwrap(), 0.9).unwrap();
    let warnings = summary.warnings();
    let has = |text: &str| warnings.iter().any(|warning| warning.contains(text));
    assert!(has("steps diverged") && summary.divergences.unwrap() > 0.0, "{warnings:#?}");
    assert!(has("E-BFMI is below 0.3") && summary.energy_fractions.len() == 4, "{warnings:#?}");
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

#[test]
fn same_seed_same_bits_on_any_number_of_threads() {
    let target = Arc::new(Correlated { dim: 4, correlation: 0.9 });
    let plan = Plan { chains: 3, warmup: 100, draws: 50, thin: 2, seed: 7, threads: 1 };
    for mass in [Mass::Diagonal, Mass::LowRank, Mass::NearNormal] {
        let kernel = Nuts { mass, ..Nuts::for_plan(&plan) };
        let one = run(&kernel, &target, &plan).unwrap();
        let two = run(&kernel, &target, &Plan { threads: 2, ..plan }).unwrap();
        assert_eq!(bits(one.values()), bits(two.values()));
        assert_eq!(bits(one.statistics()), bits(two.statistics()));
        let other = run(&kernel, &target, &Plan { seed: 8, ..plan }).unwrap();
        assert_ne!(one.draw(0, 0), other.draw(0, 0));
        assert_ne!(one.draw(0, 0), one.draw(1, 0));
        assert_ne!(one.draw(1, 0), one.draw(2, 0));
    }
}

/// Seen to catch: one step of warm-up too many for the sampler, and jitter.
#[test]
fn nothing_is_learnt_after_warm_up() {
    let metrics = [Mass::Diagonal, Mass::LowRank, Mass::NearNormal];
    for (mass, warmup) in metrics.into_iter().flat_map(|mass| [0, 1, 3, 6, 7, 200].map(|steps| (mass, steps)))
    {
        let draws = sample(&Normal(vec![(0.0, 1.0); 3]), mass, &Plan { warmup, draws: 50, ..PLAN });
        for steps in draws.statistic("step_size").unwrap() {
            assert!(steps.iter().all(|step| *step == steps[0]), "{mass:?}, {warmup}: {steps:?}");
        }
    }
    let target = Normal(vec![(0.0, 1.0)]);
    let kernel = Nuts::for_plan(&PLAN);
    let error = run(&kernel, &&target, &Plan { warmup: 499, ..PLAN }).unwrap_err().to_string();
    assert!(error.starts_with("chain 1, step 500: warmup: the sampler learns in 500 steps"), "{error}");
    assert!(run(&kernel, &&target, &Plan { warmup: 501, draws: 1, ..PLAN }).is_ok());
    let cold = Plan { warmup: 0, draws: 10, ..PLAN };
    assert!(run(&Nuts::for_plan(&cold), &&target, &cold).unwrap().is_complete());
}

#[test]
fn statistics_are_consistent() {
    let plan = Plan { draws: 100, thin: 3, ..PLAN };
    let kernel = Nuts { max_depth: 2, ..Nuts::for_plan(&plan) };
    let draws = run(&kernel, &&Correlated { dim: 3, correlation: 0.9 }, &plan).unwrap();
    assert_eq!(draws.statistic_names(), ["divergent", "energy", "depth", "step_size", "gradients"]);
    assert!(draws.statistic("depth").unwrap().iter().flatten().all(|depth| *depth <= 2.0));
    // Three paths of 1 to 3 leapfrog steps for each draw, and some of each length.
    let gradients = draws.statistic("gradients").unwrap().concat();
    assert!(gradients.iter().all(|count| (3.0..=9.0).contains(count)));
    assert!(gradients.iter().any(|count| *count < 9.0) && gradients.contains(&9.0));
    assert!(draws.statistic(Statistic::ENERGY).unwrap().iter().flatten().all(|energy| energy.is_finite()));
}

#[test]
fn an_interruption_keeps_draws() {
    let interrupted = AtomicBool::new(false);
    let progress = |progress: Progress| {
        if progress.chain == 0 && progress.step >= 750 {
            interrupted.store(true, Ordering::Relaxed);
        }
    };
    let monitor = Monitor { interrupted: Some(&interrupted), progress: Some(&progress) };
    let target = Normal(vec![(0.0, 1.0); 2]);
    let plan = Plan { threads: 1, chains: 1, ..PLAN };
    let draws = run_monitored(&Nuts::for_plan(&plan), &&target, &plan, &monitor).unwrap();
    let record = draws.records()[0];
    assert_eq!((record.end, record.steps, record.draws), (End::Interrupted, 752, 252));
    let whole = sample(&target, Mass::Diagonal, &plan);
    assert!(whole.values().starts_with(draws.values()));
}

/// A wall at 1: a path that runs into it diverges, and the chain goes on.
#[test]
fn a_failure_within_a_path_is_a_divergence() {
    let plan = Plan { draws: 200, ..PLAN };
    for (value, slope) in [(f64::NAN, 0.0), (0.0, f64::NAN), (f64::NEG_INFINITY, 0.0), (0.0, f64::INFINITY)] {
        let target = Failing { limit: 1.0, start: None, value, slope };
        let draws = sample(&target, Mass::Diagonal, &plan);
        assert!(draws.statistic_total(Statistic::DIVERGENT).unwrap() > 0.0, "{value}, {slope}");
        assert!(draws.values().iter().all(|x| *x <= 1.0));
        assert!(draws.values().iter().any(|x| *x > 0.5));
    }
}

#[test]
fn a_target_without_a_start_is_refused() {
    let message = |target: Failing| run(&Nuts::for_plan(&PLAN), &&target, &PLAN).unwrap_err().to_string();
    let never = Failing { limit: f64::NEG_INFINITY, start: None, value: f64::NAN, slope: 0.0 };
    let expected = "chain 1, start: no start in 100 tries: at the last one the log density is NaN; let the \
                    target start where its density is finite";
    assert_eq!(message(never), expected);
    let slope = Failing { limit: f64::NEG_INFINITY, start: None, value: 0.0, slope: f64::INFINITY };
    assert!(message(slope).contains("the gradient in coordinate 1 is inf"));
    let mode = Failing { limit: 1.0, start: Some(0.0), value: 0.0, slope: 0.0 };
    assert!(message(mode).contains("the gradient in coordinate 1 is 0, as at a mode"));
    // Half of the starts are in the support.
    let half = Failing { limit: 0.0, start: None, value: f64::NEG_INFINITY, slope: 0.0 };
    assert!(run(&Nuts::for_plan(&PLAN), &&half, &PLAN).is_ok());
}

#[test]
fn impossible_settings_are_refused() {
    let target = Normal(vec![(0.0, 1.0)]);
    let refused = |kernel: Nuts| run(&kernel, &&target, &PLAN).unwrap_err().to_string();
    for target_accept in [0.0, 1.0, f64::NAN] {
        let error = refused(Nuts { target_accept, ..Nuts::for_plan(&PLAN) });
        assert!(error.contains("target_accept") && error.contains("not in (0, 1)"), "{error}");
    }
    assert!(refused(Nuts { max_depth: 0, ..Nuts::for_plan(&PLAN) }).contains("max_depth"));
}

/// The gradient of another target with one error.
struct Wrong<T>(T, fn(&mut [f64]));

impl<T: Gradient> LogDensity for Wrong<T> {
    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn log_density(&self, theta: &[f64]) -> f64 {
        self.0.log_density(theta)
    }
}

impl<T: Gradient> Gradient for Wrong<T> {
    fn log_density_and_gradient(&self, theta: &[f64], gradient: &mut [f64]) -> f64 {
        let value = self.0.log_density_and_gradient(theta, gradient);
        self.1(gradient);
        value
    }
}

#[test]
fn wrong_gradients_are_caught() {
    let point = [0.7, -1.3, 0.2, 1.9];
    assert!(gradient_error(&Correlated { dim: 4, correlation: 0.99 }, &point) < 1e-9);
    assert!(gradient_error(&Funnel(4), &point) < 1e-9);
    assert!(gradient_error(&HalfNormal, &point[..1]) < 1e-9);
    let narrow = Normal(vec![(0.7001, 1e-4), (-1e6, 1e3)]);
    assert!(gradient_error(&narrow, &[0.7, 1e6]) < 1e-6);
    let wrong: [fn(&mut [f64]); 4] = [
        |gradient| gradient[2] = -gradient[2],
        |gradient| gradient[1] *= 1.001,
        |gradient| gradient[3] = f64::NAN,
        |gradient| gradient.swap(0, 1),
    ];
    for (number, error) in wrong.into_iter().enumerate() {
        let found = gradient_error(&Wrong(Funnel(4), error), &point);
        assert!(found > 9e-4, "error number {number}: {found}");
    }
}
