//! Figure 1: posterior means of the log-linear model over releases of one database, and rates of acceptance.

use super::log_linear::{CLASSES, Database, EPSILONS, fit};
use crate::metrics::{Estimate, mean};
use crate::reproduce::{
    About, Experiment, Line, Published, Report, ReproduceError, Results, Study, Variant, Verdict, number,
};
use organza_studies::generator;
use organza_studies::plot::{Axis, Figure, Mark, Panel, Series};

/// Seed of the database, which is the same in all replicates.
const DATABASE: u64 = 1;

/// Points of one epsilon stand up to this factor apart.
pub(super) const APART: f64 = 1.5;

/// The experiment.
pub struct Figure1;

impl Experiment for Figure1 {
    fn about(&self) -> About {
        About {
            key: "jagr22-figure1",
            title: "Posterior means and rates of acceptance of the log-linear model (Figure 1)",
            paper: "jagr22",
            version: 1,
            minutes: 2,
        }
    }

    fn variants(&self) -> &'static [Variant] {
        &[Variant::Published, Variant::Ours]
    }

    fn replicates(&self, _: Variant) -> u64 {
        100
    }

    fn columns(&self, _: Variant) -> Vec<String> {
        let means = (1..=CLASSES).map(|class| format!("mean of p{class}"));
        means.chain(["acceptance", "smallest acceptance", "effective draws"].map(str::to_string)).collect()
    }

    fn prepare(&self, variant: Variant) -> Result<Box<dyn Study>, ReproduceError> {
        Ok(Box::new(Figure1Study { variant }))
    }

    fn report(&self, variant: Variant, results: &Results) -> Report {
        let mut lines = distances(results);
        if variant == Variant::Published {
            lines.extend(acceptance(results));
        }
        Report { lines, figure: Some(figure(variant, results)), tables: vec![], notes: notes(variant) }
    }
}

fn cell(epsilon: f64) -> String {
    format!("epsilon={epsilon}")
}

fn database() -> Database {
    Database::new(&mut generator(DATABASE, 9))
}

/// Mean distance of the posterior means, replicate by replicate, from five numbers.
fn distance(results: &Results, epsilon: f64, from: &[f64; CLASSES]) -> Option<Estimate> {
    let columns: Vec<Vec<f64>> =
        (1..=CLASSES).map(|class| results.values(&cell(epsilon), &format!("mean of p{class}"))).collect();
    let of_replicate =
        |k: usize| (0..CLASSES).map(|class| (columns[class][k] - from[class]).abs()).sum::<f64>();
    let sums: Vec<f64> = (0..columns[0].len()).map(of_replicate).collect();
    (!sums.is_empty()).then(|| mean(&sums))
}

/// "As epsilon approaches zero the posterior mean approaches the prior mean, as it increases that without privacy."
fn distances(results: &Results) -> Vec<Line> {
    let mut lines = Vec::new();
    let (prior, exact) = ([0.2; CLASSES], database().posterior_mean());
    for (goal, name, text) in [
        (prior, "prior mean", "approached as epsilon falls"),
        (exact, "mean without privacy", "approached as epsilon grows"),
    ] {
        let found: Vec<(f64, Estimate)> = EPSILONS
            .into_iter()
            .filter_map(|epsilon| Some((epsilon, distance(results, epsilon, &goal)?)))
            .collect();
        for pair in found.windows(2) {
            let ((low, before), (high, after)) = (pair[0], pair[1]);
            let change = Estimate {
                value: after.value - before.value,
                standard_error: libm::hypot(before.standard_error, after.standard_error),
            };
            let falls = if goal == prior { -change.value } else { change.value };
            let holds = falls < 2.0 * change.standard_error || change.standard_error.is_nan();
            let place = format!("Figure 1a, distance from the {name}, change from epsilon = {low} to {high}");
            let verdict = Verdict::of_statement(holds, "it moves the other way");
            lines.push(Line::new(place, Published::Text(text.into()), change, verdict));
        }
    }
    lines
}

/// \[JAGR22\] Proposition 3.1: no probability of acceptance is below exp(-epsilon), and the mean is "significantly higher".
fn acceptance(results: &Results) -> Vec<Line> {
    let mut lines = Vec::new();
    for epsilon in EPSILONS {
        let bound = libm::exp(-epsilon);
        let smallest = results.values(&cell(epsilon), "smallest acceptance").into_iter().reduce(f64::min);
        let (Some(smallest), Some(average)) = (smallest, results.mean(&cell(epsilon), "acceptance")) else {
            continue;
        };
        let text = Published::Text(format!("at least {}", number(bound)));
        let verdict = Verdict::of_statement(smallest >= bound * (1.0 - 1e-6), "below the bound");
        let place =
            format!("Figure 1b, epsilon = {epsilon}, smallest probability of acceptance of all chains");
        lines.push(Line::new(place, text.clone(), Estimate::exact(smallest), verdict));
        let verdict = Verdict::of_statement(
            average.value > bound + 3.0 * average.standard_error,
            "not above the bound",
        );
        let place = format!("Figure 1b, epsilon = {epsilon}, mean probability of acceptance");
        lines.push(Line::new(place, text, average, verdict));
    }
    lines
}

fn figure(variant: Variant, results: &Results) -> Figure {
    let exact = database().posterior_mean();
    let ends = |height: f64| vec![(EPSILONS[0], height), (EPSILONS[4], height)];
    let points = |column: &str| {
        let at = |epsilon: f64| {
            results.values(&cell(epsilon), column).into_iter().map(move |value| (epsilon, value))
        };
        EPSILONS.into_iter().flat_map(at).collect::<Vec<_>>()
    };
    let of_class = |class: usize| {
        let series = vec![
            Series::new("posterior mean", 0, Mark::Points, points(&format!("mean of p{}", class + 1)))
                .scattered(APART),
            Series::new("without privacy", 6, Mark::Rule, ends(exact[class])),
            Series::new("prior mean", 1, Mark::Rule, ends(0.2)),
        ];
        let title = format!("(a) p{}", class + 1);
        Panel::new(&title, Axis::log("epsilon"), Axis::linear("posterior mean").between(0.0, 0.7), series)
    };
    let mut panels: Vec<Panel> = (0..CLASSES).map(of_class).collect();
    if variant == Variant::Published {
        let bound = EPSILONS.map(|epsilon| (epsilon, libm::exp(-epsilon))).to_vec();
        let series = vec![
            Series::new("mean acceptance", 2, Mark::Points, points("acceptance")).scattered(APART),
            Series::new("smallest acceptance", 4, Mark::Points, points("smallest acceptance"))
                .scattered(APART),
            Series::new("exp(−epsilon)", 6, Mark::Rule, bound),
        ];
        let y = Axis::linear("probability of acceptance").between(0.0, 1.0);
        panels.push(Panel::new("(b) acceptance", Axis::log("epsilon"), y, series));
    }
    let title = match variant {
        Variant::Ours => "[JAGR22] Figure 1 by independent draws, all counts summed out",
        _ => "[JAGR22] Figure 1: the chain over latent records",
    };
    Figure::new(title, panels)
        .in_columns(3)
        .with_subtitle("log-linear model, 100 records; every point is a release of the same database")
}

fn notes(variant: Variant) -> Vec<String> {
    let how = match variant {
        Variant::Ours => {
            "Ours: independent draws from the same posterior, all counts summed out; there is no chain and nothing to accept."
        }
        _ => "As published: 10,000 steps of Algorithm 1, the first half left out.",
    };
    vec![
        "The figure prints no numbers, so its sentences are checked. The database is ours: class probabilities of Table 1, laws of the features from the prior, one draw of the records.".into(),
        how.into(),
    ]
}

struct Figure1Study {
    variant: Variant,
}

impl Study for Figure1Study {
    fn cells(&self) -> Vec<String> {
        EPSILONS.map(cell).to_vec()
    }

    fn replicate(&self, place: usize, seed: u64) -> Result<Vec<f64>, String> {
        let release = database().release(EPSILONS[place], &mut generator(seed, 0));
        let found = fit(release, self.variant, seed)?;
        Ok(found.mean.into_iter().chain(found.acceptance).chain([found.effective]).collect())
    }
}
