//! mu_t and Sigma_t. Products of four normal variables are integrated exactly by a Gauss rule with three points, so no simulation
//! is needed: agreement is to rounding.

use super::{VARIANCE, features, fourth_moments, normal_record, theta};
use crate::gibbs::dense::entries;
use crate::gibbs::fourth::FourthRecord;
use crate::gibbs::record::RecordLaw;
use crate::linalg::symmetric_eigen;

/// Points and weights that integrate polynomials up to degree 5 against the standard normal.
fn gauss() -> [(f64, f64); 3] {
    let root = 3f64.sqrt();
    [(-root, 1.0 / 6.0), (0.0, 2.0 / 3.0), (root, 1.0 / 6.0)]
}

/// Records (x, y) with probabilities: normal features.
fn normal_points(constant: bool) -> Vec<(Vec<f64>, f64)> {
    let (law, theta) = (features(constant), theta(constant));
    let mut points = vec![];
    for (a, p) in gauss() {
        for (b, q) in gauss() {
            for (e, r) in gauss() {
                let x = [law.mean[0] + law.lower[0] * a, law.mean[1] + law.lower[2] * a + law.lower[3] * b];
                let mut w: Vec<f64> = if constant { vec![1.0, x[0], x[1]] } else { x.to_vec() };
                let y = w.iter().zip(theta).map(|(x, t)| x * t).sum::<f64>() + VARIANCE.sqrt() * e;
                w.push(y);
                points.push((w, p * q * r));
            }
        }
    }
    points
}

fn discrete_points() -> Vec<(Vec<f64>, f64)> {
    let mut points = vec![];
    for (x, p) in super::discrete() {
        for (e, r) in gauss() {
            let y = x.iter().zip(theta(true)).map(|(x, t)| x * t).sum::<f64>() + VARIANCE.sqrt() * e;
            points.push((vec![x[0], x[1], x[2], y], p * r));
        }
    }
    points
}

fn check(record: &mut RecordLaw, points: &[(Vec<f64>, f64)], constant: bool) {
    let size = points[0].0.len();
    let entries = entries(size, constant);
    let mean = |f: &dyn Fn(&[f64]) -> f64| points.iter().map(|(w, p)| p * f(w)).sum::<f64>();
    for &(i, j) in &entries {
        let want = mean(&|w| w[i] * w[j]);
        assert!((record.second()[i * size + j] - want).abs() < 1e-13, "mean {i} {j}");
    }
    let count = entries.len();
    let mut found = vec![f64::NAN; count * count];
    record.covariance(1.7, &mut found);
    let mut image = vec![f64::NAN; size * size];
    for (b, &(k, l)) in entries.iter().enumerate() {
        let mut dual = vec![0.0; size * size];
        dual[k * size + l] += 0.5;
        dual[l * size + k] += 0.5;
        record.apply(&dual, &mut image);
        for (a, &(i, j)) in entries.iter().enumerate() {
            let want = mean(&|w| w[i] * w[j] * w[k] * w[l]) - mean(&|w| w[i] * w[j]) * mean(&|w| w[k] * w[l]);
            assert!((image[i * size + j] - want).abs() < 1e-13, "apply ({i} {j}) ({k} {l})");
            let entry = found[a.max(b) * count + a.min(b)] / 1.7;
            assert!((entry - want).abs() < 1e-13, "({i} {j}) ({k} {l}): {entry} against {want}");
        }
    }
}

/// Catches a forgotten mean in Isserlis' formula.
#[test]
fn normal_features() {
    for constant in [false, true] {
        check(&mut RecordLaw::Normal(normal_record(constant)), &normal_points(constant), constant);
    }
}

/// Catches the misprint xi_ij,kl for xi_ik,jl in the main text of the paper.
#[test]
fn features_that_are_not_normal() {
    let mut record = FourthRecord::new(fourth_moments());
    record.set(theta(true), VARIANCE);
    check(&mut RecordLaw::Fourth(record), &discrete_points(), true);
}

/// Noise can make fourth moments impossible; what is kept of them is a covariance.
#[test]
fn impossible_moments_are_projected() {
    let (mut all, mut sums) = (vec![], vec![]);
    for k in 0..5 {
        let mut entry = [0; 4];
        entry[4 - k..].fill(1);
        all.push(entry);
        sums.push([10.0, 1.0, 3.0, -4.0, 0.5][k]);
    }
    let moments = crate::FourthMoments::new(2, &all, &sums, 10.0).unwrap();
    let values = symmetric_eigen(&moments.covariance, 3).values;
    assert!(values.iter().all(|value| *value > -1e-15), "{values:?}");
    let values = symmetric_eigen(&moments.second, 2).values;
    assert!(values.iter().all(|value| *value > -1e-15), "{values:?}");
    assert_eq!(moments.covariance[..3], [0.0; 3]);
    let error = crate::FourthMoments::new(3, &all, &sums, 10.0).unwrap_err().to_string();
    assert_eq!(error, "fourth moments: lack the entry [0, 0, 0, 2]");
}
