//! `--private-bounds`: what bounds cost that a tenth of the budget finds, beside exact extremes and beside a person's
//! guess that is far too wide.

use std::io::Write;
use std::path::Path;

use crate::linalg::solve;
use crate::strata::{Found, Kind, Stratum, Table};
use organza_curator::private_bounds::{BoundsPlan, BoundsRequest, share_of};
use organza_release::Neighbours;
use organza_studies::seeded::count_noise;
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rayon::prelude::*;

use super::Failure;

/// The tables that `tables.py` writes.
const TABLES: [&str; 6] =
    ["power_plant_energy", "bike_sharing", "diamonds", "BudgetFood", "NOxEmissions", "SLID"];
/// Of bounds and release together, as of every stratum.
const DELTA: f64 = 1e-6;
const SHARE: f64 = 0.1;
/// A person's bounds are so many times as wide as the data.
const TOO_WIDE: f64 = 30.0;
/// Their chains are slow and their intervals are far off: a few suffice.
const WIDE_STUDIES: u64 = 3;

/// All columns of a file with a header; the last one is the response.
fn read(folder: &Path, name: &str) -> Result<Vec<Vec<f64>>, String> {
    let path = folder.join(format!("{name}.csv"));
    let text = std::fs::read_to_string(&path)
        .map_err(|error| format!("{}: {error}; tables.py makes it", path.display()))?;
    let mut columns = vec![vec![]; text.lines().next().unwrap_or("").split(',').count()];
    for line in text.lines().skip(1) {
        for (column, cell) in columns.iter_mut().zip(line.split(',')) {
            column.push(cell.parse().map_err(|_| format!("{}: not a number: {line}", path.display()))?);
        }
    }
    Ok(columns)
}

/// Least squares on all records as they are, the intercept first.
fn least_squares(table: &Table) -> Option<Vec<f64>> {
    let d = table.x.first()?.len() + 1;
    let (mut square, mut cross) = (vec![0.0; d * d], vec![0.0; d]);
    for (x, y) in table.x.iter().zip(&table.y) {
        let record: Vec<f64> = [1.0].iter().chain(x).copied().collect();
        square.iter_mut().enumerate().for_each(|(k, sum)| *sum += record[k / d] * record[k % d]);
        cross.iter_mut().zip(&record).for_each(|(sum, x)| *sum += x * y);
    }
    solve(&square, &cross)
}

/// What is known of a table without noise.
struct Public {
    columns: Vec<Vec<f64>>,
    table: Table,
    exact: Vec<(f64, f64)>,
    slopes: Vec<f64>,
}

impl Public {
    fn new(columns: Vec<Vec<f64>>) -> Result<Self, String> {
        let (y, x) = columns.split_last().ok_or("a table without columns")?;
        let record = |k: usize| x.iter().map(|column| column[k]).collect();
        let table = Table { x: (0..y.len()).map(record).collect(), y: y.clone() };
        let range = |column: &Vec<f64>| {
            let least = column.iter().copied().fold(f64::INFINITY, f64::min);
            (least, column.iter().copied().fold(f64::NEG_INFINITY, f64::max))
        };
        let slopes = least_squares(&table).ok_or("the features are collinear")?.split_off(1);
        Ok(Self { exact: columns.iter().map(range).collect(), columns, table, slopes })
    }

    /// As wide as a person without any knowledge might guess.
    fn wide(&self) -> Vec<(f64, f64)> {
        let widen = |(lower, upper): &(f64, f64)| {
            let (middle, half) = (0.5 * (lower + upper), 0.5 * TOO_WIDE * (upper - lower));
            (middle - half, middle + half)
        };
        self.exact.iter().map(widen).collect()
    }

    /// Bounds that noise finds; of a hidden column those of a person.
    fn private(&self, epsilon: f64, seed: u64) -> Result<(Vec<(f64, f64)>, usize), String> {
        let columns = (1..=self.columns.len()).map(|k| format!("x{k}")).collect();
        let share = share_of((epsilon, DELTA), SHARE).map_err(|error| error.to_string())?;
        let neighbours = Neighbours::Substitute;
        let request = BoundsRequest { columns, epsilon: share, delta: DELTA, neighbours };
        let mut rng = ChaCha8Rng::seed_from_u64(104_729 * seed + 7);
        let draw = |family, scale| count_noise(family, scale, &mut rng);
        let values: Vec<&[f64]> = self.columns.iter().map(Vec::as_slice).collect();
        let plan = BoundsPlan::new(&request).map_err(|error| error.to_string())?;
        let found = plan.rehearse(&values, draw).map_err(|error| error.to_string())?;
        let hidden = found.iter().filter(|range| range.is_none()).count();
        Ok((found.iter().zip(self.wide()).map(|(found, wide)| found.unwrap_or(wide)).collect(), hidden))
    }

    fn study(&self, bounds: Vec<(f64, f64)>, epsilon: f64, seed: u64) -> Result<Found, String> {
        Stratum { kind: Kind::Table(self.table.clone(), bounds), epsilon }.study(seed)
    }

    /// Percent of the values that are outside of their bounds.
    fn clamped(&self, bounds: &[(f64, f64)]) -> f64 {
        let outside = |(column, (lower, upper)): (&Vec<f64>, &(f64, f64))| {
            column.iter().filter(|value| *value < lower || *value > upper).count()
        };
        let count: usize = self.columns.iter().zip(bounds).map(outside).sum();
        100.0 * count as f64 / (self.columns.len() * self.table.y.len()) as f64
    }

    /// One draw of all noise.
    fn trial(&self, epsilon: f64, seed: u64) -> Result<Trial, String> {
        let (bounds, hidden) = self.private(epsilon, seed)?;
        let (clamped, range) = (self.clamped(&bounds), relative(&bounds, &self.exact));
        let private = self.study(bounds, (1.0 - SHARE) * epsilon, seed)?;
        let exact = self.study(self.exact.clone(), epsilon, seed)?;
        let ratios = relative(&private.slopes, &exact.slopes);
        let wide = if seed < WIDE_STUDIES {
            relative(&self.study(self.wide(), epsilon, seed)?.slopes, &exact.slopes)
        } else {
            vec![]
        };
        let inside = |found: &Found| {
            let pairs = found.slopes.iter().zip(&self.slopes);
            pairs.map(|((lower, upper), slope)| lower <= slope && slope <= upper).collect()
        };
        Ok(Trial {
            ratios,
            wide,
            range,
            clamped,
            hidden,
            holds_all: inside(&private),
            exact_holds_all: inside(&exact),
            holds: private.coefficients,
        })
    }
}

/// Widths of some intervals over those of others.
fn relative(some: &[(f64, f64)], others: &[(f64, f64)]) -> Vec<f64> {
    some.iter().zip(others).map(|(one, other)| (one.1 - one.0) / (other.1 - other.0)).collect()
}

/// What one draw of all noise gave.
struct Trial {
    /// Widths of the slopes' intervals over those with exact extremes, and the same of a person's bounds.
    ratios: Vec<f64>,
    wide: Vec<f64>,
    /// Ranges over those of the data.
    range: Vec<f64>,
    clamped: f64,
    hidden: usize,
    /// Whether intervals hold least squares on the clamped and weighted records.
    holds: Vec<bool>,
    /// Whether those of slopes hold least squares on all records as they are, and the same with exact extremes.
    holds_all: Vec<bool>,
    exact_holds_all: Vec<bool>,
}

fn median(trials: &[Trial], of: impl Fn(&Trial) -> &[f64]) -> f64 {
    let mut values: Vec<f64> = trials.iter().flat_map(|trial| of(trial).to_vec()).collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn percent(trials: &[Trial], of: impl Fn(&Trial) -> &[bool]) -> f64 {
    let all: Vec<bool> = trials.iter().flat_map(|trial| of(trial).to_vec()).collect();
    100.0 * all.iter().filter(|holds| **holds).count() as f64 / all.len() as f64
}

pub fn run(studies: u64, data: Option<&Path>, out: &mut impl Write) -> Result<(), Failure> {
    let folder = data
        .ok_or_else(|| Failure::Fit("--private-bounds needs --data, a folder that tables.py fills".into()))?;
    writeln!(
        out,
        "table,records,epsilon,studies,ratio,wide,range,clamped,holds,holds_all,exact_holds_all,hidden"
    )?;
    for name in TABLES {
        let public = read(folder, name).and_then(Public::new).map_err(Failure::Fit)?;
        for epsilon in [1.0, 3.0, 10.0] {
            let trials: Vec<Trial> = (0..studies)
                .into_par_iter()
                .map(|seed| public.trial(epsilon, seed))
                .collect::<Result<_, _>>()
                .map_err(Failure::Fit)?;
            let row = format!(
                "{name},{},{epsilon},{studies},{:.2},{:.1},{:.2},{:.2},{:.0},{:.0},{:.0},{}",
                public.table.y.len(),
                median(&trials, |trial| &trial.ratios),
                median(&trials, |trial| &trial.wide),
                median(&trials, |trial| &trial.range),
                trials.iter().map(|trial| trial.clamped).sum::<f64>() / trials.len() as f64,
                percent(&trials, |trial| &trial.holds),
                percent(&trials, |trial| &trial.holds_all),
                percent(&trials, |trial| &trial.exact_holds_all),
                trials.iter().map(|trial| trial.hidden).sum::<usize>(),
            );
            println!("{row}");
            writeln!(out, "{row}")?;
            out.flush()?;
        }
    }
    Ok(())
}
