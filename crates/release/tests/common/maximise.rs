//! A randomised maximiser, blind to every formula.

use organza_release::Layout;
use organza_release::sensitivity::Shape;
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

/// The released entries of one record or row in weighted units, written down without reference to the formulas.
pub fn entries(shape: &Shape, row: &[f64]) -> Vec<f64> {
    let (x, y) = row.split_at(row.len() - 1);
    let mut out = Vec::new();
    for i in 0..x.len() {
        for j in i..x.len() {
            let weight = if i < j && shape.layout == Layout::Isometric { 2f64.sqrt() } else { 1.0 };
            out.push(weight * x[i] * x[j]);
        }
        out.push(x[i] * y[0]);
    }
    if shape.response_square {
        out.push(y[0] * y[0]);
    }
    out
}
