//! Valid releases from a few numbers, and what else tests of several crates share: everything that a method does not
//! look at is filled in.

use crate::{
    BallDomain, BoxDomain, COUNTS_SCHEMA, CountNoise, CountRelease, Domain, Family, Interval, Layout,
    LevelColumn, Missing, Neighbours, Noise, Norm, PrivacyLoss, Release, SCHEMA, Statistic, Tool,
    gram_entries,
};

/// So many names: x0, x1, ...
pub fn numbered(count: usize) -> Vec<String> {
    (0..count).map(|index| format!("x{index}")).collect()
}

/// Bounds \[-1, 1\] for all, the response y too: users' units are normalised units. Weights of intercept and response.
pub fn unit_box(
    features: &[impl AsRef<str>],
    intercept: bool,
    record_scale: Option<f64>,
    (intercept_weight, response_weight): (f64, f64),
) -> Domain {
    let unit = |name: &str| Interval { name: name.into(), lower: -1.0, upper: 1.0 };
    Domain::Box(BoxDomain {
        features: features.iter().map(|name| unit(name.as_ref())).collect(),
        response: unit("y"),
        formula: String::new(),
        columns: vec![],
        intercept,
        record_scale,
        intercept_weight,
        response_weight,
    })
}

/// A ball of radius 1, a response y in \[-1, 1\], no intercept.
pub fn unit_ball(features: &[impl AsRef<str>], response_weight: f64) -> Domain {
    Domain::Ball(BallDomain {
        features: features.iter().map(|name| name.as_ref().into()).collect(),
        response: "y".into(),
        formula: String::new(),
        columns: vec![],
        radius: 1.0,
        response_bound: 1.0,
        response_weight,
    })
}

/// A claim of no importance.
fn privacy() -> PrivacyLoss {
    let (neighbours, norm) = (Neighbours::Substitute, Norm::L2);
    PrivacyLoss { neighbours, norm, epsilon: 1.0, delta: 1e-6, sensitivity: 1.0, public_bounds: true }
}

fn tool() -> Tool {
    Tool { name: "test".into(), version: "0".into() }
}

const CREATED: &str = "2026-01-31T12:00:00Z";

/// A release of entries of this Gram matrix (row-major, response last), noise of these scales described but not added.
pub fn published(
    party: &str,
    domain: &Domain,
    (statistic, records): (Statistic, u64),
    gram: &[f64],
    (family, scales): (Family, Vec<f64>),
) -> Release {
    let size = domain.dimension();
    Release {
        value: statistic.entries().iter().map(|&[row, column]| gram[row * size + column]).collect(),
        noise: Noise { family, scales, lattice: -32 },
        domain: domain.clone(),
        party: party.into(),
        records: Some(records),
        schema: SCHEMA.into(),
        created: CREATED.into(),
        missing: Missing::Refused,
        privacy: privacy(),
        tool: tool(),
        statistic,
    }
}

/// The same of all entries, with noise of one scale in weighted units.
pub fn published_evenly(
    party: &str,
    domain: &Domain,
    (layout, records): (Layout, u64),
    gram: &[f64],
    (family, scale): (Family, f64),
) -> Release {
    let statistic = Statistic::Gram { entries: gram_entries(domain, true, true), layout };
    let plain = |entry: &[usize; 2]| scale / statistic.entry_weight(domain, *entry);
    let scales = statistic.entries().iter().map(plain).collect();
    published(party, domain, (statistic, records), gram, (family, scales))
}

/// A column of so many levels: 0, 1, ...
pub fn level_column(name: &str, levels: usize) -> LevelColumn {
    LevelColumn { name: name.into(), levels: (0..levels).map(|level| level.to_string()).collect() }
}

/// A release of tables with these values, one table after the other. Without a number of records it is confidential.
pub fn counts(
    party: &str,
    columns: &[LevelColumn],
    tables: &[&[&str]],
    value: &[f64],
    (noise, records): (CountNoise, Option<u64>),
) -> CountRelease {
    let neighbours = if records.is_some() { Neighbours::Substitute } else { Neighbours::AddRemove };
    CountRelease {
        tables: tables.iter().map(|table| table.iter().map(|name| name.to_string()).collect()).collect(),
        privacy: PrivacyLoss { neighbours, delta: 0.0, norm: Norm::L1, ..privacy() },
        columns: columns.to_vec(),
        value: value.to_vec(),
        party: party.into(),
        schema: COUNTS_SCHEMA.into(),
        created: CREATED.into(),
        missing: Missing::Refused,
        tool: tool(),
        noise,
        records,
    }
}

/// Two-sided critical value of a z-test at alpha = 1e-6, shared by this many tests (Bonferroni).
pub fn critical_z(tests: usize) -> f64 {
    let tail = 0.5e-6 / tests as f64;
    let (mut low, mut high) = (0.0, 40.0);
    for _ in 0..80 {
        let middle: f64 = 0.5 * (low + high);
        if 0.5 * libm::erfc(middle / std::f64::consts::SQRT_2) > tail { low = middle } else { high = middle }
    }
    high
}
