//! One law by two ways.

use organza_infer::methods::{FourthMoments, Gibbs, Moments};
use organza_infer::{Evidence, FeaturePrior, Prior};
use organza_release::testing::unit_ball;
use organza_release::{Family, Release};

use crate::support::{
    ALL, Mechanism, agree, domain, fit, gaussian, gram, mean, prior, records, release, same_law,
};

/// The two conditional draws are different algebra for one law. Catches weights that are applied twice, parties whose numbers of
/// records are mixed up, and pools of equal parties that do not add up (the dense fit has each of them with its own tiny change).
#[test]
fn spectral_and_dense_draws_have_one_law() {
    for record_scale in [None, Some(0.9)] {
        let counts = [120, 120, 60];
        let releases: Vec<Release> = (0..3)
            .map(|k| {
                let domain = domain(record_scale, 0.7, [1.0, 1.0, 0.8][k]);
                let noise = Mechanism { response: 0.5, ..gaussian(3.0) };
                let gram = gram(&records(counts[k], 40 + k as u64));
                release(&format!("p{k}"), &domain, &gram, counts[k] as u64, noise)
            })
            .collect();
        let mut apart = releases.clone();
        apart[1].noise.scales[0] *= 1.0 + 1e-12;
        let prior = prior(3);
        let spectral = Gibbs::new(&Evidence::new(&releases).unwrap(), &prior, Moments::Update).unwrap();
        let dense = Gibbs::new(&Evidence::new(&apart).unwrap(), &prior, Moments::Update).unwrap().dense();
        same_law(&fit(&spectral, 1, 4_000), &fit(&dense, 2, 4_000), &ALL);
    }
}

/// Fourth moments of many normal records say what the normal model says. Catches sums for means (the bug of the published code).
#[test]
fn noisy_moments_of_normal_features_agree_with_the_normal_model() {
    let (mean, sd) = ([0.1, -0.2], [0.5, 0.4]);
    let normal = |mean: f64, sd: f64, power: usize| match power {
        0 => 1.0,
        1 => mean,
        2 => mean * mean + sd * sd,
        3 => mean.powi(3) + 3.0 * mean * sd * sd,
        _ => mean.powi(4) + 6.0 * mean * mean * sd * sd + 3.0 * sd.powi(4),
    };
    let (mut entries, mut sums) = (vec![], vec![]);
    for code in 1..81 {
        let mut entry = [code % 3, code / 3 % 3, code / 9 % 3, code / 27];
        entry.sort_unstable();
        let power = |k: usize| entry.iter().filter(|index| **index == k).count();
        if !entries.contains(&entry) {
            entries.push(entry);
            sums.push(400.0 * normal(mean[0], sd[0], power(1)) * normal(mean[1], sd[1], power(2)));
        }
    }
    let moments = FourthMoments::new(3, &entries, &sums, 400.0).unwrap();
    // With kappa = p + 2 the prior's mean covariance is Lambda.
    let scale = vec![sd[0] * sd[0], 0.0, 0.0, sd[1] * sd[1]];
    let features = FeaturePrior::new(scale, 4.0, mean.to_vec(), 1.0).unwrap();
    let prior = prior(3).with_features(features);
    let noise = Mechanism { family: Family::Laplace, ..gaussian(3.0) };
    let releases = [
        release("a", &domain(None, 0.7, 1.0), &gram(&records(250, 60)), 250, noise),
        release("b", &domain(None, 0.7, 1.0), &gram(&records(150, 61)), 150, gaussian(2.0)),
    ];
    let evidence = Evidence::new(&releases).unwrap();
    let noisy = Gibbs::new(&evidence, &prior, Moments::Noisy(moments)).unwrap();
    let normal = Gibbs::new(&evidence, &prior, Moments::Prior).unwrap();
    same_law(&fit(&noisy, 6, 4_000), &fit(&normal, 7, 4_000), &ALL);
}

/// For many records the conditionals are those of one joint law: one feature, theta, sigma^2 and Sigma_x on a grid, the density of the
/// release N(n mu_t, n Sigma_t + Omega) written down directly. Catches a gain that is too large or too small, by which the chain
/// would trust the release too much.
#[test]
fn many_records_give_the_marginal_posterior() {
    let domain = unit_ball(&["x"], 1.0);
    let count = 1e6;
    let values = [0.302 * count, 0.149 * count, 0.1763 * count];
    let noise = gaussian(300.0);
    let one = release("a", &domain, &[values[0], values[1], values[1], values[2]], 1_000_000, noise);
    let scales = one.noise.scales.clone();
    let gibbs = Gibbs::new(&Evidence::new(&[one]).unwrap(), &Prior::weak(1), Moments::Update).unwrap();
    let draws = fit(&gibbs, 9, 10_000);
    // Position: theta, sigma^2, R^2 = theta^2 S / (theta^2 S + sigma^2); the box is wide enough for any of its numbers.
    let moments = |name: &str| {
        let (first, _) = mean(&draws, name, |x| x);
        (first, mean(&draws, name, |x| (x - first).powi(2)).0.sqrt())
    };
    let (theta, variance) = (moments("theta[1]"), moments("theta[2]"));
    let feature = (values[0] / count, 2.0 * scales[0] / count);
    let (mut mass, mut sums) = (0.0, [0.0; 4]);
    let at = |(centre, sd): (f64, f64), step: i32| centre + 0.3 * sd * f64::from(step);
    let peak = log_density(&values, &scales, [theta.0, variance.0, feature.0]);
    for i in -24..=24 {
        for j in -24..=24 {
            for k in -24..=24 {
                let point = [at(theta, i), at(variance, j), at(feature, k)];
                let weight = (log_density(&values, &scales, point) - peak).exp();
                mass += weight;
                let offsets = [point[0] - theta.0, point[1] - variance.0];
                (0..2).for_each(|m| sums[m] += weight * offsets[m]);
                (0..2).for_each(|m| sums[2 + m] += weight * offsets[m] * offsets[m]);
            }
        }
    }
    for (m, (name, centre)) in [("theta[1]", theta.0), ("theta[2]", variance.0)].into_iter().enumerate() {
        agree(mean(&draws, name, |x| x - centre), (sums[m] / mass, 0.0), name);
        let square = mean(&draws, name, |x| (x - centre).powi(2));
        agree(square, (sums[2 + m] / mass, 0.0), &format!("variance of {name}"));
    }
}

/// ln p(theta, sigma^2, Sigma_x, release) up to a constant, for a million records and the weak prior.
fn log_density(released: &[f64; 3], scales: &[f64], [theta, variance, feature]: [f64; 3]) -> f64 {
    let count = 1e6;
    // Second moments of (x, y), and by Isserlis the covariance of x^2, xy, y^2.
    let (a, b) = (feature, feature * theta);
    let c = b * theta + variance;
    let mut v =
        [[2.0 * a * a, 2.0 * a * b, 2.0 * b * b], [0.0, a * c + b * b, 2.0 * b * c], [0.0, 0.0, 2.0 * c * c]];
    (0..3).for_each(|i| (i..3).for_each(|j| v[i][j] *= count));
    (0..3).for_each(|i| v[i][i] += scales[i] * scales[i]);
    let r = [released[0] - count * a, released[1] - count * b, released[2] - count * c];
    // Elimination: ln|V| and r'V^-1 r from the pivots.
    let f = [v[0][1] / v[0][0], v[0][2] / v[0][0]];
    let (second, side) = (v[1][1] - f[0] * v[0][1], v[1][2] - f[0] * v[0][2]);
    let third = v[2][2] - f[1] * v[0][2] - side * side / second;
    let (x, y) = (r[0], r[1] - f[0] * r[0]);
    let z = r[2] - f[1] * r[0] - side / second * y;
    let likelihood =
        -0.5 * ((v[0][0] * second * third).ln() + x * x / v[0][0] + y * y / second + z * z / third);
    // theta ~ N(0, 1), sigma^2 ~ IG(a, b), Sigma_x ~ IW(0.1, 3) = IG(3/2, 0.05).
    let (shape, rate) = Prior::WEAK_VARIANCE;
    likelihood
        - 0.5 * theta * theta
        - (shape + 1.0) * variance.ln()
        - rate / variance
        - 2.5 * feature.ln()
        - 0.05 / feature
}
