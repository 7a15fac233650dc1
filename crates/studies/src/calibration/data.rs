//! Data of a study, as the methods imagine them.

use organza_infer::prior::{CoefficientsPart, FeaturesPart, Scale, Units, VariancePart};
use organza_infer::{Method, ModelSpec, Prior, PriorFile};
use organza_release::Release;
use rand::rngs::ChaCha8Rng;

use super::truth::{USUAL_VARIANCE, normal, product};
use super::{Study, Truth};

/// What the releases are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Data {
    /// Normal records; X'X is exact, X'y and y'y have noise: what `fast` and `fixed-gram` assume.
    ExactGram,
    /// Normal records, noise on everything: what `normal-x` assumes.
    Records,
    /// Sums that are normal with the moments of normal records, noise on everything: what `marginal` assumes.
    Sums,
    /// Normal records that are cut to their bounds, noise on everything: what `augmentation` and `individual` assume.
    CutRecords,
    /// Normal records, noise on everything, and fourth moments without noise beside it: what `gibbs-noisy` assumes.
    FourthMoments,
}

impl Data {
    /// What a method assumes. `naive` assumes that there is no noise, and is shown what noise does to it; the conditionals of the Gibbs samplers
    /// belong to no one model, and normal records are the nearest.
    pub fn of(method: Method) -> Self {
        match method {
            Method::Fast | Method::FixedGram => Data::ExactGram,
            Method::Marginal => Data::Sums,
            Method::Individual | Method::Augmentation => Data::CutRecords,
            Method::GibbsNoisy => Data::FourthMoments,
            _ => Data::Records,
        }
    }

    /// In words.
    pub fn description(self) -> &'static str {
        match self {
            Data::ExactGram => "normal records, X'X without noise",
            Data::Records => "normal records",
            Data::Sums => "normal sums with the moments of normal records",
            Data::CutRecords => "normal records, cut to their bounds",
            Data::FourthMoments => "normal records, fourth moments without noise",
        }
    }
}

impl Study {
    /// What a method takes the truth to be: the prior's, but where it holds something for known.
    pub fn truth_for(&self, method: Method, rng: &mut ChaCha8Rng) -> Truth {
        let mut truth = self.truth(rng);
        match method {
            Method::Fast => truth.variance = organza_infer::methods::Fast::default().variance,
            Method::GibbsPrior => {
                let diagonal =
                    |k: usize| if k.is_multiple_of(self.features + 1) { USUAL_VARIANCE } else { 0.0 };
                truth.covariance = (0..self.features * self.features).map(diagonal).collect();
                truth.mean.fill(0.0);
            }
            // Means of columns lie inside their bounds.
            Method::Marginal if self.intercept => {
                while !truth.is_inside() {
                    truth = self.truth(rng);
                }
            }
            _ => {}
        }
        truth
    }

    /// The prior that truths come from. It is the default of all methods but `marginal`, which is told.
    pub fn model_for(&self, method: Method) -> ModelSpec {
        if method != Method::Marginal {
            return ModelSpec::default();
        }
        let coefficients = self.features + usize::from(self.intercept);
        let unit = |k: usize| (0..coefficients).map(|l| f64::from(u8::from(k == l))).collect();
        let (shape, rate) = Prior::WEAK_VARIANCE;
        let prior = PriorFile {
            units: Units::Normalised,
            coefficients: CoefficientsPart {
                covariance: Some((0..coefficients).map(unit).collect()),
                ..CoefficientsPart::default()
            },
            variance: Some(VariancePart { shape, rate }),
            features: Some(FeaturesPart {
                degrees: None,
                scale: Scale::Number(USUAL_VARIANCE),
                mean: None,
                mean_records: 1.0,
            }),
        };
        ModelSpec { prior, ..ModelSpec::default() }
    }

    /// The releases of all parties.
    pub fn releases(&self, data: Data, truth: &Truth, rng: &mut ChaCha8Rng) -> Vec<Release> {
        (1..=self.parties).flat_map(|party| self.party(data, truth, party, rng)).collect()
    }

    /// The releases of one party: one, and one of fourth moments where the data have them.
    pub fn party(&self, data: Data, truth: &Truth, party: usize, rng: &mut ChaCha8Rng) -> Vec<Release> {
        if data == Data::Sums {
            let gram = self.gram_of_normal_sums(truth, rng);
            return vec![self.release(party, &gram, rng, |_, _| true)];
        }
        let mut gram = vec![0.0; self.size() * self.size()];
        let mut kept = Vec::new();
        self.each_record(truth, rng, |record| {
            if data == Data::CutRecords {
                record.iter_mut().for_each(|value| *value = value.clamp(-1.0, 1.0));
            }
            add_products(&mut gram, record);
            if data == Data::FourthMoments {
                kept.push(record.to_vec());
            }
        });
        let last = self.size() - 1;
        let release = self.release(party, &gram, rng, |_, column| data != Data::ExactGram || column == last);
        let fourth = (data == Data::FourthMoments).then(|| self.fourth_moments(party, &kept));
        [release].into_iter().chain(fourth).collect()
    }

    /// Normal records (1, x1, .., y), the constant only with an intercept.
    pub fn records(&self, truth: &Truth, rng: &mut ChaCha8Rng) -> Vec<Vec<f64>> {
        let mut records = Vec::new();
        self.each_record(truth, rng, |record| records.push(record.to_vec()));
        records
    }

    /// Draws the records one by one into one place.
    fn each_record(&self, truth: &Truth, rng: &mut ChaCha8Rng, mut take: impl FnMut(&mut [f64])) {
        let (lower, sd) = (self.root(&truth.covariance), truth.variance.sqrt());
        let (size, first) = (self.size(), usize::from(self.intercept));
        let (mut z, mut record) = (vec![0.0; self.features], vec![1.0; size]);
        for _ in 0..self.records {
            record[..first].fill(1.0);
            z.iter_mut().for_each(|z| *z = normal(rng));
            let rows = lower.chunks_exact(self.features).zip(&truth.mean);
            for (place, (row, mean)) in record[first..size - 1].iter_mut().zip(rows) {
                *place = mean + row.iter().zip(&z).map(|(factor, z)| factor * z).sum::<f64>();
            }
            let line: f64 = record.iter().zip(&truth.theta).map(|(x, theta)| x * theta).sum();
            record[size - 1] = line + sd * normal(rng);
            take(&mut record);
        }
    }

    /// The Gram matrix of records, row-major.
    pub fn gram(&self, records: &[Vec<f64>]) -> Vec<f64> {
        let mut gram = vec![0.0; self.size() * self.size()];
        records.iter().for_each(|record| add_products(&mut gram, record));
        gram
    }

    /// A matrix with the mean and the covariance of that of normal records, and normal: what `marginal` assumes.
    ///
    /// With record w = m + L e the sum of w w' is n m m' + sqrt n (m a' + a m') + n L L' + sqrt(2n) L Z L', a = L z with z standard normal
    /// and Z symmetric with standard normal coordinates in the isometric layout.
    pub fn gram_of_normal_sums(&self, truth: &Truth, rng: &mut ChaCha8Rng) -> Vec<f64> {
        let (size, first, n) = (self.size(), usize::from(self.intercept), self.records as f64);
        let mut mean = vec![1.0; first];
        mean.extend(&truth.mean);
        mean.push(mean.iter().zip(&truth.theta).map(|(x, theta)| x * theta).sum());
        let lower = self.record_root(truth);
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
        // L (n I + sqrt(2n) Z) L' in one product.
        goe.iter_mut().for_each(|value| *value *= (2.0 * n).sqrt());
        (0..size).for_each(|k| goe[k * size + k] += n);
        let left: Vec<f64> = lower.chunks_exact(size).flat_map(|row| product(&goe, row)).collect();
        let entry = |place: usize| {
            let (i, j) = (place / size, place % size);
            let spread: f64 = (0..size).map(|k| left[i * size + k] * lower[j * size + k]).sum();
            n * mean[i] * mean[j] + n.sqrt() * (mean[i] * shift[j] + shift[i] * mean[j]) + spread
        };
        (0..size * size).map(entry).collect()
    }

    /// L of a record m + L e: the factor of the features, below it the response.
    fn record_root(&self, truth: &Truth) -> Vec<f64> {
        let (size, first) = (self.size(), usize::from(self.intercept));
        let features = self.root(&truth.covariance);
        let mut lower = vec![0.0; size * size];
        for (row, factors) in features.chunks_exact(self.features).enumerate() {
            lower[(row + first) * size + first..(row + first + 1) * size - 1].copy_from_slice(factors);
        }
        for column in first..size - 1 {
            let line = (first..size - 1).map(|row| truth.theta[row] * lower[row * size + column]).sum();
            lower[(size - 1) * size + column] = line;
        }
        lower[size * size - 1] = truth.variance.sqrt();
        lower
    }
}

/// Adds the products of all pairs of coordinates.
fn add_products(gram: &mut [f64], record: &[f64]) {
    for (row, left) in gram.chunks_exact_mut(record.len()).zip(record) {
        row.iter_mut().zip(record).for_each(|(sum, right)| *sum += left * right);
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;
    use crate::metrics::mean;

    /// Normal sums have the mean and the covariance of sums over normal records: first and second moments of random projections agree within six
    /// standard errors. Catches a missing sqrt 2 in Z, a shift without the mean, a transposed factor.
    #[test]
    fn normal_sums_have_the_moments_of_records() {
        let mut rng = ChaCha8Rng::seed_from_u64(8);
        for intercept in [false, true] {
            let study = Study { intercept, ..Study::new(15, 1, 3) };
            let truth = study.truth(&mut rng);
            let size = study.size() * study.size();
            let directions: Vec<Vec<f64>> =
                (0..4).map(|_| (0..size).map(|_| normal(&mut rng)).collect()).collect();
            let mut projected = |sums: bool| -> Vec<Vec<f64>> {
                let gram = |rng: &mut ChaCha8Rng| match sums {
                    true => study.gram_of_normal_sums(&truth, rng),
                    false => study.gram(&study.records(&truth, rng)),
                };
                (0..3000).map(|_| product(&directions.concat(), &gram(&mut rng))).collect()
            };
            let (left, right) = (projected(true), projected(false));
            for direction in 0..directions.len() {
                let column = |of: &[Vec<f64>]| of.iter().map(|row| row[direction]).collect::<Vec<f64>>();
                let (left, right) = (column(&left), column(&right));
                let centre = mean(&right).value;
                let powers: [fn(f64) -> f64; 2] = [|x| x, |x| x * x];
                for power in powers {
                    let of =
                        |values: &[f64]| mean(&values.iter().map(|x| power(x - centre)).collect::<Vec<_>>());
                    let (a, b) = (of(&left), of(&right));
                    let z = (a.value - b.value) / a.standard_error.hypot(b.standard_error);
                    assert!(z.abs() < 6.0, "intercept {intercept}, direction {direction}: {a:?} {b:?}");
                }
            }
        }
    }
}
