//! Parameters from the prior, and releases from the models that the methods assume.
//!
//! Bounds are [-1, 1], so users' units are normalised units. Two features x1 and x2, response y.

use organza_release::loss::gaussian_scale;
use organza_release::{
    BoxDomain, Domain, Family, Interval, Layout, Missing, Neighbours, Noise, Norm, PrivacyLoss, Release,
    Statistic, Tool, fourth_moment_entries, gram_entries,
};
use rand::rngs::ChaCha8Rng;
use rand_distr::{Distribution, Gamma, StandardNormal};

/// Features of the simulated regressions.
pub const FEATURES: usize = 2;
/// Failure probability of the simulated releases.
const DELTA: f64 = 1e-6;

/// A simulated study.
#[derive(Debug, Clone, Copy)]
pub struct Study {
    /// Records of each party.
    pub records: u64,
    /// Noise scale in weighted units.
    pub noise: f64,
    /// Number of parties.
    pub parties: usize,
    /// Whether records carry a constant.
    pub intercept: bool,
    /// The mechanism.
    pub layout: Layout,
}

/// What the prior drew.
#[derive(Debug, Clone)]
pub struct Truth {
    /// Coefficients, the intercept first if there is one.
    pub theta: Vec<f64>,
    /// Residual variance.
    pub variance: f64,
    /// Covariance of the features.
    pub covariance: [[f64; FEATURES]; FEATURES],
    /// Mean of the features; zero without an intercept.
    pub mean: [f64; FEATURES],
}

/// Row-major matrices of this width hold (1, x1, x2, y) or (x1, x2, y).
type Matrix = Vec<f64>;

fn normal(rng: &mut ChaCha8Rng) -> f64 {
    StandardNormal.sample(rng)
}

fn gamma(rng: &mut ChaCha8Rng, shape: f64) -> f64 {
    Gamma::new(shape, 1.0).map_or(f64::NAN, |law| law.sample(rng))
}

impl Study {
    /// A study in the isometric layout, without an intercept, with the noise that this loss needs: the sensitivity of unscaled
    /// records is sqrt(2) times their largest squared norm.
    pub fn new(records: u64, epsilon: f64, parties: usize) -> Self {
        let study = Self { records, noise: 1.0, parties, intercept: false, layout: Layout::Isometric };
        study.with_loss(epsilon)
    }

    /// The same with an intercept, the noise for this loss.
    pub fn with_intercept(self, epsilon: f64) -> Self {
        Self { intercept: true, ..self }.with_loss(epsilon)
    }

    fn with_loss(self, epsilon: f64) -> Self {
        let sensitivity = std::f64::consts::SQRT_2 * self.size() as f64;
        Self { noise: gaussian_scale(epsilon, DELTA, sensitivity).unwrap_or(f64::NAN), ..self }
    }

    /// Coordinates of a record.
    pub fn size(&self) -> usize {
        FEATURES + 1 + usize::from(self.intercept)
    }

    /// The public domain.
    pub fn domain(&self) -> Domain {
        let interval = |name: &str| Interval { name: name.into(), lower: -1.0, upper: 1.0 };
        Domain::Box(BoxDomain {
            formula: "y ~ x1 + x2".into(),
            columns: vec![],
            intercept: self.intercept,
            features: vec![interval("x1"), interval("x2")],
            response: interval("y"),
            record_scale: None,
            intercept_weight: 1.0,
            response_weight: std::f64::consts::SQRT_2,
        })
    }

    /// The default prior: theta ~ N(0, I), sigma^2 ~ IG(2, 0.1), Sigma_x ~ IW(0.1 I, d + 2), mu ~ N(0, Sigma_x).
    pub fn truth(&self, rng: &mut ChaCha8Rng) -> Truth {
        // W ~ Wishart(I, 4) by Bartlett, then its inverse times 0.1.
        let (a, b, c) = ((2.0 * gamma(rng, 2.0)).sqrt(), normal(rng), (2.0 * gamma(rng, 1.5)).sqrt());
        let (w11, w12, w22) = (a * a, a * b, b * b + c * c);
        let scale = 0.1 / (w11 * w22 - w12 * w12);
        let covariance = [[scale * w22, -scale * w12], [-scale * w12, scale * w11]];
        let lower = cholesky(covariance);
        let (e, f) = (normal(rng), normal(rng));
        let mean = match self.intercept {
            true => [lower[0][0] * e, lower[1][0] * e + lower[1][1] * f],
            false => [0.0; FEATURES],
        };
        let theta = (0..self.size() - 1).map(|_| normal(rng)).collect();
        Truth { theta, variance: 0.1 / gamma(rng, 2.0), covariance, mean }
    }

    /// A release of this Gram matrix; `noisy` says which entries (row, column) receive their noise.
    pub fn release(
        &self,
        party: usize,
        gram: &Matrix,
        rng: &mut ChaCha8Rng,
        noisy: impl Fn(usize, usize) -> bool,
    ) -> Release {
        let (domain, size) = (self.domain(), self.size());
        let statistic = Statistic::Gram { entries: gram_entries(&domain, true, true), layout: self.layout };
        let entries = statistic.entries().to_vec();
        let scales: Vec<f64> =
            entries.iter().map(|entry| self.noise / statistic.entry_weight(&domain, *entry)).collect();
        let value = entries.iter().zip(&scales).map(|(&[row, column], scale)| {
            let noise = if noisy(row, column) { scale * normal(rng) } else { 0.0 };
            gram[row * size + column] + noise
        });
        self.published(party, statistic, value.collect(), scales)
    }

    /// A release of fourth moments without noise.
    pub fn fourth_moments(&self, party: usize, records: &[Vec<f64>]) -> Release {
        let entries = fourth_moment_entries(FEATURES);
        let product =
            |record: &Vec<f64>, entry: &[usize; 4]| entry.iter().map(|k| record[*k]).product::<f64>();
        let value =
            entries.iter().map(|entry| records.iter().map(|record| product(record, entry)).sum()).collect();
        let scales = vec![1.0; entries.len()];
        self.published(party, Statistic::FourthMoments { entries }, value, scales)
    }

    /// A release for adaSSP of a Gram matrix, without noise; the smallest eigenvalue is taken as 1.
    pub fn ada_ssp(&self, party: usize, gram: &Matrix) -> Release {
        let (domain, size) = (self.domain(), self.size());
        let entries = gram_entries(&domain, true, false);
        let mut value: Vec<f64> = entries.iter().map(|&[row, column]| gram[row * size + column]).collect();
        value.push(1.0);
        let scales = vec![self.noise; value.len()];
        self.published(party, Statistic::AdaSsp { entries }, value, scales)
    }

    fn published(&self, party: usize, statistic: Statistic, value: Vec<f64>, scales: Vec<f64>) -> Release {
        Release {
            schema: statistic.schema().into(),
            party: format!("party{party}"),
            created: "2026-01-31T12:00:00Z".into(),
            records: Some(self.records),
            missing: Missing::Refused,
            value,
            noise: Noise { family: Family::Gaussian, scales, lattice: -32 },
            statistic,
            domain: self.domain(),
            privacy: PrivacyLoss {
                neighbours: Neighbours::Substitute,
                epsilon: 1.0,
                delta: DELTA,
                norm: Norm::L2,
                sensitivity: 1.0,
                private_bounds: true,
            },
            tool: Tool { name: "simulation".into(), version: "0".into() },
        }
    }

    /// Normal records (1, x1, x2, y), the constant only with an intercept.
    pub fn records(&self, truth: &Truth, rng: &mut ChaCha8Rng) -> Vec<Vec<f64>> {
        let lower = cholesky(truth.covariance);
        let record = |_| {
            let (e, f) = (normal(rng), normal(rng));
            let x = [truth.mean[0] + lower[0][0] * e, truth.mean[1] + lower[1][0] * e + lower[1][1] * f];
            let mut record: Vec<f64> = self.intercept.then_some(1.0).into_iter().chain(x).collect();
            let line: f64 = record.iter().zip(&truth.theta).map(|(x, theta)| x * theta).sum();
            record.push(line + truth.variance.sqrt() * normal(rng));
            record
        };
        (0..self.records).map(record).collect()
    }

    /// The Gram matrix of records.
    pub fn gram(&self, records: &[Vec<f64>]) -> Matrix {
        let size = self.size();
        let mut gram = vec![0.0; size * size];
        for record in records {
            for (k, entry) in gram.iter_mut().enumerate() {
                *entry += record[k / size] * record[k % size];
            }
        }
        gram
    }

    /// A matrix with the mean and the covariance of that of normal records, and normal: what `marginal` assumes.
    ///
    /// With record w = m + L e the sum of w w' is n m m' + sqrt n (m a' + a m') + n L L' + sqrt(2n) L Z L', a = L z with z standard normal
    /// and Z symmetric with standard normal coordinates in the isometric layout.
    pub fn gram_of_normal_sums(&self, truth: &Truth, rng: &mut ChaCha8Rng) -> Matrix {
        let (size, first) = (self.size(), usize::from(self.intercept));
        let (n, features) = (self.records as f64, cholesky(truth.covariance));
        let mut mean = vec![1.0; first];
        mean.extend(truth.mean);
        mean.push(mean.iter().zip(&truth.theta).map(|(x, theta)| x * theta).sum());
        let mut lower = vec![0.0; size * size];
        for (row, factors) in features.iter().enumerate() {
            lower[(row + first) * size + first..(row + first) * size + size - 1].copy_from_slice(factors);
        }
        for column in first..size - 1 {
            let line = (first..size - 1).map(|row| truth.theta[row] * lower[row * size + column]).sum();
            lower[(size - 1) * size + column] = line;
        }
        lower[size * size - 1] = truth.variance.sqrt();
        let (mut shift, mut goe) = (vec![0.0; size], vec![0.0; size * size]);
        for row in first..size {
            let z = normal(rng);
            (first..size).for_each(|k| shift[k] += lower[k * size + row] * z);
            for column in first..=row {
                let scale = if row == column { 1.0 } else { std::f64::consts::FRAC_1_SQRT_2 };
                goe[row * size + column] = scale * normal(rng);
                goe[column * size + row] = goe[row * size + column];
            }
        }
        (0..size * size)
            .map(|place| {
                let (i, j) = (place / size, place % size);
                let spread: f64 = (0..size * size)
                    .map(|k| lower[i * size + k / size] * goe[k] * lower[j * size + k % size])
                    .sum();
                let covariance: f64 = (0..size).map(|k| lower[i * size + k] * lower[j * size + k]).sum();
                n * (mean[i] * mean[j] + covariance)
                    + n.sqrt() * (mean[i] * shift[j] + shift[i] * mean[j])
                    + (2.0 * n).sqrt() * spread
            })
            .collect()
    }
}

/// The lower factor of a symmetric matrix of two rows.
fn cholesky(matrix: [[f64; 2]; 2]) -> [[f64; 2]; 2] {
    let first = matrix[0][0].sqrt();
    let below = matrix[1][0] / first;
    [[first, 0.0], [below, (matrix[1][1] - below * below).sqrt()]]
}
