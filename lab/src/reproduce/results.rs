//! Finished replicates.

use std::collections::HashMap;

use crate::metrics::{Estimate, mean};

/// One finished replicate.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The configuration.
    pub cell: String,
    /// The replicate, from 1.
    pub replicate: u64,
    /// One number for every column.
    pub values: Vec<f64>,
}

/// All finished replicates of an experiment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Results {
    columns: Vec<String>,
    rows: Vec<Row>,
}

impl Results {
    /// Rows in their order; of two with the same name the first is kept.
    pub fn new(columns: Vec<String>, rows: Vec<Row>) -> Self {
        let mut results = Self { columns, rows: Vec::with_capacity(rows.len()) };
        let mut seen = std::collections::HashSet::new();
        for row in rows {
            if seen.insert((row.cell.clone(), row.replicate)) {
                results.rows.push(row);
            }
        }
        results
    }

    /// The rows.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Names of the numbers of a row.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Puts the rows in the order of the cells, then of the replicates; cells that are not named come last.
    pub fn sort(&mut self, cells: &[String]) {
        let order: HashMap<&str, usize> =
            cells.iter().enumerate().map(|(k, cell)| (cell.as_str(), k)).collect();
        let place = |row: &Row| order.get(row.cell.as_str()).copied().unwrap_or(usize::MAX);
        self.rows.sort_by(|a, b| (place(a), &a.cell, a.replicate).cmp(&(place(b), &b.cell, b.replicate)));
    }

    /// The cells that have rows, in the order of their first.
    pub fn cells(&self) -> Vec<&str> {
        let mut cells: Vec<&str> = Vec::new();
        for row in &self.rows {
            if !cells.contains(&row.cell.as_str()) {
                cells.push(&row.cell);
            }
        }
        cells
    }

    /// Whether a replicate is finished.
    pub fn has(&self, cell: &str, replicate: u64) -> bool {
        self.rows.iter().any(|row| row.replicate == replicate && row.cell == cell)
    }

    /// Replicates of the cell that has the fewest; 0 without rows.
    pub fn replicates(&self) -> u64 {
        let mut counts: HashMap<&str, u64> = HashMap::new();
        self.rows.iter().for_each(|row| *counts.entry(&row.cell).or_default() += 1);
        counts.into_values().min().unwrap_or(0)
    }

    /// The numbers of one column in all replicates of a cell, those that are not numbers left out.
    pub fn values(&self, cell: &str, column: &str) -> Vec<f64> {
        let Some(place) = self.columns.iter().position(|name| name == column) else { return Vec::new() };
        let rows = self.rows.iter().filter(|row| row.cell == cell);
        rows.map(|row| row.values[place]).filter(|value| !value.is_nan()).collect()
    }

    /// The numbers of one column in two cells, replicate by replicate, where both have one.
    pub fn pairs(&self, first: &str, second: &str, column: &str) -> Vec<(f64, f64)> {
        let Some(place) = self.columns.iter().position(|name| name == column) else { return Vec::new() };
        let of_cell = |cell: &str| -> HashMap<u64, f64> {
            let rows = self.rows.iter().filter(|row| row.cell == cell && !row.values[place].is_nan());
            rows.map(|row| (row.replicate, row.values[place])).collect()
        };
        let (one, other) = (of_cell(first), of_cell(second));
        let mut both: Vec<(u64, f64)> =
            one.into_iter().filter(|(replicate, _)| other.contains_key(replicate)).collect();
        both.sort_by_key(|(replicate, _)| *replicate);
        both.into_iter().map(|(replicate, value)| (value, other[&replicate])).collect()
    }

    /// Mean and standard error over the replicates of a cell; none without replicates.
    pub fn mean(&self, cell: &str, column: &str) -> Option<Estimate> {
        let values = self.values(cell, column);
        (!values.is_empty()).then(|| mean(&values))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cell: &str, replicate: u64, value: f64) -> Row {
        Row { cell: cell.into(), replicate, values: vec![value] }
    }

    /// Catches pairs of different replicates: rows come in any order, and some are missing.
    #[test]
    fn rows_are_sorted_paired_and_counted() {
        let rows = vec![
            row("b", 2, 4.0),
            row("a", 3, 3.0),
            row("a", 2, 2.0),
            row("b", 3, f64::NAN),
            row("a", 1, 1.0),
            row("a", 1, 9.0),
        ];
        let mut results = Results::new(vec!["x".into()], rows);
        assert_eq!(results.pairs("a", "b", "x"), [(2.0, 4.0)]);
        assert_eq!(results.values("b", "x"), [4.0]);
        results.sort(&["a".to_string(), "b".to_string()]);
        assert_eq!(
            (results.values("a", "x"), results.cells(), results.replicates()),
            (vec![1.0, 2.0, 3.0], vec!["a", "b"], 2)
        );
        assert_eq!(results.mean("a", "x").map(|found| found.value), Some(2.0));
        assert!(results.mean("a", "y").is_none() && results.has("b", 3) && !results.has("b", 1));
    }
}
