//! Logistic regression: a proportion by enumeration, the prior without information, and the joint law of parameters, records and releases.

use organza_mcmc::diagnostics::r_hat;
use organza_mcmc::{Kernel, Plan, run};

use super::super::{Interweave, Interweaving, LogisticModel, Plain, SignedResponse};
use super::prior::{compare, compare_rows, coordinates};
use super::*;

type Target = Augmented<LogisticModel, SignedResponse>;

const RECORDS: u64 = 10;

fn weak_logistic(features: usize) -> LogisticModel {
    let linear = weak_model(features, true);
    let covariance: Vec<f64> =
        linear.prior.precision().iter().map(|entry| if *entry > 0.0 { 2.0 } else { 0.0 }).collect();
    let prior = Prior::new(vec![0.3; features + 1], &covariance, (2.0, 0.1)).unwrap();
    LogisticModel::new(&prior, &linear.features, true).unwrap()
}

/// Ten answers; the sum of +1 and -1 was released with Laplace noise.
fn proportion(scale: f64, released: f64) -> Target {
    let mut release = laplace(&boxed(0, true, None), vec![[0, 1]], (RECORDS, 2.0 / scale));
    (release.value[0], release.noise.scales[0]) = (released, scale);
    Augmented { model: weak_logistic(0), parties: vec![SignedResponse::of(&release).unwrap()] }
}

/// Grid of theta with posterior weights: a sum over the numbers of +1, prior N(0.3, 2).
fn enumerate(scale: f64, released: f64) -> Vec<(f64, f64)> {
    let choose = |k: i32| (0..k).map(|j| f64::from(10 - j) / f64::from(j + 1)).product::<f64>();
    let likelihood = |theta: f64| {
        let p = 1.0 / (1.0 + (-theta).exp());
        let term = |k: i32| choose(k) * p.powi(k) * (1.0 - p).powi(10 - k);
        let noise = |k: i32| (-(released - f64::from(2 * k - 10)).abs() / scale).exp();
        (0..=10).map(|k| term(k) * noise(k)).sum::<f64>()
    };
    let points = (0..4001).map(|k| -10.0 + 0.005 * f64::from(k));
    let weights: Vec<(f64, f64)> =
        points.map(|theta| (theta, likelihood(theta) * (-0.25 * (theta - 0.3).powi(2)).exp())).collect();
    let total: f64 = weights.iter().map(|(_, weight)| weight).sum();
    weights.into_iter().map(|(theta, weight)| (theta, weight / total)).collect()
}

fn check<K: Kernel<Target>>(label: &str, kernel: &K, target: &Target, expected: &[(f64, f64)]) {
    let integral = |f: &dyn Fn(f64) -> f64| expected.iter().map(|(theta, p)| p * f(*theta)).sum::<f64>();
    let plan = Plan { chains: 4, warmup: 1000, draws: 25_000, seed: 23, threads: 1, thin: 1 };
    let draws = run(kernel, target, &plan).unwrap();
    let centre = integral(&|x| x);
    agree(&format!("{label}, mean"), mean(&draws, 0, |x| x), (centre, 0.0));
    let square = |x: f64| (x - centre).powi(2);
    agree(&format!("{label}, variance"), mean(&draws, 0, square), (integral(&square), 0.0));
    for cut in [-1.0, 0.5, 1.5] {
        let below = |x: f64| libm::atan((cut - x) / 0.2);
        agree(&format!("{label}, below {cut}"), mean(&draws, 0, below), (integral(&below), 0.0));
    }
}

/// Catches noise of the wrong scale or family in a utility, a sign upside down, a walk with the wrong density, and a likelihood that is
/// counted twice.
#[test]
fn the_posterior_of_a_proportion_is_that_of_enumeration() {
    for (scale, released) in [(1.0, 6.3), (4.0, -9.0)] {
        let (target, expected) = (proportion(scale, released), enumerate(scale, released));
        check("plain", &Plain, &target, &expected);
        check("interweaving", &Interweaving::new(&target), &target, &expected);
        check("exchanges", &Interweaving::new(&target).always_exchanging(), &target, &expected);
    }
}

/// Catches a density of records that is not that of their draws, and moves that change the noise of a utility.
#[test]
fn logistic_moves_leave_the_prior_as_it_is() {
    let release = complete(&boxed(1, true, None), 4, 1e-9);
    let target = Augmented { model: weak_logistic(1), parties: vec![SignedResponse::of(&release).unwrap()] };
    let chains: Vec<Vec<Vec<f64>>> = (0..4).map(|chain| coordinates(&target, chain)).collect();
    compare(&target.model, &chains, "logistic");
}

/// A release of latent records: features and signs of utilities.
fn publish_signs(release: &Release, records: &[f64], rng: &mut ChainRng) -> SignedResponse {
    let mut signs = records.to_vec();
    for record in signs.chunks_exact_mut(release.domain.feature_count() + 1) {
        let utility = record.last_mut().unwrap();
        *utility = if *utility > 0.0 { 1.0 } else { -1.0 };
    }
    SignedResponse::of(&publish(release.clone(), &signs, rng)).unwrap()
}

/// Steps alternate with new releases of the latent records: parameters and records then have their joint law without any release, whatever
/// each release says of them (Geweke, 2004). Catches noise of the wrong scale, exchanges with the wrong density, and a prior that is
/// forgotten, with features and informative releases.
#[test]
fn with_releases_drawn_anew_records_and_parameters_keep_their_law() {
    let (model, mut rng) = (weak_logistic(1), ChainRng::new(30, 0));
    let draw = |_| {
        let truth = model.start(&mut rng).unwrap();
        let (mut coordinates, mut records) = (vec![0.0; model.coordinates()], vec![0.0; 15 * 2]);
        model.write_coordinates(&truth, &mut coordinates);
        records.chunks_exact_mut(2).for_each(|record| model.draw_record(&truth, &mut rng, record));
        functions(&coordinates, &records)
    };
    let fresh: Vec<Vec<f64>> = (0..40_000).map(draw).collect();
    // The mean of |e| is known: it is 2 ln 2 whatever the model draws.
    let sizes: f64 = fresh.iter().map(|row| row[4] + 1.0).sum::<f64>() / 40_000.0;
    let sd = (std::f64::consts::PI.powi(2) / 3.0 - (4f64.ln()).powi(2)).sqrt() / (15.0 * 40_000f64).sqrt();
    agree("residuals of the model", (sizes, sd), (4f64.ln(), 0.0));
    for (scaled, seed, epsilon) in [(None, 31, 2.0), (Some(0.8), 32, 6.0)] {
        let release = complete(&boxed(1, true, scaled), 15, epsilon);
        let chains: Vec<Vec<Vec<f64>>> =
            (0..4).map(|chain| joint(&release, &mut ChainRng::new(seed, chain))).collect();
        compare_rows(&chains, &fresh, &format!("epsilon {epsilon}"));
    }
}

/// Coordinates, the mean size of residuals less 1, and the mean of feature times response.
fn functions(coordinates: &[f64], records: &[f64]) -> Vec<f64> {
    let residual = |record: &[f64]| (record[1] - coordinates[0] - coordinates[1] * record[0]).abs();
    let mean = |f: &dyn Fn(&[f64]) -> f64| records.chunks_exact(2).map(f).sum::<f64>() / 15.0;
    let added = [mean(&residual) - 1.0, mean(&|record| record[0] * record[1].signum())];
    coordinates.iter().copied().chain(added).collect()
}

/// Coordinates of a chain over parameters, records and releases.
fn joint(release: &Release, rng: &mut ChainRng) -> Vec<Vec<f64>> {
    let mut target =
        Augmented { model: weak_logistic(1), parties: vec![SignedResponse::of(release).unwrap()] };
    let mut kernel = Interweaving::new(&target).always_exchanging();
    let mut state = kernel.init(&target, rng).unwrap();
    let mut kept = Vec::new();
    for number in 0..21_000 {
        target.parties[0] = publish_signs(release, &state.latent.records, rng);
        state.latent.refresh(&target);
        let info = kernel.step(&target, &mut state, rng).unwrap();
        if number < 1_000 {
            Kernel::<Target>::adapt(&mut kernel, &state, &info);
        } else {
            kept.push(functions(&state.coordinates, &state.latent.records));
        }
    }
    kept
}

/// Catches a residual that moves do not hold, and a feature that is left behind.
#[test]
fn plain_and_interweaving_have_one_law_of_log_odds() {
    let (model, mut rng) = (weak_logistic(1), ChainRng::new(4, 0));
    let truth = model.start(&mut rng).unwrap();
    let mut records = vec![0.0; 40 * 2];
    records.chunks_exact_mut(2).for_each(|record| model.draw_record(&truth, &mut rng, record));
    let parties = vec![publish_signs(&complete(&boxed(1, true, None), 40, 4.0), &records, &mut rng)];
    let target = Augmented { model, parties };
    let plan = Plan { chains: 4, warmup: 1000, draws: 4000, thin: 8, seed: 8, threads: 1 };
    let plain = run(&Plain, &target, &plan).unwrap();
    let other = run(&Interweaving::new(&target), &target, &Plan { thin: 2, ..plan }).unwrap();
    for k in 0..2 {
        assert!(r_hat(&other.traces(&other.names()[k]).unwrap()) < 1.02);
        let (first, _) = mean(&other, k, |x| x);
        agree(&format!("theta {k}"), mean(&plain, k, |x| x), mean(&other, k, |x| x));
        let spread = |x: f64| (x - first).abs().min(5.0);
        agree(&format!("theta {k}, spread"), mean(&plain, k, spread), mean(&other, k, spread));
    }
}

/// Seen to catch: a response in users' units of something that has more than two values.
#[test]
fn other_models_and_responses_are_refused() {
    let mut release = complete(&boxed(1, true, None), 10, 1.0);
    if let Domain::Box(domain) = &mut release.domain {
        domain.response.upper = 40.0;
    }
    let message = SignedResponse::of(&release).unwrap_err().to_string();
    assert!(message.contains("north") && message.contains("[0, 1]"), "{message}");
    let prior = Prior::weak(2).conjugate();
    let message = LogisticModel::new(&prior, &weak_model(1, true).features, true).unwrap_err().to_string();
    assert!(message.contains("conjugate"), "{message}");
}
