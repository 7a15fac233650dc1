//! Figure 1: distance from the posterior against the budget.

use super::chains::{Lazy, WORDS, measure, setting};
use super::figure1_report;
use super::problem::Problem;
use crate::reproduce::{About, Experiment, Report, ReproduceError, Results, Study, Variant};

/// The grid of budgets. \[RKH21\] section 4
pub(super) const EPSILONS: [f64; 7] = [2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 15.0];

/// The experiment.
pub struct Figure1;

impl Experiment for Figure1 {
    fn about(&self) -> About {
        About {
            key: "rkh21-figure1",
            title: "Distance from the posterior against epsilon, banana and Gaussian, four private chains (Figure 1)",
            paper: "rkh21",
            version: 2,
            minutes: 20,
        }
    }

    fn variants(&self) -> &'static [Variant] {
        &Variant::ALL
    }

    /// As many as in the paper, and fewer for what is not in it.
    fn replicates(&self, variant: Variant) -> u64 {
        if variant == Variant::Published { 10 } else { 5 }
    }

    fn columns(&self, _: Variant) -> Vec<String> {
        ["mmd", "mean error", "acceptance", "steps"].map(str::to_string).into()
    }

    fn prepare(&self, variant: Variant) -> Result<Box<dyn Study>, ReproduceError> {
        Ok(Box::new(Figure1Study { variant, settings: grid().iter().map(|_| Lazy::new()).collect() }))
    }

    fn report(&self, variant: Variant, results: &Results) -> Report {
        figure1_report::report(variant, results)
    }
}

/// Name of a cell.
pub(super) fn cell(problem: Problem, algorithm: usize, epsilon: f64) -> String {
    format!("{} {} epsilon={epsilon}", problem.name(), WORDS[algorithm])
}

pub(super) fn grid() -> Vec<(Problem, usize, f64)> {
    let algorithms = |problem| (0..WORDS.len()).map(move |algorithm| (problem, algorithm));
    let pairs = Problem::ALL.into_iter().flat_map(algorithms);
    pairs.flat_map(|(problem, algorithm)| EPSILONS.map(|epsilon| (problem, algorithm, epsilon))).collect()
}

struct Figure1Study {
    variant: Variant,
    /// One for each cell.
    settings: Vec<Lazy>,
}

impl Study for Figure1Study {
    fn cells(&self) -> Vec<String> {
        grid().into_iter().map(|(problem, algorithm, epsilon)| cell(problem, algorithm, epsilon)).collect()
    }

    fn replicate(&self, cell: usize, seed: u64) -> Result<Vec<f64>, String> {
        let (problem, algorithm, epsilon) = grid()[cell];
        let setting = self.settings[cell]
            .get_or_init(|| setting(problem, algorithm, epsilon, self.variant))
            .as_ref()
            .map_err(Clone::clone)?;
        let found = measure(problem, setting, seed)?;
        Ok(vec![found.mmd, found.mean_error, found.acceptance, setting.steps as f64])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The smallest cell of each problem from end to end.
    #[test]
    fn a_replicate_runs() {
        let study = Figure1.prepare(Variant::Published).unwrap();
        for name in ["banana dp-penalty epsilon=2", "Gauss dp-penalty epsilon=2"] {
            let cell = study.cells().iter().position(|cell| cell == name).unwrap();
            let values = study.replicate(cell, 7).unwrap();
            assert_eq!(values.len(), 4);
            assert!(values[0] > 0.0 && values[0] < 1.2 && values[1].is_finite(), "{values:?}");
            assert_eq!(values[3], if name.starts_with("banana") { 145.0 } else { 12.0 });
        }
    }
}
