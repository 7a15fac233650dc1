//! A release around a statistic: everything that a method does not look at is filled in.

use organza_release::{
    Domain, Family, Missing, Neighbours, Noise, Norm, PrivacyLoss, Release, Statistic, Tool,
};

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
        schema: organza_release::SCHEMA.into(),
        party: party.into(),
        created: "2026-01-31T12:00:00Z".into(),
        records: Some(records),
        missing: Missing::Refused,
        value: statistic.entries().iter().map(|&[row, column]| gram[row * size + column]).collect(),
        noise: Noise { family, scales, lattice: -32 },
        statistic,
        domain: domain.clone(),
        privacy: PrivacyLoss {
            neighbours: Neighbours::Substitute,
            epsilon: 1.0,
            delta: 1e-6,
            norm: Norm::L2,
            sensitivity: 1.0,
            public_bounds: true,
        },
        tool: Tool { name: "test".into(), version: "0".into() },
    }
}
