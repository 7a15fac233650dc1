//! Independent draws from the posterior of `fixed-gram`, at a cost that does not depend on the number of parties.
//!
//! **Target.** That of [`FixedGram`]. **Exactness.** ln sigma^2 is drawn from its density, interpolated by cubics between the
//! nodes and log-linearly in sixteenths of their distance (relative error of the density about 1e-5); given it, the mean
//! of theta and a triangular root of its covariance, smooth functions of ln sigma^2, are interpolated by cubics too (about 1e-6).
//! **Cost.** O(d^2) per draw: nothing is factorised.

use organza_mcmc::{ChainRng, Kernel, Stop};
use rand::RngExt;

use super::FixedGram;
use crate::random::normal;

/// The kernel of independent draws; the position is (theta, sigma^2).
#[derive(Debug, Clone, Copy, Default)]
pub struct Quadrature;

/// Pieces of the density between two nodes.
const PIECES: usize = 16;

/// What a draw needs.
#[derive(Debug, Clone)]
pub struct QuadratureState {
    pieces: Vec<Piece>,
    /// Mass up to the end of every piece.
    cumulative: Vec<f64>,
    /// For every part of the mass, as many as pieces and all alike, the first piece that it reaches.
    guide: Vec<usize>,
    /// Mean and root between the nodes.
    mean_and_root: Vec<f64>,
    position: Vec<f64>,
}

/// A density proportional to exp(slope t) on [0, 1].
#[derive(Debug, Clone, Copy)]
struct Piece {
    slope: f64,
    /// exp(slope) - 1.
    growth: f64,
}

impl Kernel<FixedGram> for Quadrature {
    type State = QuadratureState;
    type Info = ();

    fn init(&self, target: &FixedGram, _rng: &mut ChainRng) -> Result<QuadratureState, Stop> {
        let count = (target.nodes.len() - 1) * PIECES;
        let log_density: Vec<f64> = (0..=count)
            .map(|piece| target.interpolate(piece as f64 / PIECES as f64, |node| node.log_density))
            .collect();
        let (mut total, mut pieces, mut cumulative) = (0.0, vec![], vec![]);
        for ends in log_density.windows(2) {
            let piece = Piece::new(ends[1] - ends[0]);
            total += libm::exp(ends[0]) * piece.mass();
            cumulative.push(total);
            pieces.push(piece);
        }
        let start = |part: usize| total * part as f64 / count as f64;
        let guide = (0..count)
            .map(|part| cumulative.partition_point(|mass| *mass <= start(part)).min(count - 1))
            .collect();
        let (mean_and_root, position) =
            (target.nodes[0].mean_and_root.clone(), vec![0.0; target.dimension() + 1]);
        Ok(QuadratureState { pieces, cumulative, guide, mean_and_root, position })
    }

    fn step(&self, target: &FixedGram, state: &mut QuadratureState, rng: &mut ChainRng) -> Result<(), Stop> {
        let place = state.place(rng);
        let ([a, b, c, d], nodes) = target.around(place);
        let of = |node: usize| nodes[node].mean_and_root.iter();
        let values = of(0).zip(of(1)).zip(of(2)).zip(of(3));
        for (sum, (((first, second), third), fourth)) in state.mean_and_root.iter_mut().zip(values) {
            *sum = a * first + b * second + c * third + d * fourth;
        }
        let size = target.dimension();
        let (theta, variance) = state.position.split_at_mut(size);
        let (mean, mut root) = state.mean_and_root.split_at(size);
        theta.copy_from_slice(mean);
        for length in 1..=size {
            let (column, rest) = root.split_at(length);
            let noise = normal(rng);
            theta.iter_mut().zip(column).for_each(|(sum, value)| *sum += noise * value);
            root = rest;
        }
        variance[0] = libm::exp(target.first + place * target.step);
        Ok(())
    }

    fn position<'s>(&self, state: &'s QuadratureState) -> &'s [f64] {
        &state.position
    }
}

impl QuadratureState {
    /// Draws ln sigma^2, in node distances from the first node.
    fn place(&self, rng: &mut ChainRng) -> f64 {
        let (last, uniform) = (self.pieces.len() - 1, rng.random::<f64>());
        let at = uniform * self.cumulative[last];
        let mut index = self.guide[((uniform * self.guide.len() as f64) as usize).min(last)];
        while index < last && self.cumulative[index] <= at {
            index += 1;
        }
        (index as f64 + self.pieces[index].quantile(rng.random())) / PIECES as f64
    }
}

impl Piece {
    fn new(slope: f64) -> Self {
        Self { slope, growth: libm::expm1(slope) }
    }

    fn is_level(self) -> bool {
        self.slope.abs() < 1e-9
    }

    /// Integral of exp(slope t).
    fn mass(self) -> f64 {
        if self.is_level() { 1.0 } else { self.growth / self.slope }
    }

    /// Inverse of the distribution function.
    fn quantile(self, probability: f64) -> f64 {
        if self.is_level() { probability } else { libm::log1p(probability * self.growth) / self.slope }
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
    fn a_piece_has_the_mass_and_the_quantiles_of_its_exponential() {
        // Against the midpoint rule.
        for slope in [0.0, 3.0, 1e-12, -25.0] {
            let piece = Piece::new(slope);
            let steps = 100_000;
            let sum = |end: f64| -> f64 {
                let width = end / f64::from(steps);
                (0..steps).map(|k| (slope * width * (f64::from(k) + 0.5)).exp() * width).sum()
            };
            assert!((piece.mass() / sum(1.0) - 1.0).abs() < 1e-7);
            for probability in [0.01, 0.5, 0.9] {
                assert!((sum(piece.quantile(probability)) / sum(1.0) - probability).abs() < 1e-6);
            }
        }
    }
}
