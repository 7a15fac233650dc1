//! The strongest attack that we know on an additive mechanism: a lower confidence bound of its loss from many releases
//! on two neighbouring tables.

use statrs::distribution::{ContinuousCDF, Normal};

use crate::binomial::{lower_bound, upper_bound};

/// Many releases on each of two neighbouring tables, every coordinate in units of its noise scale.
pub struct Releases {
    /// Releases on the first table.
    pub first: Vec<Vec<f64>>,
    /// Releases on its neighbour.
    pub second: Vec<Vec<f64>>,
}

/// How often a fixed test is wrong on fresh releases.
struct Errors {
    false_positives: u64,
    false_negatives: u64,
    trials: u64,
}

/// Lower confidence bound of the Gaussian loss mu = sensitivity / scale.
///
/// Half of the releases train a direction (the difference of means, optimal for Gaussian noise of equal scales) and a
/// threshold; the other half tests. A mechanism with loss mu has no test with `Phi^-1(1 - fpr) - Phi^-1(fnr) > mu`.
pub fn gaussian_mu_lower_bound(releases: &Releases, alpha: f64) -> f64 {
    let errors = attack(releases);
    let false_positive_rate = upper_bound(errors.false_positives, errors.trials, alpha / 2.0);
    let false_negative_rate = upper_bound(errors.false_negatives, errors.trials, alpha / 2.0);
    let normal = Normal::standard();
    normal.inverse_cdf(1.0 - false_positive_rate) - normal.inverse_cdf(false_negative_rate)
}

fn attack(releases: &Releases) -> Errors {
    let half = releases.first.len() / 2;
    let mean = |draws: &[Vec<f64>]| -> Vec<f64> {
        let sum = |j: usize| draws.iter().map(|draw| draw[j]).sum::<f64>() / draws.len() as f64;
        (0..draws[0].len()).map(sum).collect()
    };
    let (first, second) = (mean(&releases.first[..half]), mean(&releases.second[..half]));
    let direction: Vec<f64> = second.iter().zip(&first).map(|(b, a)| b - a).collect();
    let score =
        |draw: &[f64]| -> f64 { draw.iter().zip(&direction).map(|(value, weight)| value * weight).sum() };
    let threshold = 0.5 * (score(&first) + score(&second));
    let count = |draws: &[Vec<f64>], wrong: &dyn Fn(f64) -> bool| {
        draws[half..].iter().filter(|draw| wrong(score(draw))).count() as u64
    };
    Errors {
        false_positives: count(&releases.first, &|score| score > threshold),
        false_negatives: count(&releases.second, &|score| score <= threshold),
        trials: (releases.first.len() - half) as u64,
    }
}

/// Lower confidence bound of a pure epsilon from how often an event happens on two neighbouring tables.
pub fn pure_epsilon_lower_bound(hits: (u64, u64), trials: u64, alpha: f64) -> f64 {
    let (likely, unlikely) = hits;
    let ratio = lower_bound(likely, trials, alpha / 2.0) / upper_bound(unlikely, trials, alpha / 2.0);
    ratio.ln()
}
