//! The posterior of `normal-x` for one party and one feature, with or without an intercept, by summing the joint density over a
//! grid of (b, ln Q, ln sigma^2): b and Q are mean and scatter of the feature. theta is integrated out by 2 x 2 algebra.

use organza_release::Release;

/// Hyperparameters, plain units.
pub struct Hyper {
    pub mean: [f64; 2],
    pub precision: [f64; 2],
    pub conjugate: bool,
    pub variance: (f64, f64),
    pub scale: f64,
    pub degrees: f64,
    pub feature_mean: f64,
    pub mean_records: f64,
}

/// Expectations: theta, theta^2 (two coefficients; the first is unused without an intercept), 1/sigma^2, ln sigma^2, and
/// theta_x^2 Sigma_x.
pub type Moments = [f64; 7];

/// Value and variance of the noise of an entry.
fn entry(release: &Release, row: usize, column: usize) -> (f64, f64) {
    let place = release.statistic.entries().iter().position(|entry| *entry == [row, column]).unwrap();
    (release.value[place], release.noise.scales[place].powi(2))
}

fn inverse([a, b, c]: [f64; 3]) -> ([f64; 3], f64) {
    let determinant = a * c - b * b;
    ([c / determinant, -b / determinant, a / determinant], determinant)
}

fn times([a, b, c]: [f64; 3], [x, y]: [f64; 2]) -> [f64; 2] {
    [a * x + b * y, b * x + c * y]
}

/// Log of the density with theta integrated out, and theta's mean and variances, from the textbook formulas. Matrices are
/// (first, beside, second).
fn integrate(
    hyper: &Hyper,
    gram: [f64; 3],
    (cross, noise): ([f64; 2], [f64; 2]),
    s2: f64,
) -> (f64, [f64; 2], [f64; 2]) {
    let factor = if hyper.conjugate { 1.0 / s2 } else { 1.0 };
    let (v, determinant) = inverse([s2 * gram[0] + noise[0], s2 * gram[1], s2 * gram[2] + noise[1]]);
    let prior = hyper.precision.map(|value| factor * value);
    let columns = [times(v, [gram[0], gram[1]]), times(v, [gram[1], gram[2]])];
    let first = times(gram, columns[0]);
    let second = times(gram, columns[1]);
    let weighted = times(v, cross);
    let shift = times(gram, weighted);
    let shift = [shift[0] + prior[0] * hyper.mean[0], shift[1] + prior[1] * hyper.mean[1]];
    let (covariance, of_precision) = inverse([first[0] + prior[0], first[1], second[1] + prior[1]]);
    let mean = times(covariance, shift);
    let prior_norm = prior[0] * hyper.mean[0].powi(2) + prior[1] * hyper.mean[1].powi(2);
    let quadratic = cross[0] * weighted[0] + cross[1] * weighted[1] + prior_norm;
    let log = 0.5
        * ((prior[0] * prior[1]).ln() - determinant.ln() - of_precision.ln() - quadratic
            + mean[0] * shift[0]
            + mean[1] * shift[1]);
    (log, mean, [covariance[0], covariance[2]])
}

/// Equally spaced points.
fn grid(from: f64, to: f64, count: i32) -> impl Iterator<Item = f64> {
    (0..count).map(move |k| from + (to - from) * f64::from(k) / f64::from(count - 1))
}

/// The moments; ranges of b and ln Q and ln sigma^2 must cover the posterior.
pub fn moments(release: &Release, hyper: &Hyper, ranges: [(f64, f64); 3]) -> Moments {
    let (constant, n) = (release.domain.intercept(), release.records.unwrap() as f64);
    let x = usize::from(constant);
    let (square, of_square) = entry(release, x, x);
    let (with_response, of_response) = entry(release, x, x + 1);
    let (sum, of_sum, total, of_total) = match constant {
        true => {
            (entry(release, 0, 1).0, entry(release, 0, 1).1, entry(release, 0, 2).0, entry(release, 0, 2).1)
        }
        false => (0.0, 1.0, 0.0, 1.0),
    };
    let (mut mass, mut sums) = (0.0, [0.0; 7]);
    let means: Vec<f64> = if constant { grid(ranges[0].0, ranges[0].1, 70).collect() } else { vec![0.0] };
    let mut nodes = Vec::new();
    for &b in &means {
        for log_q in grid(ranges[1].0, ranges[1].1, 90) {
            let q = log_q.exp();
            // Sigma_x integrated out; b ~ N(mu_0, Sigma_x (1/n + 1/k_0)).
            let (degrees, distance) = match constant {
                true => (n - 1.0, (b - hyper.feature_mean).powi(2) / (1.0 / n + 1.0 / hyper.mean_records)),
                false => (n, 0.0),
            };
            let scale = hyper.scale + q + distance;
            let feature = 0.5 * (degrees - 2.0) * log_q + log_q - 0.5 * (hyper.degrees + n) * scale.ln();
            let s = q + n * b * b;
            let mut noise = -0.5 * (s - square).powi(2) / of_square;
            if constant {
                noise -= 0.5 * (n * b - sum).powi(2) / of_sum;
            }
            let gram = if constant { [n, n * b, s] } else { [0.0, 0.0, s] };
            for u in grid(ranges[2].0, ranges[2].1, 120) {
                let s2 = u.exp();
                let observed = ([total, with_response], [of_total, of_response]);
                let (fit, mean, spread) = integrate(hyper, gram, observed, s2);
                let prior = -hyper.variance.0 * u - hyper.variance.1 / s2;
                let population = scale / (hyper.degrees + n - 2.0);
                let second = [mean[0] * mean[0] + spread[0], mean[1] * mean[1] + spread[1]];
                let values = [mean[0], mean[1], second[0], second[1], 1.0 / s2, u, second[1] * population];
                nodes.push((feature + noise + fit + prior, values));
            }
        }
    }
    let peak = nodes.iter().map(|node| node.0).fold(f64::NEG_INFINITY, f64::max);
    for (log, values) in nodes {
        let weight = (log - peak).exp();
        mass += weight;
        sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += weight * value);
    }
    sums.map(|sum| sum / mass)
}
