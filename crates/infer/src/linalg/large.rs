//! Kernels of faer, for matrices of more than [`LARGEST_FOR_LOOPS`] rows.
//!
//! They use the widest vector instructions that the processor has, so their last bits depend on it. Measured against plain loops on
//! one core with AVX-512, at 20, 50, 100 and 231 rows: Cholesky factors 2, 2, 9 and 12 times as fast, products 7, 8, 8 and 9 times,
//! eigenvectors 1.2, 2.4, 5 and 8 times. Up to 12 rows loops are as fast for eigenvectors and give the same bits on every machine.

use std::mem::MaybeUninit;

use faer::diag::DiagMut;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{LltError, cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::linalg::triangular_inverse;
use faer::{MatMut, MatRef, Par};

/// The largest size for which plain loops are used.
pub(super) const LARGEST_FOR_LOOPS: usize = 12;
/// Bytes on the stack for a factor: enough for some 2,000 rows, so that nothing is allocated.
const SCRATCH: usize = 16 * 1024;

pub(super) fn view(matrix: &[f64], size: usize) -> MatRef<'_, f64> {
    MatRef::from_row_major_slice(matrix, size, size)
}

pub(super) fn view_mut(matrix: &mut [f64], size: usize) -> MatMut<'_, f64> {
    MatMut::from_row_major_slice_mut(matrix, size, size)
}

/// Like [`super::factorise`].
pub(super) fn factorise(matrix: &mut [f64], size: usize) -> Result<(), usize> {
    // Columns are what the kernel wants to have in one piece: it gets the upper triangle for a lower one.
    mirror(matrix, size);
    let mut memory = [MaybeUninit::uninit(); SCRATCH];
    let needed = cholesky_in_place_scratch::<f64>(size, Par::Seq, Default::default());
    let mut more = (needed.unaligned_bytes_required() > SCRATCH).then(|| MemBuffer::new(needed));
    let stack = match &mut more {
        Some(buffer) => MemStack::new(buffer),
        None => MemStack::new(&mut memory),
    };
    let columns = MatMut::from_column_major_slice_mut(matrix, size, size);
    let done = cholesky_in_place(columns, Default::default(), Par::Seq, stack, Default::default());
    done.map_err(|LltError::NonPositivePivot { index }| index)?;
    for row in 0..size {
        for column in 0..row {
            matrix[row * size + column] = std::mem::take(&mut matrix[column * size + row]);
        }
    }
    let unusable = (0..size).find(|row| !matrix[row * size + row].is_finite());
    unusable.map_or(Ok(()), Err)
}

/// Copies the lower triangle onto the upper one.
fn mirror(matrix: &mut [f64], size: usize) {
    for row in 0..size {
        for column in 0..row {
            matrix[column * size + row] = matrix[row * size + column];
        }
    }
}

/// Like [`super::invert_lower`].
pub(super) fn invert_lower(lower: &[f64], inverse: &mut [f64], size: usize) {
    inverse[..size * size].fill(0.0);
    triangular_inverse::invert_lower_triangular(view_mut(inverse, size), view(lower, size), Par::Seq);
}

/// Memory for [`decompose`], in bytes.
pub(super) fn eigen_scratch(size: usize) -> usize {
    let vectors = ComputeEigenvectors::Yes;
    self_adjoint_evd_scratch::<f64>(size, vectors, Par::Seq, Default::default()).unaligned_bytes_required()
}

/// Eigenvalues, and eigenvectors as rows; only the upper triangle is read. False for numbers that are not finite.
pub(super) fn decompose(
    matrix: &[f64],
    values: &mut [f64],
    rows: &mut [f64],
    scratch: &mut [MaybeUninit<u8>],
) -> bool {
    let size = values.len();
    let columns = MatRef::from_column_major_slice(matrix, size, size);
    let vectors = MatMut::from_column_major_slice_mut(rows, size, size);
    let (diagonal, stack) = (DiagMut::from_slice_mut(values), MemStack::new(scratch));
    let done = self_adjoint_evd(columns, diagonal, Some(vectors), Par::Seq, stack, Default::default());
    done.is_ok() && values.iter().all(|value| value.is_finite())
}
