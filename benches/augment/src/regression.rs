//! The regression of \[JAGR22\] section 5.

use crate::Failure;
use organza_infer::augmentation::{Augmented, GramMechanism, LinearModel, RecordAdditive};
use organza_infer::{FeaturePrior, Prior};
use organza_mcmc::ChainRng;
use organza_release::sensitivity::of_release;
use organza_release::{
    BoxDomain, Domain, Family, Interval, Layout, Missing, Neighbours, Noise, Norm, PrivacyLoss, Release,
    Statistic, Tool, gram_entries,
};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

/// Bounds [-1, 1] for every column, with an intercept.
pub fn domain(features: usize) -> Domain {
    let interval = |name: String| Interval { name, lower: -1.0, upper: 1.0 };
    Domain::Box(BoxDomain {
        formula: String::new(),
        columns: vec![],
        intercept: true,
        features: (1..=features).map(|k| interval(format!("x{k}"))).collect(),
        response: interval("y".into()),
        record_scale: None,
        intercept_weight: 1.0,
        response_weight: 1.0,
    })
}

/// Sums over records with Laplace noise; the sensitivity is the exact one if none is given.
pub fn release(
    domain: &Domain,
    records: &[f64],
    (epsilon, sensitivity): (f64, Option<f64>),
    rng: &mut ChainRng,
) -> Result<Release, Failure> {
    let statistic = Statistic::Gram { entries: gram_entries(domain, true, true), layout: Layout::Upper };
    let exact = of_release(domain, &statistic, Neighbours::Substitute, Norm::L1).value;
    let (width, scale) = (domain.feature_count() + 1, sensitivity.unwrap_or(exact) / epsilon);
    let count = statistic.entries().len();
    let mut release = Release {
        schema: organza_release::SCHEMA.into(),
        party: "north".into(),
        created: "2026-01-31T12:00:00Z".into(),
        records: Some((records.len() / width) as u64),
        missing: Missing::Refused,
        domain: domain.clone(),
        value: vec![0.0; count],
        statistic,
        noise: Noise { family: Family::Laplace, scales: vec![scale; count], lattice: -32 },
        privacy: PrivacyLoss {
            neighbours: Neighbours::Substitute,
            epsilon,
            delta: 0.0,
            norm: Norm::L1,
            sensitivity: exact,
            public_bounds: true,
        },
        tool: Tool { name: "bench".into(), version: "0".into() },
    };
    let mechanism = GramMechanism::of(&release)?;
    let (mut sum, mut one) = (vec![0.0; mechanism.size()], vec![0.0; mechanism.size()]);
    for record in records.chunks_exact(width) {
        mechanism.contribution(record, &mut one);
        sum.iter_mut().zip(&one).for_each(|(sum, value)| *sum += value);
    }
    // The first of the triangle is the public number of records.
    for (value, exact) in release.value.iter_mut().zip(&sum[1..]) {
        let uniform: f64 = rng.random::<f64>() - 0.5;
        *value = exact - scale * uniform.signum() * (1.0 - 2.0 * uniform.abs()).ln();
    }
    Ok(release)
}

/// beta = (-1.79, -2.89, -0.66), m = (0.90, -1.17), Sigma = I, sigma^2 = 2, all but beta known, prior N(0, 4) and clamps at 10; in
/// units of the clamps.
pub fn target(
    epsilon: f64,
    sensitivity: Option<f64>,
    count: usize,
) -> Result<Augmented<LinearModel, GramMechanism>, Failure> {
    let mut rng = ChainRng::new(2022, 0);
    let (mean, beta) = ([0.0900142, -0.1173346], [-0.17949707, -2.8890028, -0.6620272]);
    let normal = |rng: &mut ChainRng| -> f64 { StandardNormal.sample(rng) };
    let mut records = Vec::with_capacity(3 * count);
    for _ in 0..count {
        let (first, second) = (mean[0] + 0.1 * normal(&mut rng), mean[1] + 0.1 * normal(&mut rng));
        let response = beta[0] + beta[1] * first + beta[2] * second + 0.02_f64.sqrt() * normal(&mut rng);
        records.extend([first, second, response]);
    }
    let release = release(&domain(2), &records, (epsilon, sensitivity), &mut rng)?;
    let covariance = [0.04, 0.0, 0.0, 0.0, 4.0, 0.0, 0.0, 0.0, 4.0];
    let prior = Prior::new(vec![0.0; 3], &covariance, (2.0, 0.1))?;
    let sigma = vec![0.01, 0.0, 0.0, 0.01];
    let law = FeaturePrior::new(sigma.clone(), 4.0, mean.to_vec(), 1.0)?;
    let model =
        LinearModel::new(&prior, &law, true)?.with_variance(0.02)?.with_features(mean.to_vec(), sigma)?;
    Ok(Augmented { model, parties: vec![GramMechanism::of(&release)?] })
}
