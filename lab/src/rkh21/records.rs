//! Figures 1 and 2 on the banana with other records.
//!
//! The figures are about one set of records, and the posterior depends on it: the mean of the first column is known to within one posterior standard
//! deviation, and it decides how far the tails of the banana reach. So every replicate has its own records here.

use super::chains::{Lazy, WORDS, measure_on, setting};
use super::figure1_report::{above, near};
use super::figure2::tail_line;
use super::problem::{Data, Problem};
use crate::metrics::{Estimate, mean};
use crate::reproduce::{
    About, Experiment, Line, Published, Report, ReproduceError, Results, Seeds, Study, Variant, Verdict,
};
use organza_studies::plot::{Axis, Figure, Mark, Panel, Series};

const EPSILONS: [f64; 2] = [8.0, 15.0];

/// The experiment.
pub struct Records;

impl Experiment for Records {
    fn about(&self) -> About {
        About {
            key: "rkh21-records",
            title: "Distance from the posterior on the banana, other records in every replicate (Figures 1 and 2)",
            paper: "rkh21",
            version: 2,
            minutes: 4,
        }
    }

    fn variants(&self) -> &'static [Variant] {
        &[Variant::Published]
    }

    fn replicates(&self, _: Variant) -> u64 {
        12
    }

    fn columns(&self, _: Variant) -> Vec<String> {
        ["mmd", "mean error", "tail", "exact tail"].map(str::to_string).into()
    }

    fn prepare(&self, variant: Variant) -> Result<Box<dyn Study>, ReproduceError> {
        Ok(Box::new(RecordsStudy { variant, settings: grid().iter().map(|_| Lazy::new()).collect() }))
    }

    fn report(&self, _: Variant, results: &Results) -> Report {
        let sentences = [
            (1, "roughly equal", near as fn(f64, f64) -> bool),
            (2, "significantly worse", above),
            (3, "significantly worse", above),
        ];
        let lines = sentences.into_iter().filter_map(|(algorithm, text, holds)| {
            let ratio = ratio_to_hmc(results, algorithm)?;
            let place = format!(
                "Figure 1, banana, MMD of {} over {}, epsilon = 8 and 15",
                WORDS[algorithm], WORDS[0]
            );
            let verdict = Verdict::of_statement(holds(ratio.value, ratio.standard_error), "see the notes");
            Some(Line::new(place, Published::Text(text.into()), ratio, verdict))
        });
        let tails = (0..WORDS.len())
            .filter_map(|algorithm| tail_line(results, algorithm, &cell(algorithm, EPSILONS[1])));
        let notes = vec![
            "The figures of the paper are about one set of records. The posterior mean of theta_1 is the mean of the first column, which varies as much as theta_1 itself does in the \
             posterior, and it decides how long the tail is: 10 percent of the posterior with the authors' records, where it is 0.94 standard deviations from 0. Here every replicate has its own \
             records, the same for all chains; standard errors are over records. So a sentence that differs here and not above is one about the authors' records."
                .to_string(),
            "A path of DP-HMC has at most 25 steps of 0.006 and is about 0.2 long; from the top of the banana to its tail it is 2. So a chain of a few hundred steps is in the tail only \
             if it starts near it."
                .into(),
        ];
        Report {
            lines: lines.chain(tails).collect(),
            figure: Some(figure(results)),
            tables: Vec::new(),
            notes,
        }
    }
}

fn grid() -> Vec<(usize, f64)> {
    (0..WORDS.len()).flat_map(|algorithm| EPSILONS.map(|epsilon| (algorithm, epsilon))).collect()
}

fn cell(algorithm: usize, epsilon: f64) -> String {
    format!("{} epsilon={epsilon}", WORDS[algorithm])
}

/// Means over both budgets, one for each replicate.
fn averaged(results: &Results, algorithm: usize, column: &str) -> Vec<f64> {
    let [one, other] = EPSILONS.map(|epsilon| results.values(&cell(algorithm, epsilon), column));
    one.iter().zip(&other).map(|(one, other)| 0.5 * (one + other)).collect()
}

/// Mean distance over that of DP-HMC, over the same records.
fn ratio_to_hmc(results: &Results, algorithm: usize) -> Option<Estimate> {
    let (own, hmc) = (averaged(results, algorithm, "mmd"), averaged(results, 0, "mmd"));
    if own.is_empty() || own.len() != hmc.len() {
        return None;
    }
    let ratio = mean(&own).value / mean(&hmc).value;
    // The error of a ratio of means is that of the mean of own - ratio hmc.
    let rest: Vec<f64> = own.iter().zip(&hmc).map(|(own, hmc)| own - ratio * hmc).collect();
    Some(Estimate { value: ratio, standard_error: mean(&rest).standard_error / mean(&hmc).value })
}

fn figure(results: &Results) -> Figure {
    let panel = |epsilon: f64| {
        let series = WORDS.iter().enumerate().map(|(algorithm, word)| {
            let name = cell(algorithm, epsilon);
            let points = results.values(&name, "exact tail").into_iter().zip(results.values(&name, "mmd"));
            Series::new(word, algorithm, Mark::Points, points.collect())
        });
        Panel::new(
            &format!("epsilon = {epsilon}"),
            Axis::linear("share of the posterior in the tail"),
            Axis::log("MMD"),
            series.collect(),
        )
    };
    Figure::new("[RKH21]: the banana with other records", EPSILONS.map(panel).into())
        .with_subtitle("every point is one set of 100,000 records; the tail is theta 2 < 1")
}

struct RecordsStudy {
    variant: Variant,
    /// One for each cell.
    settings: Vec<Lazy>,
}

impl Study for RecordsStudy {
    fn cells(&self) -> Vec<String> {
        grid().into_iter().map(|(algorithm, epsilon)| cell(algorithm, epsilon)).collect()
    }

    fn replicate(&self, cell: usize, seed: u64) -> Result<Vec<f64>, String> {
        self.paired(cell, Seeds { own: seed, shared: seed })
    }

    fn paired(&self, cell: usize, seeds: Seeds) -> Result<Vec<f64>, String> {
        let (algorithm, epsilon) = grid()[cell];
        let setting =
            self.settings[cell].get_or_init(|| setting(Problem::Banana, algorithm, epsilon, self.variant));
        let setting = setting.as_ref().map_err(Clone::clone)?;
        let found = measure_on(Problem::Banana, setting, (Data::Seed(seeds.shared), seeds.own))?;
        let [tail, exact] = found.tails();
        Ok(vec![found.mmd, found.mean_error, tail, exact])
    }
}
