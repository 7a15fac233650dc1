//! The grid of settings from which the best one per problem is taken, r = sqrt(g^2 + rho^2 d).

use super::evaluate::{Merit, Trial};

/// Values of rho, g and eta / r.
pub struct Grid {
    sizes: Vec<f64>,
    intercepts: Vec<f64>,
    responses: Vec<f64>,
}

impl Grid {
    /// The grid for problems with or without an intercept. rho = 0 (the sphere) needs an intercept.
    pub fn new(intercept: bool) -> Grid {
        let sizes = [0.0, 0.05, 0.08, 0.12, 0.18, 0.25, 0.35, 0.5, 0.7, 1.0];
        let responses = vec![0.25, 0.35, 0.5, 0.71, 1.0, 1.41, 2.0];
        let intercepts = if intercept { vec![0.1, 0.18, 0.32, 0.56, 1.0, 1.8] } else { vec![1.0] };
        Grid { sizes: sizes[usize::from(!intercept)..].to_vec(), intercepts, responses }
    }

    /// Merit at every point, in the order (rho, g, eta / r), the last fastest.
    pub fn merits(&self, trial: &Trial) -> Vec<[Merit; 2]> {
        let root = (trial.features() as f64).sqrt();
        let mut all = Vec::new();
        for rho in &self.sizes {
            for &g in &self.intercepts {
                let radius = (rho * root).hypot(if trial.intercept() { g } else { 0.0 });
                let weights: Vec<f64> = self.responses.iter().map(|k| k * radius).collect();
                all.extend(trial.merits(radius, g, &weights));
            }
        }
        all
    }

    /// How the report calls a point.
    pub fn name(&self, index: usize) -> String {
        let (response, rest) = (index % self.responses.len(), index / self.responses.len());
        let (size, intercept) = (rest / self.intercepts.len(), rest % self.intercepts.len());
        format!(
            "grid rho = {}, g = {}, eta = {} r",
            self.sizes[size], self.intercepts[intercept], self.responses[response]
        )
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.sizes.len() * self.intercepts.len() * self.responses.len()
    }
}
