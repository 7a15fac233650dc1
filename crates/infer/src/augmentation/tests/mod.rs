//! The mechanism against its definition, chains against quadrature and against each other, and the promises of the paper.

mod categorical;
mod chains;
mod exchanges;
mod logistic;
mod mechanism;
mod normal_mean;
mod of_paper;
mod prior;
mod promises;

use organza_mcmc::diagnostics::{Traces, mcse_mean};
use organza_mcmc::{ChainRng, Draws};
use organza_release::sensitivity::of_release;
use organza_release::testing::{numbered, published, unit_box};
use organza_release::{
    Domain, Family, Layout, Neighbours, Norm, PrivacyLoss, Release, Statistic, gram_entries,
};
use rand::RngExt;

use super::{Augmented, Generative, GramMechanism, LinearModel, RecordAdditive};
use crate::{FeaturePrior, Prior};

/// Bounds [-1, 1] for all: users' units are normalised units.
pub(super) fn boxed(features: usize, intercept: bool, record_scale: Option<f64>) -> Domain {
    unit_box(&numbered(features), intercept, record_scale, (0.7, 0.9))
}

/// A release of zeros with the Laplace noise of this loss on these entries.
pub(super) fn laplace(domain: &Domain, entries: Vec<[usize; 2]>, (records, epsilon): (u64, f64)) -> Release {
    let statistic = Statistic::Gram { entries, layout: Layout::Upper };
    let sensitivity = of_release(domain, &statistic, Neighbours::Substitute, Norm::L1).value;
    let scale = |entry: &[usize; 2]| sensitivity / epsilon / statistic.entry_weight(domain, *entry);
    let scales: Vec<f64> = statistic.entries().iter().map(scale).collect();
    let (size, noise) = (domain.dimension(), (Family::Laplace, scales));
    let mut release = published("north", domain, (statistic, records), &vec![0.0; size * size], noise);
    release.privacy = PrivacyLoss { epsilon, delta: 0.0, norm: Norm::L1, sensitivity, ..release.privacy };
    release
}

/// The same of all entries.
pub(super) fn complete(domain: &Domain, records: u64, epsilon: f64) -> Release {
    laplace(domain, gram_entries(domain, true, true), (records, epsilon))
}

/// Fills in values: sums over these records (rows of features and response) and noise.
pub(super) fn publish(mut release: Release, records: &[f64], rng: &mut ChainRng) -> Release {
    let width = release.domain.feature_count() + 1;
    let mut quiet = release.clone();
    quiet.noise.scales.fill(1.0);
    let mechanism = GramMechanism::of(&quiet).unwrap();
    let (mut sum, mut one) = (vec![0.0; mechanism.size()], vec![0.0; mechanism.size()]);
    for record in records.chunks_exact(width) {
        mechanism.contribution(record, &mut one);
        sum.iter_mut().zip(&one).for_each(|(sum, value)| *sum += value);
    }
    let (first, side) = (usize::from(release.domain.intercept()), width + 1);
    let entries = release.statistic.entries().to_vec();
    for (index, [row, column]) in entries.into_iter().enumerate() {
        let (row, column) = (row + 1 - first, column + 1 - first);
        let exact = sum[(0..row).map(|above| side - above).sum::<usize>() + column - row];
        let uniform: f64 = rng.random::<f64>() - 0.5;
        let noise = -uniform.signum() * (1.0 - 2.0 * uniform.abs()).ln();
        release.value[index] = exact + release.noise.scales[index] * noise;
    }
    release
}

/// A model with unknown everything.
pub(super) fn weak_model(features: usize, intercept: bool) -> LinearModel {
    let mut scale = vec![0.0; features * features];
    (0..features).for_each(|k| scale[k * features + k] = 0.1);
    let mean = vec![0.0; if intercept { features } else { 0 }];
    let law = FeaturePrior::new(scale, features as f64 + 2.0, mean, 1.0).unwrap();
    LinearModel::new(&Prior::weak(features + usize::from(intercept)), &law, intercept).unwrap()
}

/// Releases of records that a draw of the prior made, one for each number of records.
pub(super) fn simulated(
    model: LinearModel,
    releases: Vec<Release>,
    seed: u64,
) -> Augmented<LinearModel, GramMechanism> {
    let mut rng = ChainRng::new(seed, 0);
    let truth = model.start(&mut rng).unwrap();
    let parties = releases.into_iter().map(|release| {
        let count = release.records.unwrap() as usize;
        let mut records = vec![0.0; count * model.width()];
        records
            .chunks_exact_mut(model.width())
            .for_each(|record| model.draw_record(&truth, &mut rng, record));
        GramMechanism::of(&publish(release, &records, &mut rng)).unwrap()
    });
    let parties = parties.collect();
    Augmented { model, parties }
}

/// Mean of a function of the draws of a parameter, and its Monte Carlo error.
pub(super) fn mean(draws: &Draws, parameter: usize, function: impl Fn(f64) -> f64) -> (f64, f64) {
    let name = &draws.names()[parameter];
    of(&draws.traces(name).unwrap().map(function))
}

pub(super) fn of(traces: &Traces) -> (f64, f64) {
    (traces.values().iter().sum::<f64>() / traces.values().len() as f64, mcse_mean(traces))
}

/// Largest |z| at alpha = 1e-6 over at most fifty comparisons.
pub(super) const LARGEST: f64 = 5.7;

/// Two estimates of one number.
pub(super) fn agree(what: &str, found: (f64, f64), expected: (f64, f64)) {
    let z = (found.0 - expected.0) / found.1.hypot(expected.1);
    println!("{what}: {} against {}, z = {z}", found.0, expected.0);
    assert!(z.abs() < LARGEST, "{what}: {} against {}, z = {z}", found.0, expected.0);
}
