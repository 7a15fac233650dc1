//! A randomised maximiser, blind to every formula.

use rand::rngs::ChaCha8Rng;
use rand::{Rng, RngExt};

/// Random restarts of a one-point evolution strategy with the one-fifth success rule.
pub fn largest(objective: &dyn Fn(&[f64]) -> f64, dimension: usize, reach: f64, rng: &mut ChaCha8Rng) -> f64 {
    let mut best = 0.0f64;
    for restart in 0..16 {
        let mut point: Vec<f64> = (0..dimension).map(|_| rng.random_range(-reach..reach)).collect();
        if restart % 2 == 0 {
            point.iter_mut().for_each(|value| *value = reach * value.signum());
        }
        best = best.max(climb(objective, point, rng));
    }
    best
}

fn climb(objective: &dyn Fn(&[f64]) -> f64, mut point: Vec<f64>, rng: &mut impl Rng) -> f64 {
    let mut value = objective(&point);
    let mut step = 0.5;
    for _ in 0..3_000 {
        let coordinate = rng.random_range(0..point.len());
        let everywhere = rng.random_bool(0.5);
        let proposal: Vec<f64> = (0..point.len())
            .map(|i| {
                let moves = everywhere || i == coordinate;
                point[i] + if moves { step * rng.random_range(-1.0..1.0) } else { 0.0 }
            })
            .collect();
        let proposed = objective(&proposal);
        if proposed >= value {
            step = if proposed > value { step * 1.6 } else { step };
            (point, value) = (proposal, proposed);
        } else {
            step *= 0.97;
        }
        step = step.clamp(1e-10, 1.0);
    }
    value
}
