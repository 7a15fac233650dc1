//! The Dirichlet priors of probabilities, as a file says them.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::InferError;

/// Concentrations of the Dirichlet priors: one number for all probabilities, and others by name.
///
/// ```
/// let text = "concentration = 2.0\ncells = { \"smoker=yes\" = 0.5 }";
/// let prior: organza_infer::tables::TablePrior = toml::from_str(text)?;
/// assert_eq!(prior.concentration, Some(2.0));
/// # Ok::<(), toml::de::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TablePrior {
    /// For all that `cells` does not name; 1 for tables, 2 for naive Bayes if nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concentration: Option<f64>,
    /// By the name that the probability has in the draws, without `p[` and `]`.
    pub cells: BTreeMap<String, f64>,
}

impl TablePrior {
    /// The concentrations of probabilities with these names.
    pub(super) fn concentrations(&self, labels: &[String], otherwise: f64) -> Result<Vec<f64>, InferError> {
        let common = self.concentration.unwrap_or(otherwise);
        let one = |label: &String| match self.cells.get(label) {
            Some(value) if *value > 0.0 && value.is_finite() => Ok(*value),
            Some(value) => Err(positive(format!("cells of {label:?}"), *value)),
            None if common > 0.0 && common.is_finite() => Ok(common),
            None => Err(positive("concentration".into(), common)),
        };
        labels.iter().map(one).collect()
    }

    /// Refuses names that no probability has.
    pub(super) fn check_names<'n>(&self, known: impl Iterator<Item = &'n String>) -> Result<(), InferError> {
        let known: Vec<&String> = known.collect();
        let set: HashSet<&String> = known.iter().copied().collect();
        match self.cells.keys().find(|name| !set.contains(name)) {
            None => Ok(()),
            Some(name) => {
                let some: Vec<&str> = known.iter().take(6).map(|label| label.as_str()).collect();
                let more = if known.len() > 6 { "; .." } else { "" };
                let reason =
                    format!("names {name:?}, which is no probability; there are {}{more}", some.join("; "));
                Err(InferError::prior("cells", reason))
            }
        }
    }
}

fn positive(field: String, found: f64) -> InferError {
    InferError::prior(field, format!("must be positive and finite, found {found}"))
}
