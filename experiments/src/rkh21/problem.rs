//! The two posteriors, their records and exact draws. \[RKH21\] section 4

use organza_curator::chains::kernels::Start;
use organza_curator::chains::models::{Banana, GaussianMean};
use organza_curator::chains::{PrivateOracle, Simulate, StepQueries};
use organza_mcmc::ChainRng;
use rand::RngExt;
use rand_distr::{Distribution, Gamma, StandardNormal};

use crate::linalg::{cholesky, solve};
use crate::metrics::Sample;
use crate::reproduce::generator;

/// Records of both problems.
pub(super) const RECORDS: usize = 100_000;
/// Exact draws to compare with.
const EXACT: usize = 1000;
/// Seed of the records, which are the same in all replicates of the figures.
pub(super) const DATA: u64 = 20_210_614;
/// Seed of the covariance of the Gaussian. The paper draws its eigenvalues at random and does not print them; of the first 2,000 seeds
/// this one has a gradient norm whose 80 percent quantile is nearest to 15, the paper's clip bound for at most 20 percent clipped.
const COVARIANCE: u64 = 956;
const DIMENSION: usize = 10;

/// A problem of the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Problem {
    Banana,
    Gauss,
}

impl Problem {
    pub(super) const ALL: [Problem; 2] = [Problem::Banana, Problem::Gauss];

    pub(super) fn name(self) -> &'static str {
        match self {
            Problem::Banana => "banana",
            Problem::Gauss => "Gauss",
        }
    }

    pub(super) fn dimension(self) -> usize {
        match self {
            Problem::Banana => 2,
            Problem::Gauss => DIMENSION,
        }
    }

    /// The parameters that made the records.
    pub(super) fn truth(self) -> Vec<f64> {
        let mut truth = vec![0.0; self.dimension()];
        truth[1] = 3.0;
        truth
    }
}

pub(super) fn gaussian() -> Result<GaussianMean, String> {
    GaussianMean::new(&covariance(COVARIANCE), 100.0).map_err(|error| error.to_string())
}

/// Eigenvalues Gamma(1/2, 1), eigenvectors from orthogonalising a matrix of uniform numbers.
fn covariance(seed: u64) -> Vec<f64> {
    let mut rng = generator(seed, 0);
    let values: Vec<f64> = match Gamma::new(0.5, 1.0) {
        Ok(law) => (0..DIMENSION).map(|_| law.sample(&mut rng)).collect(),
        Err(_) => vec![1.0; DIMENSION],
    };
    let mut vectors: Vec<Vec<f64>> = Vec::new();
    for _ in 0..DIMENSION {
        let mut next: Vec<f64> = (0..DIMENSION).map(|_| rng.random()).collect();
        for known in &vectors {
            let share = dot(&next, known);
            next.iter_mut().zip(known).for_each(|(value, known)| *value -= share * known);
        }
        let norm = dot(&next, &next).sqrt();
        next.iter_mut().for_each(|value| *value /= norm);
        vectors.push(next);
    }
    let entry = |index: usize| {
        let (row, column) = (index / DIMENSION, index % DIMENSION);
        vectors.iter().zip(&values).map(|(vector, value)| value * vector[row] * vector[column]).sum()
    };
    (0..DIMENSION * DIMENSION).map(entry).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// An oracle of records with this seed that answers so many steps.
pub(super) fn oracle<M: Simulate>(
    model: M,
    (truth, data): (&[f64], u64),
    queries: StepQueries,
    steps: u64,
) -> Result<PrivateOracle<M>, String> {
    let mut rng = ChainRng::new(data, 0);
    PrivateOracle::rehearsal(model, truth, RECORDS, (queries, steps), &mut rng)
        .map_err(|error| error.to_string())
}

fn column_means<M: Simulate>(oracle: &PrivateOracle<M>) -> Vec<f64> {
    let Some(records) = oracle.rehearsed_records() else { return Vec::new() };
    let mean = |column| {
        (0..records.rows()).map(|row| records.value(row, column)).sum::<f64>() / records.rows() as f64
    };
    (0..records.columns()).map(mean).collect()
}

/// A posterior that is known.
pub(super) trait Exact {
    /// One exact draw.
    fn draw(&self, rng: &mut ChainRng) -> Vec<f64>;
}

/// Straight coordinates of the banana are independent.
pub(super) struct ExactBanana {
    bend: f64,
    straight: [(f64, f64); 2],
}

impl ExactBanana {
    pub(super) fn new(oracle: &PrivateOracle<Banana>) -> Self {
        let means = column_means(oracle);
        let straight = oracle.model().posterior(RECORDS as f64, [means[0], means[1]]);
        Self { bend: oracle.model().bend, straight }
    }
}

impl Exact for ExactBanana {
    fn draw(&self, rng: &mut ChainRng) -> Vec<f64> {
        let [one, two] = self.straight.map(|(mean, sd)| mean + sd * rng.sample::<f64, _>(StandardNormal));
        vec![one, two - self.bend * one * one]
    }
}

/// N(m, (n P + I / 100^2)^-1) with m the solution of (n P + I / 100^2) m = sum of P x.
pub(super) struct ExactGauss {
    mean: Vec<f64>,
    /// L with L L' the precision.
    lower: Vec<f64>,
}

impl ExactGauss {
    pub(super) fn new(oracle: &PrivateOracle<GaussianMean>) -> Result<Self, String> {
        let n = RECORDS as f64;
        let mut precision: Vec<f64> = oracle.model().precision().iter().map(|value| n * value).collect();
        (0..DIMENSION).for_each(|index| precision[index * (DIMENSION + 1)] += 1e-4);
        let sums: Vec<f64> = column_means(oracle).iter().map(|mean| n * mean).collect();
        let singular = || "the precision is singular".to_string();
        let mean = solve(&precision, &sums).ok_or_else(singular)?;
        Ok(Self { mean, lower: cholesky(&precision).ok_or_else(singular)? })
    }
}

impl Exact for ExactGauss {
    fn draw(&self, rng: &mut ChainRng) -> Vec<f64> {
        let mut z: Vec<f64> = (0..DIMENSION).map(|_| rng.sample(StandardNormal)).collect();
        for row in (0..DIMENSION).rev() {
            let known: f64 = (row + 1..DIMENSION).map(|k| self.lower[k * DIMENSION + row] * z[k]).sum();
            z[row] = (z[row] - known) / self.lower[row * DIMENSION + row];
        }
        z.iter().zip(&self.mean).map(|(step, mean)| mean + step).collect()
    }
}

/// Exact draws, and where chains start: around the truth, scattered by the mean of the posterior's standard deviations.
pub(super) fn reference(problem: Problem, exact: &dyn Exact, rng: &mut ChainRng) -> (Sample, Start) {
    let draws: Vec<Vec<f64>> = (0..EXACT).map(|_| exact.draw(rng)).collect();
    let dimension = problem.dimension();
    let sd = |index: usize| {
        let mean = draws.iter().map(|draw| draw[index]).sum::<f64>() / EXACT as f64;
        (draws.iter().map(|draw| (draw[index] - mean).powi(2)).sum::<f64>() / EXACT as f64).sqrt()
    };
    let scatter = (0..dimension).map(sd).sum::<f64>() / dimension as f64;
    let start = Start { centre: problem.truth(), sd: vec![scatter; dimension] };
    (Sample::new(dimension, draws.concat()), start)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gradient norms in the law of the records; run it over seeds to choose the covariance anew.
    fn clip_quantile(seed: u64) -> Option<f64> {
        let model = GaussianMean::new(&covariance(seed), 100.0).ok()?;
        let zero = vec![0.0; DIMENSION];
        let mut rng = ChainRng::new(1, 0);
        let mut norms: Vec<f64> = (0..400)
            .map(|_| {
                let mut record = zero.clone();
                model.draw_record(&zero, &mut rng, &mut record);
                organza_curator::chains::RecordModel::prepare(&model, &mut record);
                dot(&record, &record).sqrt()
            })
            .collect();
        norms.sort_by(f64::total_cmp);
        Some(norms[320])
    }

    #[test]
    fn the_covariance_is_the_one_that_suits_the_clip_bounds() {
        let found = clip_quantile(COVARIANCE).unwrap();
        let distance = |quantile: f64| (quantile / 15.0).ln().abs();
        let best = (0..2000).filter_map(|seed| Some((seed, distance(clip_quantile(seed)?))));
        let best = best.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
        assert_eq!(best.0, COVARIANCE, "quantile {found}");
    }
}
