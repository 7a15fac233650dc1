//! From a request to noisy counts and the bounds that they show.

use organza_release::loss::{Mechanism, gaussian_epsilon, gaussian_mu};
use organza_release::sensitivity::moved_counts;
use organza_release::{CountFamily, CountNoise, Family, Missing, Neighbours};

use super::find::{SCALES, first_range, linear_cell, linear_cells, scale_cell, second_range, visible_octave};
use super::histogram::{ExactValues, plain_design};
use super::text::{FoundColumn, NoisyCells, PrivateBounds};
use crate::CuratorError;
use crate::counts::{CountSource, positive_epsilon, smallest_scale};
use crate::formula::{BlockColumns, Design};
use crate::ledger::Charge;
use crate::mechanism::NoiseRng;
use crate::policy::Subject;
use crate::publishable::{Publishable, dropped, now, this_tool};
use crate::table::{Counts, Reading, Table};

/// What is asked for: public knowledge only.
#[derive(Debug, Clone)]
pub struct BoundsRequest {
    /// The columns, all of numbers.
    pub columns: Vec<String>,
    /// Privacy loss of all bounds together.
    pub epsilon: f64,
    /// Its delta: 0 takes Laplace noise, more takes Gaussian noise.
    pub delta: f64,
    /// Which tables count as neighbours.
    pub neighbours: Neighbours,
}

/// Calibrated noise, waiting for data.
#[derive(Debug, Clone)]
pub struct BoundsPlan {
    request: BoundsRequest,
    design: Design,
    family: CountFamily,
    /// Noise of the two rounds.
    scales: (f64, f64),
}

/// The epsilon at this delta that is a share of a budget: a Gaussian release of the rest of epsilon and the whole delta
/// still fits.
pub fn share_of((epsilon, delta): (f64, f64), share: f64) -> Result<f64, CuratorError> {
    if !(share > 0.0 && share < 1.0) {
        return Err(CuratorError::setting(
            "share",
            format!("{share} is not between 0 and 1; 0.1 is a good choice"),
        ));
    }
    // Squares of mu add up. What the last digits of the composed loss may hide is left unspent.
    let whole = gaussian_mu(epsilon, delta)?;
    let rest = gaussian_mu((1.0 - share) * epsilon, delta)?;
    Ok(gaussian_epsilon(delta, UNSPENT * (whole * whole - rest * rest).sqrt())?)
}

/// A little less than 1.
const UNSPENT: f64 = 0.997;

impl BoundsPlan {
    /// Calibrates the noise of both rounds.
    pub fn new(request: &BoundsRequest) -> Result<Self, CuratorError> {
        positive_epsilon(request.epsilon)?;
        let columns = &request.columns;
        if columns.is_empty() {
            return Err(CuratorError::setting("columns", "name at least one column"));
        }
        if let Some(name) = (1..columns.len()).find(|&i| columns[..i].contains(&columns[i])) {
            return Err(CuratorError::setting("columns", format!("{:?} is given twice", columns[name])));
        }
        let (family, scales) = noise(request)?;
        let names: Vec<&str> = columns.iter().map(String::as_str).collect();
        Ok(Self { request: request.clone(), design: plain_design(&names)?, family, scales })
    }

    /// What was asked for.
    pub fn request(&self) -> &BoundsRequest {
        &self.request
    }

    /// Family of the noise on all counts.
    pub fn family(&self) -> CountFamily {
        self.family
    }

    /// Scales of the noise on the counts of the first and the second round.
    pub fn scales(&self) -> (f64, f64) {
        self.scales
    }

    /// About so many records of a column must be together to be seen.
    pub fn visible(&self) -> f64 {
        visible_octave(&CountNoise { family: self.family, scale: self.scales.0 })
    }

    /// What is released, for the ledger.
    pub fn description(&self) -> String {
        format!("bounds of {}", self.request.columns.join(", "))
    }

    /// What the ledger is charged.
    pub fn charge(&self) -> Charge {
        let epsilon = self.request.epsilon;
        let mechanism = match self.family {
            // Both rounds have the same scale.
            CountFamily::DiscreteGaussian => {
                Mechanism::DiscreteGaussian { scale: self.scales.0, moved: 2 * moved(&self.request) }
            }
            _ => Mechanism::Pure { epsilon },
        };
        Charge {
            mechanism,
            total_variation: 0.0,
            neighbours: Some(self.request.neighbours),
            claimed_epsilon: epsilon,
            claimed_delta: self.request.delta,
            description: self.description(),
        }
    }

    /// Draws the noise. The loss must have been charged before.
    pub(super) fn publish_with(
        &self,
        exact: &ExactValues,
        party: &str,
        noise: &mut impl CountSource,
    ) -> Result<PrivateBounds, CuratorError> {
        let column = |(index, name): (usize, &String)| self.find(exact, index, name, noise);
        let columns = self.request.columns.iter().enumerate().map(column);
        Ok(PrivateBounds {
            party: party.to_string(),
            created: now(),
            epsilon: self.request.epsilon,
            delta: self.request.delta,
            family: self.family,
            neighbours: self.request.neighbours,
            columns: columns.collect::<Result<_, _>>()?,
            tool: this_tool(),
        })
    }

    /// The ranges that noise of another source would find, for experiments on public or made-up columns: nothing of it
    /// can be published.
    #[doc(hidden)]
    pub fn rehearse(
        &self,
        columns: &[&[f64]],
        draw: impl FnMut(CountFamily, f64) -> i128,
    ) -> Result<Vec<Option<(f64, f64)>>, CuratorError> {
        let mut exact = ExactValues::new(columns.len());
        exact.add(&BlockColumns { numeric: columns, categorical: &[] })?;
        let found = self.publish_with(&exact, "rehearsal", &mut Rehearsal(draw))?;
        Ok(found.columns.iter().map(|column| column.range).collect())
    }

    fn find(
        &self,
        exact: &ExactValues,
        index: usize,
        name: &str,
        noise: &mut impl CountSource,
    ) -> Result<FoundColumn, CuratorError> {
        let mut noisy = |counts: Vec<u64>, scale: f64| -> Result<NoisyCells, CuratorError> {
            let one = |count: u64| Ok((i128::from(count) + noise.draw(self.family, scale)?) as f64);
            Ok(NoisyCells {
                scale,
                counts: counts.into_iter().map(one).collect::<Result<_, CuratorError>>()?,
            })
        };
        let law = |scale: f64| CountNoise { family: self.family, scale };
        let mut column = FoundColumn {
            name: name.to_string(),
            scales: noisy(exact.cells(index, SCALES, scale_cell), self.scales.0)?,
            linear: None,
            range: None,
        };
        let Some(first) = first_range(&column.scales.counts, &law(self.scales.0)) else { return Ok(column) };
        let records = match self.request.neighbours {
            Neighbours::Substitute => exact.records() as f64,
            Neighbours::AddRemove => first.records,
        };
        let (range, second) = (first.range, law(self.scales.1));
        let cells = linear_cells(records, &second);
        let counts = exact.cells(index, cells, |value| linear_cell(value, range, cells));
        let linear = noisy(counts, second.scale)?;
        column.range = second_range(&linear.counts, &second, records, range).or(Some(range));
        column.linear = Some((range, linear));
        Ok(column)
    }
}

/// Counts that move by one between neighbours, in each round.
fn moved(request: &BoundsRequest) -> u64 {
    moved_counts(1, request.neighbours) * request.columns.len() as u64
}

/// Family and scales of the noise of both rounds.
fn noise(request: &BoundsRequest) -> Result<(CountFamily, (f64, f64)), CuratorError> {
    let (epsilon, delta, moved) = (request.epsilon, request.delta, moved(request));
    if !(0.0..1.0).contains(&delta) {
        return Err(CuratorError::setting("delta", format!("{delta} is not at least 0 and below 1")));
    }
    if delta > 0.0 {
        let scale = smallest_scale(Family::Gaussian, (epsilon, delta), 2 * moved)?;
        return Ok((CountFamily::DiscreteGaussian, (scale, scale)));
    }
    // A third of epsilon and two thirds, in whole numbers of moved counts: 3 moved / epsilon and half of it.
    let scale = |moved: u64| smallest_scale(Family::Laplace, (epsilon, 0.0), moved);
    Ok((CountFamily::DiscreteLaplace, (scale(3 * moved)?, scale((3 * moved).div_ceil(2))?)))
}

/// Noise of an experiment.
struct Rehearsal<F>(F);

impl<F: FnMut(CountFamily, f64) -> i128> CountSource for Rehearsal<F> {
    fn draw(&mut self, family: CountFamily, scale: f64) -> Result<i128, CuratorError> {
        Ok((self.0)(family, scale))
    }
}

impl Publishable for BoundsPlan {
    type Exact = ExactValues;
    type Published = PrivateBounds;

    fn neighbours(&self) -> Neighbours {
        self.request.neighbours
    }

    fn cost(&self) -> Charge {
        self.charge()
    }

    fn subject(&self) -> Subject {
        Subject { statistic: "bounds", columns: self.request.columns.clone() }
    }

    fn check_columns(&self, reading: &Reading<'_>) -> Result<(), CuratorError> {
        Table::new(reading.input, &self.design, reading.options, reading.progress).check_columns()
    }

    fn measure(&self, reading: &Reading<'_>) -> Result<(ExactValues, Counts), CuratorError> {
        if reading.options.missing == Missing::Midpoint {
            let reason = "there is no midpoint before there are bounds: use error or drop";
            return Err(CuratorError::setting("missing", reason));
        }
        let table = Table::new(reading.input, &self.design, reading.options, reading.progress);
        let columns = self.request.columns.len();
        let (parts, counts) = table.fold(|| ExactValues::new(columns), ExactValues::add)?;
        let mut total = ExactValues::new(columns);
        parts.iter().for_each(|part| total.merge(part));
        if counts.records == 0 {
            return Err(CuratorError::EmptyTable {
                path: format!("{}, after dropping", reading.input.name()),
            });
        }
        Ok((total, counts))
    }

    fn measure_batches(
        &self,
        _reading: &Reading<'_>,
        _rows: u64,
        _on_batch: &mut dyn FnMut(&ExactValues) -> Result<(), CuratorError>,
    ) -> Result<Counts, CuratorError> {
        Err(CuratorError::setting("batch_rows", "bounds are for the whole table"))
    }

    fn warnings(&self, exact: &ExactValues, missing: Missing) -> Vec<String> {
        let (visible, records) = (self.visible(), exact.records());
        let mut said = Vec::new();
        if 4.0 * visible > records as f64 && self.neighbours() == Neighbours::Substitute {
            said.push(format!(
                "noise hides fewer than about {visible:.0} records of a column, and the table has {records}: bounds will be \
                 rough; take fewer columns, spend more or use public knowledge"
            ));
        }
        said.extend(dropped(missing));
        said
    }

    fn draw(&self, exact: &ExactValues, party: &str, _: Missing) -> Result<PrivateBounds, CuratorError> {
        self.publish_with(exact, party, &mut NoiseRng::from_operating_system())
    }

    fn text(&self, published: &PrivateBounds) -> Result<String, CuratorError> {
        published.to_toml()
    }
}
