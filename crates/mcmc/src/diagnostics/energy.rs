//! Whether momenta are refreshed enough in Hamiltonian methods.

use super::traces::variance;

/// The estimated Bayesian fraction of missing information of one chain (E-BFMI) from the energies of its
/// steps: the mean squared change over the variance. Values below 0.3 are a bad sign (Betancourt 2016,
/// arXiv:1604.00695).
///
/// NaN for fewer than two energies or equal ones.
pub fn energy_fraction(energies: &[f64]) -> f64 {
    let changes = energies.windows(2).map(|pair| (pair[1] - pair[0]).powi(2));
    let mean_square = changes.sum::<f64>() / energies.len().saturating_sub(1) as f64;
    mean_square / variance(energies)
}
