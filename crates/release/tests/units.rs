//! The change of units against predictions: both sets of coefficients must give the same line.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod common;

use organza_release::units::CoefficientMap;
use organza_release::{BoxDomain, Domain, Interval};
use proptest::prelude::*;

fn domain(bounds: &[(f64, f64)]) -> BoxDomain {
    let interval =
        |(index, &(lower, upper)): (usize, &(f64, f64))| Interval { name: format!("t{index}"), lower, upper };
    let mut terms: Vec<Interval> = bounds.iter().enumerate().map(interval).collect();
    let response = terms.pop().unwrap();
    BoxDomain {
        formula: String::new(),
        columns: vec![],
        intercept: true,
        features: terms,
        response,
        record_scale: None,
        intercept_weight: 1.0,
        response_weight: 1.0,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn both_lines_agree_everywhere(
        bounds in proptest::collection::vec((-50.0..50.0f64, 0.1..20.0f64), 4),
        theta in proptest::collection::vec(-3.0..3.0f64, 4),
        at in proptest::collection::vec(-1.0..1.0f64, 3),
    ) {
        let bounds: Vec<(f64, f64)> = bounds.iter().map(|(lower, width)| (*lower, lower + width)).collect();
        let domain = domain(&bounds);
        let map = CoefficientMap::new(&Domain::Box(domain.clone()));
        let beta = map.to_users(&theta);
        let normalised = theta[0] + theta[1..].iter().zip(&at).map(|(t, u)| t * u).sum::<f64>();
        let users: f64 = beta[0]
            + domain.features.iter().zip(&at).zip(&beta[1..]).map(|((f, u), b)| b * (f.centre() + f.half_width() * u)).sum::<f64>();
        let expected = domain.response.centre() + domain.response.half_width() * normalised;
        prop_assert!((users - expected).abs() < 1e-8 * (1.0 + expected.abs() + beta[0].abs()));
        for (back, original) in map.to_normalised(&beta).iter().zip(&theta) {
            prop_assert!((back - original).abs() < 1e-8 * (1.0 + beta[0].abs()));
        }
    }

    #[test]
    fn variance_of_every_linear_form_agrees(
        root in proptest::collection::vec(-1.0..1.0f64, 9),
        form in proptest::collection::vec(-1.0..1.0f64, 3),
    ) {
        let map = CoefficientMap::new(&Domain::Box(domain(&[(2.0, 9.0), (-1.0, 4.0), (0.0, 30.0)])));
        let entry = |i: usize, j: usize| (0..3).map(|k| root[3 * i + k] * root[3 * j + k]).sum::<f64>();
        let covariance: Vec<f64> = (0..9).map(|index| entry(index / 3, index % 3)).collect();
        let users = map.covariance_to_users(&covariance);
        // The same variance through the columns of the root: Var(form' A R z) = sum_k (form' A R_k)^2.
        let shift = map.to_users(&[0.0; 3]);
        let through_root: f64 = (0..3)
            .map(|k| {
                let column: Vec<f64> = (0..3).map(|i| root[3 * i + k]).collect();
                let image = map.to_users(&column);
                (0..3).map(|i| form[i] * (image[i] - shift[i])).sum::<f64>().powi(2)
            })
            .sum();
        let direct: f64 = (0..9).map(|index| form[index / 3] * users[index] * form[index % 3]).sum();
        prop_assert!((direct - through_root).abs() < 1e-9 * (1.0 + through_root));
    }
}

#[test]
fn the_ball_rescales_without_shifting() {
    let map = CoefficientMap::new(&common::ball().domain);
    assert_eq!(map.to_users(&[2.0, -4.0]), [1.0, -2.0]);
    assert_eq!(map.response_unit(), 2.0);
}
