//! Releases and priors of the paper, in our units.
//!
//! Records have |x| <= R and |y| <= B, read off the data as in the paper. Normalised units divide by R and B; with the response weight B/R the noise
//! has the same scale on every entry in the paper's units. The prior is theta ~ N(0, b/(a-1) I), sigma^2 ~ IG(a, b) with a = 20, b = 0.5, and
//! Sigma_x ~ IW(Lambda, d + 1).

use organza_infer::{Evidence, FeaturePrior, InferError, Prior};
use organza_release::loss::{LossError, gaussian_scale};
use organza_release::{BallDomain, Domain, Layout, Release, Statistic, gram_entries};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

use super::methods::{Posterior, Problem};
use super::scale::published_gaussian_scale;
use crate::linalg::{blocks, solve};
use crate::reproduce::Variant;
use organza_studies::generator;
use organza_studies::seeded::Mechanism;

/// Shape and rate of the residual variance.
pub const VARIANCE: (f64, f64) = (20.0, 0.5);

/// Exact sums of one party.
#[derive(Debug, Clone, PartialEq)]
pub struct Party {
    /// Number of records.
    pub records: u64,
    /// Gram matrix in users' units, row-major, response last.
    pub gram: Vec<f64>,
}

/// What all parties share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// Number of features.
    pub features: usize,
    /// R.
    pub radius: f64,
    /// B.
    pub response: f64,
    /// The loss that is claimed.
    pub epsilon: f64,
    /// The delta that is claimed.
    pub delta: f64,
}

impl Bounds {
    /// The ball with this weight of the response.
    pub fn domain(&self, response_weight: f64) -> Domain {
        Domain::Ball(BallDomain {
            formula: String::new(),
            columns: vec![],
            features: (1..=self.features).map(|index| format!("x{index}")).collect(),
            response: "y".into(),
            radius: self.radius,
            response_bound: self.response,
            response_weight,
        })
    }

    /// The mechanism of the paper for (S, z), or for (S, z, y'y): with the noise of the authors' code or with that of the claimed guarantee.
    pub fn mechanism(&self, variant: Variant, response_square: bool) -> Result<Mechanism, LossError> {
        let ratio = self.response / self.radius;
        let domain = self.domain(ratio);
        let statistic =
            Statistic::Gram { entries: gram_entries(&domain, true, response_square), layout: Layout::Upper };
        let loss = (self.epsilon, self.delta);
        if variant != Variant::Published {
            return Mechanism::calibrated(domain, statistic, loss);
        }
        // [AYB23] section 3.1, the sensitivity of one record more or less, over R^2.
        let square = if response_square { ratio.powi(4) } else { 0.0 };
        let sensitivity = (1.0 + ratio * ratio + square).sqrt();
        let scale = sensitivity * published_gaussian_scale(self.epsilon, self.delta);
        Ok(Mechanism::gaussian(domain, statistic, scale, loss))
    }

    /// Releases of all parties.
    pub fn releases(&self, mechanism: &Mechanism, parties: &[Party], rng: &mut impl Rng) -> Vec<Release> {
        let publish = |(index, party): (usize, &Party)| {
            let exact = mechanism.entries(&self.normalised(&party.gram));
            mechanism.publish(&format!("party {}", index + 1), party.records, &exact, rng)
        };
        parties.iter().enumerate().map(publish).collect()
    }

    /// A Gram matrix in normalised units.
    fn normalised(&self, gram: &[f64]) -> Vec<f64> {
        let columns = self.features + 1;
        let unit = |k: usize| if k < self.features { self.radius } else { self.response };
        gram.iter().enumerate().map(|(k, value)| value / (unit(k / columns) * unit(k % columns))).collect()
    }

    /// Coefficients in users' units of one in normalised units.
    pub fn slope(&self) -> f64 {
        self.response / self.radius
    }

    /// The paper's prior in normalised units. For MCMC-B&S it is conjugate, theta ~ N(0, sigma^2 (1 + b/(a-1))^-1 I), and Lambda has the identity
    /// added to it: the authors' code adds the identity to the sum of the S_j in every step, which is the same as a prior worth that much.
    pub fn prior(&self, lambda: &[f64], conjugate: bool) -> Result<Prior, InferError> {
        let (shape, rate) = VARIANCE;
        let features = self.features;
        let variance = match conjugate {
            // sigma^2 carries its own unit, B^2.
            true => self.radius * self.radius / (1.0 + rate / (shape - 1.0)),
            false => rate / (shape - 1.0) / (self.slope() * self.slope()),
        };
        let diagonal: Vec<f64> =
            (0..features * features).map(|k| if k % (features + 1) == 0 { variance } else { 0.0 }).collect();
        let rate = rate / (self.response * self.response);
        let ridge = |k: usize| if conjugate && k.is_multiple_of(features + 1) { 1.0 } else { 0.0 };
        let scaled = |(k, value): (usize, &f64)| (value + ridge(k)) / (self.radius * self.radius);
        let scale = lambda.iter().enumerate().map(scaled).collect();
        let features = FeaturePrior::new(scale, features as f64 + 1.0, vec![], 1.0)?;
        let prior = Prior::new(vec![0.0; self.features], &diagonal, (shape, rate))?.with_features(features);
        Ok(if conjugate { prior.conjugate() } else { prior })
    }

    /// The five methods of the paper, in the order of Table 1; chains have so many steps.
    pub fn fit(
        &self,
        variant: Variant,
        parties: &[Party],
        lambda: &[f64],
        (seed, steps): (u64, usize),
    ) -> Result<Vec<Posterior>, String> {
        let text = |error: InferError| error.to_string();
        let evidence = |response_square: bool| -> Result<Evidence, String> {
            let mechanism = self.mechanism(variant, response_square).map_err(|error| error.to_string())?;
            let mut rng = generator(seed, u64::from(response_square));
            Evidence::new(&self.releases(&mechanism, parties, &mut rng)).map_err(text)
        };
        let (pair, triple) = (evidence(false)?, evidence(true)?);
        let slopes = vec![self.slope(); self.features];
        let proposed = Problem { evidence: &pair, slopes: &slopes, seed };
        let rival = Problem { evidence: &triple, slopes: &slopes, seed };
        let prior = self.prior(lambda, false).map_err(text)?;
        Ok(vec![
            proposed.normal_x(&prior, steps)?,
            proposed.fixed_gram(&prior)?,
            // [AYB23] section 4.2: sigma_y^2 = B/3, here over B^2.
            proposed.fast(&prior, 1.0 / (3.0 * self.response))?,
            rival.gibbs(&self.prior(lambda, true).map_err(text)?, steps)?,
            Posterior::point(self.ada_ssp(variant, parties, &mut generator(seed, 2))?),
        ])
    }

    /// adaSSP as the authors do it, from exact sums: \[AYB23\] section C.2, with the noise of the variant on S and z.
    pub fn ada_ssp(
        &self,
        variant: Variant,
        parties: &[Party],
        rng: &mut impl Rng,
    ) -> Result<Vec<f64>, String> {
        let (size, largest) = (self.features, self.radius * self.radius);
        let (epsilon, delta) = (self.epsilon / 3.0, self.delta / 3.0);
        let (gram_scale, cross_scale) = match variant {
            Variant::Published => {
                let scale = published_gaussian_scale(epsilon, delta);
                (scale * largest, scale * self.radius * self.response)
            }
            _ => {
                let scale = |sensitivity: f64| {
                    gaussian_scale(epsilon, delta, sensitivity).map_err(|error| error.to_string())
                };
                (scale(std::f64::consts::SQRT_2 * largest)?, scale(2.0 * self.radius * self.response)?)
            }
        };
        let mut normal = || -> f64 { StandardNormal.sample(rng) };
        let logarithm = libm::log(6.0 / self.delta);
        let ridge_scale = largest / epsilon;
        let full = size as f64 * logarithm * libm::log(2.0 * (size * size) as f64 / 0.05);
        let (mut sum, mut cross, mut ridge) = (vec![0.0; size * size], vec![0.0; size], 0.0);
        for party in parties {
            let (gram, products, _) = blocks(&party.gram);
            let smallest = organza_infer::linalg::symmetric_eigen(&gram, size)
                .values
                .into_iter()
                .fold(f64::INFINITY, f64::min);
            let released = (smallest + (logarithm.sqrt() * normal() - logarithm) * ridge_scale).max(0.0);
            ridge += (full.sqrt() * ridge_scale - released).max(0.0);
            for row in 0..size {
                for column in row..size {
                    let value = gram[row * size + column] + gram_scale * normal();
                    sum[row * size + column] += value;
                    sum[column * size + row] = sum[row * size + column];
                }
                cross[row] += products[row] + cross_scale * normal();
            }
        }
        (0..size).for_each(|k| sum[k * size + k] += ridge);
        solve(&sum, &cross).ok_or_else(|| "adaSSP: the matrix is singular".to_string())
    }
}

/// Lambda = V'V of standard normal numbers, the authors' choice.
pub fn lambda(features: usize, rng: &mut impl Rng) -> Vec<f64> {
    let v: Vec<f64> = (0..features * features).map(|_| StandardNormal.sample(rng)).collect();
    let entry = |k: usize| {
        (0..features).map(|i| v[i * features + k / features] * v[i * features + k % features]).sum()
    };
    (0..features * features).map(entry).collect()
}

#[cfg(test)]
mod tests {
    use organza_release::sensitivity::{Geometry, Shape};
    use organza_release::{Neighbours, Norm};

    use super::*;

    const BOUNDS: Bounds = Bounds { features: 3, radius: 4.0, response: 0.5, epsilon: 1.0, delta: 1e-4 };

    /// Noise in the paper's units: the same on S and z, as large as the paper's formula for R = 4, B = 1/2 says. Catches a forgotten unit.
    #[test]
    fn noise_has_the_papers_scale() {
        let published = BOUNDS.mechanism(Variant::Published, true).unwrap();
        let expected = (256.0_f64 + 4.0 + 0.0625).sqrt() * published_gaussian_scale(1.0, 1e-4);
        let claimed = BOUNDS.mechanism(Variant::Claimed, false).unwrap();
        let geometry = Geometry::Ball { radius: 4.0, response_bound: 0.5 };
        let (layout, neighbours) = (Layout::Upper, Neighbours::Substitute);
        let shape =
            Shape { features: 3, intercept: false, response_square: false, layout, neighbours, geometry };
        let right = gaussian_scale(1.0, 1e-4, shape.sensitivity(Norm::L2).value).unwrap();
        for (mechanism, expected) in [(published, expected), (claimed, right)] {
            for (entry, scale) in mechanism.statistic.entries().iter().zip(&mechanism.scales) {
                let unit: f64 = entry.iter().map(|k| if *k < 3 { 4.0 } else { 0.5 }).product();
                assert!((scale * unit / expected - 1.0).abs() < 1e-12, "{entry:?}");
            }
        }
    }

    /// The sensitivity of the paper: 1.5 times too small for R = B = 1 if one record is exchanged.
    #[test]
    fn what_was_claimed_needs_more_noise() {
        let bounds = Bounds { radius: 1.0, response: 1.0, ..BOUNDS };
        let claimed = bounds.mechanism(Variant::Claimed, false).unwrap();
        assert!((claimed.sensitivity - 4.5_f64.sqrt()).abs() < 1e-12);
        let published = bounds.mechanism(Variant::Published, false).unwrap();
        assert!(claimed.scales[0] > 2.5 * published.scales[0]);
    }
}
