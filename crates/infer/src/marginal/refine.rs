//! A better frame: at the mode of the density, with the curvature there.

use organza_mcmc::{Gradient, LogDensity};

use super::MarginalDensity;
use super::climb::climb;
use super::coordinates::Parameters;
use super::estimate::{scales, transposed_inverse};
use super::frame::Frame;
use super::pooled::Pooled;
use super::root::Root;
use crate::linalg::{Cholesky, dot, multiply, solve_lower, solve_lower_transposed};
use crate::prior::FeaturePrior;

/// Step of the differences of gradients, for coordinates that vary by about 1.
const STEP: f64 = 1e-3;

/// The frame whose centre is near the mode.
pub(super) fn at_mode(density: &MarginalDensity, pooled: &Pooled, features: &FeaturePrior) -> Frame {
    let (size, q) = (density.coefficients, features.dimension());
    let offset = size - q;
    let mut point = vec![0.0; density.dim()];
    climb(density, &mut point);
    let mut mode = Parameters::new(size);
    density.coordinates.read(&point, &mut mode);
    let mut centre = mode.theta.clone();
    centre.push(mode.log_variance);
    let factor = (0..q).map(|k| &mode.factor[(k + offset) * size + offset..][..q]);
    let Root { basis: block, inverse, .. } =
        Root::at(&factor.flatten().copied().collect::<Vec<_>>(), &pooled.noise[offset..offset + q]);
    let mut basis = mode.factor;
    for (k, row) in block.chunks_exact(q.max(1)).enumerate() {
        basis[(k + offset) * size + offset..][..q].copy_from_slice(row);
    }
    let (scales, known) = scales(pooled, features, &inverse, offset);
    let Frame { spread, bent_above, .. } = density.coordinates.frame().clone();
    Frame { centre, spread, follow: vec![], basis, inverse, scales, known, bent_above }
}

/// The frame in which, by the curvature at the centre, the coordinates a are independent of each other and of those of Z. With
/// P the negative second derivatives in a and Q the mixed ones, a given z has mean P^-1 Q z and precision P.
///
/// The old frame is kept if the density is not concave in a.
pub(super) fn decouple(density: &MarginalDensity) -> Frame {
    let (size, rest) = (density.coefficients + 1, density.dim() - density.coefficients - 1);
    let frame = density.coordinates.frame();
    let (precision, mixed) = curvature(density);
    let Ok(Cholesky { lower, .. }) = Cholesky::new(&precision, size) else { return frame.clone() };
    // U <- U L^-T and V = U P^-1 Q.
    let mut spread = vec![0.0; size * size];
    multiply(&frame.spread, &transposed_inverse(&lower, size), &mut spread, size);
    let (mut column, mut follow) = (vec![0.0; size], vec![0.0; size * rest]);
    for i in 0..rest {
        (0..size).for_each(|k| column[k] = mixed[k * rest + i]);
        solve_lower(&lower, &mut column);
        solve_lower_transposed(&lower, &mut column);
        for k in 0..size {
            follow[k * rest + i] = dot(&frame.spread[k * size..(k + 1) * size], &column);
        }
    }
    if spread.iter().chain(&follow).all(|value| value.is_finite()) {
        return Frame { spread, follow, ..frame.clone() };
    }
    frame.clone()
}

/// P and Q, by differences of gradients.
fn curvature(density: &MarginalDensity) -> (Vec<f64>, Vec<f64>) {
    let (size, dim) = (density.coefficients + 1, density.dim());
    let rest = dim - size;
    let (mut precision, mut mixed) = (vec![0.0; size * size], vec![0.0; size * rest]);
    let (mut point, mut up, mut down) = (vec![0.0; dim], vec![0.0; dim], vec![0.0; dim]);
    for k in 0..size {
        point[k] = STEP;
        density.log_density_and_gradient(&point, &mut up);
        point[k] = -STEP;
        density.log_density_and_gradient(&point, &mut down);
        point[k] = 0.0;
        let second = |i: usize| (up[i] - down[i]) / (2.0 * STEP);
        for i in 0..size {
            precision[k * size + i] -= 0.5 * second(i);
            precision[i * size + k] -= 0.5 * second(i);
        }
        (0..rest).for_each(|i| mixed[k * rest + i] = second(size + i));
    }
    (precision, mixed)
}
