//! Widths that a planned release will have, on simulated tables of its own columns.

use organza_curator::formula::{BlockColumns, Design, Workspace};
use organza_curator::mechanism::{DomainChoice, Plan, RecordScale, Request};
use organza_infer::{Fit, Method};
use organza_mcmc::Monitor;
use organza_release::{Domain, Neighbours, Release, Statistic};
use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use serde::Serialize;

use super::design::share;
use super::report::quantile;
use super::run::{exact_sums, mechanism, short_fit, values};
use crate::StudyError;
use crate::simulation::off_centre;
use crate::{generator, seed};

/// Mass of the intervals.
const LEVEL: f64 = 0.95;
/// Share of the response's variance that features explain.
const R_SQUARED: f64 = 0.5;
/// Records beyond so many only multiply the sums: widths need no more.
const MOST_SIMULATED: u64 = 50_000;

/// What intervals of a planned release may be expected to be, and what that assumes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Expected {
    /// Number of records.
    pub records: u64,
    /// Standard deviation of every column over the half-range of its bounds.
    pub fill: f64,
    /// Share of the response's variance that features explain.
    pub r_squared: f64,
    /// Mass of the intervals.
    pub level: f64,
    /// Simulated tables.
    pub replicates: usize,
    /// One per feature.
    pub slopes: Vec<ExpectedSlope>,
}

/// Width of the interval of one slope in users' units: medians over simulated tables.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExpectedSlope {
    /// The feature.
    pub name: String,
    /// From the release, by the default fit.
    pub width: f64,
    /// Without privacy.
    pub width_without_privacy: f64,
}

/// Simulates tables in the bounds of a request, releases and fits them; none for statistics and domains without such a
/// fit.
pub fn expected(request: &Request, records: u64, fill: f64) -> Result<Option<Expected>, StudyError> {
    share("fill", fill)?;
    let fail = |error: String| StudyError::setting("records", error);
    let plan = Plan::new(request).map_err(|error| fail(error.to_string()))?;
    let fitted = matches!((plan.domain(), plan.statistic()), (Domain::Box(_), Statistic::Gram { .. }));
    let features = plan.design().features();
    if !fitted || features.is_empty() {
        return Ok(None);
    }
    let domain = DomainChoice::Box { record_scale: RecordScale::None, intercept_weight: None };
    // No noise is drawn for it, so its loss is of no importance.
    let bare = Request { domain, ..Request::new(request.formula.clone(), request.bounds.clone(), 1.0, 0.5) };
    let bare = Plan::new(&bare).map_err(|error| fail(error.to_string()))?;
    let replicates = if features.len() <= 10 { 6 } else { 2 };
    let study = Study { plan: &plan, bare: &bare, records, fill };
    let widths: Vec<Vec<[f64; 2]>> = (1..=replicates)
        .into_par_iter()
        .map(|number| study.widths(number as u64))
        .collect::<Result<_, _>>()
        .map_err(fail)?;
    let median =
        |k: usize, place: usize| quantile(&widths.iter().map(|one| one[k][place]).collect::<Vec<_>>(), 0.5);
    let slope = |(k, name): (usize, &String)| ExpectedSlope {
        name: name.clone(),
        width: median(k, 0),
        width_without_privacy: median(k, 1),
    };
    let slopes = features.iter().map(|feature| &feature.name).enumerate().map(slope).collect();
    Ok(Some(Expected { records, fill, r_squared: R_SQUARED, level: LEVEL, replicates, slopes }))
}

struct Study<'a> {
    plan: &'a Plan,
    /// Unscaled records, for the fit without privacy.
    bare: &'a Plan,
    records: u64,
    fill: f64,
}

impl Study<'_> {
    /// Widths of all slopes with and without privacy, on one simulated table.
    fn widths(&self, number: u64) -> Result<Vec<[f64; 2]>, String> {
        let seed = seed(1, "expected", "", number);
        let mut rng = generator(seed, 0);
        let terms = self.terms(&mut rng)?;
        let monitor = Monitor::default();
        let private = short_fit(None, LEVEL, (&[self.release(&terms, &mut rng)?], seed), &monitor)?;
        let exact = mechanism(self.bare).release("simulated", self.records, self.sums(self.bare, &terms)?);
        let bare = short_fit(Some(Method::Naive), LEVEL, (&[exact], seed), &monitor)?;
        let names = self.plan.design().features().iter().map(|feature| &feature.name);
        Ok(names.map(|name| [width(&private, name), width(&bare, name)]).collect())
    }

    /// Features and response of the simulated records.
    fn terms(&self, rng: &mut ChaCha8Rng) -> Result<Vec<Vec<f64>>, String> {
        let (design, rows) = (self.plan.design(), self.records.min(MOST_SIMULATED) as usize);
        let numeric: Vec<Vec<f64>> = design
            .numeric_columns()
            .iter()
            .map(|column| {
                let (lower, upper) = (column.interval.lower, column.interval.upper);
                self.column(0.5 * (lower + upper), 0.5 * (upper - lower), rows, rng)
            })
            .collect();
        let levels = design.categorical_columns().iter().map(|column| column.levels.len());
        let categorical: Vec<Vec<u32>> =
            levels.map(|levels| (0..rows).map(|_| rng.random_range(0..levels as u32)).collect()).collect();
        let numeric: Vec<&[f64]> = numeric.iter().map(Vec::as_slice).collect();
        let categorical: Vec<&[u32]> = categorical.iter().map(Vec::as_slice).collect();
        let block = BlockColumns { numeric: &numeric, categorical: &categorical };
        let mut terms = vec![Vec::new(); design.output_columns()];
        design.evaluate(&block, &mut Workspace::default(), &mut terms).map_err(|error| error.to_string())?;
        let features = design.features().len();
        terms[features] = self.response(design, &terms[..features], rng);
        Ok(terms)
    }

    fn column(&self, middle: f64, half: f64, rows: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
        let mean = middle + half * off_centre(self.fill, rng);
        (0..rows).map(|_| mean + self.fill * half * normal(rng)).collect()
    }

    /// Responses of which features explain their share, all with slopes of one size per standard deviation.
    fn response(&self, design: &Design, features: &[Vec<f64>], rng: &mut ChaCha8Rng) -> Vec<f64> {
        let rows = features.first().map_or(0, Vec::len);
        let mut signal = vec![0.0; rows];
        for feature in features {
            let sign = if rng.random_bool(0.5) { 1.0 } else { -1.0 };
            add_standardised(&mut signal, feature, sign, design.intercept());
        }
        let size = (signal.iter().map(|value| value * value).sum::<f64>() / rows as f64).sqrt();
        let response = design.response();
        let half = 0.5 * (response.upper - response.lower);
        let (slope, residual) = (R_SQUARED.sqrt() / size.max(f64::MIN_POSITIVE), (1.0 - R_SQUARED).sqrt());
        let middle = if design.intercept() {
            0.5 * (response.lower + response.upper) + half * off_centre(self.fill, rng)
        } else {
            0.0
        };
        let value = |signal: &f64| middle + self.fill * half * (slope * signal + residual * normal(rng));
        signal.iter().map(value).collect()
    }

    /// Exact sums in the units of a release, of all records.
    fn sums(&self, plan: &Plan, terms: &[Vec<f64>]) -> Result<Vec<f64>, String> {
        let times = self.records as f64 / terms[0].len() as f64;
        Ok(values(plan, &exact_sums(plan, terms)?).iter().map(|sum| sum * times).collect())
    }

    fn release(&self, terms: &[Vec<f64>], rng: &mut ChaCha8Rng) -> Result<Release, String> {
        let exact = self.sums(self.plan, terms)?;
        let mut release = mechanism(self.plan).publish("simulated", self.records, &exact, rng);
        release.privacy.neighbours = self.plan.privacy().neighbours;
        if release.privacy.neighbours == Neighbours::AddRemove {
            release.records = None;
        }
        Ok(release)
    }
}

fn normal(rng: &mut ChaCha8Rng) -> f64 {
    StandardNormal.sample(rng)
}

/// Adds a column of variance 1 (and mean 0, if there is a constant for its mean) with a sign; a constant one has no
/// part.
fn add_standardised(signal: &mut [f64], column: &[f64], sign: f64, centred: bool) {
    let n = column.len() as f64;
    let mean = column.iter().sum::<f64>() / n;
    let sd = (column.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n).sqrt();
    let origin = if centred { mean } else { 0.0 };
    if sd > 0.0 {
        signal.iter_mut().zip(column).for_each(|(sum, value)| *sum += sign * (value - origin) / sd);
    }
}

fn width(fit: &Fit, feature: &str) -> f64 {
    let name = format!("beta[{feature}]");
    let row = fit.summary.parameters.iter().find(|row| row.name == name);
    row.map_or(f64::NAN, |row| row.equal_tailed.upper - row.equal_tailed.lower)
}
