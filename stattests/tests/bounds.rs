//! Audit of private bounds: every count has the stated noise, the claim holds on a worst pair of neighbours, and
//! intervals of slopes are hardly wider than with exact extremes.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

use organza_curator::Publishable;
use organza_curator::private_bounds::{BoundsPlan, BoundsRequest, ExactValues, PrivateBounds, share_of};
use organza_curator::table::{Input, ReadOptions, Reading};
use organza_lab::strata::{Kind, Stratum, Table};
use organza_release::{CountFamily, CountNoise, Missing, Neighbours};
use organza_stattests::FRESH_ALPHA;
use organza_stattests::binomial::{lower_bound, upper_bound};
use organza_stattests::goodness::chi_square_p_value;
use organza_studies::seeded::count_noise;
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

/// A third of it is for the first round: epsilon 1, noise of scale 2.
const EPSILON: f64 = 3.0;
const RECORDS: usize = 9;
/// Cells of 1 and of 1000, four for each power of two: 240 negative ones, the one around zero, and 80 below 1 come
/// before that of 1.
const ONE: usize = 321;
const THOUSAND: usize = 360;

fn plan(delta: f64) -> BoundsPlan {
    let (columns, neighbours) = (vec!["x".to_string()], Neighbours::Substitute);
    BoundsPlan::new(&BoundsRequest { columns, epsilon: EPSILON, delta, neighbours }).unwrap()
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
    assert_eq!(plan(0.0).scales().0, 2.0);
    for delta in [0.0, 1e-6] {
        let plan = plan(delta);
        let (family, scale) = (plan.family(), plan.scales().0);
        assert_eq!(family == CountFamily::DiscreteGaussian, delta > 0.0);
        let residuals = |bounds: PrivateBounds| {
            let counts = bounds.columns[0].scales.counts.clone();
            let exact = |cell: usize| if cell == ONE { RECORDS as f64 } else { 0.0 };
            counts.into_iter().enumerate().map(move |(cell, count)| (count - exact(cell)) as i128)
        };
        let noise: Vec<i128> = draws(&plan, "1", 100).into_iter().flat_map(residuals).collect();
        let p_value = |scale: f64| {
            let law = CountNoise { family, scale }.law();
            chi_square_p_value(&noise, |k| law.log_density(k as f64).exp(), 24)
        };
        assert!(p_value(scale) > FRESH_ALPHA, "{family:?}: {}", p_value(scale));
        assert!(p_value(1.1 * scale) < FRESH_ALPHA, "{family:?}: a scale ten percent off passes");
    }
}

/// A lower confidence bound of the loss of the first round stays below a third of epsilon, and is above half of that: a
/// mechanism that forgets that two counts move would be caught.
#[test]
fn the_claim_holds_on_a_worst_pair() {
    let (plan, count) = (plan(0.0), 4_000);
    let hits = |exchanged: &str| {
        let hit = |bounds: &&PrivateBounds| {
            let counts = &bounds.columns[0].scales.counts;
            counts[ONE] >= RECORDS as f64 && counts[THOUSAND] <= 0.0
        };
        draws(&plan, exchanged, count).iter().filter(hit).count() as u64
    };
    let (likely, unlikely) = (hits("1"), hits("1000"));
    let trials = count as u64;
    let loss = (lower_bound(likely, trials, FRESH_ALPHA) / upper_bound(unlikely, trials, FRESH_ALPHA)).ln();
    assert!(loss < EPSILON / 3.0, "{likely} and {unlikely} of {trials}: {loss}");
    assert!(loss > 0.5 * EPSILON / 3.0, "the audit is blind: {likely} and {unlikely} of {trials}: {loss}");
}

/// Columns of a skewed feature, one far from zero, and a response.
fn skewed(rng: &mut ChaCha8Rng) -> [Vec<f64>; 3] {
    let mut columns = [vec![], vec![], vec![]];
    for _ in 0..10_000 {
        let [a, b, c]: [f64; 3] = [0, 0, 0].map(|_: i32| StandardNormal.sample(rng));
        let (income, pressure) = (30.0 * (0.7 * a).exp(), 1013.0 + 6.0 * b);
        columns
            .iter_mut()
            .zip([income, pressure, 0.1 * income - 0.5 * b + 2.0 * c])
            .for_each(|(k, v)| k.push(v));
    }
    columns
}

/// Catches bounds that are far too wide for one column: a tenth of the budget must buy slopes' intervals near those
/// with exact extremes.
#[test]
fn a_tenth_of_the_budget_buys_bounds() {
    let (epsilon, delta, mut rng) = (1.0, 1e-6, ChaCha8Rng::seed_from_u64(20));
    let columns = skewed(&mut rng);
    let values: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    let table = Table {
        x: columns[0].iter().zip(&columns[1]).map(|(a, b)| vec![*a, *b]).collect(),
        y: columns[2].clone(),
    };
    let extremes = |column: &Vec<f64>| {
        (
            column.iter().copied().fold(f64::INFINITY, f64::min),
            column.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        )
    };
    let request = BoundsRequest {
        columns: ["a", "b", "y"].map(String::from).to_vec(),
        epsilon: share_of((epsilon, delta), 0.1).unwrap(),
        delta,
        neighbours: Neighbours::Substitute,
    };
    let plan = BoundsPlan::new(&request).unwrap();
    let mut ratios = vec![];
    for seed in 0..4 {
        let found = plan.rehearse(&values, |family, scale| count_noise(family, scale, &mut rng)).unwrap();
        let study = |bounds: Vec<(f64, f64)>, epsilon: f64| {
            Stratum { kind: Kind::Table(table.clone(), bounds), epsilon }.study(seed).unwrap().slopes
        };
        let private = study(found.into_iter().map(Option::unwrap).collect(), 0.9 * epsilon);
        let exact = study(columns.iter().map(extremes).collect(), epsilon);
        ratios.extend(private.iter().zip(&exact).map(|(one, other)| (one.1 - one.0) / (other.1 - other.0)));
    }
    ratios.sort_by(f64::total_cmp);
    assert!(ratios[5] < 1.25, "{ratios:?}");
}
