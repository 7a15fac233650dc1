//! What the draws say, parameter by parameter.

use std::fmt;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use serde::Serialize;

use crate::diagnostics::rectangle;
use crate::diagnostics::{
    Interval, Traces, energy_fraction, equal_tailed, ess_bulk, ess_tail, highest_density, mcse_mean,
    quantile, r_hat,
};
use crate::{ChainRecord, Draws, DrawsError, Statistic};

/// A table with one row for each parameter, and what is needed to judge it.
///
/// Chains of unequal length are cut to a rectangle first, see [`Traces`].
///
/// As JSON it has the form of `schemas/draws-1.json`, with `"schema": "organza/draws/1"`. There a number that
/// is undefined or infinite is null.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "schema", rename = "organza/draws/1")]
pub struct Summary {
    /// Mass of the intervals.
    pub mass: f64,
    /// Chains that the table is computed from.
    pub chains: usize,
    /// Draws of each of them.
    pub draws: usize,
    /// How far every chain got, those without draws included.
    pub records: Vec<ChainRecord>,
    /// One row for each parameter.
    pub parameters: Vec<ParameterSummary>,
    /// Number of steps that diverged, if the method reports them.
    pub divergences: Option<f64>,
    /// E-BFMI of every chain, if the method reports energies; else empty.
    pub energy_fractions: Vec<f64>,
}

/// One row of the table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ParameterSummary {
    /// Name of the parameter.
    pub name: String,
    /// Mean.
    pub mean: f64,
    /// Standard deviation.
    pub sd: f64,
    /// Median.
    pub median: f64,
    /// Interval of highest density.
    pub highest_density: Interval,
    /// Interval with equal tails.
    pub equal_tailed: Interval,
    /// Monte Carlo standard error of the mean.
    pub mcse_mean: f64,
    /// Effective size for the centre.
    pub ess_bulk: f64,
    /// Effective size for the tails.
    pub ess_tail: f64,
    /// Rank-normalised split R-hat.
    pub r_hat: f64,
}

impl Summary {
    /// Summarises draws, with intervals of this mass.
    pub fn new(draws: &Draws, mass: f64) -> Result<Self, DrawsError> {
        if !(mass > 0.0 && mass < 1.0) {
            return Err(DrawsError::Mass { mass });
        }
        let (chains, length) = rectangle(draws.records().iter().map(|record| record.draws));
        let row = |name: &String| draws.traces(name).map(|traces| ParameterSummary::new(name, &traces, mass));
        let energies = draws.statistic(Statistic::ENERGY).unwrap_or_default();
        Ok(Self {
            mass,
            chains,
            draws: length,
            records: draws.records().to_vec(),
            parameters: draws.names().par_iter().filter_map(row).collect(),
            divergences: draws.statistic_total(Statistic::DIVERGENT),
            energy_fractions: energies.iter().map(|chain| energy_fraction(chain)).collect(),
        })
    }
}

impl ParameterSummary {
    fn new(name: &str, traces: &Traces, mass: f64) -> Self {
        let values = traces.values();
        Self {
            name: name.to_string(),
            mean: traces.mean(),
            sd: traces.sd(),
            median: quantile(values, 0.5),
            highest_density: highest_density(values, mass),
            equal_tailed: equal_tailed(values, mass),
            mcse_mean: mcse_mean(traces),
            ess_bulk: ess_bulk(traces),
            ess_tail: ess_tail(traces),
            r_hat: r_hat(traces),
        }
    }

    fn cells(&self) -> [String; 11] {
        let number = |value: f64| significant(value, 4);
        [
            self.name.clone(),
            number(self.mean),
            number(self.sd),
            number(self.median),
            number(self.highest_density.lower),
            number(self.highest_density.upper),
            number(self.equal_tailed.lower),
            number(self.equal_tailed.upper),
            significant(self.mcse_mean, 2),
            format!("{:.0} / {:.0}", self.ess_bulk, self.ess_tail),
            format!("{:.3}", self.r_hat),
        ]
    }
}

/// A number with so many digits that count.
fn significant(value: f64, digits: usize) -> String {
    let magnitude = if value == 0.0 { 0.0 } else { value.abs().log10().floor() };
    if !value.is_finite() {
        return value.to_string();
    }
    if !(-5.0..7.0).contains(&magnitude) {
        return format!("{value:.*e}", digits - 1);
    }
    format!("{value:.*}", (digits as f64 - 1.0 - magnitude).max(0.0) as usize)
}

/// A table of plain text.
impl fmt::Display for Summary {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent =
            significant(100.0 * self.mass, 3).trim_end_matches('0').trim_end_matches('.').to_string();
        let head = ["", "mean", "sd", "median", "hdi", "", "eti", "", "mcse", "ess bulk / tail", "r_hat"];
        let mut rows = vec![head.map(str::to_string)];
        rows.extend(self.parameters.iter().map(ParameterSummary::cells));
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..head.len()).map(width).collect();
        for row in &rows {
            write!(formatter, "{:<1$}", row[0], widths[0])?;
            for (cell, width) in row.iter().zip(&widths).skip(1) {
                write!(formatter, "  {cell:>width$}")?;
            }
            writeln!(formatter)?;
        }
        writeln!(formatter, "{} chains of {} draws; intervals hold {percent} %", self.chains, self.draws)
    }
}
