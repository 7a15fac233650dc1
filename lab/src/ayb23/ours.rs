//! Our own mechanism on the paper's problems: records shrunk whole, isometric noise, y'y for free, at the guarantee that the paper claims.
//!
//! Features have mean 0 and standard deviation about 1 (\[AYB23\] section 5.2 scales them so), and public bounds at four standard deviations, as in the
//! experiment behind the defaults. Radius and weights are the defaults of a release; nothing is tuned to a data set.

use organza_curator::defaults;
use organza_infer::{Estimate, Evidence, Prior, ada_ssp};
use organza_release::loss::LossError;
use organza_release::{BoxDomain, Domain, Interval, Layout, Release, Statistic, gram_entries};
use rand::Rng;

use super::mechanism::Party;
use super::methods::{Posterior, Problem};
use organza_studies::generator;
use organza_studies::seeded::Mechanism;

/// Public bounds of a feature, in standard deviations.
const HALF_WIDTH: f64 = 4.0;
/// Steps of NUTS and of the Gibbs sampler.
const STEPS: (usize, usize) = (1000, 10_000);

/// Our methods, in the order of the columns.
pub const WORDS: [&str; 5] = ["marginal", "fixed-gram", "fast", "gibbs-update", "ada-ssp"];

/// Exact sums of all parties, in normalised units.
#[derive(Debug, Clone)]
pub struct Ours {
    domain: Domain,
    parties: Vec<Party>,
}

impl Ours {
    /// Clamps, shrinks and sums the records (row by row, response last) of every party; features have these standard deviations, the response this bound.
    pub fn new<'r>(parties: impl Iterator<Item = &'r [f64]>, deviations: &[f64], response: f64) -> Self {
        let features = deviations.len();
        let scaling = defaults::scaling(features, 0, false);
        let (radius, weight) =
            scaling.map_or((1.0, 1.0), |scaling| (scaling.radius, scaling.response_weight));
        let interval = |name: String, half: f64| Interval { name, lower: -half, upper: half };
        let of_feature = |(k, sd): (usize, &f64)| interval(format!("x{}", k + 1), HALF_WIDTH * sd);
        let domain = Domain::Box(BoxDomain {
            formula: String::new(),
            columns: vec![],
            intercept: false,
            features: deviations.iter().enumerate().map(of_feature).collect(),
            response: interval("y".into(), response),
            record_scale: Some(radius),
            intercept_weight: 1.0,
            response_weight: weight,
        });
        let units: Vec<f64> = deviations.iter().map(|sd| HALF_WIDTH * sd).chain([response]).collect();
        let sums = |records: &[f64]| Party {
            records: (records.len() / units.len()) as u64,
            gram: scaled_gram(records, &units, radius),
        };
        Self { domain, parties: parties.map(sums).collect() }
    }

    /// Least squares on the clamped and shrunk records, which is what releases without noise would say.
    pub fn least_squares(&self) -> Option<Vec<f64>> {
        let mut total = vec![0.0; self.parties.first()?.gram.len()];
        for party in &self.parties {
            total.iter_mut().zip(&party.gram).for_each(|(total, sum)| *total += sum);
        }
        let (inner, cross, _) = crate::linalg::blocks(&total);
        let slopes = crate::linalg::solve(&inner, &cross)?;
        Some(organza_release::units::CoefficientMap::new(&self.domain).to_users(&slopes))
    }

    /// Posteriors of all methods from one set of releases, and adaSSP from its own.
    pub fn fit(&self, loss: (f64, f64), seed: u64) -> Result<Vec<Posterior>, String> {
        let gram =
            Statistic::Gram { entries: gram_entries(&self.domain, true, true), layout: Layout::Isometric };
        let releases =
            self.releases(gram, loss, &mut generator(seed, 0)).map_err(|error| error.to_string())?;
        let evidence = Evidence::new(&releases).map_err(|error| error.to_string())?;
        let slopes = organza_release::units::CoefficientMap::new(&self.domain);
        let slopes = slopes.to_users(&vec![1.0; self.domain.feature_count()]);
        let problem = Problem { evidence: &evidence, slopes: &slopes, seed };
        let prior = Prior::weak(evidence.dimension());
        Ok(vec![
            problem.marginal(&prior, STEPS.0)?,
            problem.fixed_gram(&prior)?,
            problem.fast(&prior, organza_infer::methods::Fast::default().variance)?,
            problem.gibbs(&prior, STEPS.1)?,
            self.ada_ssp(loss, seed)?,
        ])
    }

    fn ada_ssp(&self, loss: (f64, f64), seed: u64) -> Result<Posterior, String> {
        let statistic = Statistic::AdaSsp { entries: gram_entries(&self.domain, true, false) };
        let releases =
            self.releases(statistic, loss, &mut generator(seed, 1)).map_err(|error| error.to_string())?;
        let Estimate { coefficients, .. } = ada_ssp(&releases).map_err(|error| error.to_string())?;
        Ok(Posterior::point(coefficients.into_iter().map(|(_, value)| value).collect()))
    }

    fn releases(
        &self,
        statistic: Statistic,
        loss: (f64, f64),
        rng: &mut impl Rng,
    ) -> Result<Vec<Release>, LossError> {
        let mechanism = Mechanism::calibrated(self.domain.clone(), statistic, loss)?;
        let publish = |(index, party): (usize, &Party)| {
            let mut exact = mechanism.entries(&party.gram);
            if matches!(mechanism.statistic, Statistic::AdaSsp { .. }) {
                exact.push(self.smallest_eigenvalue(&party.gram));
            }
            mechanism.publish(&format!("party {}", index + 1), party.records, &exact, rng)
        };
        Ok(self.parties.iter().enumerate().map(publish).collect())
    }

    /// Of X'X; without an intercept weighted units of features are normalised ones.
    fn smallest_eigenvalue(&self, gram: &[f64]) -> f64 {
        let (inner, _, _) = crate::linalg::blocks(gram);
        let values = organza_infer::linalg::symmetric_eigen(&inner, self.domain.feature_count()).values;
        values.into_iter().fold(f64::INFINITY, f64::min)
    }
}

/// Gram matrix of records that are divided by their units, clamped, and shrunk whole until their features have at most this norm.
fn scaled_gram(records: &[f64], units: &[f64], radius: f64) -> Vec<f64> {
    let columns = units.len();
    let mut gram = vec![0.0; columns * columns];
    let mut record = vec![0.0; columns];
    for row in records.chunks_exact(columns) {
        let mapped = row.iter().zip(units).map(|(value, unit)| (value / unit).clamp(-1.0, 1.0));
        record.iter_mut().zip(mapped).for_each(|(place, value)| *place = value);
        let squared: f64 = record[..columns - 1].iter().map(|value| value * value).sum();
        let shrink = (radius * radius / squared).min(1.0);
        for (sums, left) in gram.chunks_exact_mut(columns).zip(&record) {
            sums.iter_mut().zip(&record).for_each(|(sum, right)| *sum += shrink * left * right);
        }
    }
    gram
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: (6, 8) / 2 = (3, 4) is clamped to (1, 1), of norm sqrt 2, and shrunk to 1; so are the products with the response, 1/2.
    #[test]
    fn a_record_is_clamped_and_shrunk_whole() {
        let found = scaled_gram(&[6.0, 8.0, 1.0], &[2.0, 2.0, 2.0], 1.0);
        let expected = [0.5, 0.5, 0.25, 0.5, 0.5, 0.25, 0.25, 0.25, 0.125];
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
    }

    /// Without noise to speak of every method finds the line through unscaled records, in users' units: catches wrong slopes.
    #[test]
    fn coefficients_come_back_in_users_units() {
        let record = |k: usize| {
            let (a, b) = ((k as f64 * 0.7).sin(), (k as f64 * 1.3).cos() * 2.0);
            [a, b, 0.5 * a - 0.25 * b]
        };
        let records: Vec<f64> = (0..4000).flat_map(record).collect();
        let ours = Ours::new([&records[..]].into_iter(), &[0.7, 1.4], 1.0);
        for (word, posterior) in WORDS.iter().zip(ours.fit((1e4, 1e-2), 1).unwrap()) {
            for (found, expected) in posterior.mean.iter().zip([0.5, -0.25]) {
                assert!((found - expected).abs() < 0.02, "{word}: {:?}", posterior.mean);
            }
        }
    }
}
