//! Releases of Gram matrices as record-additive mechanisms.

use organza_release::{Family, Neighbours, RecordMap, Release};

use super::RecordAdditive;
use crate::{InferError, judge};

/// A released Gram matrix. Latent records are (u, v) in normalised units, features and response, neither clamped nor scaled.
///
/// A contribution is the upper triangle, row by row, of w w' with w = c (1, u, v): coordinates cut to their bounds, then shrunk
/// by c = min(1, r/|(g, u)|) where records are scaled, as the data holder does (but for the rounding to its grid). Entries that
/// were not released count with weight 0. \[JAGR22\] section 5.
#[derive(Debug, Clone, PartialEq)]
pub struct GramMechanism {
    party: String,
    records: usize,
    map: RecordMap,
    family: Family,
    /// Released values, 0 where there is none.
    values: Vec<f64>,
    /// Inverse scales of the noise, 0 where nothing was released.
    precisions: Vec<f64>,
    epsilon: Option<f64>,
}

impl GramMechanism {
    /// The mechanism of a release; an error names what it lacks.
    pub fn of(release: &Release) -> Result<Self, InferError> {
        let (entries, records) = judge::sums_of_records(release)?;
        let (size, first) = (release.domain.dimension(), usize::from(release.domain.intercept()));
        // The triangle always has the row of the constant; without an intercept it was not released.
        let width = size - first + 1;
        let length = width * (width + 1) / 2;
        let (mut values, mut precisions) = (vec![0.0; length], vec![0.0; length]);
        for (index, &[row, column]) in entries.iter().enumerate() {
            let (row, column) = (row + 1 - first, column + 1 - first);
            let place = row * width - row * (row + 1) / 2 + column;
            values[place] = release.value[index];
            precisions[place] = 1.0 / release.noise.scales[index];
        }
        let privacy = &release.privacy;
        let pure = release.noise.family == Family::Laplace
            && privacy.delta == 0.0
            && privacy.neighbours == Neighbours::Substitute;
        Ok(Self {
            party: release.party.clone(),
            records,
            map: RecordMap::of(&release.domain),
            family: release.noise.family,
            values,
            precisions,
            epsilon: pure.then_some(privacy.epsilon),
        })
    }

    /// What a record with these features and this response adds to the sum.
    #[inline]
    pub(super) fn contribution_of(&self, features: &[f64], response: f64, out: &mut [f64]) {
        let width = features.len() + 2;
        let (first, mut rest) = out.split_at_mut(width);
        self.map.apply(features, response, first);
        for row in 1..width {
            let (current, below) = rest.split_at_mut(width - row);
            let factor = first[row];
            current.iter_mut().zip(&first[row..]).for_each(|(value, other)| *value = factor * other);
            rest = below;
        }
        // The row of the constant is c w; without scaling c = 1.
        if self.map.is_scaled() {
            let factor = first[0];
            first.iter_mut().for_each(|value| *value *= factor);
        }
    }
}

impl RecordAdditive for GramMechanism {
    fn party(&self) -> &str {
        &self.party
    }

    fn records(&self) -> usize {
        self.records
    }

    fn size(&self) -> usize {
        self.values.len()
    }

    #[inline]
    fn contribution(&self, record: &[f64], out: &mut [f64]) {
        if let Some((response, features)) = record.split_last() {
            self.contribution_of(features, *response, out);
        }
    }

    #[inline]
    fn log_density(&self, sum: &[f64]) -> f64 {
        let residuals = self.values.iter().zip(sum).zip(&self.precisions);
        let scaled = residuals.map(|((value, sum), precision)| (value - sum) * precision);
        match self.family {
            Family::Laplace => -scaled.map(f64::abs).sum::<f64>(),
            Family::Gaussian => -0.5 * scaled.map(|residual| residual * residual).sum::<f64>(),
        }
    }

    fn epsilon(&self) -> Option<f64> {
        self.epsilon
    }
}
