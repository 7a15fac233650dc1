//! Centre, directions and scales of the coordinates of a chain.

/// The frame; matrices are row-major.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    /// (theta, ln sigma^2) at the centre.
    pub centre: Vec<f64>,
    /// U: (theta, ln sigma^2) = centre + U a + V z.
    pub spread: Vec<f64>,
    /// V: how (theta, ln sigma^2) follows the coordinates of Z, a row for each; empty if it does not.
    pub follow: Vec<f64>,
    /// B: a root of the second moments of the features; with a constant its first row is (1, 0, ..).
    pub basis: Vec<f64>,
    /// The inverse of B without the constant.
    pub inverse: Vec<f64>,
    /// Scale of every sampled entry, on the diagonal of its logarithm.
    pub scales: Vec<f64>,
    /// Rows of Z that are sampled; of the others those of its inverse are.
    pub known: usize,
    /// Whether ln sigma^2 is bent above its centre too: y'y ends that tail as a wall.
    pub bent_above: bool,
}
