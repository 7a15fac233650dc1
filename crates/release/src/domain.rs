//! The public domain of a record: what every value is clamped to before anything is computed.
//!
//! Values are mapped to normalised units, in which a record is `w = c (1, u, v)`: the constant when there is an
//! intercept, the features `u`, the response `v`, all shrunk together by `c <= 1` (record scaling). Noise is set
//! in *weighted* units, in which the constant carries the intercept weight and the response the response
//! weight; released values and noise scales are in plain normalised units.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A named quantity with public bounds, in users' units.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Interval {
    /// The term as the formula spells it, for example `log(x)` or `site[b]`.
    pub name: String,
    /// Values below are clamped to this.
    pub lower: f64,
    /// Values above are clamped to this.
    pub upper: f64,
}

impl Interval {
    /// The middle of the interval, which maps to 0 in normalised units.
    pub fn centre(&self) -> f64 {
        // Halves first: the sum of two large bounds may overflow.
        0.5 * self.lower + 0.5 * self.upper
    }

    /// Half the width of the interval, which maps to 1 in normalised units.
    pub fn half_width(&self) -> f64 {
        0.5 * self.upper - 0.5 * self.lower
    }
}

/// What is publicly known of a column of the table, from which the bounds of the terms follow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Column {
    /// A number, clamped to its bounds before any term is computed.
    Numeric {
        /// The column's name in the table.
        name: String,
        /// Public lower bound.
        lower: f64,
        /// Public upper bound.
        upper: f64,
    },
    /// One of a public list of levels; the first is the reference.
    Categorical {
        /// The column's name in the table.
        name: String,
        /// The public levels.
        levels: Vec<String>,
    },
}

impl Column {
    /// The column's name in the table.
    pub fn name(&self) -> &str {
        match self {
            Column::Numeric { name, .. } | Column::Categorical { name, .. } => name,
        }
    }
}

/// Every term lies in its own interval, and is mapped from it to [-1, 1].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BoxDomain {
    /// The regression formula.
    pub formula: String,
    /// Public knowledge of the columns that the formula uses.
    pub columns: Vec<Column>,
    /// Whether records carry a constant.
    pub intercept: bool,
    /// The terms on the right of the formula, in order.
    pub features: Vec<Interval>,
    /// The term on the left of the formula.
    pub response: Interval,
    /// Radius `r` to which the weighted features (constant included) are shrunk, or null for no scaling.
    #[serde(deserialize_with = "Option::deserialize")]
    pub record_scale: Option<f64>,
    /// Weight `g` of the constant.
    pub intercept_weight: f64,
    /// Weight `eta` of the response.
    pub response_weight: f64,
}

impl BoxDomain {
    /// Norm of the longest record that the bounds allow, without the response: `sqrt(g^2 + d)`.
    pub fn longest_record(&self) -> f64 {
        let constant = if self.intercept { self.intercept_weight } else { 0.0 };
        constant.hypot((self.features.len() as f64).sqrt())
    }

    /// Whether records are scaled to a radius that none of them exceeds.
    pub fn shrinks_nothing(&self) -> bool {
        self.record_scale.is_some_and(|radius| radius >= self.longest_record())
    }
}

/// The features lie in a ball and the response in an interval around zero (\[AYB23\] section 3.1).
///
/// Longer records are shrunk whole to the radius. Normalised units divide the features by `radius` and the
/// response by `response_bound`; there is no intercept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BallDomain {
    /// The regression formula.
    pub formula: String,
    /// Public knowledge of the columns that the formula uses, where any was given.
    pub columns: Vec<Column>,
    /// Names of the terms on the right of the formula, in order.
    pub features: Vec<String>,
    /// Name of the term on the left of the formula.
    pub response: String,
    /// Largest Euclidean norm of a record's features, in users' units.
    pub radius: f64,
    /// Largest absolute value of the response, in users' units.
    pub response_bound: f64,
    /// Weight `eta` of the response.
    pub response_weight: f64,
}

/// The public domain of a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Domain {
    /// Bounds for every term.
    Box(BoxDomain),
    /// A bound on the norm of the features and one on the response.
    Ball(BallDomain),
}

impl Domain {
    /// Whether records carry a constant.
    pub fn intercept(&self) -> bool {
        matches!(self, Domain::Box(domain) if domain.intercept)
    }

    /// Number of features, the constant not counted.
    pub fn feature_count(&self) -> usize {
        match self {
            Domain::Box(domain) => domain.features.len(),
            Domain::Ball(domain) => domain.features.len(),
        }
    }

    /// Names of the features, the constant not counted.
    pub fn feature_names(&self) -> Vec<&str> {
        match self {
            Domain::Box(domain) => domain.features.iter().map(|term| term.name.as_str()).collect(),
            Domain::Ball(domain) => domain.features.iter().map(String::as_str).collect(),
        }
    }

    /// Name of the response.
    pub fn response_name(&self) -> &str {
        match self {
            Domain::Box(domain) => &domain.response.name,
            Domain::Ball(domain) => &domain.response,
        }
    }

    /// The formula that made the terms.
    pub fn formula(&self) -> &str {
        match self {
            Domain::Box(domain) => &domain.formula,
            Domain::Ball(domain) => &domain.formula,
        }
    }

    /// Public knowledge of the columns that the formula uses.
    pub fn columns(&self) -> &[Column] {
        match self {
            Domain::Box(domain) => &domain.columns,
            Domain::Ball(domain) => &domain.columns,
        }
    }

    /// Number of coordinates of a record: the constant if present, the features, the response.
    pub fn dimension(&self) -> usize {
        usize::from(self.intercept()) + self.feature_count() + 1
    }

    /// Index of the response among the coordinates of a record.
    pub fn response_index(&self) -> usize {
        self.dimension() - 1
    }

    /// Whether records are shrunk to a radius, so that no coordinate is a public constant.
    pub fn is_scaled(&self) -> bool {
        match self {
            Domain::Box(domain) => domain.record_scale.is_some(),
            Domain::Ball(_) => true,
        }
    }

    /// Weight of the response (`eta`).
    pub fn response_weight(&self) -> f64 {
        match self {
            Domain::Box(domain) => domain.response_weight,
            Domain::Ball(domain) => domain.response_weight,
        }
    }

    /// Weight of one coordinate of a record: plain times weight is weighted.
    pub fn coordinate_weight(&self, index: usize) -> f64 {
        match self {
            Domain::Box(domain) if domain.intercept && index == 0 => domain.intercept_weight,
            _ if index == self.response_index() => self.response_weight(),
            _ => 1.0,
        }
    }
}
