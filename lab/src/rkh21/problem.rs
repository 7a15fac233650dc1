//! The two posteriors, their records and exact draws. \[RKH21\] section 4

use organza_curator::chains::kernels::Start;
use organza_curator::chains::models::{Banana, GaussianMean};
use organza_curator::chains::{PrivateOracle, Simulate, StepQueries};
use organza_mcmc::ChainRng;
use rand::RngExt;
use rand_distr::StandardNormal;

use super::authors::{DIMENSION, banana_errors, covariance, gauss_errors};
use crate::linalg::{cholesky, solve};
use crate::metrics::Sample;

/// Records of both problems.
pub(super) const RECORDS: usize = 100_000;
/// Exact draws to compare with.
const EXACT: usize = 1000;
/// Seed of records that are moved to have the authors' means.
const DATA: u64 = 20_210_614;

/// Which records.
#[derive(Debug, Clone, Copy)]
pub(super) enum Data {
    /// With the posterior of the authors' records, from the seeds in their code.
    Authors,
    /// Another draw.
    Seed(u64),
}

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

    /// The parameters that made the records, and the centre of the records.
    pub(super) fn truth(self) -> Vec<f64> {
        let mut truth = vec![0.0; self.dimension()];
        truth[1] = 3.0;
        truth
    }

    /// Means of the columns of the authors' records, less their centre.
    fn errors(self) -> Vec<f64> {
        match self {
            Problem::Banana => banana_errors().into(),
            Problem::Gauss => gauss_errors().into(),
        }
    }

    /// The parameters of records with this centre.
    fn parameters_of(self, centre: &[f64]) -> Vec<f64> {
        let mut theta = centre.to_vec();
        if self == Problem::Banana {
            theta[1] -= Banana::default().bend * theta[0] * theta[0];
        }
        theta
    }
}

pub(super) fn gaussian() -> Result<GaussianMean, String> {
    GaussianMean::new(&covariance(), 100.0).map_err(|error| error.to_string())
}

/// An oracle of records that answers so many steps.
pub(super) fn oracle<M: Simulate>(
    model: M,
    (problem, data): (Problem, Data),
    queries: StepQueries,
    steps: u64,
) -> Result<PrivateOracle<M>, String> {
    let (theta, seed) = match data {
        Data::Seed(seed) => (problem.truth(), seed),
        Data::Authors => (problem.parameters_of(&moved_centre(problem, &model)), DATA),
    };
    PrivateOracle::rehearsal(model, &theta, RECORDS, (queries, steps), &mut ChainRng::new(seed, 0))
        .map_err(|error| error.to_string())
}

/// Where records with the seed [`DATA`] must be centred to have the authors' means.
fn moved_centre<M: Simulate>(problem: Problem, model: &M) -> Vec<f64> {
    let (truth, mut rng) = (problem.truth(), ChainRng::new(DATA, 0));
    let mut record = vec![0.0; model.columns()];
    let mut centre: Vec<f64> = truth.iter().map(|centre| 2.0 * centre).collect();
    centre.iter_mut().zip(problem.errors()).for_each(|(centre, error)| *centre += error);
    for _ in 0..RECORDS {
        model.draw_record(&truth, &mut rng, &mut record);
        centre.iter_mut().zip(&record).for_each(|(centre, value)| *centre -= value / RECORDS as f64);
    }
    centre
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
    use organza_curator::chains::RatioQuery;

    const QUERIES: StepQueries = StepQueries {
        gradient: None,
        ratio: Some(RatioQuery { clip: 1.0, noise: 1.0 }),
        count_weight: 0.0,
        dimension: 2,
    };

    fn assert_close(found: &[f64], expected: &[f64]) {
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-7, "{found} instead of {expected}");
        }
    }

    /// Means that JAX computed from the authors' seeds.
    #[test]
    fn records_have_the_authors_means() {
        let banana = oracle(Banana::default(), (Problem::Banana, Data::Authors), QUERIES, 0).unwrap();
        assert_close(&column_means(&banana), &[0.133_319_604_277_858, 2.933_865_218_970_264]);
        let queries = StepQueries { dimension: DIMENSION, ..QUERIES };
        let gauss = oracle(gaussian().unwrap(), (Problem::Gauss, Data::Authors), queries, 0).unwrap();
        // The prior moves the posterior mean by less than a part in a million.
        let mean = ExactGauss::new(&gauss).unwrap().mean;
        assert_close(&mean, &[-2.626_441_87e-3, 2.999_770_58, -1.246_538_13e-3]);
    }
}
