//! Where the counts of a table stand, and what a cell means.

use super::{CountRelease, LevelColumn};

impl CountRelease {
    /// The column of this name.
    pub fn column(&self, name: &str) -> Option<&LevelColumn> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// The columns of a table, in its order. The release is taken to be valid.
    pub fn table_columns(&self, table: usize) -> Vec<&LevelColumn> {
        self.tables[table].iter().filter_map(|name| self.column(name)).collect()
    }

    /// Number of cells of a table: the product of the numbers of levels, 1 for the number of records.
    pub fn cells(&self, table: usize) -> usize {
        let levels = self.table_columns(table).into_iter().map(|column| column.levels.len());
        levels.fold(1, usize::saturating_mul)
    }

    /// The noisy counts of a table; the level of its last column changes fastest.
    pub fn table_values(&self, table: usize) -> &[f64] {
        let start: usize = (0..table).map(|earlier| self.cells(earlier)).sum();
        &self.value[start..start + self.cells(table)]
    }
}

/// The levels of a cell, one for each column; the level of the last column changes fastest.
pub fn cell_levels<'c>(columns: &[&'c LevelColumn], cell: usize) -> Vec<&'c str> {
    let mut rest = cell;
    let mut levels: Vec<&str> = columns
        .iter()
        .rev()
        .map(|column| {
            let count = column.levels.len().max(1);
            let level = column.levels.get(rest % count).map_or("", String::as_str);
            rest /= count;
            level
        })
        .collect();
    levels.reverse();
    levels
}
