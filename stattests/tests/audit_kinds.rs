//! Audit of the further kinds of statistics. The worst pair of averaged records has companions, and a mechanism that forgets
//! them must be caught.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

use organza_curator::Measured;
use organza_curator::gram::{AveragedAccumulator, GramAccumulator};
use organza_curator::mechanism::{DomainChoice, NoiseRng, Plan, Request, StatisticKind};
use organza_release::Missing;
use organza_release::loss::gaussian_epsilon;
use organza_stattests::FRESH_ALPHA;
use organza_stattests::attack::{Releases, gaussian_mu_lower_bound};

const EPSILON: f64 = 8.0;
const DELTA: f64 = 1e-5;
/// Releases per table; enough to catch a scale that is too small by a factor of 1.22 at epsilon = 8.
const REPEATS: usize = 4_000;
const AVERAGED: u64 = 5;

/// Two features in the unit ball, a response in [-1, 1].
fn plan(averaging: Option<u64>, statistic: StatisticKind) -> Plan {
    let request = Request {
        domain: DomainChoice::Ball { radius: 1.0, response_bound: 1.0 },
        response_square: false,
        averaging,
        statistic,
        ..Request::new("y ~ x1 + x2 - 1".parse().unwrap(), Default::default(), EPSILON, DELTA)
    };
    Plan::new(&request).unwrap()
}

/// One group: four companions and the record, which is theirs or its opposite.
fn group(plan: &Plan, sign: f64) -> Measured {
    let mut sums = AveragedAccumulator::new(plan.record_map(), AVERAGED);
    let exchanged = [1.0, 1.0, 1.0, 1.0, sign];
    sums.add_block(&[&exchanged, &[0.0; 5], &exchanged]).unwrap();
    Measured::Gram(sums.finish())
}

/// Releases of a statistic with all noise multiplied by `factor`, in units of that noise; `exact` are the values without it.
fn draw(plan: &Plan, measured: &Measured, factor: f64, exact: &[f64]) -> Vec<Vec<f64>> {
    let noisy = |_| {
        let noise = &mut NoiseRng::from_operating_system();
        let release = plan.publish(measured, "audit", Missing::Refused, noise).unwrap();
        let scaled = |index: usize| {
            let error = release.value[index] - exact[index];
            exact[index] / (factor * release.noise.scales[index]) + error / release.noise.scales[index]
        };
        (0..exact.len()).map(scaled).collect()
    };
    (0..REPEATS).map(noisy).collect()
}

fn epsilon_lower_bound(releases: &Releases) -> f64 {
    gaussian_epsilon(DELTA, gaussian_mu_lower_bound(releases, FRESH_ALPHA).max(1e-9)).unwrap()
}

/// Entries [0,0] [0,1] [0,2] [1,1] [1,2] of the single row (s, 0, s)/sqrt(5), s the sum of the group.
fn averaged_exact(sum: f64) -> [f64; 5] {
    let square = sum * sum / AVERAGED as f64;
    [square, 0.0, square, 0.0, 0.0]
}

fn averaged_releases(factor: f64) -> Releases {
    let plan = plan(Some(AVERAGED), StatisticKind::Gram);
    let table = |sign: f64, sum: f64| draw(&plan, &group(&plan, sign), factor, &averaged_exact(sum));
    Releases { first: table(1.0, 5.0), second: table(-1.0, 3.0) }
}

#[test]
fn averaged_records_keep_their_claim() {
    let found = epsilon_lower_bound(&averaged_releases(1.0));
    assert!(found <= EPSILON, "the attack shows epsilon >= {found}, {EPSILON} was claimed");
    assert!(found > 0.7 * EPSILON, "the attack finds only {found} of {EPSILON}");
}

/// [AYB23] section B.1 keeps the sensitivity of single records.
#[test]
fn the_sensitivity_of_single_records_is_caught() {
    let single = plan(None, StatisticKind::Gram).sensitivity().value;
    let factor = single / plan(Some(AVERAGED), StatisticKind::Gram).sensitivity().value;
    let found = epsilon_lower_bound(&averaged_releases(factor));
    assert!(found > EPSILON, "the attack shows only epsilon >= {found}");
}

/// Beside a hundred records (0, 1) a record (1, 0) is exchanged for (0, 1): the smallest eigenvalue moves by all of its
/// bound, and so does X'X.
#[test]
fn parts_of_ada_ssp_keep_their_claim() {
    let plan = plan(None, StatisticKind::AdaSsp);
    let table = |first: f64, second: f64| {
        let (mut x1, mut x2, mut y) = (vec![0.0; 100], vec![1.0; 100], vec![0.0; 100]);
        x1.push(first);
        x2.push(second);
        y.push(1.0);
        let mut sums = GramAccumulator::new(plan.record_map());
        sums.add_block(&[&x1, &x2, &y]).unwrap();
        draw(&plan, &Measured::with_eigenvalue(sums.finish()).unwrap(), 1.0, &[0.0; 6])
    };
    let found = epsilon_lower_bound(&Releases { first: table(1.0, 0.0), second: table(0.0, 1.0) });
    assert!(found <= EPSILON, "the attack shows epsilon >= {found}, {EPSILON} was claimed");
    assert!(found > 0.6 * EPSILON, "the attack finds only {found} of {EPSILON}");
}
