//! Uphill to a mode, by the limited-memory method of Broyden, Fletcher, Goldfarb and Shanno.

use organza_mcmc::Gradient;

use crate::linalg::dot;

/// Steps that are remembered.
const MEMORY: usize = 12;
/// Most steps; the end need not be the mode, near it is enough.
const STEPS: usize = 150;
/// A step that gains less is the last.
const LEAST_GAIN: f64 = 1e-4;

/// A remembered step: the move, the change of the downhill gradient, and 1 over their product.
struct Step {
    path: Vec<f64>,
    bend: Vec<f64>,
    inverse: f64,
}

/// Moves the point uphill until little is gained; it stays where it is if the density is not finite there.
pub(super) fn climb(target: &impl Gradient, point: &mut [f64]) {
    let mut gradient = vec![0.0; point.len()];
    let mut value = target.log_density_and_gradient(point, &mut gradient);
    let mut steps: Vec<Step> = vec![];
    for _ in 0..STEPS {
        let direction = direction(&steps, &gradient);
        let Some((next, slope, reached)) = search(target, point, value, (&direction, &gradient)) else {
            return;
        };
        let path: Vec<f64> = next.iter().zip(point.iter()).map(|(new, old)| new - old).collect();
        let bend: Vec<f64> = gradient.iter().zip(&slope).map(|(old, new)| old - new).collect();
        let product = dot(&path, &bend);
        if product > 0.0 {
            steps.push(Step { path, bend, inverse: 1.0 / product });
            if steps.len() > MEMORY {
                steps.remove(0);
            }
        }
        let gain = reached - value;
        point.copy_from_slice(&next);
        (value, gradient) = (reached, slope);
        if gain < LEAST_GAIN {
            return;
        }
    }
}

/// The remembered curvature applied to the gradient, by the usual two loops.
fn direction(steps: &[Step], gradient: &[f64]) -> Vec<f64> {
    let mut direction = gradient.to_vec();
    let add = |to: &mut [f64], factor: f64, from: &[f64]| {
        to.iter_mut().zip(from).for_each(|(sum, value)| *sum += factor * value);
    };
    let mut factors = vec![];
    for step in steps.iter().rev() {
        let factor = step.inverse * dot(&step.path, &direction);
        add(&mut direction, -factor, &step.bend);
        factors.push(factor);
    }
    let scale = match steps.last() {
        Some(step) => 1.0 / (step.inverse * dot(&step.bend, &step.bend)),
        None => 1.0 / dot(gradient, gradient).sqrt().max(1.0),
    };
    direction.iter_mut().for_each(|value| *value *= scale);
    for (step, factor) in steps.iter().zip(factors.iter().rev()) {
        let correction = factor - step.inverse * dot(&step.bend, &direction);
        add(&mut direction, correction, &step.path);
    }
    direction
}

/// Halves the step until it goes uphill by a part of what the slope promises.
fn search(
    target: &impl Gradient,
    point: &[f64],
    value: f64,
    (direction, gradient): (&[f64], &[f64]),
) -> Option<(Vec<f64>, Vec<f64>, f64)> {
    let promise = dot(direction, gradient);
    let mut slope = vec![0.0; point.len()];
    let mut length = 1.0;
    for _ in 0..30 {
        let next: Vec<f64> = point.iter().zip(direction).map(|(x, d)| x + length * d).collect();
        let reached = target.log_density_and_gradient(&next, &mut slope);
        let finite = reached.is_finite() && slope.iter().all(|entry| entry.is_finite());
        if finite && reached >= value + 1e-4 * length * promise {
            return Some((next, slope, reached));
        }
        length *= 0.5;
    }
    None
}
