//! Figure 3f: time of the methods against the number of records.

use std::time::Instant;

use super::figure3::{RECORDS, column, methods};
use super::methods::{Length, Method};
use super::simulate::Setting;
use crate::metrics::Estimate;
use crate::reproduce::{
    About, Experiment, Line, Published, Report, ReproduceError, Results, Study, Variant, Verdict,
};
use organza_studies::generator;
use organza_studies::plot::{Axis, Figure, Mark, Panel, Series};

const EPSILON: f64 = 0.1;
/// Milliseconds for an iteration of the authors' code, one feature.
const AUTHORS: [(Method, f64); 3] =
    [(Method::GibbsNoisy, 2.1), (Method::GibbsPrior, 2.1), (Method::GibbsUpdate, 11.3)];

/// The experiment.
pub struct Figure3f;

impl Experiment for Figure3f {
    fn about(&self) -> About {
        About {
            key: "bs19-figure3f",
            title: "Time of the methods against the number of records (Figure 3f)",
            paper: "bs19",
            version: 1,
            minutes: 1,
        }
    }

    fn variants(&self) -> &'static [Variant] {
        &[Variant::Published]
    }

    fn replicates(&self, _: Variant) -> u64 {
        10
    }

    fn columns(&self, variant: Variant) -> Vec<String> {
        methods(variant).iter().map(|method| column(*method, "seconds")).collect()
    }

    fn is_timed(&self) -> bool {
        true
    }

    fn prepare(&self, _: Variant) -> Result<Box<dyn Study>, ReproduceError> {
        Ok(Box::new(Figure3fStudy))
    }

    fn report(&self, variant: Variant, results: &Results) -> Report {
        let notes = vec![
            "One thread, epsilon = 0.1, the lengths of chains of the paper; the shortest time of all replicates, because other programs only ever add time.".to_string(),
            "The figure prints no numbers: iterations are compared with those of the authors' Python code, measured on another day of the same kind of machine.".into(),
        ];
        Report { lines: lines(results), figure: Some(figure(variant, results)), tables: vec![], notes }
    }
}

fn cell(records: u64) -> String {
    format!("n={records}")
}

/// The shortest time of all replicates, in seconds.
fn shortest(results: &Results, records: u64, method: Method) -> Option<f64> {
    results.values(&cell(records), &column(method, "seconds")).into_iter().reduce(f64::min)
}

fn lines(results: &Results) -> Vec<Line> {
    let iteration = |(method, published): &(Method, f64)| {
        // 5,000 steps before 20,000 draws.
        let ours = 1e3 * shortest(results, 100, *method)? / 25_000.0;
        let estimate = Estimate::exact(ours);
        // A factor of two is within what two machines may differ by.
        let verdict =
            Verdict::of_error(*published, 0.0, Estimate { standard_error: published / 6.0, ..estimate });
        let place = format!("Figure 3f (authors' code), n = 100, {}, ms for an iteration", method.name());
        Some(Line::new(place, Published::Number(*published), estimate, verdict))
    };
    let mut lines: Vec<Line> = AUTHORS.iter().filter_map(iteration).collect();
    let growth = |method: Method| Some(shortest(results, 100, method)? / shortest(results, 10, method)?);
    if let (Some(latent), Some(sums)) = (growth(Method::Individual), growth(Method::GibbsUpdate)) {
        let verdict = Verdict::of_statement(latent > 1.5, "it does not grow");
        let place = "section 4.2, MCMC-Ind, time for n = 100 over n = 10";
        lines.push(Line::new(
            place,
            Published::Text("scales with n".into()),
            Estimate::exact(latent),
            verdict,
        ));
        let verdict = Verdict::of_statement((0.5..2.0).contains(&sums), "it is not constant");
        let place = "section 4.2, Gibbs-SS-Update, time for n = 100 over n = 10";
        lines.push(Line::new(place, Published::Text("constant".into()), Estimate::exact(sums), verdict));
    }
    lines
}

fn figure(variant: Variant, results: &Results) -> Figure {
    let series = methods(variant).iter().map(|method| {
        let at = |records: u64| Some((records as f64, shortest(results, records, *method)?));
        let points = RECORDS.into_iter().filter_map(at).collect();
        Series::new(method.name(), method.colour(), Mark::Line, points)
    });
    let panel = Panel::new("(f)", Axis::log("records"), Axis::log("seconds"), series.collect());
    Figure::new("[BS19] Figure 3f: time of a posterior", vec![panel])
        .with_subtitle("one thread, epsilon = 0.1, the lengths of chains of the paper")
}

struct Figure3fStudy;

impl Study for Figure3fStudy {
    fn cells(&self) -> Vec<String> {
        RECORDS.map(cell).to_vec()
    }

    fn replicate(&self, place: usize, seed: u64) -> Result<Vec<f64>, String> {
        let records = RECORDS[place];
        let setting = Setting::new(Variant::Published);
        let (_, problem) = setting.simulate(records, EPSILON, &mut generator(seed, 0))?;
        let time = |method: &Method| {
            if !method.accepts(records) {
                return Ok(f64::NAN);
            }
            let begun = Instant::now();
            method.draws(&problem, seed, Length::PUBLISHED)?;
            Ok(begun.elapsed().as_secs_f64())
        };
        methods(Variant::Published).iter().map(time).collect()
    }
}
