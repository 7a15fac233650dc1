//! Moments against exact cubature, and draws of a Gram matrix alone against closed forms and integration.

mod conditional;
mod feature_law;
mod laplace;
mod moments;

use super::features::FeatureLaw;
use super::fourth_moments::FourthMoments;
use super::normal::NormalRecord;

/// Largest |z| for `count` comparisons at alpha = 1e-6 together: the normal tail by its asymptotic bound.
pub(super) fn largest(count: usize) -> f64 {
    let alpha = 1e-6 / count as f64;
    // Phi(-z) < exp(-z^2/2) / (z sqrt(2 pi)); two fixed-point steps are enough.
    let mut z = 5.0_f64;
    for _ in 0..20 {
        z = (-2.0 * (0.5 * alpha * z * (2.0 * std::f64::consts::PI).sqrt()).ln()).sqrt();
    }
    z
}

/// Two features that vary, with a mean if there is a constant.
pub(super) fn features(constant: bool) -> FeatureLaw {
    let mut features = FeatureLaw::new(2);
    let mean = if constant { vec![0.3, -0.5] } else { vec![] };
    assert!(features.fix(&[0.5, 0.2, 0.2, 0.4], &mean));
    features
}

pub(super) const VARIANCE: f64 = 0.3;

pub(super) fn theta(constant: bool) -> &'static [f64] {
    if constant { &[0.4, 0.8, -0.6] } else { &[0.8, -0.6] }
}

pub(super) fn normal_record(constant: bool) -> NormalRecord {
    let mut record = NormalRecord::new(3 + usize::from(constant), constant);
    record.set(theta(constant), VARIANCE, &features(constant));
    record
}

/// Values and probabilities of a skewed discrete x = (1, a, b).
pub(super) fn discrete() -> Vec<([f64; 3], f64)> {
    let points = [(-1.0, 0.2, 0.3), (0.1, -0.7, 0.25), (0.9, 0.4, 0.2), (0.5, 1.0, 0.15), (-0.3, 0.8, 0.1)];
    points.iter().map(|&(a, b, probability)| ([1.0, a, b], probability)).collect()
}

pub(super) fn fourth_moments() -> FourthMoments {
    let (mut entries, mut sums) = (vec![], vec![]);
    for i in 0..3 {
        for j in i..3 {
            for k in j..3 {
                for l in k..3 {
                    entries.push([i, j, k, l]);
                    let mean: f64 = discrete().iter().map(|(x, p)| p * x[i] * x[j] * x[k] * x[l]).sum();
                    sums.push(70.0 * mean);
                }
            }
        }
    }
    FourthMoments::new(3, &entries, &sums, 70.0).unwrap()
}
