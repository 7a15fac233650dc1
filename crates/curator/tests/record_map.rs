//! The curator's integer records against the record map that analysts use.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

use organza_curator::bounds::Bounds;
use organza_curator::mechanism::{DomainChoice, Plan, RecordScale, Request};
use organza_release::{Domain, RecordMap};
use proptest::prelude::*;

/// Boxes with and without an intercept and scaling, and a ball; `radius` from small to beyond every record.
fn plans(radius: f64, weight: f64) -> Vec<Plan> {
    let mut bounds = Bounds::default();
    ["x=-1.5:4", "z=10:10.5", "y=-2e4:3e4"].into_iter().for_each(|flag| bounds.set_flag(flag).unwrap());
    let in_box = |record_scale| DomainChoice::Box { record_scale, intercept_weight: Some(weight) };
    let ball = DomainChoice::Ball { radius: 3.7, response_bound: 2.3 };
    let cases = [
        ("y ~ x + z", in_box(RecordScale::Radius(radius))),
        ("y ~ x + z - 1", in_box(RecordScale::Radius(radius))),
        ("y ~ 1", in_box(RecordScale::Radius(radius))),
        ("y ~ x + z", in_box(RecordScale::None)),
        ("y ~ x + z - 1", in_box(RecordScale::None)),
        ("y ~ x + z - 1", ball),
    ];
    let plan = |(formula, domain): (&str, DomainChoice)| {
        let request = Request::new(formula.parse().unwrap(), bounds.clone(), 1.0, 1e-6);
        Plan::new(&Request { domain, ..request }).unwrap()
    };
    cases.into_iter().map(plan).collect()
}

/// A record in users' units, inside the domain or somewhat outside.
fn record(domain: &Domain, units: &[f64]) -> Vec<f64> {
    match domain {
        Domain::Box(domain) => {
            let terms = domain.features.iter().chain([&domain.response]).zip(units);
            terms.map(|(term, unit)| term.centre() + unit * term.half_width()).collect()
        }
        Domain::Ball(_) => units.iter().map(|unit| 4.0 * unit).collect(),
    }
}

proptest! {
    /// The two differ by the rounding, at most half a step, and by the radius, which the integer map makes smaller by half
    /// the root of the number of coordinates.
    #[test]
    fn integer_records_are_the_map_within_half_a_step(
        units in prop::array::uniform3(-1.6..1.6f64), radius in 0.05..2.5f64, weight in 0.1..1.0f64,
    ) {
        for plan in plans(radius, weight) {
            let domain = plan.domain();
            let record = record(domain, &units);
            let map = RecordMap::of(domain);
            let (normalised, size) = (domain.normalise(&record), domain.feature_count());
            let mut mapped = vec![0.0; size + 2];
            map.apply(&normalised[..size], normalised[size], &mut mapped);
            let steps = f64::exp2(f64::from(plan.record_map().grid_bits()));
            let radius = match domain {
                Domain::Box(domain) => domain.record_scale.unwrap_or(f64::INFINITY),
                Domain::Ball(_) => 1.0,
            };
            let smaller = ((domain.dimension() - 1) as f64).sqrt() / (2.0 * steps * radius);
            let found = plan.record_map().integer_record(&record).unwrap();
            let mapped = &mapped[usize::from(!domain.intercept())..];
            prop_assert_eq!(found.len(), mapped.len());
            for (index, (&found, plain)) in found.iter().zip(mapped).enumerate() {
                let expected = steps * domain.coordinate_weight(index) * plain;
                let allowed = 0.5 + expected.abs() * (smaller + 1e-10);
                prop_assert!((found as f64 - expected).abs() <= allowed, "{domain:?}: {found} for {expected}");
            }
        }
    }
}
