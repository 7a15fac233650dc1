//! Moments of the latent records of one party, and the Gram matrix that they make.

/// Moments of one party and slopes with respect to them.
#[derive(Debug, Clone)]
pub(super) struct PartyMoments {
    /// Latent records n.
    pub records: f64,
    /// c; empty without a constant.
    pub mean: Vec<f64>,
    /// T, row-major, zero above the diagonal.
    pub triangle: Vec<f64>,
    pub mean_slopes: Vec<f64>,
    pub triangle_slopes: Vec<f64>,
    /// Coordinates with their centre added.
    pub centred: Vec<f64>,
    /// s of every row of a feature, and of the entries of the last row.
    pub row_scales: Vec<f64>,
    pub response_scales: Vec<f64>,
    pub mean_scale: f64,
}

impl PartyMoments {
    /// T_yy.
    pub fn response_root(&self) -> f64 {
        self.triangle.last().copied().unwrap_or(0.0)
    }

    /// Adds the Gram matrix of (1, x, y), or of (x, y).
    pub fn add_gram(&self, gram: &mut [f64]) {
        let (q, n, offset) = (self.row_scales.len(), self.records, usize::from(!self.mean.is_empty()));
        let all = q + offset;
        if offset == 1 {
            gram[0] += n;
            for k in 0..q {
                gram[k + 1] += n * self.mean[k];
                gram[(k + 1) * all] += n * self.mean[k];
            }
        }
        for row in 0..q {
            for column in 0..=row {
                let means = if offset == 1 { n * self.mean[row] * self.mean[column] } else { 0.0 };
                let product: f64 =
                    (0..=column).map(|k| self.triangle[row * q + k] * self.triangle[column * q + k]).sum();
                gram[(row + offset) * all + column + offset] += means + product;
                if column < row {
                    gram[(column + offset) * all + row + offset] += means + product;
                }
            }
        }
    }

    /// Sets the slopes from the gradient with respect to the Gram matrix, symmetric.
    pub fn start_slopes(&mut self, gradient: &[f64]) {
        let (q, n, offset) = (self.row_scales.len(), self.records, usize::from(!self.mean.is_empty()));
        let all = q + offset;
        for row in 0..q {
            let slopes = &gradient[(row + offset) * all..(row + offset + 1) * all];
            if offset == 1 {
                let sum: f64 = slopes[1..].iter().zip(&self.mean).map(|(slope, mean)| slope * mean).sum();
                self.mean_slopes[row] = 2.0 * n * (slopes[0] + sum);
            }
            for column in 0..=row {
                let sum: f64 = (column..q).map(|k| slopes[k + offset] * self.triangle[k * q + column]).sum();
                self.triangle_slopes[row * q + column] = 2.0 * sum;
            }
        }
    }
}
