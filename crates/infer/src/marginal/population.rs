//! From a point of the reals to the population that a record comes from, and gradients back.
//!
//! Columns are the features in their order, then the response. Column k has a mean mu_k (with a constant only), a standard deviation s_k, and a
//! regression on what is new in the columns before it: with n_k = sqrt(1 + |t_k|^2)
//!
//! x_k = mu_k + s_k (t_k1 e_1 + .. + t_k,k-1 e_k-1 + e_k) / n_k,
//!
//! so that the root L of the covariance has rows s_k (t_k, 1) / n_k, R^2 of column k is |t_k|^2 / n_k^2, and sigma is the last entry of L. In these
//! coordinates the moments are smooth where features hardly vary or are collinear: nothing is divided by what noise hides.
//!
//! A point holds for every column artanh mu, a place of ln s and one of t, and then logarithms of the numbers of records that are not public and of variances of
//! Laplace noise. Tails of a power,
//! of t at infinity and of s at zero, become those of a normal law ([`Stretch`]), and ln s falls like a square below an anchor.

use crate::linalg::{add_square, dot, product, symmetrise};

/// What a point holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    /// Features that vary.
    pub features: usize,
    /// Whether there is a constant before them; then columns have a mean.
    pub constant: bool,
    /// Numbers of records that are not public.
    pub counts: usize,
    /// Variances of noise that are not known.
    pub variances: usize,
}

impl Shape {
    /// Features and response.
    pub fn columns(self) -> usize {
        self.features + 1
    }

    /// Coordinates of a record.
    pub fn record(self) -> usize {
        self.columns() + usize::from(self.constant)
    }

    /// Coefficients, the intercept included.
    pub fn coefficients(self) -> usize {
        self.features + usize::from(self.constant)
    }

    /// Numbers of a point.
    pub fn dim(self) -> usize {
        self.start(self.columns()) + self.counts + self.variances
    }

    /// Where a column begins.
    pub fn start(self, column: usize) -> usize {
        column * (1 + usize::from(self.constant)) + column * column.saturating_sub(1) / 2
    }

    /// The place of artanh mu, if there is one, that of ln s, and the regressors.
    pub fn places(self, column: usize) -> (Option<usize>, usize, std::ops::Range<usize>) {
        let start = self.start(column);
        let scale = start + usize::from(self.constant);
        (self.constant.then_some(start), scale, scale + 1..scale + 1 + column)
    }
}

/// The population at a point, and the gradient of a function with respect to it; matrices of columns unless said otherwise, row-major.
#[derive(Debug, Clone)]
pub(super) struct Population {
    pub shape: Shape,
    /// Where ln s of every column begins to fall.
    anchors: Vec<f64>,
    falls: Vec<(f64, f64)>,
    stretches: Vec<Stretch>,
    /// mu; 0 without a constant.
    pub mean: Vec<f64>,
    /// artanh mu.
    pub mean_place: Vec<f64>,
    /// ln s.
    pub log_scale: Vec<f64>,
    /// s.
    pub scale: Vec<f64>,
    /// t, below the diagonal.
    pub rows: Vec<f64>,
    /// n.
    pub norms: Vec<f64>,
    /// L.
    pub root: Vec<f64>,
    /// Second moments of a record (1, x, y), all its coordinates.
    pub moments: Vec<f64>,
    /// Numbers of records that are not public.
    pub counts: Vec<f64>,
    /// Variances of noise that are not known, over their means.
    pub variances: Vec<f64>,
    /// Gradient with respect to mu.
    pub mean_slope: Vec<f64>,
    /// With respect to ln s.
    pub log_scale_slope: Vec<f64>,
    /// With respect to t.
    pub rows_slope: Vec<f64>,
    /// With respect to L.
    pub root_slope: Vec<f64>,
    /// With respect to the logarithms of counts.
    pub counts_slope: Vec<f64>,
    /// With respect to the logarithms of those variances.
    pub variances_slope: Vec<f64>,
    work: Vec<f64>,
}

/// How fast ln s falls.
const CURVATURE: f64 = 0.125;

/// P(|t| > T) falls about like T to minus twice this, for the regression of a column on those before it.
const TAIL: f64 = 0.4;

/// t = f x, a vector with the tails of a power from one with those of a normal law.
///
/// If the k coordinates of x are standard normal, |x| is about sqrt(k) give or take 1 / sqrt(2 - 1 / k): below, t follows x; by
/// u such standard deviations above, ln f has grown by u^2 / (4 b). So chains move as easily where noise hides t as where it is known.
#[derive(Debug, Clone, Copy, Default)]
struct Stretch {
    /// ln f.
    log_ratio: f64,
    /// d ln f / dv, v = |x|^2: d t_j / d x_i is f (i = j) + 2 f slope x_i x_j.
    slope: f64,
    /// ln of the Jacobian, f^k (1 + 2 v d ln f / dv).
    log_jacobian: f64,
    /// The gradient of that over x.
    pull: f64,
}

impl Stretch {
    fn of(size: usize, square: f64) -> Self {
        if size == 0 {
            return Self::default();
        }
        let k = size as f64;
        // u and its derivatives by v.
        let (unit, root) = ((2.0 - 1.0 / k).sqrt(), (1.0 + square).sqrt());
        let u = unit * (root - k.sqrt());
        let (u1, u2) = (0.5 * unit / root, -0.25 * unit / (root * root * root));
        // m near u above 0 and near 0 below, and ln f = m^2 / (4 b) by u.
        let s = (1.0 + u * u).sqrt();
        let m = if u < 0.0 { 0.5 / (s - u) } else { 0.5 * (s + u) };
        let g1 = 0.5 * m * m / (TAIL * s);
        let g2 = g1 / s * (2.0 - u / s);
        let log_ratio = 0.25 * m * m / TAIL - 0.5 * libm::log(k);
        let (slope, curve) = (g1 * u1, g2 * u1 * u1 + g1 * u2);
        let inner = 1.0 + 2.0 * square * slope;
        Self {
            log_ratio,
            slope,
            log_jacobian: k * log_ratio + libm::log(inner),
            pull: 2.0 * k * slope + 4.0 * (slope + square * curve) / inner,
        }
    }
}

/// The inverse of the map from x to t, by Newton's method on ln |x|.
pub(super) fn shrink(t: &mut [f64]) {
    let length = dot(t, t).sqrt();
    if length == 0.0 {
        return;
    }
    let wanted = libm::log(length);
    let mut log = wanted - Stretch::of(t.len(), 0.0).log_ratio;
    for _ in 0..100 {
        let square = libm::exp(2.0 * log);
        let Stretch { log_ratio, slope, .. } = Stretch::of(t.len(), square);
        let step = (log + log_ratio - wanted) / (1.0 + 2.0 * square * slope);
        log -= step;
        if step.abs() < 1e-12 {
            break;
        }
    }
    let factor = libm::exp(log) / length;
    t.iter_mut().for_each(|value| *value *= factor);
}

/// How ln s falls below its anchor: y - c m^2, with m = (sqrt(1 + y^2) - y) / 2 near -y below 0 and near 0 above. Returns it, its derivative, and the derivative of the
/// logarithm of that.
fn fall(y: f64) -> (f64, f64, f64) {
    let root = (1.0 + y * y).sqrt();
    // Without the difference of large numbers.
    let m = if y > 0.0 { 0.5 / (root + y) } else { 0.5 * (root - y) };
    let slope = 1.0 + 2.0 * CURVATURE * m * m / root;
    let turn = -2.0 * CURVATURE * m * m * (2.0 + y / root) / (root * root);
    (y - CURVATURE * m * m, slope, turn / slope)
}

impl Population {
    pub fn new(shape: Shape, anchors: &[f64]) -> Self {
        let columns = shape.columns();
        let (line, square) = (vec![0.0; columns], vec![0.0; columns * columns]);
        let (counts, variances) = (vec![0.0; shape.counts], vec![0.0; shape.variances]);
        Self {
            shape,
            anchors: anchors.to_vec(),
            falls: vec![(1.0, 0.0); columns],
            stretches: vec![Stretch::default(); columns],
            mean: line.clone(),
            mean_place: line.clone(),
            log_scale: line.clone(),
            scale: line.clone(),
            rows: square.clone(),
            norms: line.clone(),
            root: square.clone(),
            moments: vec![0.0; shape.record() * shape.record()],
            counts: counts.clone(),
            variances: variances.clone(),
            mean_slope: line.clone(),
            log_scale_slope: line.clone(),
            rows_slope: square.clone(),
            root_slope: square.clone(),
            counts_slope: counts,
            variances_slope: variances,
            work: square,
        }
    }

    /// Reads a point; returns ln of the Jacobians of artanh, of ln s and of the stretched vectors.
    pub fn read(&mut self, point: &[f64]) -> f64 {
        let (shape, columns) = (self.shape, self.shape.columns());
        let mut log_jacobian = 0.0;
        for column in 0..columns {
            let (mean, scale, regressors) = shape.places(column);
            if let Some(place) = mean {
                self.mean_place[column] = point[place];
                self.mean[column] = libm::tanh(point[place]);
                log_jacobian -= 2.0 * log_cosh(point[place]);
            }
            let (below, slope, turn) = fall(point[scale]);
            self.falls[column] = (slope, turn);
            log_jacobian += libm::log(slope);
            self.log_scale[column] = self.anchors[column] + below;
            self.scale[column] = libm::exp(self.log_scale[column]);
            let x = &point[regressors];
            let stretch = Stretch::of(column, dot(x, x));
            log_jacobian += stretch.log_jacobian;
            self.stretches[column] = stretch;
            let to = &mut self.rows[column * columns..column * columns + column];
            let ratio = libm::exp(stretch.log_ratio);
            to.iter_mut().zip(x).for_each(|(to, x)| *to = ratio * x);
        }
        self.fill_root();
        let rest = self.counts.iter_mut().chain(&mut self.variances).zip(&point[shape.start(columns)..]);
        rest.for_each(|(to, from)| *to = libm::exp(*from));
        log_jacobian
    }

    /// The rows of the root.
    fn fill_root(&mut self) {
        let columns = self.shape.columns();
        for column in 0..columns {
            let row = &self.rows[column * columns..column * columns + column];
            let norm = (1.0 + dot(row, row)).sqrt();
            self.norms[column] = norm;
            let factor = self.scale[column] / norm;
            let root = &mut self.root[column * columns..(column + 1) * columns];
            root[..column].iter_mut().zip(row).for_each(|(to, t)| *to = factor * t);
            root[column] = factor;
        }
    }

    /// Fills in the second moments.
    pub fn fill_moments(&mut self) {
        let (columns, size) = (self.shape.columns(), self.shape.record());
        let offset = size - columns;
        self.work.fill(0.0);
        add_square(1.0, &self.root, &mut self.work, columns);
        symmetrise(&mut self.work, columns);
        for row in 0..columns {
            for column in 0..columns {
                self.moments[(row + offset) * size + column + offset] =
                    self.work[row * columns + column] + self.mean[row] * self.mean[column];
            }
        }
        if offset == 1 {
            self.moments[0] = 1.0;
            for (k, mean) in self.mean.iter().enumerate() {
                self.moments[k + 1] = *mean;
                self.moments[(k + 1) * size] = *mean;
            }
        }
    }

    /// Sets the gradients from that with respect to the second moments (symmetric).
    pub fn pull_back(&mut self, moments_slope: &[f64]) {
        let (columns, size) = (self.shape.columns(), self.shape.record());
        let offset = size - columns;
        self.log_scale_slope.fill(0.0);
        self.rows_slope.fill(0.0);
        self.mean_slope.fill(0.0);
        for row in 0..columns {
            let slope = &moments_slope[(row + offset) * size + offset..(row + offset + 1) * size];
            self.work[row * columns..(row + 1) * columns]
                .iter_mut()
                .zip(slope)
                .for_each(|(to, slope)| *to = 2.0 * slope);
            if offset == 1 {
                self.mean_slope[row] = 2.0 * (moments_slope[row + 1] + dot(slope, &self.mean));
            }
        }
        product(&self.work, false, &self.root, &mut self.root_slope, columns);
    }

    /// sigma.
    pub fn residual_sd(&self) -> f64 {
        self.root.last().copied().unwrap_or(1.0)
    }

    /// Coefficients of plain records, the intercept first: slopes are L^-T times the row of the response.
    pub fn coefficients(&self, theta: &mut [f64]) {
        let (last, columns) = (self.shape.features, self.shape.columns());
        let offset = usize::from(self.shape.constant);
        let slopes = &mut theta[offset..];
        slopes.copy_from_slice(&self.root[last * columns..last * columns + last]);
        for k in (0..last).rev() {
            slopes[k] /= self.root[k * columns + k];
            let (before, own) = slopes.split_at_mut(k);
            before.iter_mut().zip(&self.root[k * columns..]).for_each(|(sum, entry)| *sum -= own[0] * entry);
        }
        if offset == 1 {
            theta[0] = self.mean[last] - dot(&theta[1..], &self.mean[..last]);
        }
    }

    /// Adds the gradient of a function of the coefficients, which it overwrites.
    pub fn add_coefficients(&mut self, theta: &[f64], slope: &mut [f64]) {
        let (last, columns) = (self.shape.features, self.shape.columns());
        let offset = usize::from(self.shape.constant);
        if offset == 1 {
            let of_intercept = slope[0];
            self.mean_slope[last] += of_intercept;
            for k in 0..last {
                self.mean_slope[k] -= of_intercept * theta[k + 1];
                slope[k + 1] -= of_intercept * self.mean[k];
            }
        }
        // h = L^-1 g is the gradient with respect to the row of the response; that with respect to L is -theta h'.
        let image = &mut slope[offset..];
        for k in 0..last {
            let row = &self.root[k * columns..k * columns + k + 1];
            image[k] = (image[k] - dot(&row[..k], &image[..k])) / row[k];
            self.root_slope[last * columns + k] += image[k];
            let lower = self.root_slope[k * columns..k * columns + k + 1].iter_mut().zip(&image[..=k]);
            lower.for_each(|(sum, image)| *sum -= theta[k + offset] * image);
        }
    }

    /// Adds the gradient of a function of ln sigma.
    pub fn add_residual_sd(&mut self, slope: f64) {
        let sigma = self.residual_sd();
        if let Some(last) = self.root_slope.last_mut() {
            *last += slope / sigma;
        }
    }

    /// Writes the gradient with respect to the point, Jacobians of [`Self::read`] included.
    pub fn write_gradient(&mut self, point: &[f64], gradient: &mut [f64]) {
        let (shape, columns) = (self.shape, self.shape.columns());
        for column in (0..columns).rev() {
            self.through_root(column);
            let (mean, scale, regressors) = shape.places(column);
            if let Some(place) = mean {
                let mean = self.mean[column];
                gradient[place] = self.mean_slope[column] * (1.0 - mean * mean) - 2.0 * mean;
            }
            let (slope, turn) = self.falls[column];
            gradient[scale] = self.log_scale_slope[column] * slope + turn;
            let x = &point[regressors.clone()];
            let slope = &self.rows_slope[column * columns..column * columns + column];
            let stretch = self.stretches[column];
            let ratio = libm::exp(stretch.log_ratio);
            let along = 2.0 * ratio * stretch.slope * dot(x, slope) + stretch.pull;
            let to = gradient[regressors].iter_mut().zip(x).zip(slope);
            to.for_each(|((to, x), slope)| *to = ratio * slope + along * x);
        }
        let (counts, variances) = gradient[shape.start(columns)..].split_at_mut(shape.counts);
        counts.copy_from_slice(&self.counts_slope);
        variances.copy_from_slice(&self.variances_slope);
    }

    /// From a row of the root to s and t.
    fn through_root(&mut self, column: usize) {
        let columns = self.shape.columns();
        let norm = self.norms[column];
        let slope = &self.root_slope[column * columns..column * columns + column + 1];
        let root = &self.root[column * columns..column * columns + column + 1];
        let along = dot(slope, root);
        self.log_scale_slope[column] += along;
        let (factor, square) = (self.scale[column] / norm, norm * norm);
        for (j, slope) in slope.iter().enumerate().take(column) {
            let t = self.rows[column * columns + j];
            self.rows_slope[column * columns + j] += factor * slope - along * t / square;
        }
    }
}

/// ln cosh, without overflow.
pub(super) fn log_cosh(x: f64) -> f64 {
    x.abs() + libm::log1p(libm::exp(-2.0 * x.abs())) - std::f64::consts::LN_2
}
