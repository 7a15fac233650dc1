//! From coordinates to the moments of the latent records of a party and to sigma^2, and slopes back.
//!
//! The records of a party have mean c and scatter T T', the response last. Under the prior the scale of one moment depends on others;
//! coordinates a are moments in units of those scales, so that their law hardly changes from one end of the posterior to the other:
//!
//! - T_kk = exp(a), T_kl = s a with s^2 = n Lambda_kk/kappa + T_kk^2 (row k of a feature, l < k);
//! - c_x = mu_0 + g T_x a with g^2 = (1/n + 1/k_0)/n;
//! - T_yl = (T_x' m)_l + s a with s^2 = sigma^2 + C_ll T_ll^2 (C_ll sigma^2 if the prior is conjugate);
//! - c_y = m_0 + c_x'm + s a with s^2 = sigma^2/n + C_00;
//! - ln sigma^2 = ln((b + sum T_yy^2/2)/(a + N/2)) + zeta/sqrt(a + N/2), the sum over parties: given the records zeta is nearly
//!   standard normal.
//!
//! Order in a block: c (with a constant), then T row by row. A block has a centre, an estimate, which is added first.

use super::moments::PartyMoments;
use crate::Prior;
use crate::prior::FeaturePrior;

/// The map of all parties.
#[derive(Debug, Clone)]
pub(super) struct Coordinates {
    /// Features that vary.
    features: usize,
    /// Whether there is a constant, and so a mean.
    constant: bool,
    /// m: that of the constant, then those of the features.
    intercept_mean: f64,
    slope_means: Vec<f64>,
    /// Diagonal of C in the same order.
    intercept_variance: f64,
    slope_variances: Vec<f64>,
    conjugate: bool,
    /// mu_0 and k_0.
    feature_mean: Vec<f64>,
    mean_records: f64,
    /// Lambda_kk/kappa.
    feature_variances: Vec<f64>,
    /// a + N/2 and b.
    variance_shape: f64,
    variance_rate: f64,
}

impl Coordinates {
    /// For this many latent records in all.
    pub fn new(prior: &Prior, covariance: &[f64], law: &FeaturePrior, records: f64) -> Self {
        let (features, all) = (law.dimension(), prior.dimension());
        let offset = all - features;
        let diagonal: Vec<f64> = (0..all).map(|k| covariance[k * all + k]).collect();
        let (shape, rate) = prior.variance();
        let usual = |k: usize| law.scale()[k * features + k] / law.degrees();
        Self {
            features,
            constant: offset == 1,
            intercept_mean: if offset == 1 { prior.mean()[0] } else { 0.0 },
            slope_means: prior.mean()[offset..].to_vec(),
            intercept_variance: if offset == 1 { diagonal[0] } else { 0.0 },
            slope_variances: diagonal[offset..].to_vec(),
            conjugate: prior.is_conjugate(),
            feature_mean: law.mean().to_vec(),
            mean_records: law.mean_records(),
            feature_variances: (0..features).map(usual).collect(),
            variance_shape: shape + 0.5 * records,
            variance_rate: rate,
        }
    }

    /// Coordinates of a record that vary, the response included.
    pub fn varying(&self) -> usize {
        self.features + 1
    }

    /// Whether records have a free mean.
    pub fn constant(&self) -> bool {
        self.constant
    }

    /// Numbers of a party's block.
    pub fn block(&self) -> usize {
        let q = self.varying();
        q * (q + 1) / 2 + if self.constant { q } else { 0 }
    }

    /// Where T begins in a block.
    fn triangle_start(&self) -> usize {
        if self.constant { self.varying() } else { 0 }
    }

    /// Place of T_kl in a block.
    fn place(&self, row: usize, column: usize) -> usize {
        self.triangle_start() + row * (row + 1) / 2 + column
    }

    /// g.
    fn mean_factor(&self, records: f64) -> f64 {
        ((1.0 / records + 1.0 / self.mean_records) / records).sqrt()
    }

    /// How the prior variance of the coefficients follows sigma^2: its factor, and the derivative of that.
    fn variance_factor(&self, variance: f64) -> (f64, f64) {
        if self.conjugate { (variance, 1.0) } else { (1.0, 0.0) }
    }

    pub fn moments(&self, records: usize) -> PartyMoments {
        let q = self.varying();
        let mean = vec![0.0; self.triangle_start()];
        PartyMoments {
            records: records as f64,
            mean: mean.clone(),
            triangle: vec![0.0; q * q],
            mean_slopes: mean,
            triangle_slopes: vec![0.0; q * q],
            centred: vec![0.0; self.block()],
            row_scales: vec![0.0; q],
            response_scales: vec![0.0; q],
            mean_scale: 0.0,
        }
    }

    /// Fills in the moments of the features and T_yy.
    pub fn read_features(&self, block: &[f64], centre: &[f64], to: &mut PartyMoments) {
        let (d, q) = (self.features, self.varying());
        for ((value, own), shift) in to.centred.iter_mut().zip(block).zip(centre) {
            *value = own + shift;
        }
        for row in 0..q {
            let diagonal = libm::exp(to.centred[self.place(row, row)]);
            to.triangle[row * q + row] = diagonal;
            if row < d {
                let usual = to.records * self.feature_variances[row];
                to.row_scales[row] = (usual + diagonal * diagonal).sqrt();
                for column in 0..row {
                    to.triangle[row * q + column] = to.row_scales[row] * to.centred[self.place(row, column)];
                }
            }
        }
        if self.constant {
            let factor = self.mean_factor(to.records);
            for row in 0..d {
                let sum: f64 = (0..=row).map(|k| to.triangle[row * q + k] * to.centred[k]).sum();
                to.mean[row] = self.feature_mean[row] + factor * sum;
            }
        }
    }

    /// sigma^2.
    pub fn variance(&self, zeta: f64, parties: &[PartyMoments]) -> f64 {
        let shape = self.variance_shape;
        self.variance_sum(parties) / shape * libm::exp(zeta / shape.sqrt())
    }

    /// b + sum T_yy^2/2.
    fn variance_sum(&self, parties: &[PartyMoments]) -> f64 {
        let squares: f64 = parties.iter().map(|party| party.response_root().powi(2)).sum();
        self.variance_rate + 0.5 * squares
    }

    /// Fills in the rest.
    pub fn read_response(&self, variance: f64, to: &mut PartyMoments) {
        let (d, q) = (self.features, self.varying());
        let (factor, _) = self.variance_factor(variance);
        for l in 0..d {
            let expected: f64 = (l..d).map(|k| to.triangle[k * q + l] * self.slope_means[k]).sum();
            let diagonal = to.triangle[l * q + l];
            let scale = (variance + factor * self.slope_variances[l] * diagonal * diagonal).sqrt();
            to.response_scales[l] = scale;
            to.triangle[d * q + l] = expected + scale * to.centred[self.place(d, l)];
        }
        if self.constant {
            let line: f64 = to.mean.iter().zip(&self.slope_means).map(|(mean, slope)| mean * slope).sum();
            to.mean_scale = (variance / to.records + factor * self.intercept_variance).sqrt();
            to.mean[d] = self.intercept_mean + line + to.mean_scale * to.centred[d];
        }
    }

    /// Log density of the volume: that of (c, T, Q) in the space of the records, and of the scales.
    pub fn log_volume(&self, at: &PartyMoments) -> f64 {
        let (d, q) = (self.features, self.varying());
        let free = at.records - if self.constant { 1.0 } else { 0.0 };
        let mut value = 0.0;
        for row in 0..q {
            // prod T_kk^(n - 1 - k) with n less one if the mean is free, k from 0; one more for the logarithm.
            let also = if self.constant && row < d { 1.0 } else { 0.0 };
            value += (free - row as f64 + also) * at.centred[self.place(row, row)];
        }
        let rows = (0..d).map(|row| row as f64 * libm::log(at.row_scales[row]));
        let responses = (0..d).map(|l| libm::log(at.response_scales[l]));
        value += rows.chain(responses).sum::<f64>();
        if self.constant {
            value += libm::log(at.mean_scale);
        }
        value
    }

    /// Passes the slopes of c_y and T_yl on, writes those of their coordinates; returns the slope with respect to sigma^2.
    pub fn pull_back_response(&self, variance: f64, at: &mut PartyMoments, gradient: &mut [f64]) -> f64 {
        let (d, q) = (self.features, self.varying());
        let (factor, follows) = self.variance_factor(variance);
        let mut of_variance = 0.0;
        if self.constant {
            let (slope, scale) = (at.mean_slopes[d], at.mean_scale);
            gradient[d] = slope * scale;
            let of_scale = slope * at.centred[d] + 1.0 / scale;
            let change = 1.0 / at.records + follows * self.intercept_variance;
            of_variance += 0.5 * of_scale * change / scale;
            (0..d).for_each(|k| at.mean_slopes[k] += slope * self.slope_means[k]);
        }
        for l in 0..d {
            let (slope, scale) = (at.triangle_slopes[d * q + l], at.response_scales[l]);
            let place = self.place(d, l);
            gradient[place] = slope * scale;
            let per_scale = (slope * at.centred[place] + 1.0 / scale) / scale;
            let (prior, diagonal) = (self.slope_variances[l], at.triangle[l * q + l]);
            of_variance += 0.5 * per_scale * (1.0 + follows * prior * diagonal * diagonal);
            at.triangle_slopes[l * q + l] += per_scale * factor * prior * diagonal;
            (l..d).for_each(|k| at.triangle_slopes[k * q + l] += slope * self.slope_means[k]);
        }
        of_variance
    }

    /// Passes the slope with respect to ln sigma^2 on to every T_yy; returns that of zeta.
    pub fn pull_back_variance(&self, of_log_variance: f64, parties: &mut [PartyMoments]) -> f64 {
        let per_square = of_log_variance / self.variance_sum(parties);
        for party in parties {
            let root = party.response_root();
            if let Some(slope) = party.triangle_slopes.last_mut() {
                *slope += per_square * root;
            }
        }
        of_log_variance / self.variance_shape.sqrt()
    }

    /// Writes the slopes of the other coordinates.
    pub fn pull_back_features(&self, at: &mut PartyMoments, gradient: &mut [f64]) {
        let (d, q) = (self.features, self.varying());
        let free = at.records - if self.constant { 1.0 } else { 0.0 };
        if self.constant {
            let factor = self.mean_factor(at.records);
            for (l, target) in gradient[..d].iter_mut().enumerate() {
                *target = factor * (l..d).map(|k| at.mean_slopes[k] * at.triangle[k * q + l]).sum::<f64>();
                for k in l..d {
                    at.triangle_slopes[k * q + l] += factor * at.mean_slopes[k] * at.centred[l];
                }
            }
        }
        for row in 0..q {
            let diagonal = at.triangle[row * q + row];
            let mut of_diagonal = at.triangle_slopes[row * q + row];
            if row < d {
                let scale = at.row_scales[row];
                let mut of_scale = row as f64 / scale;
                for column in 0..row {
                    let (slope, place) = (at.triangle_slopes[row * q + column], self.place(row, column));
                    gradient[place] = slope * scale;
                    of_scale += slope * at.centred[place];
                }
                of_diagonal += of_scale * diagonal / scale;
            }
            let also = if self.constant && row < d { 1.0 } else { 0.0 };
            gradient[self.place(row, row)] = of_diagonal * diagonal + free - row as f64 + also;
        }
    }

    /// The coordinates of these moments: the inverse of the map, for sigma^2 where its own coordinate is 0.
    pub fn centre(&self, mean: &[f64], triangle: &[f64], at: &mut PartyMoments) -> Vec<f64> {
        let (d, q) = (self.features, self.varying());
        let mut centre = vec![0.0; self.block()];
        for row in 0..q {
            centre[self.place(row, row)] = libm::log(triangle[row * q + row]);
        }
        let zero = vec![0.0; self.block()];
        self.read_features(&zero, &centre, at);
        for row in 0..d {
            for column in 0..row {
                centre[self.place(row, column)] = triangle[row * q + column] / at.row_scales[row];
            }
        }
        if self.constant {
            let factor = self.mean_factor(at.records);
            for row in 0..d {
                let known: f64 = (0..row).map(|k| triangle[row * q + k] * centre[k]).sum();
                let deviation = (mean[row] - self.feature_mean[row]) / factor;
                centre[row] = (deviation - known) / triangle[row * q + row];
            }
        }
        self.read_features(&zero, &centre, at);
        let variance = self.variance(0.0, std::slice::from_ref(at));
        self.read_response(variance, at);
        for l in 0..d {
            let rest = triangle[d * q + l] - at.triangle[d * q + l];
            centre[self.place(d, l)] = rest / at.response_scales[l];
        }
        if self.constant {
            centre[d] = (mean[d] - at.mean[d]) / at.mean_scale;
        }
        centre
    }
}
