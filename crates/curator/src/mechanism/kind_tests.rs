//! The mechanisms of the further kinds of statistics with a known noise source.

use organza_release::units::CoefficientMap;
use organza_release::{Family, Missing, Neighbours};

use super::tests::{Fixed, gram, request};
use super::{DomainChoice, Exact, Plan, RecordScale, Request, StatisticKind};
use crate::gram::{AveragedAccumulator, FourthMomentAccumulator};
use crate::sums::Measured;

/// Averaged records on an exact line through the origin give its slope back, and every number has its own noise.
#[test]
fn averaged_sums_give_the_line_back() {
    let xs: Vec<f64> = (0..203).map(|i| 2.0 + f64::from(i % 41) * 0.1).collect();
    let ys: Vec<f64> = xs.iter().map(|x| 2.5 * x).collect();
    for family in [Family::Gaussian, Family::Laplace] {
        let mut request = request("y ~ x - 1");
        (request.averaging, request.family) = (Some(5), family);
        request.delta = if family == Family::Gaussian { 1e-6 } else { 0.0 };
        let plan = Plan::new(&request).unwrap();
        let mut sums = AveragedAccumulator::new(plan.record_map(), 5);
        sums.add_block(&[&xs, &ys]).unwrap();
        let gram = sums.finish();
        let mut noise = Fixed::default();
        let release = plan.publish_with((&gram).into(), "p", Missing::Refused, &mut noise).unwrap();
        assert_eq!((release.records, release.schema.as_str()), (Some(203), "organza/release/3"));
        let slope = CoefficientMap::new(&release.domain).to_users(&[release.value[1] / release.value[0]]);
        assert!((slope[0] - 2.5).abs() < 1e-3, "{slope:?}");
        let claim = release.claim().unwrap();
        assert!(claim.holds && claim.sensitivity.tight, "{claim:?}");
        // A step of noise is a fifth of a lattice unit: the division comes after the noise.
        let unit = f64::exp2(f64::from(release.noise.lattice));
        let weights = release.statistic.weights(&release.domain);
        for (index, weights) in weights.iter().enumerate() {
            let scale = noise.asked[index] as f64 * unit / weights.lattice;
            assert!((scale / release.noise.scales[index] - 1.0).abs() < 1e-15);
            let mut noisy = Fixed { steps: 5 << 40, asked: vec![] };
            let moved = plan.publish_with((&gram).into(), "p", Missing::Refused, &mut noisy).unwrap();
            let change = moved.value[index] - release.value[index];
            let weight = weights.lattice / 5.0;
            assert!((change * weight / (f64::exp2(40.0) * unit) - 1.0).abs() < 1e-9, "{change}");
        }
    }
}

#[test]
fn averaging_is_refused_where_it_has_no_meaning() {
    let say = |formula: &str, averaging: u64, neighbours: Neighbours| {
        let request = Request { averaging: Some(averaging), neighbours, ..request(formula) };
        Plan::new(&request).unwrap_err().to_string()
    };
    assert!(say("y ~ x", 4, Neighbours::Substitute).contains("constant"));
    assert!(say("y ~ x - 1", 4, Neighbours::AddRemove).contains("shift all later groups"));
    assert!(say("y ~ x - 1", 1, Neighbours::Substitute).contains("between 2 and"));
}

/// Two columns of a table that is easy to compute with by hand.
fn columns() -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let xs: Vec<f64> = (0..50).map(|i| 2.0 + f64::from(i % 9) * 0.5).collect();
    let zs: Vec<f64> = (0..50).map(|i| -1.0 + f64::from(i % 5)).collect();
    let ys = xs.iter().zip(&zs).map(|(x, z)| 3.0 * x - z).collect();
    (xs, zs, ys)
}

/// The last number is the smallest eigenvalue of the weighted X'X that the other numbers make up, up to the lattice.
#[test]
fn ada_ssp_publishes_the_smallest_eigenvalue() {
    let (xs, _, ys) = columns();
    for record_scale in [RecordScale::Default, RecordScale::None] {
        let domain = DomainChoice::Box { record_scale, intercept_weight: None };
        let request = Request { statistic: StatisticKind::AdaSsp, domain, ..request("y ~ x") };
        let plan = Plan::new(&request).unwrap();
        let exact = Measured::with_eigenvalue(gram(&plan, &[&xs, &ys])).unwrap();
        let release =
            plan.publish_with((&exact).into(), "p", Missing::Refused, &mut Fixed::default()).unwrap();
        assert_eq!((release.schema.as_str(), release.records), ("organza/release/3", Some(50)));
        // The eigenvalue is long work: it is there before the charge, or nothing is published.
        let bare = gram(&plan, &[&xs, &ys]);
        assert!(plan.publish_with((&bare).into(), "p", Missing::Refused, &mut Fixed::default()).is_err());
        let entry = |wanted: [usize; 2]| {
            let position = release.statistic.entries().iter().position(|entry| *entry == wanted);
            let weight = |index: usize| release.domain.coordinate_weight(index);
            position.map_or(50.0, |position| release.value[position]) * weight(wanted[0]) * weight(wanted[1])
        };
        let (a, b, c) = (entry([0, 0]), entry([0, 1]), entry([1, 1]));
        let smallest = 0.5 * (a + c) - (0.25 * (a - c) * (a - c) + b * b).sqrt();
        let published = *release.value.last().unwrap();
        let lattice = f64::exp2(f64::from(release.noise.lattice));
        assert!((smallest - published).abs() < 2.0 * lattice + 1e-12 * a, "{smallest} {published}");
        let claim = release.claim().unwrap();
        assert!(claim.holds && claim.delta > 0.999_99e-6, "{claim:?}");
        // Each part has a third of the squared loss: scales are in proportion to the parts' own sensitivities.
        let parts = organza_release::sensitivity::AdaSspParts::of(&release.domain);
        let scale = release.noise.scales.last().unwrap() / parts.smallest_eigenvalue;
        assert!((claim.scale / scale - 1.0).abs() < 1e-6, "{} {scale}", claim.scale);
    }
}

#[test]
fn fourth_moments_are_the_sums_of_products() {
    let (xs, zs, ys) = columns();
    for family in [Family::Gaussian, Family::Laplace] {
        let delta = if family == Family::Gaussian { 1e-6 } else { 0.0 };
        let statistic = StatisticKind::FourthMoments;
        let plan = Plan::new(&Request { statistic, family, delta, ..request("y ~ x + z") }).unwrap();
        let organza_release::Statistic::FourthMoments { entries } = plan.statistic() else { panic!("kind") };
        let mut parts = [0..20, 20..50].map(|range| {
            let mut sums = FourthMomentAccumulator::new(plan.record_map(), entries);
            sums.add_block(&[&xs[range.clone()], &zs[range.clone()], &ys[range]]).unwrap();
            sums
        });
        let second = parts[1].clone();
        parts[0].merge(second).unwrap();
        let moments = parts[0].clone().finish();
        let exact = Exact::FourthMoments(&moments);
        let release = plan.publish_with(exact, "p", Missing::Refused, &mut Fixed::default()).unwrap();
        assert_eq!((release.value.len(), release.records), (14, Some(50)));
        for (value, entry) in release.value.iter().zip(entries) {
            let record = |i: usize| [1.0, (xs[i] - 4.0) / 2.0, (zs[i] - 1.0) / 2.0];
            let product = |i: usize| entry.iter().map(|&index| record(i)[index]).product::<f64>();
            let sum: f64 = (0..50).map(product).sum();
            assert!((value - sum).abs() < 1e-9, "{entry:?}: {value} {sum}");
        }
        let claim = release.claim().unwrap();
        assert!(claim.holds && claim.epsilon > 0.999, "{claim:?}");
        assert!(release.noise.lattice <= -64);
        // A Gram matrix is not what was planned.
        let wrong = gram(&plan, &[&xs, &zs, &ys]);
        let error = plan.publish_with((&wrong).into(), "p", Missing::Refused, &mut Fixed::default());
        assert!(error.unwrap_err().to_string().contains("not what was planned"));
    }
}

/// The largest sums: every coordinate at its bound. `2^40` such records stay inside 128 bits on the finest lattice.
#[test]
fn sums_of_extreme_records_fit() {
    let plan = Plan::new(&Request { statistic: StatisticKind::FourthMoments, ..request("y ~ x") }).unwrap();
    let organza_release::Statistic::FourthMoments { entries } = plan.statistic() else { panic!("kind") };
    let mut sums = FourthMomentAccumulator::new(plan.record_map(), entries);
    sums.add_block(&[&[6.0, -9.0], &[0.0, 0.0]]).unwrap();
    let moments = sums.finish();
    assert_eq!(moments.values(), [0, 2 << 64, 0, 2 << 64]);
    assert!((1i128 << 64).checked_mul((1 << 40) * (1 << 16)).is_some());
}

#[test]
fn kinds_are_refused_where_they_have_no_meaning() {
    let say = |change: &dyn Fn(&mut Request)| {
        let mut request = request("y ~ x");
        change(&mut request);
        Plan::new(&request).unwrap_err().to_string()
    };
    let radius = DomainChoice::Box { record_scale: RecordScale::Radius(1.0), intercept_weight: None };
    let (ada, moments) = (StatisticKind::AdaSsp, StatisticKind::FourthMoments);
    assert!(
        say(&|r| (r.statistic, r.family, r.delta) = (ada, Family::Laplace, 0.0)).contains("Gaussian noise")
    );
    assert!(say(&|r| (r.statistic, r.neighbours) = (ada, Neighbours::AddRemove)).contains("exchanged"));
    assert!(say(&|r| (r.statistic, r.neighbours) = (moments, Neighbours::AddRemove)).contains("public"));
    assert!(say(&|r| (r.statistic, r.domain) = (moments, radius)).contains("`record_scale`"));
    assert!(
        say(&|r| (r.statistic, r.formula) = (moments, "y ~ x - 1".parse().unwrap())).contains("intercept")
    );
    assert!(say(&|r| (r.statistic, r.formula) = (moments, "y ~ 1".parse().unwrap())).contains("no features"));
}
