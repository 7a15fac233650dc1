//! Checks of noisy contingency tables beyond syntax.

use std::collections::BTreeSet;

use super::{COUNTS_SCHEMA, CountFamily, CountRelease, LevelColumn, MOST_CELLS};
use crate::check::{Checked, require, require_distinct, require_length, require_printable};
use crate::document::{Document, Kind, replace};
use crate::error::ReleaseError;
use crate::release::Missing;
use crate::validate::{
    MOST_RECORDS, MOST_SCALES, check_levels, check_origin, check_records, check_schema, require_moderate,
};

impl Document for CountRelease {
    const KIND: Kind = Kind::Counts;

    fn validate(&self) -> Result<(), ReleaseError> {
        CountRelease::validate(self)
    }

    fn upgrade(&mut self) -> bool {
        replace(&mut self.schema, "organza/counts/1", COUNTS_SCHEMA)
    }
}

impl CountRelease {
    /// Checks that every field has a possible value and that the fields agree with each other.
    pub fn validate(&self) -> Result<(), ReleaseError> {
        check_schema(Kind::Counts, &self.schema, &self.party)?;
        check_origin(&self.party, &self.created, &self.tool)?;
        check_missing(self.missing)?;
        check_columns(&self.columns)?;
        require_moderate("noise.scale", self.noise.scale)?;
        self.privacy.check(self.noise.family.continuous())?;
        check_records(self.privacy.neighbours, self.records)?;
        let cells = count_cells(&self.columns, &self.tables, self.records.is_some())?;
        require_length("value", self.value.len(), cells)?;
        self.check_values()
    }

    fn check_values(&self) -> Checked {
        let discrete = self.noise.family.is_discrete();
        for (index, &value) in self.value.iter().enumerate() {
            let field = || format!("value[{index}]");
            let limit = self.records.unwrap_or(MOST_RECORDS) as f64 + MOST_SCALES * self.noise.scale;
            require(value.abs() <= limit, field(), {
                format!("must be at most {limit:e} from zero, by its records and its noise, found {value:e}")
            })?;
            require(!discrete || value == value.trunc(), field(), {
                format!("must be a whole number with discrete noise, found {value}")
            })?;
        }
        Ok(())
    }
}

/// The number of cells of all tables, after checking that they can be released together: known columns, none twice in a table,
/// no table twice, every column used, the number of records only where it is not public.
pub fn count_cells(
    columns: &[LevelColumn],
    tables: &[Vec<String>],
    records_are_public: bool,
) -> Result<usize, ReleaseError> {
    require(!tables.is_empty(), "tables", "must hold at least one table")?;
    let (mut seen, mut used, mut cells) = (BTreeSet::new(), BTreeSet::new(), 0usize);
    for (index, table) in tables.iter().enumerate() {
        let field = format!("tables[{index}]");
        require(!(table.is_empty() && records_are_public), &*field, {
            "is the number of records, which is public here: leave it out"
        })?;
        cells = cells.saturating_add(check_table(&field, table, columns)?);
        require(cells <= MOST_CELLS, &*field, {
            format!("brings the tables to more than {MOST_CELLS} cells: take fewer columns or levels")
        })?;
        let set: BTreeSet<&str> = table.iter().map(String::as_str).collect();
        used.extend(set.iter().copied());
        require(seen.insert(set), field, "has the columns of an earlier table: its counts would cost twice")?;
    }
    match columns.iter().position(|column| !used.contains(column.name.as_str())) {
        Some(index) => Err(ReleaseError::field(format!("columns[{index}]"), "is in no table")),
        None => Ok(cells),
    }
}

/// The number of cells of one table of known columns, none of them twice.
pub(crate) fn check_table(
    field: &str,
    table: &[String],
    columns: &[LevelColumn],
) -> Result<usize, ReleaseError> {
    let names: Vec<&str> = table.iter().map(String::as_str).collect();
    require_distinct(field, &names)?;
    let mut cells = 1usize;
    for (position, name) in names.iter().enumerate() {
        match columns.iter().find(|column| column.name == *name) {
            Some(column) => cells = cells.saturating_mul(column.levels.len()),
            None => {
                let field = format!("{field}[{position}]");
                return Err(ReleaseError::field(field, format!("{name:?} is not among the columns")));
            }
        }
    }
    Ok(cells)
}

/// Named columns with at least two levels each.
pub(crate) fn check_columns(columns: &[LevelColumn]) -> Checked {
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    require_distinct("columns", &names)?;
    for (index, column) in columns.iter().enumerate() {
        let field = format!("columns[{index}]");
        require(!column.name.trim().is_empty(), format!("{field}.name"), "must not be empty")?;
        require_printable(&format!("{field}.name"), &column.name)?;
        check_levels(&field, &column.levels)?;
    }
    Ok(())
}

/// Levels have no midpoint.
pub(crate) fn check_missing(missing: Missing) -> Checked {
    require(missing != Missing::Midpoint, "missing", "must be refused or dropped: levels have no midpoint")
}

impl CountFamily {
    /// Whether counts stay whole numbers.
    pub fn is_discrete(self) -> bool {
        matches!(self, CountFamily::DiscreteLaplace | CountFamily::DiscreteGaussian)
    }
}
