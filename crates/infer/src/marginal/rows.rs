//! Rows of Z that noise hides are sampled as rows of Y = Z^-1.
//!
//! Where little but the prior is known of a direction, Z has heavy tails and its entries depend on each other; under the
//! prior the entries of Y are independent normal numbers beside chi-distributed ones on the diagonal (Bartlett's decomposition of the
//! precision matrix). Known rows come first. With \[A, C\] the hidden rows of Y and P the known block of Z:
//!
//! Z = \[\[P, 0\], \[-Q A P, Q\]\], Q = C^-1, and the Jacobian of Z with respect to (P, A, ln of the diagonal of C) is
//! prod over hidden rows i of z_ii^i prod_{j<i} z_jj.

use crate::linalg::{invert_lower, product};

/// Matrices of one evaluation, row-major, of all features.
#[derive(Debug, Clone)]
pub(super) struct Rows {
    size: usize,
    /// The known rows of Z, then the hidden rows of Y.
    pub entries: Vec<f64>,
    /// Gradient with respect to them.
    pub gradient: Vec<f64>,
    /// P, A, C and Q, each in its place of a matrix of zeros.
    known: Vec<f64>,
    mixed: Vec<f64>,
    hidden: Vec<f64>,
    inverse: Vec<f64>,
    /// Q A.
    scaled: Vec<f64>,
    scratch: [Vec<f64>; 2],
}

impl Rows {
    pub fn new(size: usize) -> Self {
        let square = vec![0.0; size * size];
        Self {
            size,
            entries: square.clone(),
            gradient: square.clone(),
            known: square.clone(),
            mixed: square.clone(),
            hidden: square.clone(),
            inverse: square.clone(),
            scaled: square.clone(),
            scratch: [square.clone(), square],
        }
    }

    /// Z of the entries.
    pub fn expand(&mut self, known: usize, triangle: &mut [f64]) {
        let size = self.size;
        if known == size {
            return triangle.copy_from_slice(&self.entries);
        }
        self.split(known);
        invert_lower(&self.hidden, &mut self.inverse, size);
        self.inverse[..known * size].fill(0.0);
        product(&self.inverse, false, &self.mixed, &mut self.scaled, size);
        product(&self.scaled, false, &self.known, triangle, size);
        triangle.iter_mut().zip(&self.inverse).for_each(|(entry, inverse)| *entry = inverse - *entry);
        triangle[..known * size].copy_from_slice(&self.known[..known * size]);
    }

    /// Copies the blocks; where the hidden block has no rows it is the identity, so that it has an inverse.
    fn split(&mut self, known: usize) {
        let size = self.size;
        for row in 0..size {
            for column in 0..size {
                let place = row * size + column;
                let value = if column <= row { self.entries[place] } else { 0.0 };
                let block = match (row < known, column < known) {
                    (true, _) => [value, 0.0, 0.0],
                    (false, true) => [0.0, value, 0.0],
                    (false, false) => [0.0, 0.0, value],
                };
                (self.known[place], self.mixed[place], self.hidden[place]) = block.into();
            }
            if row < known {
                self.hidden[row * size + row] = 1.0;
            }
        }
    }

    /// The gradient with respect to the entries from that with respect to Z, of which what is above the diagonal is not read. Call after
    /// [`expand`](Self::expand) with the same Z.
    ///
    /// With D the gradient: dA = -Q' D_21 P', dP = D_11 - (Q A)' D_21, dC = -Q' (D_22 + D_21 Z_21' C') Q'.
    pub fn pull_back(&mut self, known: usize, triangle: &[f64], of_triangle: &[f64]) {
        let size = self.size;
        self.gradient.copy_from_slice(of_triangle);
        if known == size {
            return;
        }
        // D_21 takes the place of A, which is not needed any more.
        for row in known..size {
            let from = row * size..row * size + known;
            self.mixed[from.clone()].copy_from_slice(&of_triangle[from]);
        }
        let [one, other] = &mut self.scratch;
        product(&self.scaled, true, &self.mixed, one, size);
        let upper = known * size;
        self.gradient[..upper].iter_mut().zip(one.iter()).for_each(|(sum, value)| *sum -= value);
        multiply_by_transpose(&self.mixed, &self.known, one, other, size);
        product(&self.inverse, true, one, other, size);
        for row in known..size {
            let from = row * size..row * size + known;
            let target = self.gradient[from.clone()].iter_mut().zip(&other[from]);
            target.for_each(|(entry, value)| *entry = -value);
        }
        self.pull_back_hidden(known, triangle, of_triangle);
    }

    fn pull_back_hidden(&mut self, known: usize, triangle: &[f64], of_triangle: &[f64]) {
        let size = self.size;
        let [one, other] = &mut self.scratch;
        // Z_21 alone: scaled is free now.
        self.scaled.fill(0.0);
        for row in known..size {
            let from = row * size..row * size + known;
            self.scaled[from.clone()].copy_from_slice(&triangle[from]);
        }
        multiply_by_transpose(&self.mixed, &self.scaled, one, other, size);
        self.scaled.copy_from_slice(one);
        multiply_by_transpose(&self.scaled, &self.hidden, one, other, size);
        self.scaled.fill(0.0);
        for row in known..size {
            for place in row * size + known..=row * size + row {
                self.scaled[place] = of_triangle[place] + one[place];
            }
        }
        product(&self.inverse, true, &self.scaled, one, size);
        self.scaled.copy_from_slice(one);
        multiply_by_transpose(&self.scaled, &self.inverse, one, other, size);
        for row in known..size {
            let block = row * size + known..=row * size + row;
            let target = self.gradient[block.clone()].iter_mut().zip(&one[block]);
            target.for_each(|(entry, value)| *entry = -value);
        }
    }
}

/// out = A B', by way of a transposed copy.
fn multiply_by_transpose(a: &[f64], b: &[f64], out: &mut [f64], copy: &mut [f64], size: usize) {
    for row in 0..size {
        for column in 0..size {
            copy[column * size + row] = b[row * size + column];
        }
    }
    product(a, false, copy, out, size);
}
