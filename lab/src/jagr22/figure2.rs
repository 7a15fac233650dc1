//! Figure 2: posterior means of the regression over releases of one table.

use super::figure1::APART;
use super::log_linear::EPSILONS;
use super::regression::{database, fit, posterior_mean, release};
use crate::metrics::{Estimate, mean};
use crate::reproduce::{
    About, Experiment, Line, Published, Report, ReproduceError, Results, Study, Variant, Verdict,
};
use organza_studies::generator;
use organza_studies::plot::{Axis, Figure, Mark, Panel, Series};

const NAMES: [&str; 3] = ["b0", "b1", "b2"];
/// Effective draws of the authors' package at epsilon 1, of 5,000 kept draws.
const PACKAGE: [f64; 3] = [100.0, 2.6, 3.1];

/// The experiment.
pub struct Figure2;

impl Experiment for Figure2 {
    fn about(&self) -> About {
        About {
            key: "jagr22-figure2",
            title: "Posterior means of the regression by data augmentation (Figure 2)",
            paper: "jagr22",
            version: 1,
            minutes: 2,
        }
    }

    fn variants(&self) -> &'static [Variant] {
        &Variant::ALL
    }

    fn replicates(&self, _: Variant) -> u64 {
        100
    }

    fn columns(&self, _: Variant) -> Vec<String> {
        let of = |what: &'static str| NAMES.map(move |name| format!("{name} {what}"));
        let columns = of("mean").into_iter().chain(of("sd")).chain(of("effective draws"));
        columns.chain(["acceptance".to_string()]).collect()
    }

    fn prepare(&self, variant: Variant) -> Result<Box<dyn Study>, ReproduceError> {
        Ok(Box::new(Figure2Study { variant, records: database() }))
    }

    fn report(&self, variant: Variant, results: &Results) -> Report {
        let lines = distances(results).into_iter().chain(effective(results)).collect();
        Report { lines, figure: Some(figure(variant, results)), tables: vec![], notes: notes(variant) }
    }
}

fn cell(epsilon: f64) -> String {
    format!("epsilon={epsilon}")
}

/// Mean distance of a coefficient's posterior means from a number.
fn distance(results: &Results, epsilon: f64, name: &str, from: f64) -> Option<Estimate> {
    let means = results.values(&cell(epsilon), &format!("{name} mean"));
    let away: Vec<f64> = means.iter().map(|value| (value - from).abs()).collect();
    (!away.is_empty()).then(|| mean(&away))
}

/// "The same trend with respect to the privacy level": towards 0 as epsilon falls, towards the mean given the records as it grows.
fn distances(results: &Results) -> Vec<Line> {
    let Some(exact) = posterior_mean(&database()) else { return Vec::new() };
    let mut lines = Vec::new();
    for (name, exact) in NAMES.iter().zip(exact) {
        let of = |epsilon: f64, goal: f64| distance(results, epsilon, name, goal);
        for (goal, what, near, far) in [
            (0.0, "prior mean", EPSILONS[0], EPSILONS[4]),
            (exact, "mean given the records", EPSILONS[4], EPSILONS[0]),
        ] {
            let (Some(close), Some(away)) = (of(near, goal), of(far, goal)) else { continue };
            let ratio = close.value / away.value;
            let parts = libm::hypot(close.standard_error / close.value, away.standard_error / away.value);
            let estimate = Estimate { value: ratio, standard_error: ratio * parts };
            let holds = ratio < 1.0 + 2.0 * estimate.standard_error || estimate.standard_error.is_nan();
            let verdict = Verdict::of_statement(holds, "it does not approach it within this range");
            let place = format!("Figure 2, {name}, distance from the {what}, epsilon = {near} over {far}");
            lines.push(Line::new(place, Published::Text("approaches it".into()), estimate, verdict));
        }
    }
    lines
}

/// How far chains of the paper's length get.
fn effective(results: &Results) -> Vec<Line> {
    let line = |(name, published): (&&str, f64)| {
        let ours = results.mean(&cell(1.0), &format!("{name} effective draws"))?;
        // Effective sizes of chains that have not converged are good to a factor of three.
        let verdict = match ours.value / published {
            ratio if ratio > 3.0 => Verdict::Better,
            ratio if ratio < 1.0 / 3.0 => Verdict::Worse,
            _ => Verdict::Agrees,
        };
        let place = format!("effective draws of 5,000 (R package dapper 1.1.0), {name}, epsilon = 1");
        Some(Line::new(place, Published::Number(published), ours, verdict))
    };
    NAMES.iter().zip(PACKAGE).filter_map(line).collect()
}

fn figure(variant: Variant, results: &Results) -> Figure {
    let exact = posterior_mean(&database()).unwrap_or_else(|| vec![f64::NAN; 3]);
    let panel = |(name, exact): (&&str, f64)| {
        let ends = |height: f64| vec![(EPSILONS[0], height), (EPSILONS[4], height)];
        let at = |epsilon: f64| {
            let means = results.values(&cell(epsilon), &format!("{name} mean"));
            means.into_iter().map(move |value| (epsilon, value))
        };
        let series = vec![
            Series::new("posterior mean", 0, Mark::Points, EPSILONS.into_iter().flat_map(at).collect())
                .scattered(APART),
            Series::new("given the records", 6, Mark::Rule, ends(exact)),
            Series::new("prior mean", 1, Mark::Rule, ends(0.0)),
        ];
        Panel::new(name, Axis::log("epsilon"), Axis::linear("posterior mean").between(-5.0, 3.0), series)
    };
    let title = match variant {
        Variant::Published => "[JAGR22] Figure 2 with the sensitivity by ranges",
        Variant::Claimed => "[JAGR22] Figure 2 with the exact sensitivity",
        Variant::Ours => "[JAGR22] Figure 2 with the exact sensitivity and interweaving",
    };
    Figure::new(title, NAMES.iter().zip(exact).map(panel).collect())
        .with_subtitle("regression on two features, 100 records; every point is a release of the same table")
}

fn notes(variant: Variant) -> Vec<String> {
    let how = match variant {
        Variant::Published => {
            "As published: sensitivity 15 by ranges (the text prints p^2 + 3p + 3 for p^2 + 4p + 3), 10,000 steps of Algorithm 1, the first half left out. At epsilon 1 and beyond such chains have not converged, and their means say so."
        }
        Variant::Claimed => {
            "As claimed: the exact sensitivity, 9.375, for the same epsilon; chains as published."
        }
        Variant::Ours => "Ours: the exact sensitivity and the chain with interweaving, of the same length.",
    };
    vec![
        "The figure prints no numbers, so its sentence is checked. Parameters are those of the authors' scripts; the table is our draw of the model. Records are clamped in the release, not in the model.".into(),
        how.into(),
        "b2 moves away before it approaches: what noisy sums tell first is the mean of the responses, b0 + m'(b1, b2) = -3.6, and the coefficients nearest to the prior mean on that plane are -1.1, -1.0 and 1.3, \
         with b2 on the far side of 0."
            .into(),
    ]
}

struct Figure2Study {
    variant: Variant,
    records: Vec<[f64; 3]>,
}

impl Study for Figure2Study {
    fn cells(&self) -> Vec<String> {
        EPSILONS.map(cell).to_vec()
    }

    fn replicate(&self, place: usize, seed: u64) -> Result<Vec<f64>, String> {
        let release = release(&self.records, self.variant, EPSILONS[place], &mut generator(seed, 0));
        let found = fit(&release, self.variant, seed)?;
        let numbers = found.mean.into_iter().chain(found.sd).chain(found.effective);
        Ok(numbers.chain([found.acceptance]).collect())
    }
}
