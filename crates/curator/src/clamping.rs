//! What public bounds and the radius do to the records of a table. **Never publish what comes out of this.**
//!
//! It is for the data holder, to see wrong units before budget is spent on them. No budget pays for it.

use crate::CuratorError;
use crate::formula::{BlockColumns, NumericColumn, Workspace};
use crate::mechanism::Plan;
use crate::table::{Reading, Table};

/// How much of a table is clamped and shrunk. Private: for the eyes of the data holder alone.
#[derive(Debug, Clone, PartialEq)]
pub struct Clamping {
    /// The numeric columns that the formula names.
    pub columns: Vec<ClampedColumn>,
    /// Number of records.
    pub records: u64,
    /// What scaling does, if records are scaled.
    pub scaling: Option<Shrinking>,
}

/// How much of a column is clamped.
#[derive(Debug, Clone, PartialEq)]
pub struct ClampedColumn {
    /// Name and public bounds.
    pub column: NumericColumn,
    /// Share of values below the lower bound.
    pub below: f64,
    /// Share of values above the upper bound.
    pub above: f64,
}

/// What scaling does to the records.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shrinking {
    /// Share of records that are shrunk.
    pub shrunk: f64,
    /// Mean of c^2, the weight that a record has in the sums: 1 if none is shrunk.
    pub mean_weight: f64,
}

/// What one thread counts.
struct Tally<'p> {
    plan: &'p Plan,
    workspace: Workspace,
    terms: Vec<Vec<f64>>,
    outside: Vec<[u64; 2]>,
    shrunk: u64,
    weight: f64,
}

/// Reads a table and counts what a release of this plan would clamp and shrink.
pub fn clamping(plan: &Plan, reading: &Reading<'_>) -> Result<Clamping, CuratorError> {
    let columns = plan.design().numeric_columns();
    let new = || Tally {
        plan,
        workspace: Workspace::default(),
        terms: vec![Vec::new(); plan.design().output_columns()],
        outside: vec![[0; 2]; columns.len()],
        shrunk: 0,
        weight: 0.0,
    };
    let table = Table::new(reading.input, plan.design(), reading.options, reading.progress);
    let (tallies, counts) = table.fold(new, Tally::add)?;
    if counts.records == 0 {
        return Err(CuratorError::EmptyTable { path: format!("{}, after dropping", reading.input.name()) });
    }
    let share = |count: u64| count as f64 / counts.records as f64;
    let clamped = |(place, column): (usize, &NumericColumn)| {
        let [below, above] =
            [0, 1].map(|side| share(tallies.iter().map(|tally| tally.outside[place][side]).sum()));
        ClampedColumn { column: column.clone(), below, above }
    };
    Ok(Clamping {
        columns: columns.iter().enumerate().map(clamped).collect(),
        records: counts.records,
        scaling: plan.domain().is_scaled().then(|| Shrinking {
            shrunk: share(tallies.iter().map(|tally| tally.shrunk).sum()),
            mean_weight: tallies.iter().map(|tally| tally.weight).sum::<f64>() / counts.records as f64,
        }),
    })
}

impl Tally<'_> {
    fn add(&mut self, block: &BlockColumns<'_>) -> Result<(), CuratorError> {
        let design = self.plan.design();
        for ((values, column), outside) in
            block.numeric.iter().zip(design.numeric_columns()).zip(&mut self.outside)
        {
            outside[0] += values.iter().filter(|value| **value < column.interval.lower).count() as u64;
            outside[1] += values.iter().filter(|value| **value > column.interval.upper).count() as u64;
        }
        design.evaluate(block, &mut self.workspace, &mut self.terms)?;
        let mut record = vec![0.0; self.terms.len()];
        for row in 0..block.rows() {
            record.iter_mut().zip(&self.terms).for_each(|(value, term)| *value = term[row]);
            let scale = self.plan.record_map().scale(&record)?;
            self.shrunk += u64::from(scale < 1.0);
            self.weight += scale * scale;
        }
        Ok(())
    }
}
