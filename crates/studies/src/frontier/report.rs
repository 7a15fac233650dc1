//! Curves over epsilon, and one piece of advice.

use serde::Serialize;

use super::{Frontier, Outcome, Score};
use crate::metrics::coverage;

/// What one epsilon buys; widths and errors are of standardised slopes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Point {
    /// The loss; none without privacy.
    pub epsilon: Option<f64>,
    /// Median width of an interval: over the slopes of a replicate, then over replicates.
    pub width: f64,
    /// The replicates' tenth and ninetieth percentiles of it.
    pub width_range: [f64; 2],
    /// Median over replicates of the width over that without privacy.
    pub ratio: f64,
    /// Root mean squared error of the posterior means.
    pub rmse: f64,
    /// The replicates' tenth and ninetieth percentiles of it.
    pub rmse_range: [f64; 2],
    /// Share of the intervals that hold the truth.
    pub coverage: f64,
    /// Its standard error.
    pub coverage_error: f64,
    /// Median over replicates of the error of predictions over that with the true coefficients.
    pub prediction: f64,
}

/// The frontier of a design.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// The method that fitted the releases.
    pub method: String,
    /// Records of each party.
    pub records: usize,
    /// Features.
    pub features: usize,
    /// Parties.
    pub parties: usize,
    /// Share of the variance that features explain.
    pub r_squared: f64,
    /// Standard deviation of a column over the half-range of its bounds.
    pub fill: f64,
    /// Failure probability of each release.
    pub delta: f64,
    /// Mass of the intervals.
    pub level: f64,
    /// Simulated studies.
    pub replicates: usize,
    /// The seed.
    pub seed: u64,
    /// By growing epsilon; the last one is without privacy.
    pub points: Vec<Point>,
    /// Sentences that help to choose.
    pub advice: Vec<String>,
}

/// Intervals that are wider by less than this count as unharmed.
const NEAR: f64 = 1.1;

impl Report {
    /// Summarises all replicates.
    pub fn new(frontier: &Frontier, outcome: &Outcome) -> Self {
        let design = frontier.design();
        let losses = design.epsilons.iter().copied().map(Some).chain([None]);
        let points: Vec<Point> =
            losses.enumerate().map(|(place, epsilon)| point(outcome, place, epsilon)).collect();
        Self {
            method: outcome.method.to_string(),
            records: design.records,
            features: design.features,
            parties: design.parties,
            r_squared: design.r_squared,
            fill: design.fill,
            delta: design.delta,
            level: design.level,
            replicates: design.replicates,
            seed: design.seed,
            advice: advice(&points),
            points,
        }
    }

    /// One row for each epsilon; the last one, without privacy, has the epsilon `inf`.
    pub fn to_csv(&self) -> String {
        let mut text =
            "epsilon,width,width_10,width_90,ratio,rmse,rmse_10,rmse_90,coverage,coverage_error,prediction\n"
                .to_string();
        for point in &self.points {
            let [width_low, width_high] = point.width_range;
            let [rmse_low, rmse_high] = point.rmse_range;
            text += &format!(
                "{},{:.6e},{width_low:.6e},{width_high:.6e},{:.6},{:.6e},{rmse_low:.6e},{rmse_high:.6e},{:.6},{:.6},{:.6}\n",
                point.epsilon.unwrap_or(f64::INFINITY),
                point.width,
                point.ratio,
                point.rmse,
                point.coverage,
                point.coverage_error,
                point.prediction
            );
        }
        text
    }
}

fn point(outcome: &Outcome, place: usize, epsilon: Option<f64>) -> Point {
    let scores: Vec<&Score> = outcome.scores.iter().map(|scores| &scores[place]).collect();
    let of =
        |measure: &dyn Fn(&Score) -> f64| scores.iter().map(|score| measure(score)).collect::<Vec<f64>>();
    let widths = of(&|score| quantile(&score.widths, 0.5));
    let bare =
        outcome.scores.iter().filter_map(|scores| scores.last()).map(|score| quantile(&score.widths, 0.5));
    let ratios: Vec<f64> = widths.iter().zip(bare).map(|(width, bare)| width / bare).collect();
    let root =
        |errors: &[f64]| (errors.iter().map(|error| error * error).sum::<f64>() / errors.len() as f64).sqrt();
    let errors: Vec<f64> = scores.iter().flat_map(|score| score.errors.iter().copied()).collect();
    let roots = of(&|score| root(&score.errors));
    let held = coverage(scores.iter().map(|score| score.held).sum(), errors.len());
    Point {
        epsilon,
        width: quantile(&widths, 0.5),
        width_range: [0.1, 0.9].map(|share| quantile(&widths, share)),
        ratio: quantile(&ratios, 0.5),
        rmse: root(&errors),
        rmse_range: [0.1, 0.9].map(|share| quantile(&roots, share)),
        coverage: held.value,
        coverage_error: held.standard_error,
        prediction: quantile(&of(&|score| score.prediction), 0.5),
    }
}

/// A quantile, linear between order statistics.
pub(super) fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let place = share * last as f64;
    let (below, rest) = (place.floor() as usize, place - place.floor());
    sorted[below] + rest * (sorted[(below + 1).min(last)] - sorted[below])
}

/// From where on privacy costs little, and from where on sampling error is the larger part.
fn advice(points: &[Point]) -> Vec<String> {
    let from = |most: f64| {
        let above = points.iter().rev().take_while(|point| point.ratio <= most);
        above.last().and_then(|point| point.epsilon)
    };
    let tried: Vec<&Point> = points.iter().filter(|point| point.epsilon.is_some()).collect();
    let (Some(first), Some(last)) = (tried.first(), tried.last()) else { return Vec::new() };
    let loss = |point: &Point| point.epsilon.unwrap_or(f64::INFINITY);
    let near = match from(NEAR) {
        Some(epsilon) => format!(
            "From epsilon = {epsilon} on, intervals are within 10 percent of the width that they have without privacy."
        ),
        None => format!(
            "At epsilon = {}, the largest that was tried, intervals are still {:.2} times as wide as without privacy.",
            loss(last),
            last.ratio
        ),
    };
    // Variances add: below a ratio of sqrt 2 privacy is the smaller part.
    let half = match from(std::f64::consts::SQRT_2) {
        Some(epsilon) if epsilon > loss(first) => {
            format!("From epsilon = {epsilon} on, sampling error dominates; below, privacy noise does.")
        }
        Some(_) => "Sampling error dominates at every epsilon that was tried.".to_string(),
        None => "Privacy noise dominates at every epsilon that was tried: more records or more parties help as much as a larger epsilon.".to_string(),
    };
    vec![near, half]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(ratios: &[(f64, f64)]) -> Vec<Point> {
        let of = |epsilon: Option<f64>, ratio: f64| Point {
            epsilon,
            width: ratio,
            width_range: [ratio; 2],
            ratio,
            rmse: 1.0,
            rmse_range: [1.0; 2],
            coverage: 0.95,
            coverage_error: 0.01,
            prediction: 1.0,
        };
        let all = ratios.iter().map(|(epsilon, ratio)| of(Some(*epsilon), *ratio));
        all.chain([of(None, 1.0)]).collect()
    }

    #[test]
    fn quantiles_by_hand() {
        assert_eq!(quantile(&[3.0, 1.0, 2.0], 0.5), 2.0);
        assert_eq!(quantile(&[0.0, 10.0], 0.1), 1.0);
        assert!(quantile(&[], 0.5).is_nan());
    }

    /// Catches advice that takes a lucky epsilon in the middle for the beginning, and claims where nothing was reached.
    #[test]
    fn advice_is_about_all_larger_losses() {
        let found = advice(&points(&[(0.1, 5.0), (0.3, 1.05), (1.0, 1.3), (3.0, 1.08), (10.0, 1.0)]));
        assert!(found[0].starts_with("From epsilon = 3 on, intervals are within 10 percent"), "{found:?}");
        assert!(found[1].starts_with("From epsilon = 0.3 on, sampling error dominates"), "{found:?}");
        let found = advice(&points(&[(0.1, 5.0), (1.0, 3.0)]));
        assert!(
            found[0].contains("still 3.00 times") && found[1].starts_with("Privacy noise dominates"),
            "{found:?}"
        );
        let found = advice(&points(&[(5.0, 1.2), (10.0, 1.05)]));
        assert!(found[1].starts_with("Sampling error dominates at every"), "{found:?}");
    }
}
