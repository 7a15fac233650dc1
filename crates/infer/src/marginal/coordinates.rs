//! From a point of the reals to the parameters, and gradients back.
//!
//! Features x have second moments S = F F' with F = B Z: B is a fixed square root of an estimate of S, Z lower triangular with a
//! positive diagonal, whose logarithm is sampled; rows of Z that noise hides are sampled as rows of its inverse. With a constant among
//! the features the first row of Z is (1, 0, ..), and that of B; the first column of F is then the mean (1, mu), and the rest of it
//! a root of Sigma_x. Then (theta, ln sigma^2) = centre + U a + V z, with z the coordinates of Z: the noise on X'X moves what is known of S and of
//! theta together, and without V every path would have to follow that. So 0 is the estimate, and every coordinate
//! varies by about 1. Tails of ln sigma^2 and of the logarithms on the diagonal are bent ([`super::bend`]).
//!
//! Order of the coordinates: a, then Z row by row.

use super::bend::Bend;
use super::frame::Frame;
use super::rows::Rows;
use crate::linalg::{add_square, dot, matrix_vector, product, symmetrise};

/// The map; all matrices are row-major.
#[derive(Debug, Clone)]
pub(super) struct Coordinates {
    frame: Frame,
    /// Whether the first feature is the constant 1.
    constant: bool,
}

/// Parameters at a point and what the gradient needs; matrices of all features unless said otherwise.
#[derive(Debug, Clone)]
pub(super) struct Parameters {
    /// Coefficients.
    pub theta: Vec<f64>,
    /// ln sigma^2.
    pub log_variance: f64,
    /// sigma^2.
    pub variance: f64,
    /// ln du/dt of all bends.
    pub log_slope: f64,
    bend: Bend,
    /// Of the diagonal of Z.
    bends: Vec<Bend>,
    /// Z.
    pub triangle: Vec<f64>,
    /// F.
    pub factor: Vec<f64>,
    /// S.
    pub second: Vec<f64>,
    /// E w w' of a plain record w = (x, y).
    pub moments: Vec<f64>,
    /// Gradient with respect to theta.
    pub theta_gradient: Vec<f64>,
    /// Gradient with respect to ln sigma^2.
    pub log_variance_gradient: f64,
    /// Gradient with respect to Z; above the diagonal it means nothing.
    pub triangle_gradient: Vec<f64>,
    rows: Rows,
    cross: Vec<f64>,
    scratch: Vec<f64>,
}

impl Parameters {
    pub fn new(size: usize) -> Self {
        let (square, line) = (vec![0.0; size * size], vec![0.0; size]);
        Self {
            theta: line.clone(),
            log_variance: 0.0,
            variance: 1.0,
            log_slope: 0.0,
            bend: Bend::below(0.0, 2.0),
            bends: vec![Bend::below(0.0, 1.0); size],
            triangle: square.clone(),
            factor: square.clone(),
            second: square.clone(),
            moments: vec![0.0; (size + 1) * (size + 1)],
            theta_gradient: line.clone(),
            log_variance_gradient: 0.0,
            triangle_gradient: square.clone(),
            rows: Rows::new(size),
            cross: line,
            scratch: square,
        }
    }
}

impl Coordinates {
    pub fn new(frame: Frame, constant: bool) -> Self {
        Self { frame, constant }
    }

    pub fn frame(&self) -> &Frame {
        &self.frame
    }

    /// Features, the constant included.
    fn size(&self) -> usize {
        self.frame.centre.len() - 1
    }

    /// Numbers of a point.
    pub fn dim(&self) -> usize {
        let size = self.size();
        size + 1 + size * (size + 1) / 2 - usize::from(self.constant)
    }

    /// The places of Z that are sampled, in order.
    fn places(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let first = usize::from(self.constant);
        (first..self.size()).flat_map(|row| (0..=row).map(move |column| (row, column)))
    }

    /// Fills in theta, sigma^2 and F.
    pub fn read(&self, point: &[f64], to: &mut Parameters) {
        let (size, frame) = (self.size(), &self.frame);
        let (regression, rest) = point.split_at(size + 1);
        let shift = |k: usize| {
            let own = dot(&frame.spread[k * (size + 1)..][..=size], regression);
            let follows = frame.follow.get(k * rest.len()..(k + 1) * rest.len());
            own + follows.map_or(0.0, |row| dot(row, rest))
        };
        (0..size).for_each(|k| to.theta[k] = frame.centre[k] + shift(k));
        let bend = if frame.bent_above { Bend::both } else { Bend::below };
        to.bend = bend(shift(size), 2.0);
        to.log_slope = to.bend.log_slope;
        to.log_variance = frame.centre[size] + to.bend.value;
        to.variance = libm::exp(to.log_variance);
        to.rows.entries[0] = 1.0;
        for (value, (row, column)) in rest.iter().zip(self.places()) {
            let place = row * size + column;
            let scaled = frame.scales[place] * value;
            let sign = if row < frame.known { 1.0 } else { -1.0 };
            to.rows.entries[place] = if row == column {
                to.bends[row] = Bend::below(scaled, 1.0);
                to.log_slope += to.bends[row].log_slope;
                libm::exp(sign * to.bends[row].value)
            } else {
                sign * scaled
            };
        }
        to.rows.expand(frame.known, &mut to.triangle);
        product(&frame.basis, false, &to.triangle, &mut to.factor, size);
    }

    /// Fills in the second moments as well: \[\[S, S theta\], \[theta' S, sigma^2 + theta' S theta\]\].
    pub fn second_moments(&self, to: &mut Parameters) {
        let size = self.size();
        to.second.fill(0.0);
        add_square(1.0, &to.factor, &mut to.second, size);
        symmetrise(&mut to.second, size);
        matrix_vector(&to.second, &to.theta, &mut to.cross);
        for row in 0..size {
            let moments = &mut to.moments[row * (size + 1)..(row + 1) * (size + 1)];
            moments[..size].copy_from_slice(&to.second[row * size..(row + 1) * size]);
            moments[size] = to.cross[row];
        }
        let last = &mut to.moments[size * (size + 1)..];
        last[..size].copy_from_slice(&to.cross);
        last[size] = to.variance + dot(&to.cross, &to.theta);
    }

    /// Sets the gradients with respect to theta, ln sigma^2 and Z from that with respect to the second moments (symmetric).
    pub fn pull_back(&self, moments_gradient: &[f64], to: &mut Parameters) {
        let size = self.size();
        let (of_response, full) = (moments_gradient[size * (size + 1) + size], size + 1);
        let of_cross = &moments_gradient[size * full..size * full + size];
        // d/d theta = 2 S (c + g theta), with c and g the gradients with respect to S theta and to the last entry.
        for ((value, cross), theta) in to.cross.iter_mut().zip(of_cross).zip(&to.theta) {
            *value = 2.0 * (cross + of_response * theta);
        }
        matrix_vector(&to.second, &to.cross, &mut to.theta_gradient);
        to.log_variance_gradient = of_response * to.variance;
        // d/dS = G + c theta' + theta c' + g theta theta', and d/dF = 2 (d/dS) F, d/dZ = B' d/dF.
        for row in 0..size {
            for column in 0..size {
                let outer = of_cross[row] * to.theta[column]
                    + to.theta[row] * (of_cross[column] + of_response * to.theta[column]);
                to.second[row * size + column] = 2.0 * (moments_gradient[row * full + column] + outer);
            }
        }
        product(&to.second, false, &to.factor, &mut to.scratch, size);
        product(&self.frame.basis, true, &to.scratch, &mut to.triangle_gradient, size);
    }

    /// Writes the gradient with respect to the point, that of the bends' Jacobians included; all other Jacobians are part of the prior.
    pub fn write_gradient(&self, from: &mut Parameters, gradient: &mut [f64]) {
        let (size, frame) = (self.size(), &self.frame);
        from.rows.pull_back(frame.known, &from.triangle, &from.triangle_gradient);
        let (regression, rest) = gradient.split_at_mut(size + 1);
        for (slope, (row, column)) in rest.iter_mut().zip(self.places()) {
            let place = row * size + column;
            let sign = if row < frame.known { 1.0 } else { -1.0 };
            let signed = sign * from.rows.gradient[place];
            *slope = frame.scales[place]
                * if row == column {
                    from.bends[row].pull_back(from.rows.entries[place] * signed)
                } else {
                    signed
                };
        }
        regression.fill(0.0);
        for k in 0..=size {
            let slope = if k < size {
                from.theta_gradient[k]
            } else {
                from.bend.pull_back(from.log_variance_gradient)
            };
            let add = |sums: &mut [f64], row: &[f64]| {
                sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += slope * value);
            };
            add(regression, &frame.spread[k * (size + 1)..][..=size]);
            if !frame.follow.is_empty() {
                add(rest, &frame.follow[k * rest.len()..(k + 1) * rest.len()]);
            }
        }
    }

    /// Variance of x'theta over the population. With an intercept, scaled or not, what the constant explains is left out:
    /// theta' S theta - (S_0 theta)^2 / S_00.
    pub fn explained_variance(&self, from: &Parameters, intercept: bool) -> f64 {
        let (size, first) = (self.size(), &from.factor[..self.size()]);
        let (mut square, mut along) = (0.0, 0.0);
        for (column, root) in first.iter().enumerate() {
            let image: f64 = (0..size).map(|k| from.factor[k * size + column] * from.theta[k]).sum();
            square += image * image;
            along += image * root;
        }
        if intercept { (square - along * along / dot(first, first)).max(0.0) } else { square }
    }
}
