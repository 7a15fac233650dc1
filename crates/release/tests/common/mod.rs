//! Releases that tests start from.
#![allow(dead_code, reason = "each test uses some of them")]

pub mod maximise;

use organza_release::{
    BallDomain, BoxDomain, Column, Domain, Family, Interval, Layout, Missing, Neighbours, Noise, Norm,
    PrivacyLoss, Release, Statistic, Tool, fourth_moment_entries, gram_entries,
};

/// A Gaussian release of `y ~ x1 + x2` with record scaling, the default kind.
pub fn scaled_box() -> Release {
    let domain = Domain::Box(BoxDomain {
        formula: "y ~ x1 + x2".into(),
        columns: ["x1", "x2", "y"]
            .map(|name| Column::Numeric { name: name.into(), lower: -2.0, upper: 6.0 })
            .into(),
        intercept: true,
        features: ["x1", "x2"].map(|name| Interval { name: name.into(), lower: -2.0, upper: 6.0 }).into(),
        response: Interval { name: "y".into(), lower: -2.0, upper: 6.0 },
        record_scale: Some(1.1),
        intercept_weight: 0.8,
        response_weight: 1.2,
    });
    gaussian(domain, Layout::Isometric)
}

/// A Gaussian release in the domain of [AYB23].
pub fn ball() -> Release {
    let domain = Domain::Ball(BallDomain {
        formula: "y ~ x1 + x2 - 1".into(),
        columns: vec![],
        features: vec!["x1".into(), "x2".into()],
        response: "y".into(),
        radius: 4.0,
        response_bound: 2.0,
        response_weight: 0.5,
    });
    gaussian(domain, Layout::Upper)
}

/// The same with five records averaged into each row.
pub fn averaged() -> Release {
    let domain = ball().domain;
    let entries = gram_entries(&domain, true, true);
    with_statistic(domain, Statistic::AveragedGram { averaged: 5, entries, layout: Layout::Isometric })
}

/// What adaSSP needs, on shrunk records with a constant.
pub fn ada_ssp() -> Release {
    let domain = scaled_box().domain;
    let entries = gram_entries(&domain, true, false);
    with_statistic(domain, Statistic::AdaSsp { entries })
}

/// Fourth moments of two features.
pub fn fourth_moments() -> Release {
    let mut domain = scaled_box().domain;
    if let Domain::Box(domain) = &mut domain {
        (domain.record_scale, domain.intercept_weight, domain.response_weight) = (None, 1.0, 1.0);
    }
    with_statistic(domain, Statistic::FourthMoments { entries: fourth_moment_entries(2) })
}

fn gaussian(domain: Domain, layout: Layout) -> Release {
    let entries = gram_entries(&domain, true, true);
    with_statistic(domain, Statistic::Gram { entries, layout })
}

/// A Gaussian release of any statistic, with noise of no particular size.
pub fn with_statistic(domain: Domain, statistic: Statistic) -> Release {
    let entries = statistic.weights(&domain).len();
    Release {
        schema: organza_release::SCHEMA.into(),
        party: "north".into(),
        created: "2026-01-31T12:00:00Z".into(),
        records: Some(250),
        missing: Missing::Refused,
        domain,
        value: (0..entries).map(|index| 10.0 - 0.1 * index as f64).collect(),
        noise: Noise { family: Family::Gaussian, scales: vec![9.5; entries], lattice: -32 },
        statistic,
        privacy: PrivacyLoss {
            neighbours: Neighbours::Substitute,
            epsilon: 1.0,
            delta: 1e-6,
            norm: Norm::L2,
            sensitivity: 2.0,
            public_bounds: true,
        },
        tool: Tool { name: "organza".into(), version: "0.1.0".into() },
    }
}
