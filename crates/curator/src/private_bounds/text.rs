//! Private bounds as a file of bounds, with what they cost in comments; and the common bounds of several parties.

use organza_release::{CountFamily, Neighbours, Tool};
use serde::Serialize;

use crate::CuratorError;
use crate::bounds::{Bounds, ColumnBounds, table_header};

/// Noisy counts of a grid.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NoisyCells {
    /// Scale of the noise on each.
    pub scale: f64,
    /// One for each cell.
    pub counts: Vec<f64>,
}

/// What was found about a column. All of it is private already and may be published.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FoundColumn {
    /// Its name.
    pub name: String,
    /// Counts on the grid of scales.
    pub scales: NoisyCells,
    /// The first range, and the counts on a linear grid inside.
    pub linear: Option<((f64, f64), NoisyCells)>,
    /// The bounds; none if noise hides the column.
    pub range: Option<(f64, f64)>,
}

/// Bounds that were found with noise, and what they cost.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PrivateBounds {
    /// The data holder.
    pub party: String,
    /// When, RFC 3339 in UTC.
    pub created: String,
    /// Privacy loss of all columns together.
    pub epsilon: f64,
    /// Its delta.
    pub delta: f64,
    /// Family of the noise on all counts.
    pub family: CountFamily,
    /// Which tables count as neighbours.
    pub neighbours: Neighbours,
    /// The columns in the order in which they were asked for.
    pub columns: Vec<FoundColumn>,
    /// The program.
    pub tool: Tool,
}

impl PrivateBounds {
    /// The columns of which noise hides everything.
    pub fn hidden(&self) -> Vec<&str> {
        self.columns
            .iter()
            .filter(|column| column.range.is_none())
            .map(|column| column.name.as_str())
            .collect()
    }

    /// A file of bounds; what was spent is in comments. A hidden column is left to be filled in.
    pub fn to_toml(&self) -> Result<String, CuratorError> {
        let neighbours = match self.neighbours {
            Neighbours::Substitute => "substitute",
            Neighbours::AddRemove => "add-remove",
        };
        let family = match self.family {
            CountFamily::DiscreteGaussian => "Gaussian",
            _ => "Laplace",
        };
        let mut text = format!(
            "# Private bounds: found with noise, not read off the data. They may be published.\n\
             # party {:?}, {}, {} {}\n\
             # epsilon = {}, delta = {}, neighbours {neighbours}; discrete {family} noise on counts of a grid of scales and of a\n\
             # linear grid inside. Some records may lie outside; they will be clamped.\n",
            self.party, self.created, self.tool.name, self.tool.version, self.epsilon, self.delta
        );
        for column in &self.columns {
            let mut bounds = Bounds::default();
            text += "\n";
            match column.range {
                Some((lower, upper)) => {
                    bounds.insert(&column.name, ColumnBounds::Numeric { lower, upper })?;
                    text += &bounds.to_toml();
                }
                None => {
                    text += &format!(
                        "{}   # noise hides this column: fill in what is publicly known\n# lower = \n# upper = \n",
                        table_header(&column.name)
                    );
                }
            }
        }
        Ok(text)
    }
}

/// Common bounds of several parties: the smallest lower and the largest upper bound of every column.
///
/// Whatever is inside the bounds of a party stays inside. Levels must be the same everywhere.
pub fn combine(parties: &[(String, Bounds)]) -> Result<Bounds, CuratorError> {
    let mut common = Bounds::default();
    for (source, bounds) in parties {
        for (name, column) in bounds.columns() {
            let joined = match (common.column(name), column) {
                (None, column) => column.clone(),
                (
                    Some(ColumnBounds::Numeric { lower, upper }),
                    ColumnBounds::Numeric { lower: least, upper: most },
                ) => ColumnBounds::Numeric { lower: lower.min(*least), upper: upper.max(*most) },
                (Some(known), column) if known == column => continue,
                _ => {
                    let reason =
                        format!("{source}: column {name:?} has other levels than in the files before");
                    return Err(CuratorError::setting("combine", reason));
                }
            };
            common.insert(name, joined)?;
        }
    }
    Ok(common)
}
