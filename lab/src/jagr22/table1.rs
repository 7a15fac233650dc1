//! Table 1: coverage of 90 percent intervals of the class probabilities.

use super::log_linear::{CLASSES, Database, EPSILONS, TRUTH, fit, probability};
use crate::metrics::{Estimate, coverage};
use crate::reproduce::{
    About, Experiment, Line, Published, Report, ReproduceError, Results, Study, Variant, Verdict,
};
use organza_studies::generator;
use organza_studies::plot::{Axis, Figure, Mark, Panel, Series};

/// Shares of 100 intervals that hold the truth, for every epsilon.
const PUBLISHED: [[f64; CLASSES]; 5] = [
    [1.0, 1.0, 1.0, 0.36, 1.0],
    [0.97, 1.0, 1.0, 0.59, 1.0],
    [0.94, 0.99, 0.97, 0.83, 0.98],
    [0.95, 0.91, 0.97, 0.89, 0.93],
    [0.92, 0.88, 0.94, 0.92, 0.90],
];
const REPLICATES: f64 = 100.0;

/// The experiment.
pub struct Table1;

impl Experiment for Table1 {
    fn about(&self) -> About {
        About {
            key: "jagr22-table1",
            title: "Coverage of intervals of the log-linear model (Table 1)",
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
        let classes = (1..=CLASSES).map(|class| format!("p{class} held"));
        classes.chain(["effective draws".to_string()]).collect()
    }

    fn prepare(&self, variant: Variant) -> Result<Box<dyn Study>, ReproduceError> {
        Ok(Box::new(Table1Study { variant }))
    }

    fn report(&self, variant: Variant, results: &Results) -> Report {
        let how = match variant {
            Variant::Ours => "Ours: independent draws from the same posterior, all counts summed out.",
            _ => "As published: 10,000 steps of Algorithm 1, the first half left out.",
        };
        let notes = vec![
            "Every replicate has records and noise of its own. The laws of the features given the class are not printed in the paper; ours are another draw of the same prior.".to_string(),
            how.to_string(),
            "Shares are compared with the binomial errors of both sides, one success and one failure added to each.".into(),
        ];
        Report { lines: lines(results), figure: Some(figure(results)), tables: vec![], notes }
    }
}

fn cell(epsilon: f64) -> String {
    format!("epsilon={epsilon}")
}

/// Held intervals and all.
fn tally(results: &Results, epsilon: f64, class: usize) -> Option<(usize, usize)> {
    let held = results.values(&cell(epsilon), &format!("p{} held", class + 1));
    (!held.is_empty()).then(|| (held.iter().filter(|value| **value > 0.5).count(), held.len()))
}

fn lines(results: &Results) -> Vec<Line> {
    let mut lines = Vec::new();
    for (epsilon, shares) in EPSILONS.into_iter().zip(PUBLISHED) {
        for (class, published) in shares.into_iter().enumerate() {
            let Some((held, count)) = tally(results, epsilon, class) else { continue };
            let added = |held: f64, count: f64| (held + 1.0) / (count + 2.0);
            let (ours, theirs) =
                (added(held as f64, count as f64), added(published * REPLICATES, REPLICATES));
            let variance = |share: f64, count: f64| share * (1.0 - share) / (count + 2.0);
            let error = (variance(ours, count as f64) + variance(theirs, REPLICATES)).sqrt();
            let verdict = Verdict::of_statement((ours - theirs).abs() <= 3.0 * error, "another coverage");
            let place = format!("Table 1, epsilon = {epsilon}, p{} = {}", class + 1, TRUTH[class]);
            lines.push(Line::new(place, Published::Number(published), coverage(held, count), verdict));
        }
    }
    lines
}

fn figure(results: &Results) -> Figure {
    let of_class = |class: usize| {
        let at = |epsilon: f64| {
            let (held, count) = tally(results, epsilon, class)?;
            Some((epsilon, coverage(held, count)))
        };
        let found: Vec<(f64, Estimate)> = EPSILONS.into_iter().filter_map(at).collect();
        let errors: Vec<f64> = found.iter().map(|(_, each)| each.standard_error).collect();
        let ours = found.iter().map(|(x, each)| (*x, each.value)).collect();
        let printed =
            EPSILONS.into_iter().zip(PUBLISHED).map(|(epsilon, shares)| (epsilon, shares[class])).collect();
        let series = vec![
            Series::new("ours", 0, Mark::Line, ours).with_errors(&errors),
            Series::new("published", 1, Mark::Points, printed),
            Series::new("90 %", 6, Mark::Rule, vec![(EPSILONS[0], 0.9), (EPSILONS[4], 0.9)]),
        ];
        let title = format!("p{} = {}", class + 1, TRUTH[class]);
        Panel::new(&title, Axis::log("epsilon"), Axis::linear("coverage").between(0.0, 1.05), series)
    };
    Figure::new("[JAGR22] Table 1: coverage of 90 percent intervals", (0..CLASSES).map(of_class).collect())
        .in_columns(3)
        .with_subtitle("log-linear model, 100 records")
}

struct Table1Study {
    variant: Variant,
}

impl Study for Table1Study {
    fn cells(&self) -> Vec<String> {
        EPSILONS.map(cell).to_vec()
    }

    fn replicate(&self, place: usize, seed: u64) -> Result<Vec<f64>, String> {
        let database = Database::new(&mut generator(seed, 1));
        let found = fit(database.release(EPSILONS[place], &mut generator(seed, 0)), self.variant, seed)?;
        let held =
            found.intervals.iter().enumerate().map(|(class, [low, high])| {
                f64::from(u8::from((*low..=*high).contains(&probability(class))))
            });
        Ok(held.chain([found.effective]).collect())
    }
}
