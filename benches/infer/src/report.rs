//! What draws are worth, by the same functions for both sides.

use crate::Failure;
use organza_mcmc::diagnostics::{Traces, ess_bulk, mcse_mean, mcse_sd, r_hat};
use organza_mcmc::{Draws, Statistic, Summary};

/// Smallest bulk effective size and largest R-hat of the coefficients, gradients and divergences, then mean, sd and their
/// standard errors for each coefficient.
pub fn report(draws: &Draws, coefficients: usize) -> Result<String, Failure> {
    let summary = Summary::new(draws, 0.9)?;
    let names = &draws.names()[..coefficients];
    let traces: Vec<Traces> = names.iter().filter_map(|name| draws.traces(name)).collect();
    let least = traces.iter().map(ess_bulk).fold(f64::INFINITY, f64::min);
    let worst = traces.iter().map(r_hat).fold(0.0, f64::max);
    let gradients = draws.statistic_total("gradients").unwrap_or(0.0);
    let divergences = draws.statistic_total(Statistic::DIVERGENT).unwrap_or(0.0);
    let mut words = vec![least, worst, gradients, divergences];
    for (trace, parameter) in traces.iter().zip(&summary.parameters) {
        words.extend([parameter.mean, parameter.sd, mcse_mean(trace), mcse_sd(trace)]);
    }
    let words: Vec<String> = words.iter().map(f64::to_string).collect();
    Ok(words.join(" "))
}

/// Draws of the other side: numbers of 8 bytes, draw by draw, one chain.
pub fn read_draws(path: &str, coefficients: usize) -> Result<Draws, Failure> {
    let bytes = std::fs::read(path)?;
    let (numbers, _) = bytes.as_chunks::<8>();
    let values = numbers.iter().map(|number| f64::from_le_bytes(*number)).collect();
    let names = (1..=coefficients).map(|index| format!("theta[{index}]")).collect();
    Ok(Draws::from_values(names, 1, values)?)
}
