//! Which records are possible: plain public data.

/// The public domain of the records.
#[derive(Debug, Clone, PartialEq)]
pub enum RecordDomain {
    /// Every column has public bounds; values are clamped to them and mapped to `[-1, 1]`.
    Box {
        /// Lower and upper bound of every feature.
        features: Vec<(f64, f64)>,
        /// Lower and upper bound of the response.
        response: (f64, f64),
        /// Weight of the constant coordinate, if there is an intercept.
        intercept: Option<f64>,
        /// Radius to which the vector of intercept and features is scaled, and the response with it. `None` leaves
        /// records unscaled.
        radius: Option<f64>,
    },
    /// Features have a bounded norm and the response a bounded size, in the users' units; no intercept.
    Ball {
        /// Number of features.
        features: usize,
        /// Largest norm of the features of a record.
        radius: f64,
        /// Largest absolute value of the response.
        response_bound: f64,
    },
}

impl RecordDomain {
    /// Number of features.
    pub fn features(&self) -> usize {
        match self {
            Self::Box { features, .. } => features.len(),
            Self::Ball { features, .. } => *features,
        }
    }

    /// Number of table columns: the features and the response.
    pub fn columns(&self) -> usize {
        self.features() + 1
    }

    /// Number of coordinates of a record vector: the intercept if present, the features, the response.
    pub fn dimension(&self) -> usize {
        self.columns() + usize::from(matches!(self, Self::Box { intercept: Some(_), .. }))
    }
}
