//! `normal-x`: the noise in X'X is part of the model, features are normal.
//!
//! **Target.** theta, sigma^2, Sigma_x (and the mean mu of the features) given S-hat_j and z-hat_j of all parties, under
//! theta ~ N(m, C), sigma^2 ~ IG(a, b), Sigma_x ~ IW(Lambda, kappa), S_j ~ Wishart(Sigma_x, n_j), z_j ~ N(S_j theta, sigma^2 S_j),
//! and Gaussian noise on every entry of S_j (upper triangle) and z_j. y'y is not used. **Exactness.** Both samplers are exact
//! in the limit of many draws: [`NormalXMetropolis`] is the paper's walk, [`NormalXDensity`] the same posterior with theta,
//! Sigma_x and mu integrated out, for NUTS. **Cost.** O(J d^3) per step or gradient.
//!
//! Everything is in plain normalised units, which the parties share; weights only change the scales of the noise.
//!
//! **One form for both kinds of features.** With an intercept X'X is \[\[n, n b'\], \[n b, Q + n b b'\]\] with b the mean and Q ~
//! Wishart(Sigma_x, n - 1) the centred scatter of the features (\[AYB23\] appendix B.2). Its lower Cholesky factor has the rows
//! (sqrt n, 0) and (sqrt n b, factor of Q): the first diagonal entry is known, all else is as without an intercept. The prior
//! mu ~ N(mu_0, Sigma_x / k_0) acts like k_0 records at mu_0: with Lambda_0 = \[\[k_0, k_0 mu_0'\], \[k_0 mu_0, Lambda + k_0 mu_0
//! mu_0'\]\] the matrix Lambda_0 + sum S_j has in its factor that of the scale of Sigma_x given all S_j, mu integrated out.
//!
//! | paper | code |
//! | --- | --- |
//! | S_j, S_0 | `gram`, latent |
//! | S-hat_j, z-hat_j | `Observed::gram`, `Observed::cross` |
//! | Lambda, kappa | `scale`, `degrees` |
//! | alpha_j | `alpha`, learnt for each party |
//!
//! **Citation.** \[AYB23\] section 3.2, Algorithm 1, with the errata of its Eqs. (8), (10) and A.3.

#[cfg(test)]
mod balance;
mod coordinates;
mod density;
mod estimate;
mod factor;
mod gradient;
#[cfg(test)]
mod integration;
mod metropolis;
mod observed;
mod population;
mod proposal;
mod state;
mod workspace;

pub use density::NormalXDensity;
pub use metropolis::NormalXMetropolis;

use crate::evidence::Features;
use crate::{Evidence, InferError, Method, Prior, judge};
use observed::Observed;

/// The model with normal features, and what the parties have released.
#[derive(Debug, Clone)]
pub struct NormalX {
    parties: Vec<Observed>,
    prior: Prior,
    /// C^-1 m.
    shift: Vec<f64>,
    /// Lambda_0, row-major.
    scale: Vec<f64>,
    /// kappa plus the records of all parties.
    degrees: f64,
    /// Number of leading coordinates that are constant: 1 with an intercept, else 0.
    constant: usize,
    /// Whether the first coordinate is a constant that was scaled with the rest of the record.
    scaled_constant: bool,
}

impl NormalX {
    /// Checks that the releases allow the model.
    pub fn new(evidence: &Evidence, prior: &Prior) -> Result<Self, InferError> {
        let evidence = judge::accept(Method::NormalX, evidence)?;
        prior.check(&evidence)?;
        let features = prior.features(&evidence)?;
        let constant = usize::from(evidence.features() == Features::Intercept);
        let mut parties: Vec<Observed> =
            evidence.counted().map(|(party, records)| Observed::new(party, records)).collect();
        let scale = with_mean(features.scale(), features.mean(), features.mean_records());
        let records: f64 = parties.iter().map(|party| party.records).sum();
        let degrees = features.degrees() + records;
        estimate::fill(&mut parties, &scale, degrees, (constant, largest_square(&evidence)));
        let scaled_constant = constant == 0 && evidence.domain().intercept();
        Ok(Self {
            parties,
            prior: prior.clone(),
            shift: prior.shift(),
            scale,
            degrees,
            constant,
            scaled_constant,
        })
    }

    /// Number of coefficients.
    pub fn dimension(&self) -> usize {
        self.shift.len()
    }

    /// Values of a draw: the coefficients, sigma^2 and R^2.
    fn outputs(&self) -> usize {
        self.dimension() + 2
    }

    /// Features that vary.
    fn varying(&self) -> usize {
        self.dimension() - self.constant
    }
}

/// Lambda_0 of the header; Lambda itself if the features have no mean.
fn with_mean(scale: &[f64], mean: &[f64], records: f64) -> Vec<f64> {
    if mean.is_empty() {
        return scale.to_vec();
    }
    let (inner, size) = (mean.len(), mean.len() + 1);
    let at = |k: usize| if k == 0 { 1.0 } else { mean[k - 1] };
    let entry = |row: usize, column: usize| {
        let own = if row * column > 0 { scale[(row - 1) * inner + column - 1] } else { 0.0 };
        own + records * at(row) * at(column)
    };
    (0..size * size).map(|k| entry(k / size, k % size)).collect()
}

/// The largest square of a coordinate of a record.
fn largest_square(evidence: &Evidence) -> f64 {
    match evidence.domain() {
        organza_release::Domain::Box(_) => 1.0,
        organza_release::Domain::Ball(domain) => domain.radius * domain.radius,
    }
}
