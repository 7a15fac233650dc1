//! Audit of counts and of randomised answers: claims hold on the worst pair of neighbours, and a mechanism that forgets half of the
//! sensitivity is caught.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

use organza_curator::Publishable;
use organza_curator::bounds::Bounds;
use organza_curator::counts::{CountPlan, CountRequest, ExactCounts, parse_tables};
use organza_curator::mechanism::NoiseRng;
use organza_curator::table::{Input, ReadOptions, Reading};
use organza_release::loss::gaussian_epsilon;
use organza_release::{CountFamily, CountRelease, Family, Missing};
use organza_stattests::FRESH_ALPHA;
use organza_stattests::attack::{Releases, gaussian_mu_lower_bound};
use organza_stattests::binomial::{lower_bound, upper_bound};
use organza_stattests::goodness::chi_square_p_value;

/// Two tables of two binary columns.
fn plan(epsilon: f64, delta: f64) -> CountPlan {
    let mut bounds = Bounds::default();
    bounds.set_flag("a=0,1").unwrap();
    bounds.set_flag("b=0,1").unwrap();
    let family = if delta > 0.0 { Family::Gaussian } else { Family::Laplace };
    let request = CountRequest::new(parse_tables("a; b").unwrap(), bounds, epsilon, delta);
    CountPlan::new(&CountRequest { family, ..request }).unwrap()
}

/// The exact counts of nine fixed records and one that is exchanged.
fn exact(plan: &CountPlan, exchanged: &str) -> ExactCounts {
    let folder = std::env::temp_dir().join(format!("organza-audit-{}-{exchanged}", std::process::id()));
    let rows: String = (0..9).map(|i| format!("{},{}\n", i % 2, i / 5)).collect();
    std::fs::write(&folder, format!("a,b\n{rows}{exchanged}\n")).unwrap();
    let (input, options) = (Input::File(folder.clone()), ReadOptions::default());
    let measured = plan.measure(&Reading { input: &input, options: &options, progress: &() }).unwrap().0;
    std::fs::remove_file(folder).unwrap();
    measured
}

fn draw(plan: &CountPlan, exact: &ExactCounts) -> CountRelease {
    plan.publish(exact, "audit", Missing::Refused, &mut NoiseRng::from_operating_system()).unwrap()
}

/// Releases on both tables of the worst pair: all four counts move.
fn pair(plan: &CountPlan, repeats: usize) -> [Vec<CountRelease>; 2] {
    ["0,0", "1,1"].map(|record| {
        let exact = exact(plan, record);
        (0..repeats).map(|_| draw(plan, &exact)).collect()
    })
}

/// The noise of a whole release, count by count, is the stated law.
#[test]
fn released_counts_have_the_stated_noise() {
    for (plan, family) in
        [(plan(1.3, 0.0), CountFamily::DiscreteLaplace), (plan(1.3, 1e-4), CountFamily::DiscreteGaussian)]
    {
        assert_eq!(plan.noise().family, family);
        let (law, scale) = (plan.noise().law(), plan.noise().scale);
        let exact = exact(&plan, "0,0");
        let noise = |release: CountRelease| -> Vec<i128> {
            release.value.iter().zip(FIRST).map(|(value, count)| (value - count) as i128).collect()
        };
        let draws: Vec<i128> = (0..10_000).flat_map(|_| noise(draw(&plan, &exact))).collect();
        let reach = (8.0 * scale) as i128 + 4;
        let p = chi_square_p_value(&draws, |k| law.log_density(k as f64).exp(), reach);
        assert!(p > FRESH_ALPHA / 2.0, "{family:?}: p = {p}");
        let wrong = organza_release::CountNoise { family, scale: 1.1 * scale }.law();
        let p = chi_square_p_value(&draws, |k| wrong.log_density(k as f64).exp(), reach);
        assert!(p < FRESH_ALPHA, "{family:?}: a scale ten percent off passes with p = {p}");
    }
}

const DELTA: f64 = 1e-5;
/// The exact counts of the two tables of the worst pair.
const FIRST: [f64; 4] = [6.0, 4.0, 6.0, 4.0];
const SECOND: [f64; 4] = [5.0; 4];

/// Lower confidence bound of the epsilon, at DELTA, of the worst pair with all noise multiplied by `factor`.
fn gaussian_audit(plan: &CountPlan, factor: f64) -> f64 {
    let scaled = |releases: &Vec<CountRelease>, exact: [f64; 4]| -> Vec<Vec<f64>> {
        let scale = plan.noise().scale;
        let one = |release: &CountRelease| {
            let numbers = release.value.iter().zip(exact);
            numbers.map(|(value, exact)| exact / (factor * scale) + (value - exact) / scale).collect()
        };
        releases.iter().map(one).collect()
    };
    let [first, second] = pair(plan, 16_000);
    let releases = Releases { first: scaled(&first, FIRST), second: scaled(&second, SECOND) };
    gaussian_epsilon(DELTA, gaussian_mu_lower_bound(&releases, FRESH_ALPHA).max(1e-9)).unwrap()
}

#[test]
fn gaussian_counts_keep_their_claim() {
    let found = gaussian_audit(&plan(8.0, DELTA), 1.0);
    assert!(found <= 8.0, "the attack shows epsilon >= {found}, 8 was claimed");
    assert!(found > 0.6 * 8.0, "the attack finds only {found} of 8");
}

/// sqrt(T) in place of sqrt(2 T): the sensitivity of an added record under a definition by exchange.
#[test]
fn forgetting_that_an_exchange_moves_two_counts_is_caught() {
    let found = gaussian_audit(&plan(8.0, DELTA), 0.5f64.sqrt());
    assert!(found > 8.0, "the attack shows only epsilon >= {found}");
}

/// Lower confidence bound of a pure epsilon: all four counts lie on the first table's side of the middle, or not.
fn pure_audit(plan: &CountPlan, repeats: usize) -> f64 {
    let [first, second] = pair(plan, repeats);
    let hit = |release: &&CountRelease| {
        let v = &release.value;
        v[0] >= 6.0 && v[1] <= 4.0 && v[2] >= 6.0 && v[3] <= 4.0
    };
    let count = |releases: &Vec<CountRelease>| releases.iter().filter(hit).count() as u64;
    let repeats = repeats as u64;
    let likely = lower_bound(count(&first), repeats, FRESH_ALPHA / 2.0);
    let unlikely = upper_bound(count(&second), repeats, FRESH_ALPHA / 2.0);
    (likely / unlikely).ln()
}

#[test]
fn laplace_counts_keep_their_claim_and_half_the_sensitivity_is_caught() {
    let found = pure_audit(&plan(2.0, 0.0), 20_000);
    assert!(found <= 2.0, "the attack shows epsilon >= {found}, 2 was claimed");
    assert!(found > 0.5 * 2.0, "the attack finds only {found} of 2");
    // Scale T / epsilon in place of 2 T / epsilon is the honest scale of twice the loss.
    let found = pure_audit(&plan(4.0, 0.0), 20_000);
    assert!(found > 2.0, "the attack shows only epsilon >= {found}");
}

/// A published answer is the true one with the stated probability, and every other one alike.
#[test]
fn answers_have_the_stated_probabilities() {
    let (truth, choices, draws) = (0.4, 5u32, 40_000);
    let mut noise = NoiseRng::from_operating_system();
    for exact in [0, 3, 4] {
        let drawn: Vec<i128> =
            (0..draws).map(|_| i128::from(noise.draw_answer(truth, choices, exact).unwrap())).collect();
        let law = |probability: f64| {
            move |answer: i128| match u32::try_from(answer) {
                Ok(answer) if answer == exact => probability,
                Ok(answer) if answer < choices => (1.0 - probability) / f64::from(choices - 1),
                _ => 0.0,
            }
        };
        let p = chi_square_p_value(&drawn, law(truth), 5);
        assert!(p > FRESH_ALPHA / 3.0, "{exact}: p = {p}");
        assert!(chi_square_p_value(&drawn, law(0.43), 5) < FRESH_ALPHA, "a wrong probability passes");
    }
}
