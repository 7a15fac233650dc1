//! Detailed balance of the Wishart walk, exactly: densities and proposals are written out here once more, with dense algebra.

use super::observed::Observed;
use super::proposal::{Latent, Move, factorise_covariance, log_acceptance, log_fit};
use crate::linalg::{factorise, invert_lower, multiply};
use crate::random::{fill_normal, normal};
use organza_mcmc::ChainRng;

/// Inverse and determinant by Gauss and Jordan.
fn invert(matrix: &[f64], size: usize) -> (Vec<f64>, f64) {
    let (mut left, mut determinant) = (matrix.to_vec(), 1.0);
    let mut right: Vec<f64> = (0..size * size).map(|k| f64::from(u8::from(k / size == k % size))).collect();
    for pivot in 0..size {
        let value = left[pivot * size + pivot];
        determinant *= value;
        for matrix in [&mut left, &mut right] {
            matrix[pivot * size..(pivot + 1) * size].iter_mut().for_each(|entry| *entry /= value);
        }
        for row in (0..size).filter(|row| *row != pivot) {
            let factor = left[row * size + pivot];
            for matrix in [&mut left, &mut right] {
                (0..size).for_each(|k| matrix[row * size + k] -= factor * matrix[pivot * size + k]);
            }
        }
    }
    (right, determinant)
}

fn form(matrix: &[f64], vector: &[f64]) -> f64 {
    let size = vector.len();
    (0..size * size).map(|k| vector[k / size] * matrix[k] * vector[k % size]).sum()
}

/// ln N(x; mean, covariance), up to a constant.
fn log_normal(x: &[f64], mean: &[f64], covariance: &[f64]) -> f64 {
    let (inverse, determinant) = invert(covariance, x.len());
    let residual: Vec<f64> = x.iter().zip(mean).map(|(x, m)| x - m).collect();
    -0.5 * (determinant.ln() + form(&inverse, &residual))
}

/// ln Wishart(matrix; scale, degrees), up to a constant.
fn log_wishart(matrix: &[f64], scale: &[f64], degrees: f64, size: usize) -> f64 {
    let (inverse, of_scale) = invert(scale, size);
    let trace: f64 = (0..size * size).map(|k| inverse[k] * matrix[k % size * size + k / size]).sum();
    let power = 0.5 * (degrees - size as f64 - 1.0);
    power * invert(matrix, size).1.ln() - 0.5 * degrees * of_scale.ln() - 0.5 * trace
}

/// A random positive definite matrix.
fn random_matrix(rng: &mut ChainRng, size: usize, scale: f64) -> Vec<f64> {
    let mut root = vec![0.0; size * size];
    fill_normal(rng, &mut root);
    let mut out = vec![0.0; size * size];
    crate::linalg::multiply_by_transpose(&root, &root, &mut out, size);
    (0..size).for_each(|k| out[k * size + k] += 0.5);
    out.iter().map(|value| scale * value).collect()
}

/// One party, a population, theta and sigma^2.
struct Toy {
    constant: usize,
    party: Observed,
    covariance: Vec<f64>,
    mean: Vec<f64>,
    theta: Vec<f64>,
    variance: f64,
}

/// The mean b and the scatter Q of the features.
struct Pair {
    mean: Vec<f64>,
    scatter: Vec<f64>,
}

impl Toy {
    fn new(rng: &mut ChainRng, size: usize, constant: usize) -> Self {
        let varying = size - constant;
        let mut vector = |size: usize| -> Vec<f64> { (0..size).map(|_| normal(rng)).collect() };
        let (gram, cross, mean, theta) = (vector(size * size), vector(size), vector(varying), vector(size));
        let mut precision: Vec<f64> = vector(size * size).iter().map(|x| 0.1 + x * x).collect();
        if constant == 1 {
            precision[0] = 0.0;
        }
        let cross_variance = vector(size).iter().map(|x| x * x).collect();
        let (estimate, spread, records) = (vec![], vec![], 6.5);
        let party = Observed { records, gram, precision, cross, cross_variance, estimate, spread };
        let covariance = random_matrix(rng, varying, 0.5);
        Self { constant, party, covariance, mean, theta, variance: 0.7 }
    }

    fn pair(&self, rng: &mut ChainRng) -> Pair {
        let varying = self.mean.len();
        let mean = (0..varying * self.constant).map(|_| normal(rng)).collect();
        Pair { mean, scatter: random_matrix(rng, varying, 3.0) }
    }

    /// X'X.
    fn gram(&self, pair: &Pair) -> Vec<f64> {
        let (size, varying, n) = (self.theta.len(), self.mean.len(), self.party.records);
        if self.constant == 0 {
            return pair.scatter.clone();
        }
        let b = |k: usize| if k == 0 { 1.0 } else { pair.mean[k - 1] };
        let q = |i: usize, j: usize| if i * j > 0 { pair.scatter[(i - 1) * varying + j - 1] } else { 0.0 };
        (0..size * size).map(|k| q(k / size, k % size) + n * b(k / size) * b(k % size)).collect()
    }

    /// ln p(b, Q | Sigma_x, mu, theta, sigma^2, S-hat, z-hat), up to a constant.
    fn log_density(&self, pair: &Pair) -> f64 {
        let (size, varying, party) = (self.theta.len(), self.mean.len(), &self.party);
        let gram = self.gram(pair);
        let degrees = party.records - self.constant as f64;
        let mut sum = log_wishart(&pair.scatter, &self.covariance, degrees, varying);
        if self.constant == 1 {
            let covariance: Vec<f64> = self.covariance.iter().map(|value| value / party.records).collect();
            sum += log_normal(&pair.mean, &self.mean, &covariance);
        }
        for row in 0..size {
            for column in 0..=row {
                let k = row * size + column;
                sum -= 0.5 * (gram[k] - party.gram[k]).powi(2) * party.precision[k];
            }
        }
        let mean: Vec<f64> =
            (0..size).map(|i| (0..size).map(|k| gram[i * size + k] * self.theta[k]).sum()).collect();
        let mut covariance: Vec<f64> = gram.iter().map(|value| self.variance * value).collect();
        (0..size).for_each(|k| covariance[k * size + k] += party.cross_variance[k]);
        sum + log_normal(&party.cross, &mean, &covariance)
    }

    /// ln q(to | from), up to a constant.
    fn log_proposal(&self, from: &Pair, to: &Pair, alpha: f64) -> f64 {
        let scaled = |by: f64| -> Vec<f64> { from.scatter.iter().map(|value| value / by).collect() };
        let mean = match self.constant {
            1 => log_normal(&to.mean, &from.mean, &scaled(alpha * self.party.records)),
            _ => 0.0,
        };
        mean + log_wishart(&to.scatter, &scaled(alpha), alpha, self.mean.len())
    }

    /// Omega_0 of the population.
    fn precision(&self) -> Vec<f64> {
        let (size, varying) = (self.theta.len(), self.mean.len());
        let (inverse, _) = invert(&self.covariance, varying);
        if self.constant == 0 {
            return inverse;
        }
        let image: Vec<f64> = (0..varying)
            .map(|i| (0..varying).map(|k| inverse[i * varying + k] * self.mean[k]).sum())
            .collect();
        let entry = |i: usize, j: usize| match (i, j) {
            (0, 0) => form(&inverse, &self.mean),
            (0, k) | (k, 0) => -image[k - 1],
            _ => inverse[(i - 1) * varying + j - 1],
        };
        (0..size * size).map(|k| entry(k / size, k % size)).collect()
    }

    /// What the walk uses: the latent and its fit.
    fn latent(&self, pair: &Pair) -> (Latent, f64) {
        let size = self.theta.len();
        let mut latent = Latent::new(size);
        latent.lower = self.gram(pair);
        factorise(&mut latent.lower, size).unwrap();
        latent.complete(&self.party, self.constant);
        let (mut factor, mut residual) = (vec![0.0; size * size], vec![0.0; size]);
        assert!(factorise_covariance(&self.party, &latent.gram, self.variance, &mut factor));
        let fit = log_fit(&self.party, &latent.gram, &self.theta, &factor, &mut residual);
        (latent, fit)
    }

    /// The walk's own log probability of acceptance.
    fn log_acceptance(&self, from: &Pair, to: &Pair, alpha: f64) -> f64 {
        let size = self.theta.len();
        let ((before, fit), (after, next_fit)) = (self.latent(from), self.latent(to));
        let mut step = Move::new(size, self.constant);
        let mut inverse = vec![0.0; size * size];
        invert_lower(&before.lower, &mut inverse, size);
        multiply(&inverse, &after.lower, &mut step.factor, size);
        let transition = step.log_ratio(alpha);
        log_acceptance(&self.party, &self.precision(), (&before, fit), (&after, next_fit), transition)
            .min(0.0)
    }
}

/// Seen to catch: the power of |S| in the Wishart density off by one half, sigma^2 S without the noise of z for its covariance,
/// and the power of |Q| from the density of b left out of the ratio of proposals.
#[test]
fn flows_between_any_two_points_are_equal() {
    let mut rng = ChainRng::new(21, 0);
    for (size, constant) in [(1, 0), (2, 0), (3, 0), (4, 0), (2, 1), (3, 1), (4, 1)] {
        for _ in 0..20 {
            let toy = Toy::new(&mut rng, size, constant);
            let (one, other) = (toy.pair(&mut rng), toy.pair(&mut rng));
            let alpha = (size - constant) as f64 - 0.9 + 5.0 * normal(&mut rng).abs();
            let flow = |from: &Pair, to: &Pair| {
                toy.log_density(from)
                    + toy.log_proposal(from, to, alpha)
                    + toy.log_acceptance(from, to, alpha)
            };
            let (there, back) = (flow(&one, &other), flow(&other, &one));
            assert!((there - back).abs() < 1e-9 * there.abs().max(1.0), "{size} {constant}: {there} {back}");
        }
    }
}

/// The proposal is drawn from the density that the ratio belongs to: moments of S' = L C C'L' are those of Wishart(S / alpha, alpha),
/// and b' has the mean b and the covariance Q / (alpha n). Catches a factor that is not scaled by sqrt(alpha).
#[test]
fn proposals_have_the_moments_of_their_density() {
    let mut rng = ChainRng::new(22, 0);
    let (toy, alpha, count) = (Toy::new(&mut rng, 3, 1), 9.0, 40_000);
    let pair = toy.pair(&mut rng);
    let (current, _) = toy.latent(&pair);
    let (mut step, mut proposed) = (Move::new(3, 1), Latent::new(3));
    let n = toy.party.records;
    // (value, its mean, its variance): entries of Q' and b', by E = S and Var Q'_ij = (Q_ii Q_jj + Q_ij^2) / alpha.
    let q = |i: usize, j: usize| pair.scatter[i * 2 + j];
    let mut sums = [0.0; 5];
    for _ in 0..count {
        step.draw(&mut rng, alpha);
        step.apply(&current, &mut proposed);
        proposed.complete(&toy.party, 1);
        let b = [1, 2].map(|k| proposed.gram[3 * k] / n);
        let scatter =
            [(1, 1), (2, 1), (2, 2)].map(|(i, j)| proposed.gram[3 * i + j] - n * b[i - 1] * b[j - 1]);
        let values = [scatter[0], scatter[1], scatter[2], b[0], (b[1] - pair.mean[1]).powi(2)];
        sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value / f64::from(count));
    }
    let spread = q(1, 1) / (alpha * n);
    let expected = [
        (q(0, 0), 2.0 * q(0, 0).powi(2) / alpha),
        (q(0, 1), (q(0, 0) * q(1, 1) + q(0, 1).powi(2)) / alpha),
        (q(1, 1), 2.0 * q(1, 1).powi(2) / alpha),
        (pair.mean[0], q(0, 0) / (alpha * n)),
        (spread, 2.0 * spread * spread),
    ];
    for (found, (mean, variance)) in sums.into_iter().zip(expected) {
        let z = (found - mean) / (variance / f64::from(count)).sqrt();
        assert!(z.abs() < 5.3, "{found} against {mean}: z {z}");
    }
}
