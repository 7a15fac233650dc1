//! One party and one feature: small enough for brute force.

use organza_infer::methods::NormalX;
use organza_infer::{Evidence, FeaturePrior, Prior};
use organza_mcmc::Draws;
use organza_release::{Layout, Release};

use super::brute_force::{Hyper, Moments};
use super::{ball, boxed, critical_z, release, z_of};

/// A toy with its prior, in both forms.
pub struct Case {
    pub name: &'static str,
    pub release: Release,
    pub hyper: Hyper,
    pub ranges: [(f64, f64); 3],
}

impl Case {
    /// The model of this crate.
    pub fn model(&self) -> NormalX {
        let (hyper, constant) = (&self.hyper, self.release.domain.intercept());
        let first = usize::from(!constant);
        let size = 2 - first;
        let mut covariance = vec![0.0; size * size];
        (0..size).for_each(|k| covariance[k * size + k] = 1.0 / hyper.precision[k + first]);
        let mean = hyper.mean[first..].to_vec();
        let features = FeaturePrior::new(
            vec![hyper.scale],
            hyper.degrees,
            if constant { vec![hyper.feature_mean] } else { vec![] },
            hyper.mean_records,
        );
        let prior = Prior::new(mean, &covariance, hyper.variance).unwrap().with_features(features.unwrap());
        let prior = if hyper.conjugate { prior.conjugate() } else { prior };
        NormalX::new(&Evidence::new(std::slice::from_ref(&self.release)).unwrap(), &prior).unwrap()
    }
}

/// Small tables and much noise, so that the posterior is far from normal.
pub fn cases() -> Vec<Case> {
    let hyper = |conjugate: bool| Hyper {
        mean: [0.1, 0.2],
        precision: [2.0, 1.5],
        conjugate,
        variance: (4.0, 0.4),
        scale: 0.15,
        degrees: 4.0,
        feature_mean: 0.05,
        mean_records: 2.0,
    };
    let one = release("p", ball(1, 0.9), Layout::Isometric, &[3.1, 1.4, 1.4, 2.0], (30, 1.2));
    let two = release("p", ball(1, 1.1), Layout::Upper, &[2.0, -0.8, -0.8, 2.0], (12, 0.5));
    let gram = [40.0, 4.2, 6.0, 4.2, 5.1, 2.4, 6.0, 2.4, 5.0];
    let domain = boxed(1, None, (0.7, 0.8));
    let three = release("p", domain.clone(), Layout::Upper, &gram, (40, 1.0));
    let four = release("p", domain, Layout::Isometric, &gram, (40, 0.4));
    vec![
        Case {
            name: "centred",
            release: one,
            hyper: hyper(false),
            ranges: [(0.0, 0.0), (-2.0, 2.6), (-5.5, 1.5)],
        },
        Case {
            name: "conjugate",
            release: two,
            hyper: hyper(true),
            ranges: [(0.0, 0.0), (-2.5, 2.0), (-5.5, 1.5)],
        },
        Case {
            name: "intercept",
            release: three,
            hyper: hyper(false),
            ranges: [(-0.08, 0.3), (-0.8, 2.9), (-5.5, 1.5)],
        },
        Case {
            name: "both",
            release: four,
            hyper: hyper(true),
            ranges: [(0.02, 0.19), (0.5, 2.3), (-5.5, 1.5)],
        },
    ]
}

/// Compares draws of (theta, sigma^2, R^2) with exact moments.
pub fn assert_moments(name: &str, draws: &Draws, exact: &Moments, intercept: bool) {
    let last = draws.names().len() - 1;
    let (variance, slope) = (last - 1, last - 2);
    let explained = |x: &[f64]| x[last] / (1.0 - x[last]) * x[variance];
    let mut scores = vec![
        ("mean of theta", z_of(draws, |x| x[slope], exact[1])),
        ("square of theta", z_of(draws, |x| x[slope].powi(2), exact[3])),
        ("1 / sigma^2", z_of(draws, |x| 1.0 / x[variance], exact[4])),
        ("ln sigma^2", z_of(draws, |x| x[variance].ln(), exact[5])),
        ("explained variance", z_of(draws, explained, exact[6])),
    ];
    if intercept {
        scores.push(("mean of the intercept", z_of(draws, |x| x[0], exact[0])));
        scores.push(("square of the intercept", z_of(draws, |x| x[0].powi(2), exact[2])));
    }
    let critical = critical_z(7 * 4);
    for (what, z) in scores {
        assert!(z.abs() < critical, "{name}: {what}: z {z}, critical {critical}");
    }
}
