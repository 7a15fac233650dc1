//! Change of units: coefficients of normalised records to coefficients in users' units, and back.
//!
//! With `u_j = (x_j - m_j)/h_j` and `v = (y - m_y)/h_y` the line `v = theta_0 + sum_j theta_j u_j` is
//! `y = beta_0 + sum_j beta_j x_j` with `beta_j = theta_j h_y/h_j` and
//! `beta_0 = m_y + h_y theta_0 - sum_j beta_j m_j`. Record scaling multiplies both sides of a record's line by
//! the same number and does not change the coefficients.

use crate::domain::Domain;

/// The affine map between normalised coefficients and those in users' units.
///
/// Coefficients are ordered as in a record: the intercept first when there is one, then the features.
#[derive(Debug, Clone, PartialEq)]
pub struct CoefficientMap {
    intercept: bool,
    centres: Vec<f64>,
    slopes: Vec<f64>,
    response_centre: f64,
    response_half_width: f64,
}

impl CoefficientMap {
    /// The map of a domain.
    pub fn new(domain: &Domain) -> Self {
        match domain {
            Domain::Box(domain) => {
                let height = domain.response.half_width();
                Self {
                    intercept: domain.intercept,
                    centres: domain.features.iter().map(|feature| feature.centre()).collect(),
                    slopes: domain.features.iter().map(|feature| height / feature.half_width()).collect(),
                    response_centre: domain.response.centre(),
                    response_half_width: height,
                }
            }
            Domain::Ball(domain) => Self {
                intercept: false,
                centres: vec![0.0; domain.features.len()],
                slopes: vec![domain.response_bound / domain.radius; domain.features.len()],
                response_centre: 0.0,
                response_half_width: domain.response_bound,
            },
        }
    }

    /// Number of coefficients, the intercept included.
    pub fn dimension(&self) -> usize {
        self.slopes.len() + usize::from(self.intercept)
    }

    /// Users' units of one normalised unit of the response: sigma is multiplied by it.
    pub fn response_unit(&self) -> f64 {
        self.response_half_width
    }

    /// Features that are 0 in users' units, in normalised units: where the intercept in users' units is the mean of the response.
    pub fn origin(&self) -> Vec<f64> {
        let half_width = |slope: &f64| self.response_half_width / slope;
        self.centres.iter().zip(&self.slopes).map(|(centre, slope)| -centre / half_width(slope)).collect()
    }

    /// Coefficients in users' units.
    pub fn to_users(&self, theta: &[f64]) -> Vec<f64> {
        let mut beta = self.linear_part(theta);
        if self.intercept {
            beta[0] += self.response_centre;
        }
        beta
    }

    /// Covariance matrix (row-major) of coefficients in users' units.
    pub fn covariance_to_users(&self, covariance: &[f64]) -> Vec<f64> {
        let dimension = self.dimension();
        debug_assert_eq!(covariance.len(), dimension * dimension);
        let by_rows: Vec<f64> = covariance.chunks(dimension).flat_map(|row| self.linear_part(row)).collect();
        // The linear map acts on rows, then on columns of the (symmetric) result.
        let transposed = transpose(&by_rows, dimension);
        transpose(
            &transposed.chunks(dimension).flat_map(|row| self.linear_part(row)).collect::<Vec<_>>(),
            dimension,
        )
    }

    /// Normalised coefficients, the inverse of [`CoefficientMap::to_users`].
    pub fn to_normalised(&self, beta: &[f64]) -> Vec<f64> {
        debug_assert_eq!(beta.len(), self.dimension());
        let first = usize::from(self.intercept);
        let mut theta = beta.to_vec();
        for (coefficient, slope) in theta[first..].iter_mut().zip(&self.slopes) {
            *coefficient /= slope;
        }
        if self.intercept {
            let at_centres: f64 = beta[first..].iter().zip(&self.centres).map(|(beta, m)| beta * m).sum();
            theta[0] = (beta[0] + at_centres - self.response_centre) / self.response_half_width;
        }
        theta
    }

    /// A change of coefficients in users' units: [`CoefficientMap::to_users`] without the centre of the response.
    pub fn linear_part(&self, theta: &[f64]) -> Vec<f64> {
        debug_assert_eq!(theta.len(), self.dimension());
        let first = usize::from(self.intercept);
        let mut beta = theta.to_vec();
        for (coefficient, slope) in beta[first..].iter_mut().zip(&self.slopes) {
            *coefficient *= slope;
        }
        if self.intercept {
            let at_centres: f64 = beta[first..].iter().zip(&self.centres).map(|(beta, m)| beta * m).sum();
            beta[0] = self.response_half_width * theta[0] - at_centres;
        }
        beta
    }
}

fn transpose(matrix: &[f64], dimension: usize) -> Vec<f64> {
    (0..matrix.len()).map(|index| matrix[index % dimension * dimension + index / dimension]).collect()
}
