//! Figure 2: what the chains look like at epsilon = 15 on the banana.

use super::authors::NOTE;
use super::chains::{Lazy, TAIL, WORDS, measure, setting};
use super::figure1_report::manner;
use super::problem::Problem;
use crate::metrics::Estimate;
use crate::reproduce::{
    About, Experiment, Line, Published, Report, ReproduceError, Results, Study, Variant, Verdict,
};
use organza_studies::plot::{Axis, Figure, Mark, Panel, Series};

/// Bins of the histograms of the two coordinates, and their ranges.
const BINS: usize = 30;
const RANGES: [[f64; 2]; 2] = [[-0.6, 0.6], [-4.0, 4.0]];
const EPSILON: f64 = 15.0;

/// The experiment.
pub struct Figure2;

impl Experiment for Figure2 {
    fn about(&self) -> About {
        About {
            key: "rkh21-figure2",
            title: "Marginal distributions of four private chains on the banana at epsilon = 15 (Figure 2)",
            paper: "rkh21",
            version: 2,
            minutes: 4,
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
        let fixed = ["mmd", "tail", "exact tail"].map(str::to_string).into_iter();
        let bins = |name: &'static str| (0..BINS).map(move |bin| format!("{name} {bin}"));
        let names = ["theta1", "theta2", "exact theta1", "exact theta2"];
        fixed.chain(names.into_iter().flat_map(bins)).collect()
    }

    fn prepare(&self, variant: Variant) -> Result<Box<dyn Study>, ReproduceError> {
        Ok(Box::new(Figure2Study { variant, settings: WORDS.map(|_| Lazy::new()) }))
    }

    fn report(&self, variant: Variant, results: &Results) -> Report {
        let lines = (0..WORDS.len())
            .filter_map(|algorithm| tail_line(results, algorithm, WORDS[algorithm]))
            .collect();
        let mut notes = vec![
            NOTE.into(),
            format!(
                "Histograms of the best, the median and the worst replicate by MMD against exact draws. The paper says that DP-SGLD and DP-SGNHT have trouble exploring the long tail; \
             here the tail is theta_2 < {TAIL}. Chains of a few hundred steps of DP-HMC are in the tail or not, so its share differs from replicate to replicate."
            ),
        ];
        if variant != Variant::Published {
            notes.push(
                "DP-SGLD and DP-SGNHT take the number of steps that epsilon really buys, so what the paper says of them need not hold; five replicates of four chains are few."
                    .into(),
            );
        }
        Report { lines, figure: Some(figure(variant, results)), tables: Vec::new(), notes }
    }
}

/// Share of an algorithm's draws in the tail over the exact share, in this cell.
pub(super) fn tail_line(results: &Results, algorithm: usize, cell: &str) -> Option<Line> {
    let (tail, exact) = (results.mean(cell, "tail")?, results.mean(cell, "exact tail")?);
    let ratio =
        Estimate { value: tail.value / exact.value, standard_error: tail.standard_error / exact.value };
    let (text, holds) = match algorithm {
        0 => ("covers the tail", ratio.value > 0.5),
        1 => ("covers the tail, over-represents it in the median sample", ratio.value > 0.5),
        _ => ("has trouble exploring the tail", ratio.value + 2.0 * ratio.standard_error < 1.0),
    };
    let place = format!("Figure 2, {}, share of draws in the tail over the exact share", WORDS[algorithm]);
    let verdict = Verdict::of_statement(holds, "the tail is covered otherwise");
    Some(Line::new(place, Published::Text(text.into()), ratio, verdict))
}

/// Best, median and worst replicate by distance.
fn ranked(results: &Results, word: &str) -> Option<[usize; 3]> {
    let distances = results.values(word, "mmd");
    let mut order: Vec<usize> = (0..distances.len()).collect();
    order.sort_by(|a, b| distances[*a].total_cmp(&distances[*b]));
    Some([*order.first()?, order[order.len() / 2], *order.last()?])
}

fn figure(variant: Variant, results: &Results) -> Figure {
    let panel = |algorithm: usize, coordinate: usize| {
        let word = WORDS[algorithm];
        let [low, high] = RANGES[coordinate];
        let curve = |prefix: &str, replicate: usize| -> Vec<(f64, f64)> {
            let width = (high - low) / BINS as f64;
            let height = |bin: usize| results.values(word, &format!("{prefix}theta{} {bin}", coordinate + 1));
            (0..BINS)
                .filter_map(|bin| {
                    Some((low + (bin as f64 + 0.5) * width, height(bin).get(replicate)? / width))
                })
                .collect()
        };
        let mut series = vec![Series::new("exact", 6, Mark::Rule, curve("exact ", 0))];
        if let Some(ranks) = ranked(results, word) {
            for (colour, (name, replicate)) in ["best", "median", "worst"].iter().zip(ranks).enumerate() {
                series.push(Series::new(name, [2, 0, 1][colour], Mark::Line, curve("", replicate)));
            }
        }
        let label = format!("theta {}", coordinate + 1);
        Panel::new(&format!("{word}: {label}"), Axis::linear(&label), Axis::linear("density"), series)
    };
    let panels = (0..2).flat_map(|coordinate| (0..WORDS.len()).map(move |algorithm| (algorithm, coordinate)));
    Figure::new(
        &format!("[RKH21] Figure 2: marginals on the banana, epsilon = 15, chains {}", manner(variant)),
        panels.map(|(a, c)| panel(a, c)).collect(),
    )
    .in_columns(4)
    .with_subtitle("best, median and worst replicate by MMD, against exact draws")
}

struct Figure2Study {
    variant: Variant,
    settings: [Lazy; WORDS.len()],
}

impl Study for Figure2Study {
    fn cells(&self) -> Vec<String> {
        WORDS.map(str::to_string).into()
    }

    fn replicate(&self, cell: usize, seed: u64) -> Result<Vec<f64>, String> {
        let setting =
            self.settings[cell].get_or_init(|| setting(Problem::Banana, cell, EPSILON, self.variant));
        let found = measure(Problem::Banana, setting.as_ref().map_err(Clone::clone)?, seed)?;
        let (draws, exact) =
            ([0, 1].map(|k| found.draws.coordinate(k)), [0, 1].map(|k| found.exact.coordinate(k)));
        let [tail, exact_tail] = found.tails();
        let fixed = [found.mmd, tail, exact_tail];
        let shares =
            draws.iter().chain(&exact).zip([0, 1, 0, 1]).flat_map(|(values, k)| shares(values, RANGES[k]));
        Ok(fixed.into_iter().chain(shares).collect())
    }
}

/// Share of the values in each bin.
fn shares(values: &[f64], [low, high]: [f64; 2]) -> Vec<f64> {
    let mut counts = vec![0.0; BINS];
    for value in values {
        let place = (value - low) / (high - low) * BINS as f64;
        if (0.0..BINS as f64).contains(&place) {
            counts[place as usize] += 1.0 / values.len() as f64;
        }
    }
    counts
}
