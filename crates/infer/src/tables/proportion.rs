//! A proportion: noisy numbers of successes among public numbers of records.

use organza_release::CountNoise;

use super::circuit::PartyCounts;
use super::model::{Block, CountModel};
use super::noise::Observation;
use super::records::Records;
use super::shape::Shape;
use crate::InferError;

/// A noisy number of successes.
#[derive(Debug, Clone, PartialEq)]
pub struct NoisySuccesses {
    /// The data holder.
    pub party: String,
    /// The noisy number.
    pub value: f64,
    /// Its noise.
    pub noise: CountNoise,
    /// Public number of records.
    pub records: usize,
}

impl CountModel {
    /// The probability of success, a priori Beta with these shapes; a draw is that one number.
    ///
    /// ```
    /// use organza_infer::tables::{CountModel, ExactCounts, IndependentCounts, NoisySuccesses};
    /// use organza_mcmc::{Plan, run};
    /// use organza_release::{CountFamily, CountNoise};
    ///
    /// let noise = CountNoise { family: CountFamily::DiscreteLaplace, scale: 1.0 };
    /// let released = NoisySuccesses { party: "north".into(), value: 31.0, noise, records: 100 };
    /// let model = CountModel::proportion((1.0, 1.0), &[released])?;
    /// let draws = run(&IndependentCounts, &ExactCounts::new(model)?, &Plan { warmup: 0, ..Plan::default() })?;
    /// assert_eq!(draws.total(), 4000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn proportion(shapes: (f64, f64), released: &[NoisySuccesses]) -> Result<Self, InferError> {
        for (field, shape) in [("first shape", shapes.0), ("second shape", shapes.1)] {
            if !(shape.is_finite() && shape > 0.0) {
                return Err(InferError::prior(field, format!("must be positive and finite, found {shape}")));
            }
        }
        let mut shape = Shape::new();
        let concentrations = vec![shapes.0, shapes.1];
        let groups: Vec<usize> = shape.split(0, &concentrations).collect();
        let mut parties = Vec::new();
        for one in released {
            if !(one.noise.scale.is_finite() && one.noise.scale > 0.0 && one.value.is_finite()) {
                let reason = "the noisy number and a positive scale must be finite";
                return Err(InferError::counts(&one.party, "value", reason));
            }
            let observations = vec![vec![], vec![Observation::new(one.value, &one.noise)], vec![]];
            let records = Records::Known(one.records);
            parties.push(PartyCounts { name: one.party.clone(), records, observations });
        }
        if parties.is_empty() {
            return Err(InferError::NoRelease);
        }
        let block = Block { groups, concentrations, shown: 1 };
        Ok(Self::assemble(shape, vec![block], vec!["p".to_string()], parties))
    }
}
