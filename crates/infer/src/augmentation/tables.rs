//! Releases of noisy contingency tables as record-additive mechanisms.

use organza_release::{CountFamily, CountRelease, LevelColumn, Neighbours, Parties};

use super::{PartySum, RecordAdditive, Replacement};
use crate::InferError;

/// Noisy contingency tables. A latent record holds the place of its level in every column of the release; it adds 1 to one cell of every
/// table, so exchanging a record costs two cells for each table. \[JAGR22\] section 4.
#[derive(Debug, Clone, PartialEq)]
pub struct TableMechanism {
    party: String,
    records: usize,
    tables: Vec<Table>,
    /// Released counts.
    values: Vec<f64>,
    /// Whether the log density falls with the square of a residual, not with its size.
    squared: bool,
    /// Inverse scale of the noise.
    precision: f64,
    epsilon: Option<f64>,
}

/// Where the cells of one table are.
#[derive(Debug, Clone, PartialEq)]
struct Table {
    start: f64,
    /// Columns, each with how far one level moves in the table; the first two apart, 0 for those that are not there.
    first: [(usize, f64); 2],
    rest: Vec<(usize, f64)>,
}

/// More cells than this are a mistake.
const LARGEST: usize = 10_000_000;

impl Table {
    /// The cell of a record.
    #[inline]
    fn cell(&self, record: &[f64]) -> usize {
        let [(one, by_one), (two, by_two)] = self.first;
        let pair = self.start + record[one] * by_one + record[two] * by_two;
        let cell = self.rest.iter().fold(pair, |cell, (column, stride)| cell + record[*column] * stride);
        // Cheaper than a conversion to 64 bits.
        cell as u32 as usize
    }
}

impl TableMechanism {
    /// The mechanism of a release; an error names what it lacks.
    pub fn of(release: &CountRelease) -> Result<Self, InferError> {
        let needs = |what: &str| InferError::unsupported(&release.party, "augmentation", what);
        let Some(records) = release.records else {
            return Err(needs("a public number of records (neighbours that substitute)"));
        };
        let scale = release.noise.scale;
        if !(scale.is_finite() && scale > 0.0) {
            return Err(needs(&format!("a positive noise.scale, found {scale}")));
        }
        if release.columns.is_empty() {
            return Err(needs("columns with levels"));
        }
        let (mut tables, mut size) = (Vec::new(), 0);
        for names in &release.tables {
            let table = lay_out(release, names, size)?;
            size += table.1;
            tables.push(table.0);
        }
        if size != release.value.len() || release.value.iter().any(|value| !value.is_finite()) {
            let found = release.value.len();
            return Err(needs(&format!("finite counts for all {size} cells of its tables, found {found}")));
        }
        let (family, privacy) = (release.noise.family, &release.privacy);
        let squared = matches!(family, CountFamily::DiscreteGaussian | CountFamily::Gaussian);
        let pure = !squared && privacy.delta == 0.0 && privacy.neighbours == Neighbours::Substitute;
        Ok(Self {
            party: release.party.clone(),
            records: records as usize,
            tables,
            values: release.value.clone(),
            squared,
            precision: 1.0 / scale,
            epsilon: pure.then_some(privacy.epsilon),
        })
    }

    /// The sum of a change of residuals over the cells that lose and gain a record.
    #[inline]
    fn change(
        &self,
        at: &PartySum,
        places: &mut [[usize; 2]],
        records: [&[f64]; 2],
        change: impl Fn(f64, f64) -> f64,
    ) -> f64 {
        let (sum, values) = (&at.sum[..], &self.values[..at.sum.len()]);
        let mut total = 0.0;
        for (table, places) in self.tables.iter().zip(places) {
            let (loses, gains) = (table.cell(records[0]), table.cell(records[1]));
            *places = [loses, gains];
            let moved = change(values[loses] - sum[loses], 1.0) + change(values[gains] - sum[gains], -1.0);
            total += if loses == gains { 0.0 } else { moved };
        }
        total
    }

    /// Log density of a residual, up to a constant: discrete families differ from the others by no more than that.
    #[inline]
    fn log_density_of(&self, residual: f64) -> f64 {
        let scaled = residual * self.precision;
        if self.squared { -0.5 * scaled * scaled } else { -scaled.abs() }
    }
}

/// The place of one table that begins at this cell, and its number of cells.
fn lay_out(release: &CountRelease, names: &[String], start: usize) -> Result<(Table, usize), InferError> {
    let (mut columns, mut size) = (Vec::new(), 1_usize);
    for name in names.iter().rev() {
        let Some(column) = release.columns.iter().position(|column| column.name == *name) else {
            let needs = format!("tables of its columns: {name:?} is none of them");
            return Err(InferError::unsupported(&release.party, "augmentation", &needs));
        };
        columns.push((column, size as f64));
        size = size.saturating_mul(release.columns[column].levels.len());
    }
    if start.saturating_add(size) > LARGEST {
        let needs = format!("at most {LARGEST} cells in all tables");
        return Err(InferError::unsupported(&release.party, "augmentation", &needs));
    }
    let mut columns = columns.into_iter();
    let first = [columns.next(), columns.next()].map(|column| column.unwrap_or((0, 0.0)));
    Ok((Table { start: start as f64, first, rest: columns.collect() }, size))
}

/// The mechanisms of several parties with the columns that they share; a party that appears twice is refused.
pub fn table_mechanisms(
    releases: &[CountRelease],
) -> Result<(Vec<LevelColumn>, Vec<TableMechanism>), InferError> {
    let first = releases.first().ok_or(InferError::NoRelease)?;
    let mut seen = Parties::default();
    for release in releases {
        if !seen.admit(&release.party) {
            return Err(InferError::Duplicate { party: release.party.clone() });
        }
        if release.columns != first.columns {
            return Err(InferError::Disagreement {
                first: first.party.clone(),
                second: release.party.clone(),
                field: "columns",
                expected: describe(&first.columns),
                found: describe(&release.columns),
            });
        }
    }
    let mechanisms = releases.iter().map(TableMechanism::of).collect::<Result<_, _>>()?;
    Ok((first.columns.clone(), mechanisms))
}

fn describe(columns: &[LevelColumn]) -> String {
    let one = |column: &LevelColumn| format!("{} ({})", column.name, column.levels.join(", "));
    columns.iter().map(one).collect::<Vec<_>>().join("; ")
}

impl RecordAdditive for TableMechanism {
    fn party(&self) -> &str {
        &self.party
    }

    fn records(&self) -> usize {
        self.records
    }

    fn size(&self) -> usize {
        self.values.len()
    }

    fn contribution(&self, record: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        self.tables.iter().for_each(|table| out[table.cell(record)] = 1.0);
    }

    fn log_density(&self, sum: &[f64]) -> f64 {
        self.values.iter().zip(sum).map(|(value, sum)| self.log_density_of(value - sum)).sum()
    }

    fn epsilon(&self) -> Option<f64> {
        self.epsilon
    }

    #[inline]
    fn log_ratio(&self, at: &PartySum, old: &[f64], new: &[f64], memory: &mut Replacement) -> f64 {
        let (places, records) = (&mut memory.places[..], [old, new]);
        match self.squared {
            // r^2 - (r + 1)^2 and r^2 - (r - 1)^2.
            true => {
                let factor = 0.5 * self.precision * self.precision;
                factor * self.change(at, places, records, |rest, step| -2.0 * step * rest - 1.0)
            }
            false => {
                self.precision
                    * self.change(at, places, records, |rest, step| rest.abs() - (rest + step).abs())
            }
        }
    }

    #[inline]
    fn replace(&self, sum: &mut [f64], _: &[f64], _: &[f64], memory: &Replacement) {
        for [loses, gains] in &memory.places[..self.tables.len()] {
            sum[*loses] -= 1.0;
            sum[*gains] += 1.0;
        }
    }
}
