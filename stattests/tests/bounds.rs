//! Audit of private bounds: every count has the stated noise, and the claim holds on a worst pair of neighbours.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

use organza_curator::Publishable;
use organza_curator::private_bounds::{BoundsPlan, BoundsRequest, ExactValues, PrivateBounds};
use organza_curator::table::{Input, ReadOptions, Reading};
use organza_release::{CountFamily, CountNoise, Missing, Neighbours};
use organza_stattests::ALPHA;
use organza_stattests::binomial::{lower_bound, upper_bound};
use organza_stattests::goodness::chi_square_p_value;

/// A third of it is for the first round: epsilon 1, noise of scale 2.
const EPSILON: f64 = 3.0;
const RECORDS: usize = 9;
/// Cells of 1 and of 1000 among the powers of two: 60 negative ones, the one around zero, and 20 up to 1/2 come before that of 1.
const ONE: usize = 81;
const THOUSAND: usize = 90;

fn plan() -> BoundsPlan {
    let (columns, neighbours) = (vec!["x".to_string()], Neighbours::Substitute);
    BoundsPlan::new(&BoundsRequest { columns, epsilon: EPSILON, neighbours }).unwrap()
}

/// The values of records at 1, of which the last is exchanged.
fn exact(plan: &BoundsPlan, exchanged: &str) -> ExactValues {
    let path = std::env::temp_dir().join(format!("organza-bounds-{}-{exchanged}", std::process::id()));
    std::fs::write(&path, format!("x\n{}{exchanged}\n", "1\n".repeat(RECORDS - 1))).unwrap();
    let (input, options) = (Input::File(path.clone()), ReadOptions::default());
    let measured = plan.measure(&Reading { input: &input, options: &options, progress: &() }).unwrap().0;
    std::fs::remove_file(path).unwrap();
    measured
}

fn draws(plan: &BoundsPlan, exchanged: &str, count: usize) -> Vec<PrivateBounds> {
    let exact = exact(plan, exchanged);
    (0..count).map(|_| plan.draw(&exact, "audit", Missing::Refused).unwrap()).collect()
}

/// Catches a cell without noise or with other noise than the loss pays for.
#[test]
fn every_count_has_the_stated_noise() {
    let plan = plan();
    let scale = plan.scales().0;
    assert_eq!(scale, 2.0);
    let residuals = |bounds: PrivateBounds| {
        let counts = bounds.columns[0].scales.counts.clone();
        let exact = |cell: usize| if cell == ONE { RECORDS as f64 } else { 0.0 };
        counts.into_iter().enumerate().map(move |(cell, count)| (count - exact(cell)) as i128)
    };
    let noise: Vec<i128> = draws(&plan, "1", 400).into_iter().flat_map(residuals).collect();
    let p_value = |scale: f64| {
        let law = CountNoise { family: CountFamily::DiscreteLaplace, scale }.law();
        chi_square_p_value(&noise, |k| law.log_density(k as f64).exp(), 24)
    };
    assert!(p_value(scale) > ALPHA, "{}", p_value(scale));
    assert!(p_value(1.1 * scale) < ALPHA, "a scale ten percent off passes");
}

/// A lower confidence bound of the loss of the first round stays below a third of epsilon, and is above half of that: a mechanism that
/// forgets that two counts move would be caught.
#[test]
fn the_claim_holds_on_a_worst_pair() {
    let (plan, count) = (plan(), 4_000);
    let hits = |exchanged: &str| {
        let hit = |bounds: &&PrivateBounds| {
            let counts = &bounds.columns[0].scales.counts;
            counts[ONE] >= RECORDS as f64 && counts[THOUSAND] <= 0.0
        };
        draws(&plan, exchanged, count).iter().filter(hit).count() as u64
    };
    let (likely, unlikely) = (hits("1"), hits("1000"));
    let trials = count as u64;
    let loss = (lower_bound(likely, trials, ALPHA) / upper_bound(unlikely, trials, ALPHA)).ln();
    assert!(loss < EPSILON / 3.0, "{likely} and {unlikely} of {trials}: {loss}");
    assert!(loss > 0.5 * EPSILON / 3.0, "the audit is blind: {likely} and {unlikely} of {trials}: {loss}");
}
