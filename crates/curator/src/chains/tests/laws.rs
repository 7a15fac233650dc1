//! Posteriors that are known exactly, and a test that a kernel leaves them as they are.

use organza_mcmc::{ChainRng, Kernel};
use rand::RngExt;
use rand_distr::StandardNormal;

use super::super::kernels::Start;
use super::super::models::{Banana, GaussianMean, Logistic, Regression};
use super::*;

/// A posterior from which exact draws can be made.
pub(super) trait Law {
    /// Independent uniform numbers to theta.
    fn theta(&self, uniforms: &[f64]) -> Vec<f64>;
    /// And back.
    fn uniforms(&self, theta: &[f64]) -> Vec<f64>;
}

fn normal_cdf(z: f64) -> f64 {
    0.5 * libm::erfc(-z / 2f64.sqrt())
}

fn normal_quantile(u: f64) -> f64 {
    let (mut low, mut high) = (-9.0, 9.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if normal_cdf(middle) < u { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// The posterior of a mean in two dimensions: theta = m + U^-1 z with U the upper Cholesky factor of the precision.
pub(super) struct NormalPair {
    mean: [f64; 2],
    upper: [f64; 3],
}

impl NormalPair {
    pub(super) fn of(oracle: &PrivateOracle<GaussianMean>) -> Self {
        let records = oracle.rehearsed_records().unwrap();
        let (n, p) = (records.rows() as f64, oracle.model().precision());
        let sum = |column| (0..records.rows()).map(|row| records.value(row, column)).sum::<f64>();
        let (b, a, c, d) = ([sum(0), sum(1)], n * p[0] + 1e-4, n * p[1], n * p[3] + 1e-4);
        let determinant = a * d - c * c;
        let mean = [(d * b[0] - c * b[1]) / determinant, (a * b[1] - c * b[0]) / determinant];
        let first = a.sqrt();
        Self { mean, upper: [first, c / first, (d - c * c / a).sqrt()] }
    }
}

impl Law for NormalPair {
    fn theta(&self, uniforms: &[f64]) -> Vec<f64> {
        let z = [normal_quantile(uniforms[0]), normal_quantile(uniforms[1])];
        let second = z[1] / self.upper[2];
        vec![self.mean[0] + (z[0] - self.upper[1] * second) / self.upper[0], self.mean[1] + second]
    }

    fn uniforms(&self, theta: &[f64]) -> Vec<f64> {
        let [x, y] = [theta[0] - self.mean[0], theta[1] - self.mean[1]];
        vec![normal_cdf(self.upper[0] * x + self.upper[1] * y), normal_cdf(self.upper[2] * y)]
    }
}

/// The posterior of the banana: independent normals in straight coordinates.
pub(super) struct Bent {
    bend: f64,
    straight: [(f64, f64); 2],
}

impl Bent {
    pub(super) fn of(oracle: &PrivateOracle<Banana>) -> Self {
        let records = oracle.rehearsed_records().unwrap();
        let n = records.rows() as f64;
        let mean = |column| (0..records.rows()).map(|row| records.value(row, column)).sum::<f64>() / n;
        Self { bend: oracle.model().bend, straight: oracle.model().posterior(n, [mean(0), mean(1)]) }
    }
}

impl Law for Bent {
    fn theta(&self, uniforms: &[f64]) -> Vec<f64> {
        let at =
            |index: usize| self.straight[index].0 + self.straight[index].1 * normal_quantile(uniforms[index]);
        vec![at(0), at(1) - self.bend * at(0) * at(0)]
    }

    fn uniforms(&self, theta: &[f64]) -> Vec<f64> {
        let straight = [theta[0], theta[1] + self.bend * theta[0] * theta[0]];
        straight
            .iter()
            .zip(self.straight)
            .map(|(value, (mean, sd))| normal_cdf((value - mean) / sd))
            .collect()
    }
}

/// A posterior in one dimension on a fine grid; linear in between.
pub(super) struct Quadrature {
    points: Vec<f64>,
    cumulative: Vec<f64>,
}

impl Quadrature {
    /// The slope of a logistic regression through the origin, prior N(0, sd^2).
    pub(super) fn of(oracle: &PrivateOracle<Regression<Logistic>>, (least, most): (f64, f64)) -> Self {
        let records = oracle.rehearsed_records().unwrap();
        let log_density = |theta: f64| {
            let term = |row| {
                let (z, y) = (theta * records.value(row, 0), records.value(row, 1));
                y * z - libm::log1p(libm::exp(z))
            };
            (0..records.rows()).map(term).sum::<f64>() + oracle.model().log_prior(&[theta])
        };
        let points: Vec<f64> =
            (0..=2000).map(|step| least + (most - least) * f64::from(step) / 2000.0).collect();
        let logs: Vec<f64> = points.iter().map(|theta| log_density(*theta)).collect();
        let peak = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut cumulative = vec![0.0];
        for pair in logs.windows(2) {
            let area = libm::exp(pair[0] - peak) + libm::exp(pair[1] - peak);
            cumulative.push(cumulative.last().unwrap() + area);
        }
        let total = *cumulative.last().unwrap();
        cumulative.iter_mut().for_each(|value| *value /= total);
        Self { points, cumulative }
    }
}

fn interpolate(from: &[f64], to: &[f64], value: f64) -> f64 {
    let place = from.partition_point(|point| *point <= value).clamp(1, from.len() - 1);
    let share = (value - from[place - 1]) / (from[place] - from[place - 1]);
    to[place - 1] + share.clamp(0.0, 1.0) * (to[place] - to[place - 1])
}

impl Law for Quadrature {
    fn theta(&self, uniforms: &[f64]) -> Vec<f64> {
        vec![interpolate(&self.cumulative, &self.points, uniforms[0])]
    }

    fn uniforms(&self, theta: &[f64]) -> Vec<f64> {
        vec![interpolate(&self.points, &self.cumulative, theta[0])]
    }
}

/// What happened to exact draws after some steps of a kernel.
pub(super) struct Outcome {
    /// Chi-square statistics of 20 bins, one for each coordinate; 63.7 is exceeded with probability 1e-6.
    pub(super) chi_square: Vec<f64>,
    pub(super) acceptance: f64,
    /// Mean squared distance of start and end in normal scores over 2: 1 if they are independent, 0 if nothing moves.
    pub(super) renewal: f64,
}

impl Outcome {
    pub(super) fn is_invariant(&self) -> bool {
        // Bonferroni over two coordinates: 5e-7 each is exceeded at 65.2.
        self.chi_square.iter().all(|statistic| *statistic < 65.3)
    }
}

/// Starts chains in the law itself, runs each for some steps and asks whether the ends have the law still. Chains
/// are independent, so the test is exact, whatever their autocorrelation.
pub(super) fn stays_in_law<M: RecordModel, K: Kernel<PrivateOracle<M>, Info = kernels::ChainInfo>>(
    oracle: &PrivateOracle<M>,
    law: &impl Law,
    (chains, steps): (u32, u32),
    kernel: impl Fn(Start) -> K,
) -> Outcome {
    const BINS: usize = 20;
    let dimension = oracle.dimension();
    let mut counts = vec![[0.0; BINS]; dimension];
    let (mut acceptance, mut renewal) = (0.0, 0.0);
    for chain in 0..chains {
        let mut rng = ChainRng::new(5, chain);
        let uniforms: Vec<f64> = (0..dimension).map(|_| rng.random_range(1e-9..1.0 - 1e-9)).collect();
        let kernel = kernel(Start { centre: law.theta(&uniforms), sd: vec![0.0; dimension] });
        let mut state = kernel.init(oracle, &mut rng).unwrap();
        for _ in 0..steps {
            acceptance += kernel.step(oracle, &mut state, &mut rng).unwrap().acceptance;
        }
        for (index, (end, start)) in law.uniforms(kernel.position(&state)).iter().zip(&uniforms).enumerate() {
            counts[index][((end * BINS as f64) as usize).min(BINS - 1)] += 1.0;
            renewal += (normal_quantile(*end) - normal_quantile(*start)).powi(2) / 2.0;
        }
    }
    let expected = f64::from(chains) / BINS as f64;
    let statistic =
        |counts: &[f64; BINS]| counts.iter().map(|count| (count - expected).powi(2) / expected).sum();
    Outcome {
        chi_square: counts.iter().map(statistic).collect(),
        acceptance: acceptance / f64::from(chains * steps),
        renewal: renewal / f64::from(chains) / dimension as f64,
    }
}

/// Normal scores of many standard normal draws go through the helper unharmed: catches an error in the helper itself.
#[test]
fn the_normal_quantile_inverts_its_cdf() {
    let mut rng = ChainRng::new(1, 0);
    for _ in 0..1000 {
        let z: f64 = rng.sample(StandardNormal);
        assert!((normal_quantile(normal_cdf(z)) - z).abs() < 1e-9);
    }
}
