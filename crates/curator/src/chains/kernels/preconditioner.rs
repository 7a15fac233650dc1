//! The mass matrix, written as the factor of its inverse.
//!
//! With M^-1 = F F' a momentum p ~ N(0, M) is F'^-1 z with z ~ N(0, I), the velocity M^-1 p is F z, and a momentum update p + s g is
//! z + s F' g. So chains keep z, whose kinetic energy is |z|^2 / 2, and F is all that is needed. The same F shapes the steps of a random walk.

/// A factor F of the inverse of a mass matrix.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub enum Preconditioner {
    /// The identity.
    #[default]
    Identity,
    /// A diagonal: the scales of the coordinates.
    Diagonal(Vec<f64>),
    /// A lower triangle in full storage, row after row: the Cholesky factor of an estimate of the posterior covariance.
    Lower(Vec<f64>),
}

impl Preconditioner {
    /// out = F z.
    pub(super) fn forward(&self, z: &[f64], out: &mut [f64]) {
        match self {
            Self::Identity => out.copy_from_slice(z),
            Self::Diagonal(scales) => {
                out.iter_mut().zip(z).zip(scales).for_each(|((out, z), scale)| *out = scale * z);
            }
            Self::Lower(factor) => {
                for (row, (out, values)) in out.iter_mut().zip(factor.chunks_exact(z.len())).enumerate() {
                    *out = values[..=row].iter().zip(z).map(|(value, z)| value * z).sum();
                }
            }
        }
    }

    /// out = F' g.
    pub(super) fn backward(&self, g: &[f64], out: &mut [f64]) {
        match self {
            Self::Lower(factor) => {
                out.fill(0.0);
                for (row, (g, values)) in g.iter().zip(factor.chunks_exact(g.len())).enumerate() {
                    out.iter_mut().zip(&values[..=row]).for_each(|(out, value)| *out += value * g);
                }
            }
            symmetric => symmetric.forward(g, out),
        }
    }
}
