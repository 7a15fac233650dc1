//! What was computed: entries of a Gram matrix or further sums, and how noise is laid out over them.

use std::f64::consts::SQRT_2;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::Domain;
use crate::sensitivity::AdaSspParts;

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
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Statistic {
    /// Entries of the Gram matrix `sum_i w_i w_i'` of the records.
    Gram {
        /// Index pairs `[i, j]` with `i <= j`; 0 is the constant when there is an intercept, the last index is
        /// the response.
        entries: Vec<[usize; 2]>,
        /// How noise is laid out over the entries.
        layout: Layout,
    },
    /// Entries of the Gram matrix of averaged records: each run of `averaged` records in table order is replaced
    /// by its sum divided by `sqrt(averaged)`. What remains at the end of the table is left out, so that there are
    /// `records / averaged` rows, rounded down. `averaged` times the noise, in weighted units, is a whole multiple
    /// of `2^lattice`.
    AveragedGram {
        /// How many records make one row, at least 2.
        averaged: u64,
        /// Index pairs `[i, j]` with `i <= j`; the last index is the response. There is no constant.
        entries: Vec<[usize; 2]>,
        /// How noise is laid out over the entries.
        layout: Layout,
    },
    /// What adaSSP needs: entries of X'X and X'y, and then, as the last number, the smallest eigenvalue of X'X in
    /// weighted units, as it came from the mechanism: it may be negative. Each of the three parts has noise in
    /// proportion to its own sensitivity, isometric for X'X.
    AdaSsp {
        /// Index pairs `[i, j]` with `i <= j`; 0 is the constant when there is an intercept, the last index is
        /// the response, whose square is left out.
        entries: Vec<[usize; 2]>,
    },
    /// Sums of products of four coordinates of `(1, u)`, the constant and the features.
    FourthMoments {
        /// Indices `[i, j, k, l]` with `i <= j <= k <= l` in lexicographic order; 0 is the constant. The number of
        /// records, `[0, 0, 0, 0]`, is public and left out.
        entries: Vec<[usize; 4]>,
    },
}

/// The two units of a released number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights {
    /// Noise times this is a whole multiple of `2^lattice`.
    pub lattice: f64,
    /// The number times this is the coordinate that receives noise of the common scale, and whose changes the
    /// sensitivity measures.
    pub noise: f64,
}

impl Statistic {
    /// The released index pairs; none for sums of products of four coordinates.
    pub fn entries(&self) -> &[[usize; 2]] {
        match self {
            Statistic::Gram { entries, .. }
            | Statistic::AveragedGram { entries, .. }
            | Statistic::AdaSsp { entries } => entries,
            Statistic::FourthMoments { .. } => &[],
        }
    }

    /// How noise is laid out over the entries.
    pub fn layout(&self) -> Layout {
        match self {
            Statistic::Gram { layout, .. } | Statistic::AveragedGram { layout, .. } => *layout,
            Statistic::AdaSsp { .. } => Layout::Isometric,
            Statistic::FourthMoments { .. } => Layout::Upper,
        }
    }

    /// How many records make one row of the Gram matrix.
    pub fn averaged(&self) -> u64 {
        match self {
            Statistic::AveragedGram { averaged, .. } => *averaged,
            _ => 1,
        }
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
        let is_cross = column == domain.response_index();
        let factor =
            if row != column && !is_cross && self.layout() == Layout::Isometric { SQRT_2 } else { 1.0 };
        if let Statistic::AdaSsp { .. } = self {
            let parts = AdaSspParts::of(domain);
            return product * factor / if is_cross { parts.cross } else { parts.gram };
        }
        product * factor
    }

    /// The units of every released number, in order.
    pub fn weights(&self, domain: &Domain) -> Vec<Weights> {
        let pair = |&[row, column]: &[usize; 2]| Weights {
            lattice: domain.coordinate_weight(row)
                * domain.coordinate_weight(column)
                * self.averaged() as f64,
            noise: self.entry_weight(domain, [row, column]),
        };
        let mut weights: Vec<Weights> = self.entries().iter().map(pair).collect();
        match self {
            Statistic::AdaSsp { .. } => {
                let noise = 1.0 / AdaSspParts::of(domain).smallest_eigenvalue;
                weights.push(Weights { lattice: 1.0, noise });
            }
            Statistic::FourthMoments { entries } => {
                weights.resize(entries.len(), Weights { lattice: 1.0, noise: 1.0 });
            }
            _ => {}
        }
        weights
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

/// The entries of the fourth moments of the constant and this many features, in lexicographic order.
pub fn fourth_moment_entries(features: usize) -> Vec<[usize; 4]> {
    let mut entries = Vec::new();
    for i in 0..=features {
        for j in i..=features {
            for k in j..=features {
                entries.extend((k..=features).map(|l| [i, j, k, l]));
            }
        }
    }
    // The first one is the public number of records.
    entries.remove(0);
    entries
}
