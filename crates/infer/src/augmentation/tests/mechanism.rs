//! The mechanism of a Gram matrix.

use organza_release::{BallDomain, Domain, Family};

use super::*;

/// w = c (1, u, v) by the definition: constant first if there is one.
fn record_vector(domain: &Domain, record: &[f64]) -> Vec<f64> {
    let (response, features) = record.split_last().unwrap();
    match domain {
        Domain::Box(domain) => {
            let cut = |value: &f64| value.clamp(-1.0, 1.0);
            let u: Vec<f64> = features.iter().map(cut).collect();
            let g = if domain.intercept { domain.intercept_weight } else { 0.0 };
            let length = (g * g + u.iter().map(|value| value * value).sum::<f64>()).sqrt();
            let c = domain.record_scale.map_or(1.0, |r| (r / length).min(1.0));
            let mut w = if domain.intercept { vec![c] } else { vec![] };
            w.extend(u.iter().chain([&cut(response)]).map(|value| c * value));
            w
        }
        Domain::Ball(_) => {
            let c = (1.0 / features.iter().map(|value| value * value).sum::<f64>().sqrt()).min(1.0);
            let response = (c * response).clamp(-1.0, 1.0);
            features.iter().map(|value| c * value).chain([response]).collect()
        }
    }
}

fn ball() -> Domain {
    Domain::Ball(BallDomain {
        formula: String::new(),
        columns: vec![],
        features: vec!["a".into(), "b".into()],
        response: "y".into(),
        radius: 2.0,
        response_bound: 3.0,
        response_weight: 0.8,
    })
}

/// Catches an entry in the wrong place, a response that is not scaled with its record, and a scale where none belongs: the ratio of
/// densities between two sets of records must be that of the noise of the release.
#[test]
fn the_density_is_that_of_the_noise_at_the_sums_of_the_definition() {
    let domains = [
        boxed(2, true, None),
        boxed(2, true, Some(0.8)),
        boxed(2, false, None),
        boxed(2, false, Some(0.6)),
        boxed(0, true, None),
        ball(),
    ];
    let mut rng = ChainRng::new(1, 0);
    for domain in domains {
        for (family, square) in [(Family::Laplace, true), (Family::Gaussian, false)] {
            let mut release = laplace(&domain, gram_entries(&domain, true, square), (3, 1.0));
            release.noise.family = family;
            release.value.iter_mut().for_each(|value| *value = 3.0 * rng.random::<f64>());
            let (mechanism, width) = (GramMechanism::of(&release).unwrap(), domain.feature_count() + 1);
            let mut one = vec![0.0; mechanism.size()];
            let mut densities = |records: &[f64]| {
                let mut sum = vec![0.0; mechanism.size()];
                let mut residual = release.value.clone();
                for record in records.chunks_exact(width) {
                    mechanism.contribution(record, &mut one);
                    sum.iter_mut().zip(&one).for_each(|(sum, value)| *sum += value);
                    let w = record_vector(&domain, record);
                    let entries = release.statistic.entries();
                    residual.iter_mut().zip(entries).for_each(|(rest, [i, j])| *rest -= w[*i] * w[*j]);
                }
                (mechanism.log_density(&sum), release.noise.log_density(&residual))
            };
            let mut records =
                || -> Vec<f64> { (0..3 * width).map(|_| 4.0 * rng.random::<f64>() - 2.0).collect() };
            let (one, other) = (densities(&records()), densities(&records()));
            let difference = (one.0 - other.0) - (one.1 - other.1);
            assert!(difference.abs() < 1e-10, "{domain:?} {family:?}: {difference}");
        }
    }
}

/// What has no latent records of its own is refused with what it lacks.
#[test]
fn other_releases_are_refused() {
    let mut release = complete(&boxed(1, true, None), 10, 1.0);
    assert_eq!(GramMechanism::of(&release).unwrap().epsilon(), Some(1.0));
    release.privacy.delta = 1e-9;
    assert_eq!(GramMechanism::of(&release).unwrap().epsilon(), None);
    release.records = None;
    let message = GramMechanism::of(&release).unwrap_err().to_string();
    assert!(message.contains("north") && message.contains("public number"), "{message}");
    release.records = Some(10);
    release.statistic = Statistic::AveragedGram {
        averaged: 2,
        entries: release.statistic.entries().to_vec(),
        layout: Layout::Upper,
    };
    let message = GramMechanism::of(&release).unwrap_err().to_string();
    assert!(message.contains("not averaged"), "{message}");
}
