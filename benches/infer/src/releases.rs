//! Releases from the text file of `simulate`, and the prior of the comparison.

use crate::Failure;
use organza_infer::{FeaturePrior, Prior};
use organza_release::{
    BallDomain, Domain, Family, Layout, Missing, Neighbours, Noise, Norm, PrivacyLoss, Release, SCHEMA,
    Statistic, Tool, gram_entries, sensitivity,
};

/// Records in the unit ball, no intercept: the domain of \[AYB23\].
pub fn domain(features: usize) -> Domain {
    Domain::Ball(BallDomain {
        formula: String::new(),
        columns: vec![],
        features: (1..=features).map(|index| format!("x{index}")).collect(),
        response: "y".into(),
        radius: 1.0,
        response_bound: 1.0,
        response_weight: 1.0,
    })
}

/// The whole Gram matrix with isometric noise.
pub fn statistic(domain: &Domain) -> Statistic {
    Statistic::Gram { entries: gram_entries(domain, true, true), layout: Layout::Isometric }
}

/// The prior of both sides: a = 20, b = 0.5, m = 0, kappa = d + 1, and coefficients with covariance b / (a - 1) I. Where it must
/// be conjugate it is sigma^2 I, which is the same on average. Lambda is a tenth of a record.
pub fn prior(features: usize, conjugate: bool) -> Result<Prior, Failure> {
    let (shape, rate) = (20.0, 0.5);
    let diagonal = |value: f64| -> Vec<f64> {
        (0..features * features).map(|k| if k % (features + 1) == 0 { value } else { 0.0 }).collect()
    };
    let variance = if conjugate { 1.0 } else { rate / (shape - 1.0) };
    let prior = Prior::new(vec![0.0; features], &diagonal(variance), (shape, rate))?;
    let scale = diagonal(0.025 / features as f64);
    let prior = prior.with_features(FeaturePrior::new(scale, features as f64 + 1.0, vec![], 1.0)?);
    Ok(if conjugate { prior.conjugate() } else { prior })
}

/// Reads a file.
pub fn read(text: &str) -> Result<Vec<Release>, Failure> {
    let numbers: Vec<f64> = text.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
    let (&[features, _, records], rest) = numbers.split_first_chunk().ok_or("the file has no first line")?;
    let size = features as usize + 1;
    let parties = rest.chunks_exact(1 + 2 * size * size).enumerate();
    parties.map(|(index, numbers)| release(index, numbers, size, 1.0 / records)).collect()
}

fn release(party: usize, numbers: &[f64], size: usize, delta: f64) -> Result<Release, Failure> {
    let (gram, scales) = numbers[1..].split_at(size * size);
    let domain = domain(size - 1);
    let statistic = statistic(&domain);
    let of_entries = |matrix: &[f64]| -> Vec<f64> {
        statistic.entries().iter().map(|&[row, column]| matrix[row * size + column]).collect()
    };
    let bound = sensitivity::of_release(&domain, &statistic, Neighbours::Substitute, Norm::L2);
    Ok(Release {
        schema: SCHEMA.into(),
        party: format!("party {}", party + 1),
        created: "2026-01-31T12:00:00Z".into(),
        records: Some(numbers[0] as u64),
        missing: Missing::Refused,
        value: of_entries(gram),
        noise: Noise { family: Family::Gaussian, scales: of_entries(scales), lattice: -32 },
        privacy: PrivacyLoss {
            neighbours: Neighbours::Substitute,
            epsilon: 1.0,
            delta,
            norm: Norm::L2,
            sensitivity: bound.value,
            public_bounds: true,
        },
        statistic,
        domain,
        tool: Tool { name: "bench-infer".into(), version: "0".into() },
    })
}
