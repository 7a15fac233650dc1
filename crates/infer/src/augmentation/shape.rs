//! The proposal of a block of coordinates: its shape and size are learnt in warm-up.

use std::ops::Range;

use organza_mcmc::ChainRng;

use crate::adaptation::StepSize;
use crate::linalg::factorise;
use crate::random::normal;

/// Steps of the first window of warm-up; each later one is twice as long as the one before it.
const FIRST_WINDOW: u32 = 50;
/// The covariance of a window counts against its own diagonal as this many steps.
const SHRINKAGE: f64 = 10.0;

/// A random walk of some coordinates: normal steps with the covariance that the chain had in the last complete window of warm-up.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct BlockWalk {
    pub range: Range<usize>,
    step: StepSize,
    /// Lower factor of the covariance.
    lower: Vec<f64>,
    /// Mean and scatter of the window, and its steps so far and in all.
    mean: Vec<f64>,
    scatter: Vec<f64>,
    seen: u32,
    window: u32,
}

impl BlockWalk {
    pub fn new(range: Range<usize>) -> Self {
        let size = range.len();
        let (mut lower, scatter) = (vec![0.0; size * size], vec![0.0; size * size]);
        (0..size).for_each(|k| lower[k * size + k] = 0.1);
        let (step, mean) = (first_step(size), vec![0.0; size]);
        Self { range, step, lower, mean, scatter, seen: 0, window: FIRST_WINDOW }
    }

    /// Adds a step of the walk to the coordinates of the block.
    pub fn propose(&self, coordinates: &mut [f64], rng: &mut ChainRng) {
        let (size, scale) = (self.range.len(), self.step.size());
        let block = &mut coordinates[self.range.clone()];
        for column in 0..size {
            let noise = scale * normal(rng);
            for (value, factors) in block.iter_mut().zip(self.lower.chunks_exact(size)).skip(column) {
                *value += noise * factors[column];
            }
        }
    }

    /// Learns from the probability with which a step was accepted.
    pub fn learn(&mut self, acceptance: f64) {
        self.step.learn(acceptance);
    }

    /// Learns from where the chain is.
    pub fn observe(&mut self, coordinates: &[f64]) {
        let (size, block) = (self.range.len(), &coordinates[self.range.clone()]);
        self.seen += 1;
        let share = 1.0 / f64::from(self.seen);
        // Welford: the change from the old mean times the distance to the new one.
        for (row, scatter) in self.scatter.chunks_exact_mut(size).enumerate() {
            let change = block[row] - self.mean[row];
            self.mean[row] += share * change;
            let distances = block.iter().zip(&self.mean).map(|(value, mean)| value - mean);
            scatter[..=row].iter_mut().zip(distances).for_each(|(sum, distance)| *sum += change * distance);
        }
        if self.seen == self.window {
            self.settle();
        }
    }

    /// Takes the covariance of the window for the shape, if it is one, and begins the next window.
    fn settle(&mut self) {
        let (size, count) = (self.range.len(), f64::from(self.seen));
        for row in 0..size {
            for column in 0..row {
                self.scatter[row * size + column] *= count / (count + SHRINKAGE);
            }
        }
        self.scatter.iter_mut().for_each(|value| *value /= count);
        if factorise(&mut self.scatter, size).is_ok() {
            self.lower.copy_from_slice(&self.scatter);
            self.step = first_step(size);
        }
        self.scatter.fill(0.0);
        self.mean.fill(0.0);
        (self.seen, self.window) = (0, self.window.saturating_mul(2));
    }
}

/// 2.38/sqrt(size) is the best size for a normal target, with these rates of acceptance.
fn first_step(size: usize) -> StepSize {
    let target = match size {
        1 => 0.44,
        2 => 0.35,
        3 => 0.30,
        _ => 0.25,
    };
    StepSize::new(2.38 / (size as f64).sqrt(), target)
}
