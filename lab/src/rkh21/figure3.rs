//! Figure 3: what clipping ratios does to the posterior. \[RKH21\] section 4.2

use super::authors::NOTE;
use super::chains::{Motion, Setting, measure};
use super::problem::Problem;
use crate::metrics::{Estimate, mean};
use crate::reproduce::{
    About, Experiment, Line, Published, Report, ReproduceError, Results, Study, Variant, Verdict,
};
use organza_curator::chains::{GradientQuery, RatioQuery, StepQueries};
use organza_studies::plot::{Axis, Figure, Mark, Panel, Series};

/// Clip bounds of the authors' experiment.
const BOUNDS: [[f64; 9]; 2] = [
    [0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.5, 1.0, 10.0],
    [0.1, 0.2, 1.0, 5.0, 10.0, 15.0, 20.0, 50.0, 100.0],
];
const WORDS: [&str; 2] = ["HMC", "random walk"];

/// The experiment.
pub struct Figure3;

impl Experiment for Figure3 {
    fn about(&self) -> About {
        About {
            key: "rkh21-figure3",
            title: "Distance from the posterior against the share of clipped ratios, without noise (Figure 3)",
            paper: "rkh21",
            version: 2,
            minutes: 45,
        }
    }

    fn variants(&self) -> &'static [Variant] {
        &[Variant::Published]
    }

    fn replicates(&self, _: Variant) -> u64 {
        10
    }

    fn columns(&self, _: Variant) -> Vec<String> {
        ["mmd", "clipped", "acceptance"].map(str::to_string).into()
    }

    fn prepare(&self, _: Variant) -> Result<Box<dyn Study>, ReproduceError> {
        Ok(Box::new(Figure3Study))
    }

    fn report(&self, _: Variant, results: &Results) -> Report {
        let lines =
            grid_of_pairs().filter_map(|(problem, chain)| flat_line(results, problem, chain)).collect();
        let notes = vec![
            NOTE.to_string(),
            "Neither ratios nor gradients have noise. `clipped` is the share of records whose ratio was clipped, averaged over the kept steps.".into(),
            "HMC on the banana takes 100 leapfrog steps of 0.01, on the Gaussian 12 of 0.0005; walks are those of Figure 1 but for 0.3 on the banana, as in the authors' code.".into(),
        ];
        Report { lines, figure: Some(figure(results)), tables: Vec::new(), notes }
    }
}

fn grid_of_pairs() -> impl Iterator<Item = (Problem, usize)> {
    Problem::ALL.into_iter().flat_map(|problem| (0..WORDS.len()).map(move |chain| (problem, chain)))
}

fn cell(problem: Problem, chain: usize, bound: f64) -> String {
    format!("{} {} clip={bound}", problem.name(), WORDS[chain])
}

fn bounds(problem: Problem) -> &'static [f64; 9] {
    &BOUNDS[usize::from(problem == Problem::Gauss)]
}

/// Share of clipped ratios and distance of every replicate.
fn points(results: &Results, problem: Problem, chain: usize) -> Vec<(f64, f64)> {
    let of_bound = |bound: &f64| {
        let name = cell(problem, chain, *bound);
        results.values(&name, "clipped").into_iter().zip(results.values(&name, "mmd"))
    };
    bounds(problem).iter().flat_map(of_bound).collect()
}

/// Below a share of 20 percent the distance is that without clipping.
fn flat_line(results: &Results, problem: Problem, chain: usize) -> Option<Line> {
    let points = points(results, problem, chain);
    let within = |low: f64, high: f64| -> Vec<f64> {
        points.iter().filter(|(share, _)| (low..high).contains(share)).map(|(_, mmd)| *mmd).collect()
    };
    let (none, few) = (within(0.0, 1e-4), within(1e-4, 0.2));
    if none.is_empty() || few.is_empty() {
        return None;
    }
    let (none, few) = (mean(&none), mean(&few));
    let ratio = few.value / none.value;
    let known = |error: f64| if error.is_nan() { 0.0 } else { error };
    let error =
        ratio * libm::hypot(known(none.standard_error) / none.value, known(few.standard_error) / few.value);
    let place = format!(
        "Figure 3, {}, {}, MMD with up to 20 % clipped over MMD with none",
        problem.name(),
        WORDS[chain]
    );
    let verdict = Verdict::of_statement(ratio < 1.5 + 3.0 * error, "clipping matters earlier");
    let text = "very little effect when less than 20 % are clipped";
    Some(Line::new(
        place,
        Published::Text(text.into()),
        Estimate { value: ratio, standard_error: error },
        verdict,
    ))
}

fn figure(results: &Results) -> Figure {
    let panel = |problem: Problem, against_share: bool| {
        let series = WORDS.iter().enumerate().map(|(chain, word)| {
            let found = if against_share {
                points(results, problem, chain)
            } else {
                let of_bound = |bound: f64| {
                    results
                        .values(&cell(problem, chain, bound), "mmd")
                        .into_iter()
                        .map(move |mmd| (bound, mmd))
                };
                bounds(problem).iter().copied().flat_map(of_bound).collect()
            };
            let series = Series::new(word, chain, Mark::Points, found);
            if against_share { series } else { series.scattered(1.3) }
        });
        let axis =
            if against_share { Axis::linear("share of clipped ratios") } else { Axis::log("clip bound") };
        let title =
            format!("{}: {}", problem.name(), if against_share { "share clipped" } else { "clip bound" });
        Panel::new(&title, axis, Axis::log("MMD"), series.collect())
    };
    let panels = Problem::ALL.into_iter().flat_map(|problem| [panel(problem, false), panel(problem, true)]);
    Figure::new("[RKH21] Figure 3: the effect of clipping ratios", panels.collect())
        .in_columns(2)
        .with_subtitle("no noise; every point is one run of four chains")
}

struct Figure3Study;

fn grid() -> Vec<(Problem, usize, f64)> {
    let with_bounds =
        |(problem, chain): (Problem, usize)| bounds(problem).map(|bound| (problem, chain, bound));
    grid_of_pairs().flat_map(with_bounds).collect()
}

/// Settings of the authors' clipping experiment: everything but the clip bound of ratios.
fn setting(problem: Problem, chain: usize, bound: f64) -> Setting {
    let ratio = Some(RatioQuery { clip: bound, noise: 0.0 });
    let (gradient, motion, steps) = match (problem, chain) {
        (Problem::Banana, 0) => {
            (Some((100, 10.0)), Motion::Hmc { step_size: 0.01, leapfrog_steps: 100, shortest: 0.0 }, 1000)
        }
        (Problem::Gauss, 0) => {
            (Some((12, 100.0)), Motion::Hmc { step_size: 0.0005, leapfrog_steps: 12, shortest: 0.0 }, 1000)
        }
        (Problem::Banana, _) => (None, Motion::Walk { step_size: 0.3 }, 12_000),
        (Problem::Gauss, _) => (None, Motion::Walk { step_size: 0.0007 }, 25_000),
    };
    let gradient =
        gradient.map(|(leaps, clip)| GradientQuery { times: leaps + 1, clip, noise: 0.0, rate: 1.0 });
    let queries = StepQueries { gradient, ratio, count_weight: 0.1, dimension: problem.dimension() };
    Setting { queries, motion, steps }
}

impl Study for Figure3Study {
    fn cells(&self) -> Vec<String> {
        grid().into_iter().map(|(problem, chain, bound)| cell(problem, chain, bound)).collect()
    }

    fn replicate(&self, cell: usize, seed: u64) -> Result<Vec<f64>, String> {
        let (problem, chain, bound) = grid()[cell];
        let found = measure(problem, &setting(problem, chain, bound), seed)?;
        Ok(vec![found.mmd, found.clipped_ratios, found.acceptance])
    }
}
