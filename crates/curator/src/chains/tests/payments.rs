//! What steps cost, how many a budget buys, and that kernels ask for exactly what they paid for.

use std::sync::atomic::Ordering;

use organza_mcmc::{End, Kernel, Plan, run};
use organza_release::Neighbours;
use organza_release::loss::{Composition, Mechanism};

use super::super::kernels::{DpHmc, DpPenalty, DpSgld, DpSgnht, Langevin, Preconditioner, Start, Walk};
use super::super::models::GaussianMean;
use super::*;

const EPSILONS: [f64; 7] = [2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 15.0];

fn budget(epsilon: f64) -> Budget {
    Budget { epsilon, delta: 1e-6, neighbours: Neighbours::Substitute }
}

/// The paper's noise parameter, without its square root of n = 100,000, in our units.
fn noise(tau: f64) -> f64 {
    2.0 * tau * 1e5f64.sqrt()
}

/// \[RKH21\] section 4: steps of each of four chains at n = 100,000, delta = 0.1 / n, for its grid of epsilons.
#[test]
fn budgets_buy_the_published_numbers_of_steps() {
    let hmc = |tau, tau_g, leaps: u32| StepQueries {
        gradient: gradient(leaps + 1, 1.0, noise(tau_g)),
        ratio: ratio(1.0, noise(tau)),
        count_weight: 0.0,
        dimension: 2,
    };
    let penalty =
        |tau| StepQueries { gradient: None, ratio: ratio(1.0, noise(tau)), count_weight: 0.0, dimension: 2 };
    for (settings, published) in [
        (hmc(0.10, 0.55, 25), [27, 94, 192, 315, 459, 620, 892]),
        (hmc(0.10, 0.25, 12), [16, 56, 116, 190, 277, 374, 538]),
        (penalty(0.17), [145, 507, 1034, 1694, 2467, 3337, 4795]),
        (penalty(0.05), [12, 43, 89, 146, 213, 288, 414]),
    ] {
        let found = EPSILONS.map(|epsilon| settings.steps_within(&budget(epsilon)).unwrap() / 4);
        assert_eq!(found, published);
    }
}

/// The published DP-SGLD passes its accountant the noise over 2C where the pair has shifts of +C and -C already, which is half of the
/// noise: we count four times as many steps, or nearly, as the same noise really buys.
#[test]
fn the_published_langevin_chain_is_overcharged_and_ours_is_not() {
    let queries = |noise| StepQueries {
        gradient: Some(GradientQuery { times: 1, clip: 0.2, noise, rate: 0.01 }),
        ratio: None,
        count_weight: 0.0,
        dimension: 2,
    };
    let over_clip = 1e-5f64.sqrt() / (0.2 / 1000.0);
    let published = queries(over_clip / 2.0).steps_within(&budget(2.0)).unwrap() as f64 / 4.0;
    assert!((published / 7852.0 - 1.0).abs() < 5e-4, "{published}");
    let ours = queries(over_clip).steps_within(&budget(2.0)).unwrap() as f64 / 4.0;
    assert!(ours > 3.9 * published, "{ours}");
}

#[test]
fn noise_for_a_number_of_steps_is_the_inverse_of_steps_for_a_noise() {
    let settings = StepQueries {
        gradient: gradient(6, 1.0, 20.0),
        ratio: ratio(2.0, 10.0),
        count_weight: COUNT_WEIGHT,
        dimension: 4,
    };
    for steps in [1, 17, 1000] {
        let scaled = settings.with_noise_for(steps, &budget(3.0)).unwrap();
        let allowed = Allowance::of(scaled, steps, budget(3.0)).unwrap();
        assert_eq!((allowed.steps(), scaled.steps_within(&budget(3.0)).unwrap()), (steps, steps));
        assert!(Allowance::of(scaled, steps + 1, budget(3.0)).is_err());
    }
    let sampled = StepQueries {
        gradient: Some(GradientQuery { times: 1, clip: 1.0, noise: 1.0, rate: 0.05 }),
        ratio: None,
        count_weight: 0.0,
        dimension: 2,
    };
    let scaled = sampled.with_noise_for(500, &budget(1.0)).unwrap();
    let epsilon = scaled.epsilon(500, 1e-6, Neighbours::Substitute).unwrap();
    assert!((0.999..=1.0).contains(&epsilon), "{epsilon}");
}

/// Counting clipped records costs little, and adding or removing a record moves half as much as exchanging one.
#[test]
fn the_price_of_counting_and_of_the_relation() {
    let settings =
        |count_weight| StepQueries { gradient: None, ratio: ratio(1.0, 100.0), count_weight, dimension: 1 };
    let mu = |settings: StepQueries, neighbours| settings.gaussian(1, neighbours).unwrap().mu();
    assert!((mu(settings(0.0), Neighbours::Substitute) - 0.02).abs() < 1e-9);
    assert!((mu(settings(0.0), Neighbours::AddRemove) - 0.01).abs() < 1e-9);
    let counted = mu(settings(0.1), Neighbours::Substitute) / 0.02;
    assert!((counted - 1.00125).abs() < 1e-5, "{counted}");
}

/// Runs a kernel until the budget is gone, and compares the questions that were answered with the loss that was declared.
fn spend<K: Kernel<PrivateOracle<GaussianMean>>>(kernel: &K, settings: StepQueries) {
    let model = GaussianMean::new(&[1.0, 0.3, 0.3, 1.0], 10.0).unwrap();
    let rows: Vec<f64> = (0..50).map(|row| f64::from(row % 7) - 3.0).collect();
    let records = Records::from_columns(&[rows.clone(), rows]).unwrap();
    let steps = 21;
    let settings = settings.with_noise_for(steps, &budget(3.0)).unwrap();
    let allowance = Allowance::of(settings, steps, budget(3.0)).unwrap();
    let oracle = PrivateOracle::new(model, records, &allowance).unwrap();
    // Two chains of 4 + 16 steps would need 40: the budget ends them after 21.
    let plan = Plan { chains: 2, warmup: 4, draws: 16, thin: 1, seed: 1, threads: 1 };
    let draws = run(kernel, &oracle, &plan).unwrap();
    assert_eq!(oracle.paid(), steps);
    assert_eq!(draws.records().iter().map(|record| record.steps as u64).sum::<u64>(), steps);
    assert!(draws.records().iter().any(|record| record.end == End::BudgetExhausted) && draws.total() > 0);
    let [gradients, ratios] = [0, 1].map(|index| oracle.answered[index].load(Ordering::SeqCst));
    let declared = settings.gradient.map_or(0, |query| u64::from(query.times));
    assert_eq!((gradients, ratios), (steps * declared, steps * u64::from(settings.ratio.is_some())));
    if !settings.is_subsampled() {
        // The loss of every answered question by itself, composed: what was declared, to rounding.
        let one =
            |noise: f64| Mechanism::Gaussian { mu: (4.0 + settings.count_weight.powi(2)).sqrt() / noise };
        let asked = settings.gradient.iter().flat_map(|query| (0..gradients).map(move |_| one(query.noise)));
        let tested = settings.ratio.iter().flat_map(|query| (0..ratios).map(move |_| one(query.noise)));
        let counted = Composition::of(asked.chain(tested)).unwrap().epsilon(1e-6).unwrap();
        let declared = settings.epsilon(steps, 1e-6, Neighbours::Substitute).unwrap();
        assert!((counted / declared - 1.0).abs() < 1e-8 && declared <= 3.0, "{counted} {declared}");
    }
}

#[test]
fn charged_loss_is_declared_loss_for_every_kernel() {
    let start = || Start { centre: vec![0.0; 2], sd: vec![0.1; 2] };
    let full = |gradients: u32, ratios: bool| StepQueries {
        gradient: (gradients > 0).then(|| gradient(gradients, 1.0, 1.0).unwrap()),
        ratio: ratios.then(|| ratio(1.0, 1.0).unwrap()),
        count_weight: COUNT_WEIGHT,
        dimension: 2,
    };
    let preconditioner = Preconditioner::Diagonal(vec![0.1, 0.2]);
    let hmc = DpHmc {
        start: start(),
        step_size: 0.1,
        leapfrog_steps: 3,
        shortest: 0.2,
        preconditioner: preconditioner.clone(),
    };
    spend(&hmc, full(4, true));
    for walk in [Walk::All, Walk::OneComponent, Walk::Guided] {
        let preconditioner = preconditioner.clone();
        spend(&DpPenalty { start: start(), step_size: 0.1, walk, preconditioner }, full(0, true));
    }
    let mut sampled = full(1, false);
    sampled.gradient = sampled.gradient.map(|query| GradientQuery { rate: 0.2, ..query });
    for settings in [full(1, false), sampled] {
        spend(&DpSgld { start: start(), step_size: 1e-4, noise: Langevin::Right }, settings);
        spend(&DpSgnht { start: start(), step_size: 1e-3, friction: 1.0 }, settings);
    }
}

#[test]
fn a_step_that_asks_for_more_than_it_paid_for_fails() {
    let settings =
        StepQueries { gradient: gradient(2, 1.0, 1.0), ratio: None, count_weight: 0.0, dimension: 2 };
    let oracle = rehearse(gaussian_pair(), &[0.0, 0.0], 20, settings);
    let hmc = DpHmc {
        start: Start { centre: vec![0.0; 2], sd: vec![0.1; 2] },
        step_size: 0.1,
        leapfrog_steps: 1,
        shortest: 0.2,
        preconditioner: Preconditioner::Identity,
    };
    let error = run(&hmc, &oracle, &Plan { warmup: 0, draws: 1, ..Plan::default() }).unwrap_err();
    assert!(error.to_string().contains("more than it paid for"), "{error}");
}

#[test]
fn impossible_questions_are_refused() {
    let good = StepQueries {
        gradient: gradient(1, 1.0, 10.0),
        ratio: ratio(1.0, 10.0),
        count_weight: 0.1,
        dimension: 2,
    };
    let sampled = GradientQuery { times: 1, clip: 1.0, noise: 1.0, rate: 0.5 };
    for (bad, word) in [
        (StepQueries { gradient: gradient(1, 0.0, 10.0), ..good }, "clip"),
        (StepQueries { gradient: gradient(1, 1.0, 0.0), ..good }, "noise"),
        (StepQueries { gradient: gradient(1, 1.0, f64::NAN), ..good }, "noise"),
        (StepQueries { gradient: Some(GradientQuery { rate: 0.0, ..sampled }), ..good }, "rate"),
        (StepQueries { gradient: Some(sampled), ..good }, "rate"),
        (StepQueries { ratio: ratio(f64::INFINITY, 1.0), ..good }, "clip"),
        (StepQueries { count_weight: 2.0, ..good }, "count"),
        (StepQueries { gradient: None, ratio: None, ..good }, "nothing"),
    ] {
        let error = bad.steps_within(&budget(1.0)).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
    let error = Allowance::all(StepQueries { ratio: ratio(1.0, 0.01), ..good }, budget(0.1)).unwrap_err();
    assert!(error.to_string().contains("single step"), "{error}");
}

/// Beyond 2^53 steps doubles would swallow the last bits of a sum, or of its noise, before they are added.
#[test]
fn sums_and_noise_are_added_as_integers() {
    let sum = (1 << 60) + 1;
    assert_eq!(super::super::oracle::noisy(sum, -(1i128 << 60)), 1.0);
}
