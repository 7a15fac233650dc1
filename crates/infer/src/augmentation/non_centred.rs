//! The non-centred form of a linear regression: residuals (v - theta'(1, u))/sigma and whitened features L^-1 (u - m) stay as they are
//! while the parameters move.
//!
//! Coordinates: theta, ln sigma^2, m, and row by row of the lower factor L of Sigma what is left of the diagonal and the logarithm of the
//! diagonal; those of known parameters are left out.

use std::ops::Range;

use super::{Interweave, LinearModel, LinearParameters};
use crate::linalg::{dot, quadratic_form};

/// Most coordinates that move together: random walks in more dimensions hardly move.
const MOST_TOGETHER: usize = 12;
/// Logarithms beyond this are no scale of anything.
const LARGEST_LOG: f64 = 80.0;

impl LinearModel {
    /// Numbers of coordinates of theta, ln sigma^2, m and L.
    fn parts(&self) -> [usize; 4] {
        let (features, unknown) = (self.dimension(), self.known_features.is_none());
        let of = |is: bool, count: usize| if is { count } else { 0 };
        [
            self.prior.dimension(),
            of(self.known_variance.is_none(), 1),
            of(unknown && self.intercept, features),
            of(unknown, features * (features + 1) / 2),
        ]
    }

    /// (theta - m)' C^-1 (theta - m).
    pub(super) fn prior_distance(&self, theta: &[f64]) -> f64 {
        let mean = self.prior.mean();
        let rows = self.prior.precision().chunks_exact(mean.len().max(1));
        let image = |row: &[f64]| row.iter().zip(theta).zip(mean).map(|((c, t), m)| c * (t - m)).sum::<f64>();
        rows.zip(theta).zip(mean).map(|((row, t), m)| (t - m) * image(row)).sum()
    }

    /// Log prior density of the coordinates of m and L.
    ///
    /// Sigma ~ IW(Lambda, kappa); dSigma = 2^p prod L_ii^(p - i + 1) dL for i = 1 .. p, and dL_ii = L_ii d ln L_ii.
    fn log_prior_of_features(&self, parameters: &LinearParameters) -> f64 {
        let (size, prior, law) = (self.dimension(), &self.features, &parameters.features);
        let weight = if self.intercept { prior.mean_records() } else { 0.0 };
        let mut log_density = 0.0;
        for (row, factors) in parameters.inverse.chunks_exact(size.max(1)).enumerate() {
            // ln L_ii with the powers of |Sigma|, of the change of variables and of |Sigma / k_0|.
            let from_end = (size - row) as f64;
            let power =
                from_end + 1.0 - (prior.degrees() + size as f64 + 1.0) - f64::from(u8::from(self.intercept));
            let trace = quadratic_form(prior.scale(), factors);
            let deviations = factors.iter().zip(&law.mean).zip(prior.mean());
            let deviation =
                deviations.fold(0.0, |sum, ((factor, mean), centre)| sum + factor * (mean - centre));
            log_density -= power * libm::log(factors[row]) + 0.5 * (trace + weight * deviation * deviation);
        }
        log_density
    }

    /// The affine map of records from one set of parameters to the other.
    fn prepare(&self, from: &LinearParameters, to: &mut LinearParameters) {
        let (size, first) = (self.dimension(), self.first());
        let stride = size + 2;
        to.map.fill(0.0);
        // u' = m' + L' L^-1 (u - m).
        for row in 0..size {
            let line = &mut to.map[row * stride..(row + 1) * stride];
            if self.known_features.is_some() {
                line[1 + row] = 1.0;
                continue;
            }
            for k in 0..=row {
                let factor = to.features.lower[row * size + k];
                let inverse = &from.inverse[k * size..k * size + k + 1];
                line[1..].iter_mut().zip(inverse).for_each(|(sum, value)| *sum += factor * value);
            }
            line[0] = to.features.mean[row] - dot(&line[1..=size], &from.features.mean);
        }
        // v' = theta'(1, u') + (sigma'/sigma) (v - theta (1, u)).
        let (before, after) = (&from.regression.theta, &to.regression.theta);
        let ratio = to.sd / from.sd;
        let (rows, last) = to.map.split_at_mut(size * stride);
        for (line, slope) in rows.chunks_exact(stride).zip(&after[first..]) {
            last.iter_mut().zip(line).for_each(|(sum, value)| *sum += slope * value);
        }
        last[1..].iter_mut().zip(&before[first..]).for_each(|(sum, slope)| *sum -= ratio * slope);
        if self.intercept {
            last[0] += after[0] - ratio * before[0];
        }
        last[1 + size] = ratio;
    }
}

impl Interweave for LinearModel {
    fn coordinates(&self) -> usize {
        self.parts().iter().sum()
    }

    fn blocks(&self) -> Vec<Range<usize>> {
        let (mut blocks, mut start) = (Vec::new(), 0);
        for part in self.parts() {
            let pieces = part.div_ceil(MOST_TOGETHER);
            // Pieces of about the same length.
            blocks.extend((0..pieces).map(|k| start + k * part / pieces..start + (k + 1) * part / pieces));
            start += part;
        }
        if blocks.len() > 1 && start <= MOST_TOGETHER {
            blocks.push(0..start);
        }
        blocks
    }

    fn write_coordinates(&self, parameters: &LinearParameters, coordinates: &mut [f64]) {
        let [theta, variance, mean, factor] = self.parts();
        let (head, rest) = coordinates.split_at_mut(theta);
        head.copy_from_slice(&parameters.regression.theta);
        if variance == 1 {
            rest[0] = libm::log(parameters.regression.variance);
        }
        rest[variance..variance + mean].copy_from_slice(&parameters.features.mean[..mean]);
        if factor > 0 {
            let (size, mut place) = (self.dimension(), variance + mean);
            for (row, values) in parameters.features.lower.chunks_exact(size).enumerate() {
                rest[place..place + row].copy_from_slice(&values[..row]);
                rest[place + row] = libm::log(values[row]);
                place += row + 1;
            }
        }
    }

    fn log_prior(&self, parameters: &LinearParameters) -> f64 {
        let variance = parameters.regression.variance;
        let factor = self.prior.precision_factor(variance);
        let mut log_density = -0.5 * factor * self.prior_distance(&parameters.regression.theta);
        if self.known_variance.is_none() {
            log_density += 0.5 * self.prior.dimension() as f64 * libm::log(factor)
                + self.prior.log_density_of_log_variance(libm::log(variance));
        }
        if self.known_features.is_none() {
            log_density += self.log_prior_of_features(parameters);
        }
        log_density
    }

    fn move_to(&self, coordinates: &[f64], from: &LinearParameters, to: &mut LinearParameters) -> bool {
        let [theta, variance, mean, factor] = self.parts();
        let (head, rest) = coordinates.split_at(theta);
        to.regression.theta.copy_from_slice(head);
        if variance == 1 {
            to.regression.variance = libm::exp(rest[0].clamp(-LARGEST_LOG, LARGEST_LOG));
        }
        to.features.mean[..mean].copy_from_slice(&rest[variance..variance + mean]);
        let mut within = variance == 0 || rest[0].abs() < LARGEST_LOG;
        if factor > 0 {
            let (size, mut place) = (self.dimension(), variance + mean);
            for (row, values) in to.features.lower.chunks_exact_mut(size).enumerate() {
                values[..row].copy_from_slice(&rest[place..place + row]);
                within &= rest[place + row].abs() < LARGEST_LOG;
                values[row] = libm::exp(rest[place + row].clamp(-LARGEST_LOG, LARGEST_LOG));
                place += row + 1;
            }
            to.features.multiply();
        }
        to.complete();
        self.prepare(from, to);
        within
    }

    #[inline]
    fn carry(&self, to: &LinearParameters, record: &[f64], moved: &mut [f64]) {
        let stride = record.len() + 1;
        for (row, (value, line)) in moved.iter_mut().zip(to.map.chunks_exact(stride)).enumerate() {
            let terms = line[1..row + 2].iter().zip(record);
            *value = terms.fold(line[0], |sum, (factor, number)| sum + factor * number);
        }
    }
}
