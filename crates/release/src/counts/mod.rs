//! Noisy contingency tables: how many records fall into every cell.

mod claim;
mod noise;
mod shape;
mod validate;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::privacy::PrivacyLoss;
use crate::release::{Missing, Tool};

pub use noise::CountLaw;
pub use shape::cell_levels;
pub use validate::count_cells;
pub(crate) use validate::{check_columns, check_missing, check_table};

/// The schema of a release of counts.
pub const COUNTS_SCHEMA: &str = "organza/counts/2";

/// The largest number of cells of all tables together, and of an answer.
pub const MOST_CELLS: usize = 10_000_000;

/// A column that takes one of a public list of levels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LevelColumn {
    /// The column's name in the table.
    pub name: String,
    /// The public levels, at least two; every record has one of them.
    pub levels: Vec<String>,
}

/// The family of the noise on counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CountFamily {
    /// Integers k with probability proportional to `exp(-|k| / scale)`.
    DiscreteLaplace,
    /// Integers k with probability proportional to `exp(-k^2 / (2 scale^2))`.
    DiscreteGaussian,
    /// Double exponential; the scale is the mean absolute deviation.
    Laplace,
    /// Normal; the scale is the standard deviation.
    Gaussian,
}

/// Independent noise of one scale on every count.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CountNoise {
    /// The family.
    pub family: CountFamily,
    /// Its scale, in records.
    pub scale: f64,
}

/// Noisy contingency tables of a table of records.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CountRelease {
    /// Name and version of the format.
    pub schema: String,
    /// The data holder.
    pub party: String,
    /// When, as RFC 3339 in UTC.
    pub created: String,
    /// Public number of records; null if neighbours differ by adding or removing a record.
    #[serde(deserialize_with = "Option::deserialize")]
    pub records: Option<u64>,
    /// What was done with missing values.
    pub missing: Missing,
    /// The columns that the tables use.
    pub columns: Vec<LevelColumn>,
    /// The columns of every contingency table, by name. An empty list is the number of records, which is released
    /// only where it is not public.
    pub tables: Vec<Vec<String>>,
    /// The noisy counts, table by table; inside a table the level of the last column changes fastest.
    pub value: Vec<f64>,
    /// The noise on the counts.
    pub noise: CountNoise,
    /// What the release costs.
    pub privacy: PrivacyLoss,
    /// The program that wrote it.
    pub tool: Tool,
}
