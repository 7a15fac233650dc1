//! Simulated records of \[AYB23\] section 5.1.

use rand::Rng;
use rand_distr::{Distribution, Gamma, StandardNormal};

use super::mechanism::{Bounds, Party, VARIANCE};
use crate::linalg::{blocks, cholesky, inverse, quadratic_form, solve};

/// Sums of simulated records, and the truth.
#[derive(Debug, Clone)]
pub struct Simulated {
    /// The coefficients.
    pub theta: Vec<f64>,
    /// Covariance of the features, row-major.
    pub covariance: Vec<f64>,
    /// Lambda of the prior, which made the covariance.
    pub lambda: Vec<f64>,
    /// Sums of every party.
    pub parties: Vec<Party>,
    /// Largest norm of the features.
    pub radius: f64,
    /// Largest absolute response.
    pub response: f64,
}

impl Simulated {
    /// theta ~ N(0, I), Sigma_x ~ IW(V'V, d + 1), x ~ N(0, Sigma_x), y ~ N(x'theta, 1).
    pub fn new(features: usize, records: usize, parties: usize, rng: &mut impl Rng) -> Result<Self, String> {
        let mut normals =
            |count: usize| -> Vec<f64> { (0..count).map(|_| StandardNormal.sample(rng)).collect() };
        let (v, a) = (normals(features * features), normals((features + 1) * features));
        let theta = normals(features);
        // Sigma_x = V' (A'A)^-1 V with d + 1 rows of standard normal numbers in A.
        let inner = inverse(&cross(&a, &a, features)).ok_or("a drawn matrix is singular")?;
        let covariance = sandwich(&v, &inner, features);
        let lower = cholesky(&covariance).ok_or("the drawn covariance is singular")?;
        let sums = Party { records: 0, gram: vec![0.0; (features + 1) * (features + 1)] };
        let lambda = cross(&v, &v, features);
        let (radius, response) = (0.0, 0.0);
        let mut simulated =
            Self { theta, covariance, lambda, parties: vec![sums; parties], radius, response };
        let mut record = vec![0.0; features + 1];
        for index in 0..records {
            simulated.draw(&lower, &mut record, rng);
            let party = (index / (records / parties)).min(parties - 1);
            simulated.add(party, &record);
        }
        Ok(simulated)
    }

    fn draw(&self, lower: &[f64], record: &mut [f64], rng: &mut impl Rng) {
        let features = self.theta.len();
        record.fill(0.0);
        for column in 0..features {
            let z: f64 = StandardNormal.sample(rng);
            (column..features).for_each(|row| record[row] += lower[row * features + column] * z);
        }
        let noise: f64 = StandardNormal.sample(rng);
        record[features] = noise + record.iter().zip(&self.theta).map(|(x, theta)| x * theta).sum::<f64>();
    }

    fn add(&mut self, party: usize, record: &[f64]) {
        let features = self.theta.len();
        let squared: f64 = record[..features].iter().map(|value| value * value).sum();
        self.radius = self.radius.max(squared.sqrt());
        self.response = self.response.max(record[features].abs());
        let Party { records, gram } = &mut self.parties[party];
        *records += 1;
        for (row, left) in gram.chunks_exact_mut(features + 1).zip(record) {
            row.iter_mut().zip(record).for_each(|(sum, right)| *sum += left * right);
        }
    }

    /// Bounds from the data, delta = 1/n.
    pub fn bounds(&self, epsilon: f64) -> Bounds {
        let records: u64 = self.parties.iter().map(|party| party.records).sum();
        let (features, delta) = (self.theta.len(), 1.0 / records as f64);
        Bounds { features, radius: self.radius, response: self.response, epsilon, delta }
    }

    /// The posterior without privacy.
    pub fn non_private(&self) -> Result<NonPrivate, String> {
        let size = self.parties[0].gram.len();
        let sum =
            (0..size).map(|k| self.parties.iter().map(|party| party.gram[k]).sum()).collect::<Vec<f64>>();
        let (mut precision, cross, square) = blocks(&sum);
        let ((shape, rate), features) = (VARIANCE, self.theta.len());
        (0..features).for_each(|k| precision[k * (features + 1)] += rate / (shape - 1.0));
        let mean = solve(&precision, &cross).ok_or("X'X is singular")?;
        let records: u64 = self.parties.iter().map(|party| party.records).sum();
        let kept = quadratic_form(&precision, &mean);
        let (shape, rate) = (shape + 0.5 * records as f64, rate + 0.5 * (square - kept).max(0.0));
        Ok(NonPrivate { mean, precision, shape, rate })
    }
}

/// theta ~ N(mean, sigma^2 precision^-1), sigma^2 ~ IG(shape, rate).
#[derive(Debug, Clone)]
pub struct NonPrivate {
    /// The mean.
    pub mean: Vec<f64>,
    precision: Vec<f64>,
    shape: f64,
    rate: f64,
}

impl NonPrivate {
    /// Draws, row by row.
    pub fn draws(&self, count: usize, rng: &mut impl Rng) -> Result<Vec<f64>, String> {
        let law = Gamma::new(self.shape, 1.0 / self.rate).map_err(|error| error.to_string())?;
        let covariance = inverse(&self.precision).ok_or("the posterior is singular")?;
        let lower = cholesky(&covariance).ok_or("the posterior is singular")?;
        let mut out = Vec::with_capacity(count * self.mean.len());
        for _ in 0..count {
            let sd = (1.0 / law.sample(rng)).sqrt();
            out.extend(normal_draw(&self.mean, &lower, sd, rng));
        }
        Ok(out)
    }
}

/// `mean + sd lower z`.
pub fn normal_draw(mean: &[f64], lower: &[f64], sd: f64, rng: &mut impl Rng) -> Vec<f64> {
    let size = mean.len();
    let z: Vec<f64> = (0..size).map(|_| StandardNormal.sample(rng)).collect();
    let row = |k: usize| mean[k] + sd * (0..=k).map(|i| lower[k * size + i] * z[i]).sum::<f64>();
    (0..size).map(row).collect()
}

/// `A'B` of matrices with this many columns.
fn cross(a: &[f64], b: &[f64], columns: usize) -> Vec<f64> {
    let mut out = vec![0.0; columns * columns];
    for (left, right) in a.chunks_exact(columns).zip(b.chunks_exact(columns)) {
        for (row, x) in out.chunks_exact_mut(columns).zip(left) {
            row.iter_mut().zip(right).for_each(|(sum, y)| *sum += x * y);
        }
    }
    out
}

/// `V' M V`.
fn sandwich(v: &[f64], inner: &[f64], size: usize) -> Vec<f64> {
    let product: Vec<f64> = (0..size * size)
        .map(|place| (0..size).map(|k| inner[place / size * size + k] * v[k * size + place % size]).sum())
        .collect();
    let mut out = cross(v, &product, size);
    for row in 0..size {
        (0..row).for_each(|column| out[row * size + column] = out[column * size + row]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use organza_studies::generator;

    /// Least squares finds the truth, and X'X / n the covariance, within six standard errors: catches a wrong factor and a response of other records.
    #[test]
    fn records_follow_the_model() {
        let found = Simulated::new(2, 40_000, 3, &mut generator(3, 0)).unwrap();
        assert_eq!(
            found.parties.iter().map(|party| party.records).collect::<Vec<_>>(),
            [13_333, 13_333, 13_334]
        );
        let posterior = found.non_private().unwrap();
        for (k, (mean, truth)) in posterior.mean.iter().zip(&found.theta).enumerate() {
            let sd = (1.0 / 40_000.0 * inverse(&found.covariance).unwrap()[k * 3]).sqrt();
            assert!((mean - truth).abs() < 6.0 * sd, "{mean} {truth} {sd}");
        }
        let sum: f64 = found.parties.iter().map(|party| party.gram[0]).sum();
        assert!((sum / 40_000.0 / found.covariance[0] - 1.0).abs() < 6.0 * (2.0 / 40_000.0_f64).sqrt());
        assert!((posterior.rate / posterior.shape - 1.0).abs() < 0.05);
    }

    /// By hand for one feature: V' (A'A)^-1 V = v^2 / (a^2 + b^2).
    #[test]
    fn matrices_by_hand() {
        assert_eq!(cross(&[3.0, 4.0], &[3.0, 4.0], 1), [25.0]);
        assert_eq!(sandwich(&[2.0], &[0.25], 1), [1.0]);
        assert_eq!(sandwich(&[1.0, 1.0, 0.0, 1.0], &[1.0, 0.0, 0.0, 2.0], 2), [1.0, 1.0, 1.0, 3.0]);
    }
}
