//! Simulated parties for the tests of `individual`: records are mapped as the curator's documentation says.

mod density;
mod posterior;

use organza_mcmc::ChainRng;
use organza_release::testing::{numbered, published, unit_ball, unit_box};
use organza_release::{Domain, Family, Layout, Release, Statistic, gram_entries};
use rand::RngExt;

use crate::random::normal;

/// What a party does.
#[derive(Clone)]
pub(super) struct Mechanism {
    pub domain: Domain,
    pub records: usize,
    pub family: Family,
    /// Scale of the noise on every entry, in plain units.
    pub scale: f64,
}

/// The population of plain records, features independent.
pub(super) struct Truth {
    pub theta: Vec<f64>,
    pub sigma: f64,
    pub mean: f64,
    pub sd: f64,
}

/// A box with bounds [-1, 1].
pub(super) fn boxed(features: usize, intercept: bool, record_scale: Option<f64>) -> Domain {
    unit_box(&numbered(features), intercept, record_scale, (0.5, 0.75))
}

/// A ball of radius 1.
pub(super) fn ball(features: usize) -> Domain {
    unit_ball(&numbered(features), 0.75)
}

/// A plain record (u, v) as the curator counts it.
pub(super) fn mapped(domain: &Domain, record: &[f64]) -> Vec<f64> {
    let last = record.len() - 1;
    let norm =
        |start: f64, values: &[f64]| values.iter().fold(start, |sum, value| sum + value * value).sqrt();
    match domain {
        Domain::Box(domain) => {
            let mut record: Vec<f64> = record.iter().map(|value| value.clamp(-1.0, 1.0)).collect();
            let weight = if domain.intercept { domain.intercept_weight } else { 0.0 };
            let length = norm(weight * weight, &record[..last]);
            if domain.intercept {
                record.insert(0, 1.0);
            }
            let factor = domain.record_scale.map_or(1.0, |radius| (radius / length).min(1.0));
            record.iter().map(|value| factor * value).collect()
        }
        Domain::Ball(_) => {
            let factor = (1.0 / norm(0.0, &record[..last])).min(1.0);
            let mut record: Vec<f64> = record.iter().map(|value| factor * value).collect();
            record[last] = record[last].clamp(-1.0, 1.0);
            record
        }
    }
}

/// A draw of the noise.
fn noise(rng: &mut ChainRng, family: Family) -> f64 {
    match family {
        Family::Gaussian => normal(rng),
        Family::Laplace => {
            let (uniform, sign): (f64, bool) = (rng.random(), rng.random());
            libm::log(1.0 - uniform) * if sign { 1.0 } else { -1.0 }
        }
    }
}

/// A noisy release of simulated records.
pub(super) fn simulated(party: &str, mechanism: &Mechanism, truth: &Truth, rng: &mut ChainRng) -> Release {
    let domain = &mechanism.domain;
    let (size, features) = (domain.dimension(), domain.feature_count());
    let mut gram = vec![0.0; size * size];
    for _ in 0..mechanism.records {
        let mut record: Vec<f64> = (0..features).map(|_| truth.mean + truth.sd * normal(rng)).collect();
        let (constant, slopes) = truth.theta.split_at(truth.theta.len() - features);
        let line: f64 = slopes.iter().zip(&record).map(|(slope, value)| slope * value).sum();
        record.push(constant.iter().sum::<f64>() + line + truth.sigma * normal(rng));
        let record = mapped(domain, &record);
        (0..size * size).for_each(|k| gram[k] += record[k / size] * record[k % size]);
    }
    let entries = gram_entries(domain, true, true);
    for &[row, column] in &entries {
        gram[row * size + column] += mechanism.scale * noise(rng, mechanism.family);
    }
    let scales = vec![mechanism.scale; entries.len()];
    let statistic = Statistic::Gram { entries, layout: Layout::Upper };
    published(party, domain, (statistic, mechanism.records as u64), &gram, (mechanism.family, scales))
}

/// Truths that fit the domain.
pub(super) fn truth(domain: &Domain) -> Truth {
    let theta = (0..domain.dimension() - 1).map(|k| 0.4 - 0.3 * k as f64).collect();
    let mean = if domain.intercept() { 0.3 } else { 0.0 };
    Truth { theta, sigma: 0.3, mean, sd: 0.5 }
}
