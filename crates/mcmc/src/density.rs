//! What a target may offer to the methods that need no more than a density.

use std::sync::Arc;

use rand::RngExt;

use crate::ChainRng;

/// Steps of the differences, for coordinates around 1. The first is for smooth densities, where rounding is
/// the larger error; the others are for densities that bend within a step.
const DIFFERENCE_STEPS: [f64; 4] = [1e-2, 1e-3, 1e-4, 1e-5];

/// A density on the reals, up to a constant factor.
pub trait LogDensity {
    /// The number of coordinates.
    fn dim(&self) -> usize;

    /// The logarithm of the density at `theta`, up to a constant; minus infinity outside the support.
    fn log_density(&self, theta: &[f64]) -> f64;

    /// Writes a point to start a chain from; methods ask again if the density there is not finite.
    ///
    /// The default is uniform on (-2, 2) in every coordinate, as in Stan. Another start should depend on
    /// `rng` too: chains that start at the same point cannot show that they disagree.
    fn start(&self, rng: &mut ChainRng, point: &mut [f64]) {
        point.iter_mut().for_each(|value| *value = 4.0 * rng.random::<f64>() - 2.0);
    }
}

/// A density that knows its gradient.
///
/// Methods that follow the gradient walk on all of the reals, so a target takes logarithms of what is
/// positive, and adds the logarithm of the Jacobian to its density. What is stored as a draw may be something
/// else: [`write_outputs`](Self::write_outputs) takes the logarithms back.
pub trait Gradient: LogDensity {
    /// The logarithm of the density at `theta`; its gradient is written into `gradient`.
    fn log_density_and_gradient(&self, theta: &[f64], gradient: &mut [f64]) -> f64;

    /// The number of values of a draw; by default the number of coordinates.
    fn outputs(&self) -> usize {
        self.dim()
    }

    /// Writes the values of the draw at `point` into `outputs`; by default the coordinates themselves.
    ///
    /// A target that integrates variables out of its density draws them here, given the point, from the generator of the chain.
    fn write_outputs(&self, point: &[f64], _rng: &mut ChainRng, outputs: &mut [f64]) {
        outputs.copy_from_slice(point);
    }
}

/// A pointer to a target is the target: kernels that keep the target in their state take a cheap clone.
macro_rules! forward {
    ($($pointer:ty),*) => {$(
        impl<T: LogDensity + ?Sized> LogDensity for $pointer {
            fn dim(&self) -> usize {
                (**self).dim()
            }

            fn log_density(&self, theta: &[f64]) -> f64 {
                (**self).log_density(theta)
            }

            fn start(&self, rng: &mut ChainRng, point: &mut [f64]) {
                (**self).start(rng, point);
            }
        }

        impl<T: Gradient + ?Sized> Gradient for $pointer {
            fn log_density_and_gradient(&self, theta: &[f64], gradient: &mut [f64]) -> f64 {
                (**self).log_density_and_gradient(theta, gradient)
            }

            fn outputs(&self) -> usize {
                (**self).outputs()
            }

            fn write_outputs(&self, point: &[f64], rng: &mut ChainRng, outputs: &mut [f64]) {
                (**self).write_outputs(point, rng, outputs);
            }
        }
    )*};
}

forward!(&T, Arc<T>);

/// How wrong a gradient is at a point: the largest relative error against central differences of fourth
/// order, over all coordinates; also that of the log density that comes with it.
///
/// For a right gradient this is about 1e-8 or less, for a wrong one about 1. Each coordinate is compared with
/// its own size, but at least with a thousandth of the largest coordinate. Take a point away from the mode,
/// where the gradient is not zero. Infinite if a value is not finite.
///
/// ```
/// # use organza_mcmc::{Gradient, LogDensity, gradient_error};
/// struct Normal { sign: f64 }
/// impl LogDensity for Normal {
///     fn dim(&self) -> usize { 1 }
///     fn log_density(&self, theta: &[f64]) -> f64 { -0.5 * theta[0] * theta[0] }
/// }
/// impl Gradient for Normal {
///     fn log_density_and_gradient(&self, theta: &[f64], gradient: &mut [f64]) -> f64 {
///         gradient[0] = self.sign * theta[0];
///         self.log_density(theta)
///     }
/// }
/// assert!(gradient_error(&Normal { sign: -1.0 }, &[0.7]) < 1e-9);
/// assert!(gradient_error(&Normal { sign: 1.0 }, &[0.7]) > 1.0);
/// ```
pub fn gradient_error(target: &(impl Gradient + ?Sized), point: &[f64]) -> f64 {
    let mut gradient = vec![f64::NAN; point.len()];
    let value = target.log_density_and_gradient(point, &mut gradient);
    let expected = target.log_density(point);
    let largest = gradient.iter().fold(0.0, |largest: f64, entry| largest.max(entry.abs()));
    let mut worst = relative(value, expected, 1.0);
    let mut moved = point.to_vec();
    for (place, entry) in gradient.iter().enumerate() {
        let error = DIFFERENCE_STEPS
            .iter()
            .map(|step| relative(*entry, slope(target, &mut moved, place, *step), 1e-3 * largest))
            .fold(f64::INFINITY, f64::min);
        worst = worst.max(error);
    }
    worst
}

/// The slope in one coordinate: (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12 h.
fn slope(target: &(impl Gradient + ?Sized), point: &mut [f64], place: usize, step: f64) -> f64 {
    let centre = point[place];
    let h = step * centre.abs().max(1.0);
    let mut at = |distance: f64| {
        point[place] = centre + distance;
        let value = target.log_density(point);
        point[place] = centre;
        value
    };
    (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h)
}

/// The difference, relative to the larger of both and the least size; infinite if one is not finite.
fn relative(one: f64, other: f64, least: f64) -> f64 {
    let difference = (one - other).abs();
    match difference {
        0.0 => 0.0,
        _ if difference.is_finite() => difference / one.abs().max(other.abs()).max(least),
        _ => f64::INFINITY,
    }
}
