//! Memory of one evaluation of the marginal density.

use super::NormalX;
use super::population::Population;

/// Everything between the coordinates and the density, kept for the gradient.
#[derive(Debug, Clone)]
pub(super) struct Workspace {
    pub parties: Vec<Evaluated>,
    /// Lambda_0 + sum S_j, then its lower factor; for the gradient -(kappa + n)/2 times its inverse.
    pub total: Vec<f64>,
    /// Inverse covariance of theta given all S_j and sigma^2, then its lower factor; for the gradient its inverse.
    pub precision: Vec<f64>,
    /// L^-1 times the shift of theta, L the factor of its precision.
    pub shift: Vec<f64>,
    /// Mean of theta.
    pub theta: Vec<f64>,
    pub variance: f64,
    pub matrix: Vec<f64>,
    pub other: Vec<f64>,
    pub curvature: Vec<f64>,
    pub vector: Vec<f64>,
    pub population: Population,
}

/// One party at a point.
#[derive(Debug, Clone)]
pub(super) struct Evaluated {
    /// Lower factor of S.
    pub lower: Vec<f64>,
    /// S.
    pub gram: Vec<f64>,
    /// Inverse K of the lower factor of V = sigma^2 S + D.
    pub inverse: Vec<f64>,
    /// K S.
    pub lever: Vec<f64>,
}

impl Workspace {
    pub fn new(model: &NormalX) -> Self {
        let size = model.dimension();
        let (square, line) = (vec![0.0; size * size], vec![0.0; size]);
        let party = || Evaluated {
            lower: square.clone(),
            gram: square.clone(),
            inverse: square.clone(),
            lever: square.clone(),
        };
        Self {
            parties: model.parties.iter().map(|_| party()).collect(),
            total: square.clone(),
            precision: square.clone(),
            shift: line.clone(),
            theta: line.clone(),
            variance: 0.0,
            matrix: square.clone(),
            other: square.clone(),
            curvature: square.clone(),
            vector: line,
            population: Population::new(size, model.constant),
        }
    }
}
