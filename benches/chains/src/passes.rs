//! The passes over records by themselves: questions to an oracle of made-up records, whose noise costs next to nothing.

use crate::Failure;
use crate::clock::{Seconds, best};
use organza_curator::chains::models::{Banana, GaussianMean, Logistic, Regression};
use organza_curator::chains::{GradientQuery, PrivateOracle, RatioQuery, Simulate, StepQueries};
use organza_mcmc::ChainRng;
use rayon::ThreadPool;

/// A pass over so many records.
#[derive(Debug, Clone, Copy)]
pub struct Pass<'a> {
    /// `gradient` or `ratio`.
    pub question: &'a str,
    /// `banana`, `gauss` or `logistic`.
    pub model: &'a str,
    pub rows: usize,
    /// Clip bound, in the units of the model's gradient.
    pub clip: f64,
    pub repetitions: usize,
}

/// Time of a pass, bytes that it reads and the share of clipped records.
pub struct Passed {
    pub seconds: Seconds,
    pub bytes: usize,
    pub clipped: f64,
}

impl Pass<'_> {
    pub fn time(&self, pool: &ThreadPool) -> Result<Passed, Failure> {
        match self.model {
            "banana" => self.time_model(pool, Banana::default(), &[0.01, 3.0]),
            "gauss" => {
                let covariance: Vec<f64> =
                    (0..100).map(|place| f64::from(u8::from(place % 11 == 0))).collect();
                self.time_model(pool, GaussianMean::new(&covariance, 100.0)?, &[0.1; 10])
            }
            "logistic" => {
                let names: Vec<String> = (1..10).map(|index| format!("x{index}")).collect();
                let theta: Vec<f64> = (0..10).map(|index| 0.3 - 0.05 * f64::from(index)).collect();
                self.time_model(pool, Regression::new(Logistic, &names, true, 10.0), &theta)
            }
            other => Err(format!("unknown model: {other}").into()),
        }
    }

    fn queries(&self, dimension: usize) -> Result<StepQueries, Failure> {
        let gradient = GradientQuery { times: 1, clip: self.clip, noise: 1.0, rate: 1.0 };
        let ratio = RatioQuery { clip: self.clip, noise: 1.0 };
        let (gradient, ratio) = match self.question {
            "gradient" => (Some(gradient), None),
            "ratio" => (None, Some(ratio)),
            other => return Err(format!("unknown question: {other}").into()),
        };
        Ok(StepQueries { gradient, ratio, count_weight: 1.0, dimension })
    }

    fn time_model<M: Simulate>(&self, pool: &ThreadPool, model: M, theta: &[f64]) -> Result<Passed, Failure> {
        let (queries, bytes) = (self.queries(theta.len())?, 8 * model.columns() * self.rows);
        let mut rng = ChainRng::new(1, 0);
        let asked = (queries, u64::MAX / 2);
        let oracle = PrivateOracle::rehearsal(model, theta, self.rows, asked, &mut rng)?;
        let to: Vec<f64> = theta.iter().map(|value| value + 0.01).collect();
        let mut gradient = vec![0.0; theta.len()];
        let mut answer = Ok(0.0);
        let seconds = pool.install(|| {
            best(self.repetitions, || {
                answer = oracle.permit().and_then(|mut permit| match queries.ratio {
                    Some(_) => permit.log_ratio(theta, &to, &mut rng).map(|ratio| ratio.clipped),
                    None => permit.gradient(theta, &mut rng, &mut gradient),
                });
            })
        });
        Ok(Passed { seconds, bytes, clipped: answer.map_err(|stop| format!("{stop:?}"))? })
    }
}
