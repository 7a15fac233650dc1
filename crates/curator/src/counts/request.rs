//! What a data holder asks for: contingency tables by the names of their columns.

use organza_release::{Family, LevelColumn, Neighbours, did_you_mean, shell_word};

use crate::CuratorError;
use crate::bounds::{Bounds, ColumnBounds};
use crate::mechanism::check_delta;

/// A release of counts to be planned. It is made of public knowledge only.
#[derive(Debug, Clone)]
pub struct CountRequest {
    /// The columns of every table.
    pub tables: Vec<Vec<String>>,
    /// Whether the number of records is released too; only where it is not public.
    pub count_records: bool,
    /// Public levels.
    pub bounds: Bounds,
    /// Family of the noise; it is drawn on the integers.
    pub family: Family,
    /// Which tables count as neighbours.
    pub neighbours: Neighbours,
    /// Privacy loss.
    pub epsilon: f64,
    /// Zero for Laplace noise.
    pub delta: f64,
}

impl CountRequest {
    /// A public number of records, and Gaussian noise unless delta is 0: then Laplace noise.
    pub fn new(tables: Vec<Vec<String>>, bounds: Bounds, epsilon: f64, delta: f64) -> Self {
        Self {
            tables,
            count_records: false,
            bounds,
            family: if delta == 0.0 { Family::Laplace } else { Family::Gaussian },
            neighbours: Neighbours::Substitute,
            epsilon,
            delta,
        }
    }

    pub(super) fn check(&self) -> Result<(), CuratorError> {
        positive_epsilon(self.epsilon)?;
        check_delta(self.family, self.delta)?;
        self.check_count_records()
    }

    fn check_count_records(&self) -> Result<(), CuratorError> {
        if self.count_records && self.neighbours == Neighbours::Substitute {
            let reason = "the number of records is public when one is exchanged for another: leave it out, \
                          or use the setting `neighbours = add-remove`";
            return Err(CuratorError::setting("count_records", reason));
        }
        Ok(())
    }
}

/// Refuses an epsilon that is not a positive number.
pub(crate) fn positive_epsilon(epsilon: f64) -> Result<(), CuratorError> {
    if epsilon.is_finite() && epsilon > 0.0 {
        return Ok(());
    }
    Err(CuratorError::setting("epsilon", format!("must be positive and finite, found {epsilon}")))
}

/// Tables as a person writes them: separated by semicolons, the columns of a table by commas. `a, b; c` is a table of
/// a by b and one of c.
pub fn parse_tables(text: &str) -> Result<Vec<Vec<String>>, CuratorError> {
    text.split(';').map(|table| parse_columns("tables", table)).collect()
}

/// Names separated by commas; `field` is used in errors.
pub(crate) fn parse_columns(field: &'static str, text: &str) -> Result<Vec<String>, CuratorError> {
    let name = |name: &str| match name.trim() {
        "" => {
            let reason = format!(
                "a name is missing in {text:?}; write the columns of a table with commas, tables with semicolons: \
                 \"a, b; c\""
            );
            Err(CuratorError::setting(field, reason))
        }
        name => Ok(name.to_string()),
    };
    text.split(',').map(name).collect()
}

/// The columns of these names with their public levels, each once, in the order in which they appear.
pub(crate) fn public_levels<'n>(
    field: &'static str,
    names: impl Iterator<Item = &'n String>,
    bounds: &Bounds,
) -> Result<Vec<LevelColumn>, CuratorError> {
    let mut columns: Vec<LevelColumn> = Vec::new();
    for name in names {
        if columns.iter().any(|column| column.name == *name) {
            continue;
        }
        let flag = shell_word(&format!("{name}=LEVEL,LEVEL,..."));
        let help = format!("give the setting `bound` {flag} or levels in the bounds file");
        match bounds.column(name) {
            Some(ColumnBounds::Categorical { levels }) => {
                columns.push(LevelColumn { name: name.clone(), levels: levels.clone() });
            }
            Some(ColumnBounds::Numeric { .. }) => {
                let reason = format!("column {name:?} has bounds, and cells are made of levels; {help}");
                return Err(CuratorError::setting(field, reason));
            }
            None => {
                let known: Vec<&str> = bounds.columns().map(|(known, _)| known).collect();
                let near = did_you_mean(name, &known);
                let reason = format!("column {name:?} has no public levels{near}; {help}");
                return Err(CuratorError::setting(field, reason));
            }
        }
    }
    Ok(columns)
}
