//! What a target may offer to the methods that need no more than a density.

/// A density on the reals, up to a constant factor.
pub trait LogDensity {
    /// The number of coordinates.
    fn dim(&self) -> usize;

    /// The logarithm of the density at `theta`, up to a constant; minus infinity outside the support.
    fn log_density(&self, theta: &[f64]) -> f64;
}

/// A density that knows its gradient.
pub trait Gradient: LogDensity {
    /// The logarithm of the density at `theta`; its gradient is written into `gradient`.
    fn log_density_and_gradient(&self, theta: &[f64], gradient: &mut [f64]) -> f64;
}
