//! Small dense matrices: plain loops over row-major slices, nothing is allocated inside.
//!
//! Every matrix is `size * size` numbers. Up to twelve rows plain loops do everything: without fused operations or
//! processor-dependent kernels the same input gives the same bits on every machine. Above, faer does (`large.rs`).

mod cholesky;
mod eigen;
mod large;
mod logarithm;
mod product;
mod symmetric;

pub use cholesky::inverse;
pub(crate) use cholesky::{
    Cholesky, factorise, invert_lower, log_determinant, solve_lower, solve_lower_transposed,
};
pub(crate) use eigen::EigenWorkspace;
pub use eigen::{Eigen, symmetric_eigen};
pub(crate) use logarithm::sum_of_logarithms;
pub(crate) use product::{
    congruence, dot, matrix_vector, multiply, multiply_by_transpose, quadratic_form, symmetrise,
    transpose_multiply,
};
pub(crate) use symmetric::{add_square, product, rotate, rotate_back};
