//! Where chains start and the frame in which they move: the mode, and the curvature there.

use organza_mcmc::{ChainRng, Gradient};

use super::lbfgs::climb;
use super::parties::{ResponseSquare, Sums};
use super::population::{Shape, shrink};
use super::{Axes, Frame, MarginalDensity};
use crate::linalg::{Cholesky, dot, invert_lower, symmetric_eigen};
use crate::noise_level::NoiseLevel;
use crate::random::fill_normal;

/// Step of the differences of gradients, in coordinates that vary by about 1.
const STEP: f64 = 1e-3;
/// The same before anything is known of the scale.
const FIRST_STEP: f64 = 1e-5;
/// How often the frame is improved at most, and the distance in standard deviations at which it is good.
const ROUNDS: usize = 6;
const NEAR: f64 = 0.3;
/// No mode is sought beyond: where noise hides a feature and its coefficient is given there may be none.
const FARTHEST: f64 = 3.0;
/// Coordinates beyond which axes are not turned: twenty-five features have about 400.
const MOST_TURNED: usize = 400;
/// Random directions from which scales are guessed there.
const PROBES: u32 = 20;
/// A coordinate does not vary by more than 1 / sqrt of this at a step.
const LEAST_CURVATURE: f64 = 0.05;

/// A point near the moments that were released, and the anchors of its scales.
pub(super) fn estimate(sums: &Sums, shape: Shape) -> (Vec<f64>, Vec<f64>) {
    let moments = moments(sums, shape);
    let (size, columns) = (shape.record(), shape.columns());
    let offset = size - columns;
    let mean: Vec<f64> =
        (0..columns).map(|k| if offset == 1 { moments[k + 1].clamp(-0.99, 0.99) } else { 0.0 }).collect();
    let mut covariance: Vec<f64> = (0..columns * columns)
        .map(|k| {
            let (row, column) = (k / columns, k % columns);
            moments[(row + offset) * size + column + offset] - mean[row] * mean[column]
        })
        .collect();
    // Means that were cut may leave a matrix that is not positive.
    let mut ridge = 1e-10;
    let root = loop {
        match Cholesky::new(&covariance, columns) {
            Ok(factor) => break factor.lower,
            Err(_) => {
                (0..columns).for_each(|k| covariance[k * columns + k] += ridge);
                ridge *= 10.0;
            }
        }
    };
    let (mut point, mut anchors) = (vec![0.0; shape.dim()], vec![0.0; columns]);
    for column in 0..columns {
        let (place, scale, regressors) = shape.places(column);
        if let Some(place) = place {
            point[place] = libm::atanh(mean[column]);
        }
        let row = &root[column * columns..column * columns + column + 1];
        (point[scale], anchors[column]) = (0.0, 0.5 * libm::log(dot(row, row)));
        let to = &mut point[regressors];
        to.iter_mut().zip(row).for_each(|(to, value)| *to = value / row[column]);
        shrink(to);
    }
    (point, anchors)
}

/// Second moments of a plain record by all parties together, with eigenvalues that are not below what noise may hide.
fn moments(sums: &Sums, shape: Shape) -> Vec<f64> {
    let size = shape.record();
    let (mut sum, mut records, mut noise) = (vec![0.0; size * size], 0.0, 0.0);
    let (mut squares, mut of_squares) = (0.0, 0.0);
    let mut add = |gram: &[f64], own: f64, variance: f64, has_square: bool| {
        sum.iter_mut().zip(gram).for_each(|(sum, value)| *sum += value);
        records += own;
        noise += variance;
        if has_square {
            squares += gram[size * size - 1];
            of_squares += own;
        }
    };
    for group in &sums.groups {
        let weight = |k: usize| group.weights[k / size] * group.weights[k % size];
        let least = (0..size).map(|k| group.weights[k]).fold(f64::INFINITY, f64::min);
        for block in &group.blocks {
            let gram: Vec<f64> = block.gram.iter().enumerate().map(|(k, value)| value / weight(k)).collect();
            let has_square = block.response != ResponseSquare::Missing;
            add(&gram, block.records, block.variance / least.powi(4), has_square);
        }
    }
    for uneven in &sums.uneven {
        let (gram, has_square) = uneven.gram(size);
        add(&gram, uneven.records, uneven.variances.iter().copied().fold(0.0, f64::max), has_square);
    }
    if records == 0.0 {
        return (0..size * size).map(|k| if k % (size + 1) == 0 { 0.1 } else { 0.0 }).collect();
    }
    sum.iter_mut().for_each(|value| *value /= records);
    if shape.constant {
        sum[0] = 1.0;
    }
    let floor = (0.5 * noise.sqrt() / records).max(1e-9);
    let last = size * size - 1;
    sum[last] = if of_squares > 0.0 { squares / of_squares } else { f64::INFINITY };
    if sum[last].is_infinite() {
        // Enough for all that the other entries may explain.
        let along: f64 =
            (0..size - 1).map(|k| sum[k * size + size - 1].powi(2) / sum[k * (size + 1)].max(floor)).sum();
        sum[last] = 2.0 * along + 0.1;
    }
    let eigen = symmetric_eigen(&sum, size);
    (0..size * size)
        .map(|k| {
            let (row, column) = (k / size, k % size);
            let part = |l: usize| eigen.values[l].max(floor) * eigen.vectors[column * size + l];
            (0..size).map(|l| eigen.vectors[row * size + l] * part(l)).sum()
        })
        .collect()
}

/// Moves the frame of a density to the mode, its axes to those of the curvature there.
pub(super) fn settle(density: &mut MarginalDensity) {
    let mut step = FIRST_STEP;
    for _ in 0..ROUNDS {
        if let Some(axes) = curvature(density, step) {
            density.frame.axes = axes;
            step = STEP;
        }
        let mut point = vec![0.0; density.frame.centre.len()];
        climb(density, &mut point);
        density.frame.centre = density.frame.point(&point);
        if density.noise != NoiseLevel::Low {
            density.frame.centre.iter_mut().for_each(|value| *value = value.clamp(-FARTHEST, FARTHEST));
        }
        if step == STEP && dot(&point, &point) < NEAR * NEAR {
            break;
        }
    }
    if let Some(axes) = curvature(density, STEP) {
        density.frame.axes = axes;
    }
}

/// Axes in which the negative second derivatives at the centre are the identity; where the density is not concave they are made
/// larger. Where noise hides something the curvature at the mode is not that elsewhere, and of many coordinates it takes too
/// long: then only scales. None where derivatives are not finite.
fn curvature(density: &MarginalDensity, step: f64) -> Option<Axes> {
    let dim = density.frame.centre.len();
    match &density.frame.axes {
        Axes::Scales(scales) if dim > MOST_TURNED => rescaled(scales, &probed_diagonal(density, step)),
        axes => {
            let second = second_derivatives(density, step);
            match axes {
                Axes::Scales(scales) if density.noise != NoiseLevel::Low => {
                    rescaled(scales, &(0..dim).map(|k| second[k * (dim + 1)]).collect::<Vec<_>>())
                }
                _ => turned(axes, second),
            }
        }
    }
}

fn rescaled(scales: &[f64], second: &[f64]) -> Option<Axes> {
    let scale = |(scale, second): (&f64, &f64)| scale / second.abs().max(LEAST_CURVATURE).sqrt();
    second
        .iter()
        .all(|value| value.is_finite())
        .then(|| Axes::Scales(scales.iter().zip(second).map(scale).collect()))
}

/// Negative second derivatives, by differences of gradients.
fn second_derivatives(density: &MarginalDensity, step: f64) -> Vec<f64> {
    let dim = density.frame.centre.len();
    let (mut second, mut direction) = (vec![0.0; dim * dim], vec![0.0; dim]);
    for k in 0..dim {
        direction[k] = 1.0;
        for (i, value) in along(density, &direction, step).into_iter().enumerate() {
            second[k * dim + i] += 0.5 * value;
            second[i * dim + k] += 0.5 * value;
        }
        direction[k] = 0.0;
    }
    second
}

/// Their diagonal, nearly: the mean of v (H v) over random signs v.
fn probed_diagonal(density: &MarginalDensity, step: f64) -> Vec<f64> {
    let dim = density.frame.centre.len();
    let (mut diagonal, mut signs) = (vec![0.0; dim], vec![0.0; dim]);
    for probe in 0..PROBES {
        fill_normal(&mut ChainRng::new(0, probe), &mut signs);
        signs.iter_mut().for_each(|value| *value = 1f64.copysign(*value));
        let image = along(density, &signs, step);
        let terms = diagonal.iter_mut().zip(signs.iter().zip(&image));
        terms.for_each(|(sum, (sign, image))| *sum += sign * image / f64::from(PROBES));
    }
    diagonal
}

/// Negative second derivatives along a direction.
fn along(density: &MarginalDensity, direction: &[f64], step: f64) -> Vec<f64> {
    let gradient = |step: f64| {
        let point: Vec<f64> = direction.iter().map(|value| step * value).collect();
        let mut gradient = vec![0.0; point.len()];
        density.log_density_and_gradient(&point, &mut gradient);
        gradient
    };
    let (up, down) = (gradient(step), gradient(-step));
    up.iter().zip(&down).map(|(up, down)| -0.5 * (up - down) / step).collect()
}

/// Axes times the inverse transposed root of the second derivatives.
fn turned(axes: &Axes, second: Vec<f64>) -> Option<Axes> {
    if second.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let dim = second.len().isqrt();
    let least = (0..dim).map(|k| second[k * dim + k]).fold(f64::INFINITY, f64::min).abs();
    let mut ridge = 0.0;
    let lower = loop {
        let mut matrix = second.clone();
        (0..dim).for_each(|k| matrix[k * dim + k] += ridge);
        match Cholesky::new(&matrix, dim) {
            Ok(factor) => break factor.lower,
            Err(_) => ridge = if ridge == 0.0 { (1e-3 * least).max(1e-3) } else { 4.0 * ridge },
        }
        if ridge > 1e12 {
            return None;
        }
    };
    let (mut inverse, mut turned) = (vec![0.0; dim * dim], vec![0.0; dim * dim]);
    invert_lower(&lower, &mut inverse, dim);
    for (k, to) in turned.iter_mut().enumerate() {
        let (row, column) = (k / dim, k % dim);
        *to = match axes {
            // The upper triangle of the inverse is zero.
            Axes::Scales(scales) => scales[row] * inverse[column * dim + row],
            Axes::Turned(basis) => dot(
                &basis[row * dim..row * dim + column + 1],
                &inverse[column * dim..column * dim + column + 1],
            ),
        };
    }
    Some(Axes::Turned(turned))
}

impl Frame {
    /// The frame at a point with unit axes.
    pub fn at(centre: Vec<f64>) -> Self {
        Self { axes: Axes::Scales(vec![1.0; centre.len()]), centre }
    }

    /// A point of the population from coordinates of the chain.
    pub fn point(&self, coordinates: &[f64]) -> Vec<f64> {
        let mut point = self.centre.clone();
        self.read(coordinates, &mut point);
        point
    }

    /// The same into a place.
    pub fn read(&self, coordinates: &[f64], point: &mut [f64]) {
        let places = point.iter_mut().zip(&self.centre);
        match &self.axes {
            Axes::Scales(scales) => {
                let scaled = scales.iter().zip(coordinates).map(|(scale, value)| scale * value);
                places.zip(scaled).for_each(|((to, centre), value)| *to = centre + value);
            }
            Axes::Turned(basis) => {
                let rows = basis.chunks_exact(self.centre.len().max(1));
                places.zip(rows).for_each(|((to, centre), row)| *to = centre + dot(row, coordinates));
            }
        }
    }

    /// A gradient with respect to the coordinates of the chain.
    pub fn pull_back(&self, slope: &[f64], gradient: &mut [f64]) {
        match &self.axes {
            Axes::Scales(scales) => {
                let scaled = scales.iter().zip(slope).map(|(scale, slope)| scale * slope);
                gradient.iter_mut().zip(scaled).for_each(|(to, value)| *to = value);
            }
            Axes::Turned(basis) => {
                gradient.fill(0.0);
                for (slope, row) in slope.iter().zip(basis.chunks_exact(self.centre.len().max(1))) {
                    gradient.iter_mut().zip(row).for_each(|(sum, value)| *sum += slope * value);
                }
            }
        }
    }
}
