//! Powers of transforms, with a bound of their floating-point error.
//!
//! **Error.** With unit roundoff u, a fast transform of N points errs in every point by at most e = 10 u log2(2N) times
//! the sum of the moduli of its input (every stage multiplies and adds, and no partial sum exceeds that sum). A step has
//! masses that sum to 1, so its transform F has |F| <= a, a = |F computed| + 2 e, and its k-th power, in polar form, errs
//! by at most a^k (k e / a + 4 u k (pi + |ln a|)). The errors of a product add up. The error of every value of the inverse
//! transform is at most the mean over all points of that bound plus e times the modulus. No cancellation is assumed.

use super::atoms::Atoms;
use super::chain::Chain;
use rustfft::num_complex::Complex64;
use rustfft::{Fft, FftPlanner};
use std::f64::consts::PI;

/// A law on a circle: the value at place p belongs to the grid point p + offset, modulo the number of points.
pub(super) struct Wrapped {
    pub(super) values: Vec<f64>,
    pub(super) offset: i64,
    /// No value is wrong by more.
    pub(super) error: f64,
}

/// A product of powers at one frequency, in polar form.
#[derive(Clone, Copy, Default)]
struct Power {
    log_modulus: f64,
    angle: f64,
    log_bound: f64,
    relative_error: f64,
}

/// The law of the total loss of `chain`, tilted.
pub(super) fn tilted_law(chain: &Chain, tilt: f64, points: usize) -> Wrapped {
    let mut planner = FftPlanner::new();
    let forward = planner.plan_fft_forward(points);
    let error = 10.0 * f64::EPSILON * (1.0 + libm::log2(points as f64));
    let mut product = vec![Power::default(); points];
    let mut offset = 0;
    for (atoms, times) in &chain.parts {
        let (values, centre) = transformed(atoms, tilt, forward.as_ref());
        for (power, value) in product.iter_mut().zip(values) {
            power.multiply(value, *times, error);
        }
        offset += centre * *times as i64;
    }
    let bound: f64 = product.iter().map(|power| power.error(error)).sum();
    let mut values: Vec<Complex64> = product.into_iter().map(Power::value).collect();
    planner.plan_fft_inverse(points).process(&mut values);
    let count = points as f64;
    Wrapped { values: values.iter().map(|value| value.re / count).collect(), offset, error: bound / count }
}

/// The transform of one tilted step, moved so that its mean is near 0; and by how many grid points it was moved.
fn transformed(atoms: &Atoms, tilt: f64, forward: &dyn Fft<f64>) -> (Vec<Complex64>, i64) {
    let at = atoms.cumulants(tilt);
    let centre = (at.mean / atoms.spacing).round() as i64;
    let points = forward.len();
    let mut values = vec![Complex64::default(); points];
    for (index, mass) in atoms.mass.iter().enumerate() {
        let place = (atoms.first + index as i64 - centre).rem_euclid(points as i64) as usize;
        values[place].re += mass * libm::exp(tilt * atoms.loss(index) - at.value);
    }
    forward.process(&mut values);
    (values, centre)
}

impl Power {
    fn multiply(&mut self, value: Complex64, times: f64, error: f64) {
        let modulus = libm::hypot(value.re, value.im);
        let bound = modulus + 2.0 * error;
        let log_bound = libm::log(bound);
        self.log_modulus += times * libm::log(modulus);
        self.angle += times * libm::atan2(value.im, value.re);
        self.log_bound += times * log_bound;
        self.relative_error += times * (error / bound + 4.0 * f64::EPSILON * (PI + log_bound.abs()));
    }

    fn error(&self, of_transform: f64) -> f64 {
        libm::exp(self.log_bound) * (self.relative_error + of_transform)
    }

    fn value(self) -> Complex64 {
        let modulus = libm::exp(self.log_modulus);
        Complex64::new(modulus * libm::cos(self.angle), modulus * libm::sin(self.angle))
    }
}
