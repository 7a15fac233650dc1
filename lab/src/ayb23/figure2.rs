//! Figure 2: errors of estimation and prediction against epsilon.

use super::figure2_report;
use super::published::{EPSILONS, PARTIES, WORDS};
use super::simulate::Simulated;
use crate::metrics::mse;
use crate::reproduce::{About, Experiment, Report, ReproduceError, Results, Seeds, Study, Variant};
use organza_studies::generator;

/// Numbers of features.
pub(super) const FEATURES: [usize; 2] = [2, 5];
/// What is measured.
pub(super) const MEASURES: [&str; 2] = ["estimation", "prediction"];
const RECORDS: usize = 100_000;
const STEPS: usize = 10_000;

/// The experiment.
pub struct Figure2;

impl Experiment for Figure2 {
    fn about(&self) -> About {
        About {
            key: "ayb23-figure2",
            title: "Errors of estimation and prediction against epsilon, simulated records (Figure 2)",
            paper: "ayb23",
            version: 2,
            minutes: 30,
        }
    }

    fn variants(&self) -> &'static [Variant] {
        &[Variant::Published, Variant::Claimed]
    }

    fn replicates(&self, _: Variant) -> u64 {
        50
    }

    fn columns(&self, _: Variant) -> Vec<String> {
        let names = WORDS.into_iter().chain(["non-private"]);
        names.flat_map(|word| MEASURES.map(|measure| format!("{word} {measure}"))).collect()
    }

    fn prepare(&self, variant: Variant) -> Result<Box<dyn Study>, ReproduceError> {
        Ok(Box::new(Figure2Study { variant, records: RECORDS, steps: STEPS }))
    }

    fn report(&self, variant: Variant, results: &Results) -> Report {
        figure2_report::report(variant, results)
    }
}

/// Name of a cell.
pub(super) fn cell(features: usize, parties: usize, epsilon: f64) -> String {
    format!("d={features} J={parties} epsilon={epsilon}")
}

/// All configurations, in the order of the cells.
fn configurations() -> Vec<(usize, usize, f64)> {
    let of_features = |features: usize| {
        PARTIES.into_iter().flat_map(move |parties| EPSILONS.map(|epsilon| (features, parties, epsilon)))
    };
    FEATURES.into_iter().flat_map(of_features).collect()
}

/// Sizes of the simulation.
pub(super) struct Figure2Study {
    pub variant: Variant,
    pub records: usize,
    pub steps: usize,
}

impl Study for Figure2Study {
    fn cells(&self) -> Vec<String> {
        configurations()
            .into_iter()
            .map(|(features, parties, epsilon)| cell(features, parties, epsilon))
            .collect()
    }

    fn replicate(&self, cell: usize, seed: u64) -> Result<Vec<f64>, String> {
        self.paired(cell, Seeds { own: seed, shared: seed })
    }

    /// All cells of a replicate have the same records.
    fn paired(&self, cell: usize, seeds: Seeds) -> Result<Vec<f64>, String> {
        let seed = seeds.own;
        let (features, parties, epsilon) = configurations()[cell];
        let simulated = Simulated::new(features, self.records, parties, &mut generator(seeds.shared, 9))?;
        let bounds = simulated.bounds(epsilon);
        let fits = bounds.fit(self.variant, &simulated.parties, &simulated.lambda, (seed, self.steps))?;
        let (truth, covariance) = (&simulated.theta, &simulated.covariance);
        let mut values = Vec::with_capacity(12);
        for (method, posterior) in fits.iter().enumerate() {
            // The authors' code averages the error over the draws of a chain, but scores the others at a point.
            let averaged = self.variant == Variant::Published && [0, 1, 3].contains(&method);
            let more = if averaged { posterior.prediction_variance(covariance) } else { 0.0 };
            values
                .extend([mse(&posterior.mean, truth), posterior.prediction_error(truth, covariance) + more]);
        }
        let exact = super::methods::Posterior::point(simulated.non_private()?.mean);
        values.extend([mse(&exact.mean, truth), exact.prediction_error(truth, covariance)]);
        Ok(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A small replicate of every method: all errors are finite and positive, and the posterior without privacy is the best at epsilon 0.1.
    #[test]
    fn a_small_replicate() {
        let study = Figure2Study { variant: Variant::Published, records: 2_000, steps: 200 };
        let found = study.replicate(0, 1).unwrap();
        assert_eq!(found.len(), Figure2.columns(Variant::Published).len());
        assert!(found.iter().all(|value| value.is_finite() && *value > 0.0), "{found:?}");
        assert!(found[..10].iter().step_by(2).all(|error| *error > found[10]), "{found:?}");
    }
}
