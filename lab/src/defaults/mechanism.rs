//! The release that is tried: record scaling, sensitivity, Gaussian noise, all in record coordinates.

use organza_release::sensitivity::{Geometry, Shape};
use organza_release::{Layout, Neighbours, Norm};

use super::table::Table;

/// What the curator would publish of a table, before noise or after it.
///
/// Coordinates are those of the scaled record x = c (g, u), y = c v, so every entry of `cross` carries the
/// same noise and the intercept weight g appears only in the prior and in the map back to users' units.
#[derive(Clone, Debug)]
pub struct Statistic {
    /// Length of a record vector x: features, plus one with an intercept.
    pub size: usize,
    /// X'X, row-major, both triangles.
    pub gram: Vec<f64>,
    /// X'y.
    pub cross: Vec<f64>,
    /// y'y.
    pub square: f64,
}

/// The three public parameters under study, or the release without record scaling.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Setting {
    /// Records shrunk to a radius, isometric layout, response weighted.
    Scaled {
        /// r, the largest norm of (g, u) after scaling.
        radius: f64,
        /// g.
        intercept_weight: f64,
        /// eta.
        response_weight: f64,
    },
    /// No scaling: box domain, `upper` layout, all weights 1.
    Unscaled,
}

/// Noise scale of each part of a release, in record coordinates.
#[derive(Clone, Copy, Debug)]
pub struct NoiseScales {
    /// Diagonal of X'X.
    pub diagonal: f64,
    /// Off-diagonal entries of X'X.
    pub off_diagonal: f64,
    /// X'y.
    pub cross: f64,
    /// y'y.
    pub square: f64,
    /// The (0, 0) entry is the public number of records.
    pub first_is_public: bool,
}

impl Setting {
    /// g as the record uses it: 1 without scaling.
    pub fn intercept_weight(&self) -> f64 {
        match self {
            Setting::Scaled { intercept_weight, .. } => *intercept_weight,
            Setting::Unscaled => 1.0,
        }
    }

    /// Exact statistic of the scaled records.
    pub fn statistic(&self, table: &Table, intercept: bool) -> Statistic {
        let g = if intercept { self.intercept_weight() } else { 0.0 };
        match self {
            Setting::Scaled { radius, .. } => {
                let r2 = radius * radius;
                weighted_gram(table, intercept, g, |norm2| (r2 / (g * g + norm2)).min(1.0))
            }
            Setting::Unscaled => weighted_gram(table, intercept, g, |_| 1.0),
        }
    }

    /// Noise scales for a mechanism whose sensitivity-to-scale ratio is `mu`.
    pub fn noise(&self, features: usize, intercept: bool, mu: f64) -> NoiseScales {
        match *self {
            Setting::Scaled { radius, response_weight, .. } => {
                let geometry = Geometry::Ball { radius, response_bound: response_weight };
                let s = sensitivity(features, intercept, Layout::Isometric, geometry) / mu;
                NoiseScales {
                    diagonal: s,
                    off_diagonal: s / std::f64::consts::SQRT_2,
                    cross: s / response_weight,
                    square: s / (response_weight * response_weight),
                    first_is_public: false,
                }
            }
            Setting::Unscaled => {
                let geometry = Geometry::Cube { intercept_weight: 1.0, response_weight: 1.0 };
                let s = sensitivity(features, intercept, Layout::Upper, geometry) / mu;
                NoiseScales { diagonal: s, off_diagonal: s, cross: s, square: s, first_is_public: intercept }
            }
        }
    }
}

/// The sensitivity that a release of this kind states.
fn sensitivity(features: usize, intercept: bool, layout: Layout, geometry: Geometry) -> f64 {
    let neighbours = Neighbours::Substitute;
    let shape = Shape { features, intercept, response_square: true, layout, neighbours, geometry };
    shape.sensitivity(Norm::L2).value
}

fn weighted_gram(table: &Table, intercept: bool, g: f64, scale2: impl Fn(f64) -> f64) -> Statistic {
    let d = table.features;
    let first = usize::from(intercept);
    let size = d + first;
    let full = size + 1;
    let mut sums = vec![0.0; full * full];
    let mut w = vec![g; full];
    for (row, &norm2) in table.rows.chunks_exact(d + 1).zip(&table.squared_norms) {
        w[first..].copy_from_slice(row);
        let c2 = scale2(norm2);
        for i in 0..full {
            let a = c2 * w[i];
            for (sum, &b) in sums[i * full + i..(i + 1) * full].iter_mut().zip(&w[i..]) {
                *sum += a * b;
            }
        }
    }
    let entry = |i: usize, j: usize| sums[i.min(j) * full + i.max(j)];
    Statistic {
        size,
        gram: (0..size * size).map(|k| entry(k / size, k % size)).collect(),
        cross: (0..size).map(|i| entry(i, size)).collect(),
        square: entry(size, size),
    }
}

impl Statistic {
    /// Number of standard normal draws that [`Statistic::noisy`] reads.
    pub fn draws(size: usize) -> usize {
        size * (size + 1) / 2 + size + 1
    }

    /// Adds noise made of given standard normal draws, so that settings share their random numbers.
    pub fn noisy(&self, scales: &NoiseScales, draws: &[f64]) -> Statistic {
        let mut out = self.clone();
        let mut draw = draws.iter();
        let mut next = move || draw.next().copied().unwrap_or(f64::NAN);
        for i in 0..self.size {
            for j in i..self.size {
                let z = next();
                if scales.first_is_public && i == 0 && j == 0 {
                    continue;
                }
                let value = self.gram[i * self.size + j]
                    + z * if i == j { scales.diagonal } else { scales.off_diagonal };
                out.gram[i * self.size + j] = value;
                out.gram[j * self.size + i] = value;
            }
        }
        for entry in &mut out.cross {
            *entry += scales.cross * next();
        }
        out.square += scales.square * next();
        out
    }
}
