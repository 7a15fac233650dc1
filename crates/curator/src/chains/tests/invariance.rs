//! The chains with an acceptance test leave the posterior as it is, with and without noise; two bugs are put in to see them caught.

use organza_mcmc::diagnostics::{Traces, mcse_mean};
use organza_mcmc::{Plan, run};

use super::super::kernels::{ChainInfo, DpHmc, DpPenalty, Preconditioner, Start, Walk};
use super::super::models::{Banana, Logistic, Regression};
use super::laws::{Bent, NormalPair, Quadrature, stays_in_law};
use super::*;

const LEAPS: usize = 5;

fn queries(dimension: usize, gradients: Option<GradientQuery>, ratio: Option<RatioQuery>) -> StepQueries {
    StepQueries { gradient: gradients, ratio, count_weight: 0.0, dimension }
}

fn hmc(start: Start, step_size: f64) -> DpHmc {
    DpHmc { start, step_size, leapfrog_steps: LEAPS, shortest: 0.2, preconditioner: Preconditioner::Identity }
}

fn hmc_queries(dimension: usize, clips: (f64, f64), noises: (f64, f64)) -> StepQueries {
    queries(dimension, gradient(LEAPS as u32 + 1, clips.0, noises.0), ratio(clips.1, noises.1))
}

#[test]
fn without_noise_and_clipping_it_is_hamiltonian_monte_carlo_on_a_gaussian() {
    let oracle = rehearse(gaussian_pair(), &[0.5, -1.0], 60, hmc_queries(2, (100.0, 100.0), (0.0, 0.0)));
    let outcome = stays_in_law(&oracle, &NormalPair::of(&oracle), (8000, 8), |start| hmc(start, 0.12));
    assert!(outcome.is_invariant(), "{:?}", outcome.chi_square);
    assert!(outcome.acceptance > 0.9 && outcome.renewal > 0.8, "{} {}", outcome.acceptance, outcome.renewal);
}

#[test]
fn without_noise_and_clipping_it_is_hamiltonian_monte_carlo_on_a_banana() {
    let model = Banana { bend: 1.5, prior_precision: 1e-3, precisions: [0.05, 0.2] };
    let oracle = rehearse(model, &[0.3, 1.0], 60, hmc_queries(2, (1e3, 1e3), (0.0, 0.0)));
    let outcome = stays_in_law(&oracle, &Bent::of(&oracle), (8000, 8), |start| hmc(start, 0.18));
    assert!(outcome.is_invariant(), "{:?}", outcome.chi_square);
    assert!(outcome.acceptance > 0.8 && outcome.renewal > 0.6, "{} {}", outcome.acceptance, outcome.renewal);
}

fn logistic() -> Regression<Logistic> {
    Regression::new(Logistic, &["x".to_string()], false, 2.0)
}

#[test]
fn without_noise_and_clipping_it_is_hamiltonian_monte_carlo_on_a_logistic_regression() {
    let oracle = rehearse(logistic(), &[0.8], 100, hmc_queries(1, (1.0, 1.0), (0.0, 0.0)));
    let law = Quadrature::of(&oracle, (-3.0, 5.0));
    let outcome = stays_in_law(&oracle, &law, (8000, 6), |start| hmc(start, 0.15));
    assert!(outcome.is_invariant(), "{:?}", outcome.chi_square);
    assert!(outcome.acceptance > 0.9 && outcome.renewal > 0.5, "{} {}", outcome.acceptance, outcome.renewal);
}

/// Gradients are clipped for most records and noisy, the ratio is noisy: its standard deviation is about 1.
fn noisy_pair() -> PrivateOracle<models::GaussianMean> {
    rehearse(gaussian_pair(), &[0.5, -1.0], 60, hmc_queries(2, (1.0, 20.0), (3.0, 0.3)))
}

#[test]
fn with_noise_and_clipped_gradients_dp_hmc_leaves_the_posterior_as_it_is() {
    let oracle = noisy_pair();
    let outcome = stays_in_law(&oracle, &NormalPair::of(&oracle), (8000, 20), |start| hmc(start, 0.08));
    assert!(outcome.is_invariant(), "{:?}", outcome.chi_square);
    assert!(outcome.acceptance > 0.2 && outcome.renewal > 0.5, "{} {}", outcome.acceptance, outcome.renewal);
}

#[test]
fn mutation_dropping_the_penalty_of_half_the_variance_spoils_the_posterior_of_dp_hmc() {
    let mut oracle = noisy_pair();
    oracle.faults.forget_variance = true;
    let outcome = stays_in_law(&oracle, &NormalPair::of(&oracle), (8000, 20), |start| hmc(start, 0.08));
    assert!(!outcome.is_invariant(), "the bug goes unnoticed: {:?}", outcome.chi_square);
}

#[test]
fn mutation_the_wrong_sign_of_the_leapfrog_kills_acceptance_and_leaves_the_posterior() {
    let settings = hmc_queries(2, (100.0, 100.0), (0.0, 0.0));
    let right = rehearse(gaussian_pair(), &[0.5, -1.0], 60, settings);
    let law = NormalPair::of(&right);
    let accepted = stays_in_law(&right, &law, (2000, 5), |start| hmc(start, 0.12)).acceptance;
    let mut wrong = rehearse(gaussian_pair(), &[0.5, -1.0], 60, settings);
    wrong.faults.flip_gradient = true;
    let outcome = stays_in_law(&wrong, &law, (2000, 5), |start| hmc(start, 0.12));
    assert!(outcome.is_invariant(), "{:?}", outcome.chi_square);
    assert!(accepted > 0.9 && outcome.acceptance < 0.3, "{accepted} and {}", outcome.acceptance);
}

fn walk(start: Start, step_size: f64, walk: Walk) -> DpPenalty {
    // A shape that is not the posterior's: any shape must do.
    let preconditioner = Preconditioner::Lower(vec![1.0, 0.0, -0.4, 0.8]);
    DpPenalty { start, step_size, walk, preconditioner }
}

fn walking_pair() -> PrivateOracle<models::GaussianMean> {
    rehearse(gaussian_pair(), &[0.5, -1.0], 60, queries(2, None, ratio(20.0, 0.3)))
}

#[test]
fn with_noise_every_walk_of_dp_penalty_leaves_the_posterior_as_it_is() {
    let oracle = walking_pair();
    for (kind, step) in [(Walk::All, 0.15), (Walk::OneComponent, 0.25), (Walk::Guided, 0.25)] {
        let outcome =
            stays_in_law(&oracle, &NormalPair::of(&oracle), (8000, 40), |start| walk(start, step, kind));
        assert!(outcome.is_invariant(), "{kind:?}: {:?}", outcome.chi_square);
        assert!(
            outcome.acceptance > 0.2 && outcome.renewal > 0.3,
            "{} {}",
            outcome.acceptance,
            outcome.renewal
        );
    }
}

#[test]
fn mutation_dropping_the_penalty_of_half_the_variance_spoils_every_walk_of_dp_penalty() {
    let mut oracle = walking_pair();
    oracle.faults.forget_variance = true;
    for (kind, step) in [(Walk::All, 0.15), (Walk::OneComponent, 0.25), (Walk::Guided, 0.25)] {
        let outcome =
            stays_in_law(&oracle, &NormalPair::of(&oracle), (8000, 40), |start| walk(start, step, kind));
        assert!(!outcome.is_invariant(), "{kind:?}: the bug goes unnoticed: {:?}", outcome.chi_square);
    }
}

/// A dense mass matrix is the same as a change of coordinates: catches F for F' in the momentum update.
#[test]
fn a_dense_mass_matrix_keeps_energy_and_law() {
    let oracle = rehearse(gaussian_pair(), &[0.5, -1.0], 60, hmc_queries(2, (100.0, 100.0), (0.0, 0.0)));
    let shape = Preconditioner::Lower(vec![0.15, 0.0, 0.09, 0.12]);
    let outcome = stays_in_law(&oracle, &NormalPair::of(&oracle), (4000, 6), |start| DpHmc {
        preconditioner: shape.clone(),
        ..hmc(start, 0.5)
    });
    assert!(
        outcome.is_invariant() && outcome.acceptance > 0.9,
        "{:?} {}",
        outcome.chi_square,
        outcome.acceptance
    );
}

/// Clipping a share s of the ratios takes that share of the likelihood away: the chain has the law of the likelihood to the power 1 - s, so its
/// variance is 1 / (1 - s) of the posterior's. At 10 percent no picture shows it, at 80 percent every one does (\[RKH21\] section 4.2).
/// Catches a clip bound that does not grow with the distance.
#[test]
fn clipped_ratios_widen_the_posterior_by_their_share() {
    let rows = 2000;
    for (clip, expected_share) in [(1.645, 0.1), (0.2533, 0.8)] {
        let settings = StepQueries { count_weight: 0.1, ..queries(1, None, ratio(clip, 0.0)) };
        let model = models::GaussianMean::new(&[1.0], 100.0).unwrap();
        let oracle = rehearse(model, &[0.3], rows, settings);
        let records = oracle.rehearsed_records().unwrap();
        let mean = (0..rows).map(|row| records.value(row, 0)).sum::<f64>() / rows as f64;
        let kernel = DpPenalty {
            start: Start { centre: vec![mean], sd: vec![0.02] },
            step_size: 0.08,
            walk: Walk::All,
            preconditioner: Preconditioner::Identity,
        };
        let plan = Plan { chains: 4, warmup: 100, draws: 20_000, thin: 1, seed: 8, threads: 1 };
        let draws = run(&kernel, &oracle, &plan).unwrap();
        let shares = draws.statistic(ChainInfo::CLIPPED_RATIOS).unwrap().concat();
        let share = shares.iter().sum::<f64>() / shares.len() as f64;
        assert!((share - expected_share).abs() < 0.03, "{share}");
        // Clipped, the mean of the records becomes a trimmed one: distances are from the chain's own centre.
        let centre = draws.values().iter().sum::<f64>() / draws.values().len() as f64;
        let square =
            |chain: &[f64]| chain.iter().map(|theta| rows as f64 * (theta - centre).powi(2)).collect();
        let squares: Vec<Vec<f64>> = draws.values().chunks(20_000).map(square).collect();
        let traces = Traces::new(&squares);
        let variance = traces.values().iter().sum::<f64>() / traces.values().len() as f64;
        // The share is that of all proposals and moves with theta: 2 percent more than the error of the chain.
        let tolerance = 5.0 * mcse_mean(&traces) + 0.02 / (1.0 - share);
        assert!((variance - 1.0 / (1.0 - share)).abs() < tolerance, "{share}: {variance} +- {tolerance}");
    }
}
