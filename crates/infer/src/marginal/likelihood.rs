//! The density of the noisy Gram matrices given the second moments of a record, and its gradient.
//!
//! | symbol | meaning |
//! | --- | --- |
//! | M | second moments of a weighted record: E w w' |
//! | E, l | eigenvectors and eigenvalues of M |
//! | A | the covariance of svec(G) if all noise were isometric: A\[H\] = 2n M H M + tau^2 H |
//! | v_ij | eigenvalues of A: 2n l_i l_j + tau^2 |
//! | e_k | unit matrices of the diagonal entries with noise of their own |
//! | alpha_k | A^-1\[e_k\] |
//! | R, K | E'(G - nM)E, and C^-1\[R\] with C the covariance |
//!
//! **The constant.** With w = (1, u, v) the covariance is 2n (M (x)_s M) - 2n svec(mm') svec(mm')', m = E w. Because M e_1 = m_1 m, it
//! is also that of centred records with second moments M *given* that G_11 is n m_1^2: A e_1 = tau^2 e_1 + 2n m_1^2 mm',
//! from which the precision beside the (1,1) entry is A^-1 + tau^2 alpha_1 alpha_1' / (1 - tau^2 <e_1, alpha_1>). So the
//! constant is one more diagonal entry with noise of its own, namely none, and nothing cancels where tau is small.

use super::parties::{Block, Group, ResponseSquare};
use crate::linalg::{EigenWorkspace, add_square, quadratic_form, rotate, rotate_back, symmetrise};

/// Memory for the likelihood; matrices of all coordinates of a record.
#[derive(Debug, Clone)]
pub(super) struct LikelihoodSpace {
    size: usize,
    weighted: Vec<f64>,
    eigen: EigenWorkspace,
    /// 1 / v_ij.
    inverse: Vec<f64>,
    residual: Vec<f64>,
    rotated: Vec<f64>,
    scratch: Vec<f64>,
    /// Gradient in the eigenbasis; upper triangle.
    total: Vec<f64>,
    roots: Vec<f64>,
    /// E'e for the diagonal entries with noise of their own.
    axes: [Vec<f64>; 2],
    /// Slope of the last sum along the number of records of its mean.
    mean_slope: f64,
    /// Gradient with respect to the second moments of a plain record, symmetric.
    pub gradient: Vec<f64>,
    /// Gradient with respect to the logarithms of the numbers of records that are not public.
    pub counts_gradient: Vec<f64>,
}

/// C^-1 = A^-1 - sum_kl w_kl alpha_k alpha_l', and ln|C| - ln|A|.
#[derive(Debug, Clone, Copy)]
struct Correction {
    count: usize,
    weights: [[f64; 2]; 2],
    log_determinant: f64,
}

impl LikelihoodSpace {
    pub fn new(size: usize, counts: usize) -> Self {
        let (square, line) = (vec![0.0; size * size], vec![0.0; size]);
        Self {
            size,
            weighted: square.clone(),
            eigen: EigenWorkspace::new(size),
            inverse: square.clone(),
            residual: square.clone(),
            rotated: square.clone(),
            scratch: square.clone(),
            total: square.clone(),
            roots: line.clone(),
            axes: [line.clone(), line],
            mean_slope: 0.0,
            gradient: square,
            counts_gradient: vec![0.0; counts],
        }
    }

    /// Log density of all Gram matrices given the second moments of a plain record and the numbers of records that are not public, up to a
    /// constant; its gradients are left in `gradient` and `counts_gradient`. Minus infinity where the moments are numerically not positive definite.
    pub fn evaluate(&mut self, groups: &[Group], moments: &[f64], counts: &[f64]) -> f64 {
        self.gradient.fill(0.0);
        self.counts_gradient.fill(0.0);
        groups.iter().map(|group| self.add_group(group, moments, counts)).sum()
    }

    fn add_group(&mut self, group: &Group, moments: &[f64], counts: &[f64]) -> f64 {
        let size = self.size;
        for (k, value) in self.weighted.iter_mut().enumerate() {
            *value = moments[k] * group.weights[k / size] * group.weights[k % size];
        }
        if !self.eigen.decompose(&self.weighted) {
            return f64::NEG_INFINITY;
        }
        // What rounding makes negative is nothing beside noise, and not allowed without.
        let quiet = group.blocks.iter().any(|block| block.variance == 0.0);
        for (root, value) in self.roots.iter_mut().zip(&mut self.eigen.values) {
            if !value.is_finite() || quiet && *value <= 0.0 {
                return f64::NEG_INFINITY;
            }
            *value = value.max(0.0);
            *root = value.sqrt();
        }
        self.total.fill(0.0);
        let value: f64 = group.blocks.iter().map(|block| self.add_block(block, counts)).sum();
        symmetrise(&mut self.total, size);
        rotate_back(&self.eigen.rows, &self.total, &mut self.rotated, &mut self.scratch, size);
        for (k, sum) in self.gradient.iter_mut().enumerate() {
            *sum += self.rotated[k] * group.weights[k / size] * group.weights[k % size];
        }
        value
    }

    fn add_block(&mut self, block: &Block, counts: &[f64]) -> f64 {
        let log_determinant = self.invert(block);
        let correction = self.correct(block);
        self.add_corrections(block, &correction);
        let start = -0.5 * (log_determinant + correction.log_determinant);
        let Some(count) = block.count else {
            return start - 0.5 * self.add_sum(block, block.records, &correction);
        };
        let records = counts[count.place] * block.records;
        let square = self.add_sum(block, records, &correction);
        let distance = (count.observed - counts[count.place]) / count.sd;
        self.counts_gradient[count.place] =
            records * self.mean_slope + counts[count.place] * distance / count.sd;
        start - 0.5 * (square + distance * distance)
    }

    /// The eigenvalues of A, inverted; returns ln|A| and adds its part of the gradient: -1/2 g on the diagonal,
    /// g_i = sum_j 2n l_j / v_ij + 2n l_i / v_ii.
    fn invert(&mut self, block: &Block) -> f64 {
        let (size, values) = (self.size, &self.eigen.values);
        let mut log_determinant = LogProduct::default();
        for row in 0..size {
            let slope = 2.0 * block.records * values[row];
            let inverse = &mut self.inverse[row * size..(row + 1) * size];
            let mut sum = 0.0;
            for (column, (entry, value)) in inverse.iter_mut().zip(values).enumerate() {
                let variance = slope * value + block.variance;
                *entry = 1.0 / variance;
                sum += value * *entry;
                if column >= row {
                    log_determinant.multiply(variance);
                }
            }
            let diagonal = 2.0 * block.records * (sum + values[row] * inverse[row]);
            self.total[row * size + row] -= 0.5 * diagonal;
        }
        log_determinant.finish()
    }

    /// Woodbury's identity for the diagonal entries with noise of their own, of variance r_k instead of tau^2. With
    /// Y_kl = <e_k, alpha_l> and S = I - tau^2 Y the matrix I + (r - tau^2) Y is S + r Y: sums of positive numbers on the diagonal,
    /// however large or small the noise is. An entry that was not released has r = infinity: its row is divided by r.
    fn correct(&mut self, block: &Block) -> Correction {
        let (count, variances) = self.find_axes(block);
        // Row k of B = S + r Y (or Y) and of D = r - tau^2 (or 1), so that the weights are B^-1 D.
        let (mut b, mut d) = ([[1.0, 0.0], [0.0, 1.0]], [0.0; 2]);
        for k in 0..count {
            for (l, entry) in b[k].iter_mut().enumerate().take(count) {
                let (share, image) = self.overlap(block, k, l);
                *entry = variances[k].map_or(image, |variance| share + variance * image);
            }
            d[k] = variances[k].map_or(1.0, |variance| variance - block.variance);
        }
        let determinant = b[0][0] * b[1][1] - b[0][1] * b[1][0];
        let cross = -b[0][1] * d[1] / determinant;
        let weights = [[b[1][1] * d[0] / determinant, cross], [cross, b[0][0] * d[1] / determinant]];
        Correction { count, weights, log_determinant: libm::log(determinant) }
    }

    /// The entries with noise of their own: how many, and its variances, none where nothing was released.
    fn find_axes(&mut self, block: &Block) -> (usize, [Option<f64>; 2]) {
        let size = self.size;
        let own = [
            // Without any noise the constant's entry is like the others.
            (block.constant && block.variance > 0.0).then_some((0, Some(0.0))),
            match block.response {
                ResponseSquare::Isometric => None,
                ResponseSquare::Own(variance) => Some((size - 1, Some(variance))),
                ResponseSquare::Missing => Some((size - 1, None)),
            },
        ];
        let (mut count, mut variances) = (0, [None; 2]);
        for (place, variance) in own.into_iter().flatten() {
            let rows = self.eigen.rows.chunks_exact(size);
            self.axes[count].iter_mut().zip(rows).for_each(|(value, row)| *value = row[place]);
            variances[count] = variance;
            count += 1;
        }
        (count, variances)
    }

    /// S_kl and Y_kl of two entries.
    fn overlap(&self, block: &Block, k: usize, l: usize) -> (f64, f64) {
        let (mut share, mut image) = (0.0, 0.0);
        let (one, other, values) = (&self.axes[k], &self.axes[l], &self.eigen.values);
        for (row, inverse) in self.inverse.chunks_exact(self.size).enumerate() {
            let mut sums = (0.0, 0.0);
            for (column, entry) in inverse.iter().enumerate() {
                let term = one[column] * other[column] * entry;
                sums.0 += term * values[column];
                sums.1 += term;
            }
            let outer = one[row] * other[row];
            share += outer * values[row] * sums.0;
            image += outer * sums.1;
        }
        (2.0 * block.records * share, image)
    }

    /// The part 2n sum_kl w_kl alpha_k M alpha_l of the gradient, as a sum of squares: with two entries
    /// w_22 (alpha_2 + c alpha_1)(..)' + (w_11 - c w_12) alpha_1 alpha_1', c = w_12 / w_22.
    fn add_corrections(&mut self, block: &Block, correction: &Correction) {
        let factor = 2.0 * block.records;
        let w = correction.weights;
        match correction.count {
            0 => (),
            // One entry, or a second one whose noise is like that of the others.
            count if count == 1 || w[1][1] == 0.0 => self.add_axes([1.0, 0.0], factor * w[0][0]),
            _ => {
                let ratio = w[0][1] / w[1][1];
                self.add_axes([ratio, 1.0], factor * w[1][1]);
                self.add_axes([1.0, 0.0], factor * (w[0][0] - ratio * w[0][1]));
            }
        }
    }

    /// Adds factor X M X with X a mixture of the alpha_k.
    fn add_axes(&mut self, mixture: [f64; 2], factor: f64) {
        let size = self.size;
        for row in 0..size {
            let along = [mixture[0] * self.axes[0][row], mixture[1] * self.axes[1][row]];
            for column in 0..size {
                let outer = along[0] * self.axes[0][column] + along[1] * self.axes[1][column];
                let place = row * size + column;
                self.rotated[place] = outer * self.inverse[place] * self.roots[column];
            }
        }
        add_square(factor, &self.rotated, &mut self.total, size);
    }

    /// <R, C^-1 R>; adds N K + 2n K M K to the gradient, N the records of the mean and n those of the sampling variance.
    fn add_sum(&mut self, block: &Block, records: f64, correction: &Correction) -> f64 {
        self.rotate_residual(block, records);
        let mut square = 0.0;
        for (residual, inverse) in self.rotated.iter_mut().zip(&self.inverse) {
            let value = *residual;
            *residual *= inverse;
            square += value * *residual;
        }
        square -= self.apply(correction);
        let size = self.size;
        // <K, M> without the square of the constant, which is left out of R.
        self.mean_slope = (0..size).map(|k| self.rotated[k * size + k] * self.eigen.values[k]).sum();
        if block.constant {
            let column = self.eigen.rows.chunks_exact(size);
            self.axes[1].iter_mut().zip(column).for_each(|(value, row)| *value = row[0]);
            self.mean_slope -= self.weighted[0] * quadratic_form(&self.rotated, &self.axes[1]);
        }
        for (sums, image) in self.total.chunks_exact_mut(size).zip(self.rotated.chunks_exact_mut(size)) {
            for ((sum, entry), root) in sums.iter_mut().zip(image).zip(&self.roots) {
                *sum += records * *entry;
                *entry *= root;
            }
        }
        add_square(2.0 * block.records, &self.rotated, &mut self.total, size);
        square
    }

    /// R into `rotated`.
    fn rotate_residual(&mut self, block: &Block, records: f64) {
        for ((residual, found), moment) in self.residual.iter_mut().zip(&block.gram).zip(&self.weighted) {
            *residual = found - records * moment;
        }
        if block.constant {
            self.residual[0] = 0.0;
        }
        if block.response == ResponseSquare::Missing {
            // Any value would do.
            self.residual[self.size * self.size - 1] = 0.0;
        }
        rotate(&self.eigen.rows, &self.residual, &mut self.rotated, &mut self.scratch, self.size);
    }

    /// Makes K = C^-1\[R\] of A^-1\[R\]; returns what the square loses.
    fn apply(&mut self, correction: &Correction) -> f64 {
        let (size, count, w) = (self.size, correction.count, correction.weights);
        let mut along = [0.0; 2];
        for (sum, axis) in along.iter_mut().zip(&self.axes).take(count) {
            *sum = quadratic_form(&self.rotated, axis);
        }
        let pull = [w[0][0] * along[0] + w[0][1] * along[1], w[1][0] * along[0] + w[1][1] * along[1]];
        for (axis, pull) in self.axes.iter().zip(pull).take(count) {
            let rows = self.rotated.chunks_exact_mut(size).zip(self.inverse.chunks_exact(size));
            for ((image, inverse), left) in rows.zip(axis) {
                let factor = pull * left;
                for ((entry, inverse), right) in image.iter_mut().zip(inverse).zip(axis) {
                    *entry -= factor * right * inverse;
                }
            }
        }
        pull[0] * along[0] + pull[1] * along[1]
    }
}

/// The logarithm of a product with few logarithms.
#[derive(Debug, Clone, Copy)]
struct LogProduct {
    product: f64,
    sum: f64,
}

impl Default for LogProduct {
    fn default() -> Self {
        Self { product: 1.0, sum: 0.0 }
    }
}

impl LogProduct {
    fn multiply(&mut self, factor: f64) {
        let product = self.product * factor;
        if (1e-100..1e100).contains(&product) {
            self.product = product;
        } else {
            self.sum += libm::log(self.product) + libm::log(factor);
            self.product = 1.0;
        }
    }

    fn finish(self) -> f64 {
        self.sum + libm::log(self.product)
    }
}
