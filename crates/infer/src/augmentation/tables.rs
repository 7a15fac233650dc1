//! Releases of noisy contingency tables as record-additive mechanisms.

use std::collections::HashSet;

use organza_release::{CountFamily, CountRelease, LevelColumn, Neighbours};

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
    /// Columns, each with how far one level moves in the table.
    columns: Vec<(usize, f64)>,
}

impl Table {
    /// The cell of a record.
    #[inline]
    fn cell(&self, record: &[f64]) -> usize {
        self.columns.iter().fold(self.start, |cell, (column, stride)| cell + record[*column] * stride)
            as usize
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
    Ok((Table { start: start as f64, columns }, size))
}

/// The mechanisms of several parties with the columns that they share; a party that appears twice is refused.
pub fn table_mechanisms(
    releases: &[CountRelease],
) -> Result<(Vec<LevelColumn>, Vec<TableMechanism>), InferError> {
    let first = releases.first().ok_or(InferError::NoRelease)?;
    let mut seen = HashSet::new();
    for release in releases {
        if !seen.insert(&release.party) {
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
    fn log_ratio(&self, at: &PartySum, old: &[f64], new: &[f64], _: &mut Replacement) -> f64 {
        let mut ratio = 0.0;
        for table in &self.tables {
            let (loses, gains) = (table.cell(old), table.cell(new));
            if loses != gains {
                let residual = self.values[loses] - at.sum[loses];
                ratio += self.log_density_of(residual + 1.0) - self.log_density_of(residual);
                let residual = self.values[gains] - at.sum[gains];
                ratio += self.log_density_of(residual - 1.0) - self.log_density_of(residual);
            }
        }
        ratio
    }

    #[inline]
    fn replace(&self, sum: &mut [f64], old: &[f64], new: &[f64], _: &Replacement) {
        for table in &self.tables {
            sum[table.cell(old)] -= 1.0;
            sum[table.cell(new)] += 1.0;
        }
    }
}
