//! Independent draws from the posterior of `fixed-gram`, at a cost that does not depend on the number of parties.
//!
//! **Target.** That of [`FixedGram`]. **Exactness.** ln sigma^2 is drawn from its density, interpolated by cubics between the
//! nodes and log-linearly in sixteenths of their distance (relative error of the density about 1e-5); given it, the precision
//! and the shift of theta, smooth functions of ln sigma^2, are interpolated by cubics too (about 1e-6) and theta is drawn
//! exactly. **Cost.** O(d^3) per draw.

use organza_mcmc::{ChainRng, Kernel, Stop};
use rand::RngExt;

use super::FixedGram;
use crate::linalg::{factorise, solve_lower, solve_lower_transposed};
use crate::random::fill_normal;

/// The kernel of independent draws; the position is (theta, sigma^2).
#[derive(Debug, Clone, Copy, Default)]
pub struct Quadrature;

/// Pieces of the density between two nodes.
const PIECES: usize = 16;

/// What a draw needs.
#[derive(Debug, Clone)]
pub struct QuadratureState {
    /// Log density of ln sigma^2 at the ends of the pieces.
    log_density: Vec<f64>,
    /// Mass up to the end of every piece.
    cumulative: Vec<f64>,
    precision: Vec<f64>,
    noise: Vec<f64>,
    position: Vec<f64>,
}

impl Kernel<FixedGram> for Quadrature {
    type State = QuadratureState;
    type Info = ();

    fn init(&self, target: &FixedGram, _rng: &mut ChainRng) -> Result<QuadratureState, Stop> {
        let size = target.dimension();
        let pieces = (target.nodes.len() - 1) * PIECES;
        let log_density: Vec<f64> = (0..=pieces)
            .map(|piece| target.interpolate(piece as f64 / PIECES as f64, |node| node.log_density))
            .collect();
        let mut total = 0.0;
        let cumulative = log_density
            .windows(2)
            .map(|ends| {
                total += mass(ends[0], ends[1]);
                total
            })
            .collect();
        let (precision, noise, position) = (vec![0.0; size * size], vec![0.0; size], vec![0.0; size + 1]);
        Ok(QuadratureState { log_density, cumulative, precision, noise, position })
    }

    fn step(&self, target: &FixedGram, state: &mut QuadratureState, rng: &mut ChainRng) -> Result<(), Stop> {
        let place = state.place(rng);
        let size = target.dimension();
        let (weights, nodes) = target.around(place);
        let (theta, _) = state.position.split_at_mut(size);
        state.precision.fill(0.0);
        theta.fill(0.0);
        for (weight, node) in weights.iter().zip(nodes) {
            let add = |sums: &mut [f64], values: &[f64]| {
                sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += weight * value);
            };
            add(&mut state.precision, &node.conditional.precision);
            add(theta, &node.conditional.shift);
        }
        factorise(&mut state.precision, size).map_err(|row| {
            Stop::numerical(format!("the precision of the coefficients is not positive definite (row {row})"))
        })?;
        fill_normal(rng, &mut state.noise);
        let theta = &mut state.position[..size];
        // L L' theta = shift + L noise has mean P^-1 shift and covariance P^-1.
        solve_lower(&state.precision, theta);
        theta.iter_mut().zip(&state.noise).for_each(|(value, noise)| *value += noise);
        solve_lower_transposed(&state.precision, theta);
        state.position[size] = libm::exp(target.first + place * target.step);
        Ok(())
    }

    fn position<'s>(&self, state: &'s QuadratureState) -> &'s [f64] {
        &state.position
    }
}

impl QuadratureState {
    /// Draws ln sigma^2, in node distances from the first node.
    fn place(&self, rng: &mut ChainRng) -> f64 {
        let total = self.cumulative[self.cumulative.len() - 1];
        let at = rng.random::<f64>() * total;
        let piece = self.cumulative.partition_point(|mass| *mass <= at).min(self.cumulative.len() - 1);
        let slope = self.log_density[piece + 1] - self.log_density[piece];
        let inside: f64 = rng.random();
        // Inverse of the distribution function of a density proportional to exp(slope t) on [0, 1].
        let share = match slope.abs() < 1e-9 {
            true => inside,
            false => libm::log1p(inside * libm::expm1(slope)) / slope,
        };
        (piece as f64 + share) / PIECES as f64
    }
}

/// Integral over [0, 1] of the exponential of the line from `left` to `right`.
fn mass(left: f64, right: f64) -> f64 {
    let slope = right - left;
    match slope.abs() < 1e-9 {
        true => libm::exp(left),
        false => libm::exp(left) * libm::expm1(slope) / slope,
    }
}

impl FixedGram {
    /// Weights of the cubic through the four nodes around a place (in node distances from the first), and these nodes.
    fn around(&self, place: f64) -> ([f64; 4], &[super::Node]) {
        let start = (place as usize).clamp(1, self.nodes.len() - 3) - 1;
        let t = place - start as f64;
        let (a, b, c) = (t - 1.0, t - 2.0, t - 3.0);
        let weights = [-a * b * c / 6.0, t * b * c / 2.0, -t * a * c / 2.0, t * a * b / 6.0];
        (weights, &self.nodes[start..start + 4])
    }

    /// The cubic itself.
    fn interpolate(&self, place: f64, of: impl Fn(&super::Node) -> f64) -> f64 {
        let (weights, nodes) = self.around(place);
        weights.iter().zip(nodes).map(|(weight, node)| weight * of(node)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_has_the_mass_of_its_exponential() {
        // Against the midpoint rule.
        for (left, right) in [(0.0, 0.0), (-1.0, 2.0), (0.3, 0.3 + 1e-12), (5.0, -20.0)] {
            let steps = 100_000;
            let sum: f64 =
                (0..steps).map(|k| (left + (right - left) * (k as f64 + 0.5) / steps as f64).exp()).sum();
            assert!((mass(left, right) / (sum / steps as f64) - 1.0).abs() < 1e-7);
        }
    }
}
