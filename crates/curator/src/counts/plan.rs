//! A plan of noisy contingency tables: everything that is known before any data is read.

use organza_release::loss::Mechanism;
use organza_release::sensitivity::{Bound, counts, moved_counts};
use organza_release::{
    CountFamily, CountNoise, Family, LevelColumn, Neighbours, Norm, PrivacyLoss, count_cells,
};

use super::calibrate::smallest_scale;
use super::request::{CountRequest, public_levels};
use crate::CuratorError;
use crate::formula::CategoricalColumn;
use crate::ledger::Charge;

/// Calibrated contingency tables, waiting for data.
#[derive(Debug, Clone)]
pub struct CountPlan {
    pub(super) columns: Vec<LevelColumn>,
    /// The same columns as the readers want them.
    pub(super) read: Vec<CategoricalColumn>,
    pub(super) tables: Vec<Vec<String>>,
    pub(super) noise: CountNoise,
    pub(super) privacy: PrivacyLoss,
    cells: usize,
    sensitivity: Bound,
}

impl CountPlan {
    /// Finds the levels, computes the sensitivity and calibrates the noise.
    pub fn new(request: &CountRequest) -> Result<Self, CuratorError> {
        request.check()?;
        let columns = public_levels("tables", request.tables.iter().flatten(), &request.bounds)?;
        let mut tables = request.tables.clone();
        tables.extend(request.count_records.then(Vec::new));
        let public = request.neighbours == Neighbours::Substitute;
        let cells = count_cells(&columns, &tables, public)
            .map_err(|error| CuratorError::setting("tables", error.to_string()))?;
        let (norm, family) = match request.family {
            Family::Laplace => (Norm::L1, CountFamily::DiscreteLaplace),
            Family::Gaussian => (Norm::L2, CountFamily::DiscreteGaussian),
        };
        let moved = moved_counts(tables.len(), request.neighbours);
        let scale = smallest_scale(request.family, (request.epsilon, request.delta), moved)?;
        let sensitivity = counts(tables.len(), request.neighbours, norm);
        let privacy = PrivacyLoss {
            neighbours: request.neighbours,
            epsilon: request.epsilon,
            delta: request.delta,
            norm,
            sensitivity: sensitivity.value,
            public_bounds: true,
        };
        let read = reading_columns(&columns);
        Ok(Self { columns, read, tables, noise: CountNoise { family, scale }, privacy, cells, sensitivity })
    }

    /// The columns that the tables use.
    pub fn columns(&self) -> &[LevelColumn] {
        &self.columns
    }

    /// The columns of every table; none for the number of records.
    pub fn tables(&self) -> &[Vec<String>] {
        &self.tables
    }

    /// Number of counts of all tables.
    pub fn cells(&self) -> usize {
        self.cells
    }

    /// The noise on every count.
    pub fn noise(&self) -> &CountNoise {
        &self.noise
    }

    /// What the release costs.
    pub fn privacy(&self) -> &PrivacyLoss {
        &self.privacy
    }

    /// The sensitivity, which is attained.
    pub fn sensitivity(&self) -> Bound {
        self.sensitivity
    }

    /// What is released, for the ledger.
    pub fn description(&self) -> String {
        let name = |table: &Vec<String>| match table.is_empty() {
            true => "number of records".to_string(),
            false => table.join(" by "),
        };
        format!("counts of {}", self.tables.iter().map(name).collect::<Vec<_>>().join("; "))
    }

    /// What the ledger is charged: counts that move by one compose by their own law, not by an epsilon and a delta.
    pub fn charge(&self) -> Charge {
        let (epsilon, delta) = (self.privacy.epsilon, self.privacy.delta);
        let mechanism = match self.privacy.norm {
            Norm::L1 => Mechanism::Pure { epsilon },
            Norm::L2 => Mechanism::DiscreteGaussian {
                scale: self.noise.scale,
                moved: moved_counts(self.tables.len(), self.privacy.neighbours),
            },
        };
        Charge {
            mechanism,
            total_variation: 0.0,
            neighbours: Some(self.privacy.neighbours),
            claimed_epsilon: epsilon,
            claimed_delta: delta,
            description: self.description(),
        }
    }
}

/// Columns with levels as the readers of tables want them.
pub(crate) fn reading_columns(columns: &[LevelColumn]) -> Vec<CategoricalColumn> {
    let one =
        |column: &LevelColumn| CategoricalColumn { name: column.name.clone(), levels: column.levels.clone() };
    columns.iter().map(one).collect()
}
