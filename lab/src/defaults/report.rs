//! Regret factors: error of a rule over the error of the best setting of the same problem.

use super::evaluate::Merit;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Errors below this share of var(y) are as good as zero; it keeps ratios of tiny numbers from ruling.
const FLOOR: f64 = 1e-4;

/// The two estimators in the order of `Trial::merit`.
pub const ESTIMATORS: [&str; 2] = ["fast", "fast, noise-aware"];

/// Merits of all rules on one problem, and the smallest errors seen there.
pub struct Outcome {
    /// Groups that the problem belongs to.
    pub tags: Vec<(&'static str, String)>,
    /// One per rule.
    pub merits: Vec<[Merit; 2]>,
    /// Smallest excess and smallest slope error, per estimator.
    best: [[f64; 2]; 2],
    /// What is added to both errors.
    floors: [f64; 2],
}

fn errors(merit: &Merit, floors: [f64; 2]) -> [f64; 2] {
    let above = |error: f64, floor: f64| if error.is_nan() { f64::INFINITY } else { error.max(0.0) + floor };
    [above(merit.excess, floors[0]), above(merit.slope_error, floors[1])]
}

impl Outcome {
    /// Takes the best over the grid and the rules.
    pub fn new(tags: Vec<(&'static str, String)>, merits: Vec<[Merit; 2]>, grid: &[[Merit; 2]]) -> Outcome {
        Self::above([FLOOR; 2], tags, merits, grid)
    }

    /// The same with other floors of excess and slope error.
    pub fn above(
        floors: [f64; 2],
        tags: Vec<(&'static str, String)>,
        merits: Vec<[Merit; 2]>,
        grid: &[[Merit; 2]],
    ) -> Outcome {
        let mut best = [[f64::INFINITY; 2]; 2];
        for pair in merits.iter().chain(grid) {
            for (smallest, merit) in best.iter_mut().zip(pair) {
                for (low, error) in smallest.iter_mut().zip(errors(merit, floors)) {
                    *low = low.min(error);
                }
            }
        }
        Outcome { tags, merits, best, floors }
    }

    /// Factor of a rule over the best; `metric` 0 is excess, 1 slope error.
    pub fn factor(&self, rule: usize, estimator: usize, metric: usize) -> f64 {
        errors(&self.merits[rule][estimator], self.floors)[metric] / self.best[estimator][metric]
    }

    fn has(&self, group: &(&'static str, String)) -> bool {
        group.0 == "all" || self.tags.contains(group)
    }
}

/// Summary of one rule on one group of problems, by one estimator.
pub struct Summary {
    /// Number of problems.
    pub problems: usize,
    /// Geometric mean factor of excess and slope error.
    pub mean: [f64; 2],
    /// 90th percentile of the factors.
    pub high: [f64; 2],
    /// Mean interval width (sd units) and coverage of nominal 90 percent.
    pub interval: [f64; 2],
}

/// Summarises a rule.
pub fn summarise(outcomes: &[&Outcome], rule: usize, estimator: usize) -> Summary {
    let count = outcomes.len() as f64;
    let factors = |metric| -> Vec<f64> {
        let mut all: Vec<f64> = outcomes.iter().map(|o| o.factor(rule, estimator, metric)).collect();
        all.sort_by(f64::total_cmp);
        all
    };
    let both = [factors(0), factors(1)];
    let mean_of = |f: &dyn Fn(&Merit) -> f64| {
        outcomes.iter().map(|o| f(&o.merits[rule][estimator])).sum::<f64>() / count
    };
    Summary {
        problems: outcomes.len(),
        mean: [0, 1].map(|m| (both[m].iter().map(|x| x.ln()).sum::<f64>() / count).exp()),
        high: [0, 1].map(|m| both[m][((outcomes.len() as f64 * 0.9) as usize).min(outcomes.len() - 1)]),
        interval: [mean_of(&|m| m.width), mean_of(&|m| m.coverage)],
    }
}

/// Problems of every group, "all" first.
pub fn groups(outcomes: &[Outcome]) -> Vec<((&'static str, String), Vec<&Outcome>)> {
    let mut names = BTreeMap::from([(("all", String::new()), 0)]);
    let mut order = vec![("all", String::new())];
    for tag in outcomes.iter().flat_map(|o| &o.tags) {
        if names.insert(tag.clone(), 0).is_none() {
            order.push(tag.clone());
        }
    }
    order.into_iter().map(|tag| (tag.clone(), outcomes.iter().filter(|o| o.has(&tag)).collect())).collect()
}

/// Writes one line per rule, estimator and group.
pub fn write_csv(out: &mut dyn Write, set: &str, names: &[String], outcomes: &[Outcome]) -> io::Result<()> {
    for ((group, value), members) in groups(outcomes) {
        for (rule, name) in names.iter().enumerate() {
            for (estimator, estimator_name) in ESTIMATORS.iter().enumerate() {
                let s = summarise(&members, rule, estimator);
                write!(out, "{set},\"{name}\",\"{estimator_name}\",{group},{value},{}", s.problems)?;
                write!(out, ",{:.3},{:.3},{:.3},{:.3}", s.mean[0], s.high[0], s.mean[1], s.high[1])?;
                writeln!(out, ",{:.4},{:.3}", s.interval[0], s.interval[1])?;
            }
        }
    }
    Ok(())
}

/// The head of the CSV file.
pub const CSV_HEAD: &str = "set,rule,estimator,group,value,problems,excess_mean_factor,excess_p90_factor,\
slope_mean_factor,slope_p90_factor,mean_width_90,coverage_90";

#[cfg(test)]
mod tests {
    use super::*;

    fn merit(excess: f64) -> [Merit; 2] {
        [Merit { excess, slope_error: 2.0 * excess, width: 1.0, coverage: 0.5 }; 2]
    }

    #[test]
    fn the_best_setting_has_factor_one_and_others_are_relative_to_it() {
        let outcome =
            Outcome::new(Vec::new(), vec![merit(0.1999), merit(0.3)], &[merit(0.0999), merit(f64::NAN)]);
        assert!((outcome.factor(0, 0, 0) - 2.0).abs() < 1e-12);
        let summary = summarise(&[&outcome], 1, 1);
        assert!((summary.mean[0] - 3.001).abs() < 1e-12 && summary.problems == 1);
    }
}
