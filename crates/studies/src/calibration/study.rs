//! A simulated study: how many records, parties and features, and the mechanism of the releases.
//!
//! Bounds are [-1, 1], so users' units are normalised units. Features x1, x2, .., response y; records are neither cut nor shrunk unless the
//! data are made so.

use organza_release::loss::{LossError, gaussian_scale, laplace_scale};
use organza_release::{
    BoxDomain, Domain, Family, Interval, Layout, Neighbours, Norm, Release, Statistic, fourth_moment_entries,
    gram_entries, sensitivity,
};
use rand::rngs::ChaCha8Rng;

use crate::seeded::{Mechanism, standard_noise};

/// Everything that a simulated study is made of but the truth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Study {
    /// Records of each party.
    pub records: u64,
    /// Number of parties.
    pub parties: usize,
    /// Number of features.
    pub features: usize,
    /// Whether records carry a constant.
    pub intercept: bool,
    /// Family of the noise.
    pub family: Family,
    /// Its layout.
    pub layout: Layout,
    /// Its scale in weighted units.
    pub noise: f64,
    /// The loss that releases state, epsilon and delta.
    pub loss: (f64, f64),
}

impl Study {
    /// Gaussian noise of scale 1 in the isometric layout, no intercept.
    pub fn new(records: u64, parties: usize, features: usize) -> Self {
        let (family, layout) = (Family::Gaussian, Layout::Isometric);
        Self { records, parties, features, intercept: false, family, layout, noise: 1.0, loss: (1.0, 1e-6) }
    }

    /// The same with the noise that this loss needs if records keep their bounds.
    pub fn with_loss(self, (epsilon, delta): (f64, f64)) -> Result<Self, LossError> {
        let norm = if self.family == Family::Gaussian { Norm::L2 } else { Norm::L1 };
        let bound =
            sensitivity::of_release(&self.domain(), &self.statistic(), Neighbours::Substitute, norm).value;
        let noise = match self.family {
            Family::Gaussian => gaussian_scale(epsilon, delta, bound)?,
            Family::Laplace => laplace_scale(epsilon, bound)?,
        };
        Ok(Self { noise, loss: (epsilon, delta), ..self })
    }

    /// Coordinates of a record: the constant if there is one, the features, the response.
    pub fn size(&self) -> usize {
        self.features + 1 + usize::from(self.intercept)
    }

    /// The public domain.
    pub fn domain(&self) -> Domain {
        let interval = |name: String| Interval { name, lower: -1.0, upper: 1.0 };
        let names: Vec<String> = (1..=self.features).map(|number| format!("x{number}")).collect();
        // Exact sensitivities of the upper layout are those of weights 1.
        let isometric = self.layout == Layout::Isometric;
        Domain::Box(BoxDomain {
            formula: format!("y ~ {}", names.join(" + ")),
            columns: vec![],
            intercept: self.intercept,
            features: names.into_iter().map(interval).collect(),
            response: interval("y".into()),
            record_scale: None,
            intercept_weight: 1.0,
            response_weight: if isometric { std::f64::consts::SQRT_2 } else { 1.0 },
        })
    }

    fn statistic(&self) -> Statistic {
        Statistic::Gram { entries: gram_entries(&self.domain(), true, true), layout: self.layout }
    }

    /// A release of this Gram matrix; `noisy` says which entries (row, column) receive their noise.
    pub fn release(
        &self,
        party: usize,
        gram: &[f64],
        rng: &mut ChaCha8Rng,
        noisy: impl Fn(usize, usize) -> bool,
    ) -> Release {
        let (domain, statistic, size) = (self.domain(), self.statistic(), self.size());
        let scales: Vec<f64> =
            statistic.weights(&domain).iter().map(|weights| self.noise / weights.noise).collect();
        let entry = |(&[row, column], scale): (&[usize; 2], &f64)| {
            let noise = if noisy(row, column) { scale * standard_noise(self.family, rng) } else { 0.0 };
            gram[row * size + column] + noise
        };
        let value = statistic.entries().iter().zip(&scales).map(entry).collect();
        self.published(party, statistic, value, scales)
    }

    /// A release of fourth moments without noise.
    pub fn fourth_moments(&self, party: usize, records: &[Vec<f64>]) -> Release {
        let entries = fourth_moment_entries(self.features);
        let product =
            |record: &Vec<f64>, entry: &[usize; 4]| entry.iter().map(|k| record[*k]).product::<f64>();
        let value =
            entries.iter().map(|entry| records.iter().map(|record| product(record, entry)).sum()).collect();
        let scales = vec![1.0; entries.len()];
        self.published(party, Statistic::FourthMoments { entries }, value, scales)
    }

    /// A release for adaSSP of a Gram matrix, without noise; the smallest eigenvalue is taken as 1.
    pub fn ada_ssp(&self, party: usize, gram: &[f64]) -> Release {
        let (domain, size) = (self.domain(), self.size());
        let entries = gram_entries(&domain, true, false);
        let mut value: Vec<f64> = entries.iter().map(|&[row, column]| gram[row * size + column]).collect();
        value.push(1.0);
        let scales = vec![self.noise; value.len()];
        self.published(party, Statistic::AdaSsp { entries }, value, scales)
    }

    fn published(&self, party: usize, statistic: Statistic, value: Vec<f64>, scales: Vec<f64>) -> Release {
        let (epsilon, delta) = self.loss;
        let mechanism = Mechanism {
            domain: self.domain(),
            statistic,
            family: self.family,
            scales,
            epsilon,
            delta,
            sensitivity: 1.0,
        };
        mechanism.release(&format!("party{party}"), self.records, value)
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;
    use crate::metrics::kolmogorov_smirnov;

    /// Catches a sensitivity of the wrong shape: a record of ones has the squared norm of its size, and the isometric sensitivity is
    /// sqrt 2 times it; with Laplace noise two features and the response have 3 * 4 / 2.
    #[test]
    fn noise_follows_from_the_loss() {
        let study = Study::new(10, 1, 2);
        let expected = gaussian_scale(1.0, 1e-6, 3.0 * std::f64::consts::SQRT_2).unwrap();
        assert!((study.with_loss((1.0, 1e-6)).unwrap().noise / expected - 1.0).abs() < 1e-12);
        let laplace = Study { family: Family::Laplace, layout: Layout::Upper, ..study };
        assert!((laplace.with_loss((2.0, 0.0)).unwrap().noise - 3.0).abs() < 1e-12);
    }

    /// Catches noise that is drawn in another scale or family than the release states, and noise on entries that should have none: numbers over
    /// their stated scales against their law, alpha = 1e-6 / 2.
    #[test]
    fn releases_have_the_noise_that_they_state() {
        type Law = fn(f64) -> f64;
        let laws: [(Family, Layout, Law); 2] =
            [
                (Family::Gaussian, Layout::Isometric, |x| 0.5 * libm::erfc(-x / std::f64::consts::SQRT_2)),
                (Family::Laplace, Layout::Upper, |x| {
                    if x < 0.0 { 0.5 * x.exp() } else { 1.0 - 0.5 * (-x).exp() }
                }),
            ];
        let mut rng = ChaCha8Rng::seed_from_u64(12);
        for (family, layout, law) in laws {
            let study = Study { family, layout, noise: 3.0, intercept: true, ..Study::new(10, 1, 3) };
            let gram = vec![0.0; study.size() * study.size()];
            let sample: Vec<f64> = (0..500)
                .flat_map(|_| {
                    let release = study.release(1, &gram, &mut rng, |_, _| true);
                    release.value.into_iter().zip(release.noise.scales).map(|(value, scale)| value / scale)
                })
                .collect();
            let found = kolmogorov_smirnov(&sample, law);
            assert!(found.p_value > 0.5e-6, "{family:?}: {found:?}");
            let exact = study.release(1, &gram, &mut rng, |_, column| column == 4);
            let noisy = exact.value.iter().filter(|value| **value != 0.0).count();
            assert_eq!(noisy, 5, "the column of the response");
        }
    }
}
