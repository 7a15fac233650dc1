//! One party's noisy Gram matrix in its *weighted* units.
//!
//! A record is w = (g, u, h v) with h = eta/sqrt(2), so that the isometric layout puts noise of scale s on the diagonal and
//! s/sqrt(2) beside it, and y'y, which is cheaper, has its own scale. Coefficients in these units are A theta with
//! A = diag(h/g, h, ..), the residual variance is h^2 sigma^2.

use std::sync::Arc;

use organza_release::{Family, Release};

use crate::InferError;

/// A noisy Gram matrix.
#[derive(Debug, Clone)]
pub(crate) struct Party {
    pub name: String,
    /// Public number of records, if it is public.
    pub records: Option<f64>,
    /// Row-major, symmetric, the response last; 0 where nothing was released.
    pub gram: Vec<f64>,
    /// What adaSSP adds to the diagonal, of a release that says it.
    pub ridge: Option<f64>,
    /// Shared by parties with the same mechanism: memory stays small for very many of them.
    pub noise: Arc<GramNoise>,
}

/// The noise of a weighted Gram matrix.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct GramNoise {
    pub family: Family,
    /// Weight of every coordinate of a record.
    pub weights: Vec<f64>,
    /// Scale of every entry, row-major: 0 where it is known exactly, infinite where it was not released.
    pub scales: Vec<f64>,
    /// Radius to which records were shrunk: with the weight of the constant it decides what population they come from.
    pub record_scale: Option<f64>,
    /// Records that were averaged into one row.
    pub averaged: u64,
}

/// Gaussian noise that is invariant under rotations, but for y'y.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Isometry {
    /// tau: the scale on the diagonal, 1/sqrt(2) of it elsewhere.
    pub scale: f64,
    /// Scale of y'y; infinite if it was not released.
    pub response_scale: f64,
}

impl Party {
    /// Reads a release; `before` lends its description of the noise if it is the same.
    pub fn new(release: &Release, before: Option<&Self>) -> Result<Self, InferError> {
        let domain = &release.domain;
        let size = domain.dimension();
        let weights: Vec<f64> = (0..size)
            .map(|k| match k + 1 == size {
                true => domain.response_weight() / std::f64::consts::SQRT_2,
                false => domain.coordinate_weight(k),
            })
            .collect();
        let averaged = release.statistic.averaged();
        // Rows of the Gram matrix: averages count as records.
        let records = release.records.map(|records| (records / averaged) as f64);
        let (mut gram, mut scales) = (vec![0.0; size * size], vec![f64::INFINITY; size * size]);
        if let (true, Some(records)) = (domain.intercept() && !domain.is_scaled(), records) {
            (gram[0], scales[0]) = (records * weights[0] * weights[0], 0.0);
        }
        for (index, &[row, column]) in release.statistic.entries().iter().enumerate() {
            let weight = weights[row] * weights[column];
            for place in [row * size + column, column * size + row] {
                gram[place] = release.value[index] * weight;
                scales[place] = release.noise.scales[index] * weight;
            }
        }
        let features = (0..size * size).filter(|k| k + 1 < size * size);
        if let Some(place) = features.clone().find(|k| scales[*k].is_infinite()) {
            let entry = [place / size, place % size];
            return Err(InferError::MissingEntry { party: release.party.clone(), entry });
        }
        let record_scale = match domain {
            organza_release::Domain::Box(domain) => domain.record_scale,
            organza_release::Domain::Ball(domain) => Some(domain.radius),
        };
        let noise = GramNoise { family: release.noise.family, weights, scales, record_scale, averaged };
        let noise = match before {
            Some(party) if *party.noise == noise => Arc::clone(&party.noise),
            _ => Arc::new(noise),
        };
        Ok(Self { name: release.party.clone(), records, gram, ridge: crate::ada_ssp::ridge(release), noise })
    }

    /// Coordinates of a record, the response included.
    pub fn size(&self) -> usize {
        self.noise.weights.len()
    }

    /// h^2: the residual variance in weighted units is this times sigma^2.
    pub fn response_weight_squared(&self) -> f64 {
        let weight = self.noise.weights[self.size() - 1];
        weight * weight
    }
}

impl GramNoise {
    /// Largest scale on X'y.
    pub fn cross_scale(&self) -> f64 {
        let size = self.weights.len();
        (0..size - 1).map(|k| self.scales[k * size + size - 1]).fold(0.0, f64::max)
    }

    /// Whether y'y was released.
    pub fn has_response_square(&self) -> bool {
        self.scales.last().is_some_and(|scale| scale.is_finite())
    }

    /// The noise as an isometry, if it is Gaussian and one, of scale 0 if there is none.
    pub fn isometry(&self) -> Option<Isometry> {
        let size = self.weights.len();
        let response_scale = self.scales[size * size - 1];
        let quiet = self.scales.iter().all(|scale| *scale == 0.0 || scale.is_infinite());
        if quiet && self.family == Family::Gaussian {
            return Some(Isometry { scale: 0.0, response_scale });
        }
        let known = |k: usize| self.scales[k * size + k] > 0.0;
        let scale = (0..size - 1).find(|k| known(*k)).map(|k| self.scales[k * size + k])?;
        let fits = |place: usize| {
            let (row, column) = (place / size, place % size);
            let want = if row == column { scale } else { scale / std::f64::consts::SQRT_2 };
            let exempt = (place == 0 && self.scales[0] == 0.0) || row + 1 == size && column + 1 == size;
            exempt || (self.scales[place] - want).abs() <= 1e-9 * want
        };
        let regular = self.family == Family::Gaussian && (0..size * size).all(fits);
        regular.then_some(Isometry { scale, response_scale })
    }
}
