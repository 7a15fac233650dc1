//! What was computed: the entries of a Gram matrix, and how noise is laid out over them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::Domain;

/// How Gaussian or Laplace noise is laid out over the entries of a symmetric matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// Products of two different features are multiplied by sqrt(2), so that the noise on X'X is invariant
    /// under rotations: its scale off the diagonal is 1/sqrt(2) of that on it.
    Isometric,
    /// The same noise on every entry of the upper triangle, the papers' layout.
    Upper,
}

/// The statistic of the table that was released.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Statistic {
    /// Entries of the Gram matrix `sum_i w_i w_i'` of the records.
    Gram {
        /// Index pairs `[i, j]` with `i <= j`; 0 is the constant when there is an intercept, the last index is
        /// the response.
        entries: Vec<[usize; 2]>,
        /// How noise is laid out over the entries.
        layout: Layout,
    },
}

impl Statistic {
    /// The released index pairs.
    pub fn entries(&self) -> &[[usize; 2]] {
        let Statistic::Gram { entries, .. } = self;
        entries
    }

    /// How noise is laid out over the entries.
    pub fn layout(&self) -> Layout {
        let Statistic::Gram { layout, .. } = self;
        *layout
    }

    /// Whether the sum of squared responses is among the entries.
    pub fn has_response_square(&self, domain: &Domain) -> bool {
        let response = domain.response_index();
        self.entries().contains(&[response, response])
    }

    /// Weight of an entry: plain times weight is the coordinate that receives noise of the common scale.
    pub fn entry_weight(&self, domain: &Domain, entry: [usize; 2]) -> f64 {
        let [row, column] = entry;
        let product = domain.coordinate_weight(row) * domain.coordinate_weight(column);
        let two_features = row != column && column != domain.response_index();
        if two_features && self.layout() == Layout::Isometric {
            product * std::f64::consts::SQRT_2
        } else {
            product
        }
    }
}

/// The entries of a complete Gram matrix, row by row of the upper triangle.
///
/// The entry of the constant with itself is left out where it is public: with substituted neighbours and
/// unscaled records it is the number of records, has sensitivity zero and needs no noise.
pub fn gram_entries(domain: &Domain, public_count: bool, response_square: bool) -> Vec<[usize; 2]> {
    let dimension = domain.dimension();
    let response = domain.response_index();
    let constant_is_public = domain.intercept() && public_count && !domain.is_scaled();
    (0..dimension)
        .flat_map(|row| (row..dimension).map(move |column| [row, column]))
        .filter(|&entry| !(constant_is_public && entry == [0, 0]))
        .filter(|&entry| response_square || entry != [response, response])
        .collect()
}
