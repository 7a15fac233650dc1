//! Figure 4: coverage of predictive intervals on the cirrhosis data. \[BS19\] section 4.3

use organza_infer::{InferError, Prior};
use rand::seq::SliceRandom;

use super::cirrhosis;
use super::figure3::column;
use super::figure4_report;
use super::methods::{Length, Method};
use super::problem::{Problem, Scales, Sums};
use crate::reproduce::{About, Experiment, Report, ReproduceError, Results, Seeds, Study, Variant};
use organza_studies::generator;

/// The budgets.
pub const EPSILONS: [f64; 3] = [0.01, 0.1, 1.0];
/// Masses of the intervals.
pub const MASSES: [f64; 2] = [0.5, 0.9];
/// States whose deaths are predicted; the others are known.
const TEST: usize = 10;
/// Draws of each posterior that predict.
const DRAWS: usize = 2_000;
/// Sensitivities in the authors' code for widths of 1: seven entries, five fourth moments.
const PUBLISHED: (f64, f64) = (7.0, 5.0);

const PAPER: [Method; 3] = [Method::NonPrivate, Method::Naive, Method::GibbsNoisy];
const OURS: [Method; 5] =
    [Method::NonPrivate, Method::Naive, Method::GibbsUpdate, Method::Individual, Method::Marginal];

/// Methods of a variant.
pub fn methods(variant: Variant) -> &'static [Method] {
    if variant == Variant::Ours { &OURS } else { &PAPER }
}

/// Name of a cell.
pub fn cell(epsilon: f64) -> String {
    format!("epsilon={epsilon}")
}

/// Name of the share of intervals of a mass.
pub fn share(mass: f64) -> String {
    format!("{:.0} %", 100.0 * mass)
}

/// The experiment.
pub struct Figure4;

impl Experiment for Figure4 {
    fn about(&self) -> About {
        About {
            key: "bs19-figure4",
            title: "Coverage of predictive intervals, deaths from cirrhosis given wine consumption (Figure 4)",
            paper: "bs19",
            version: 1,
            minutes: 1,
        }
    }

    fn variants(&self) -> &'static [Variant] {
        &Variant::ALL
    }

    fn replicates(&self, _: Variant) -> u64 {
        100
    }

    fn columns(&self, variant: Variant) -> Vec<String> {
        let of_method = |method: &Method| {
            MASSES
                .map(share)
                .into_iter()
                .chain(["sd".into()])
                .map(|what| column(*method, &what))
                .collect::<Vec<_>>()
        };
        methods(variant).iter().flat_map(of_method).collect()
    }

    fn prepare(&self, variant: Variant) -> Result<Box<dyn Study>, ReproduceError> {
        Ok(Box::new(Figure4Study { variant, rows: cirrhosis::load()? }))
    }

    fn report(&self, variant: Variant, results: &Results) -> Report {
        figure4_report::report(variant, results)
    }
}

struct Figure4Study {
    variant: Variant,
    /// Feature and response in [0, 1].
    rows: Vec<(f64, f64)>,
}

impl Study for Figure4Study {
    fn cells(&self) -> Vec<String> {
        EPSILONS.map(cell).to_vec()
    }

    fn replicate(&self, place: usize, seed: u64) -> Result<Vec<f64>, String> {
        self.paired(place, Seeds { own: seed, shared: seed })
    }

    /// All budgets of a replicate have the same split.
    fn paired(&self, place: usize, seeds: Seeds) -> Result<Vec<f64>, String> {
        let mut rows: Vec<(f64, f64)> = self.rows.iter().map(|row| normalised(self.variant, *row)).collect();
        rows.shuffle(&mut generator(seeds.shared, 0));
        let (test, train) = rows.split_at(TEST.min(rows.len()));
        let prior = prior(self.variant).map_err(|error| error.to_string())?;
        let problem = Problem {
            sums: Sums::new(train.iter().copied()),
            scales: scales(self.variant),
            epsilon: EPSILONS[place],
            moments_prior: prior.clone(),
            prior,
        };
        let mut values = Vec::new();
        for method in methods(self.variant) {
            let draws = method.draws(&problem, seeds.own, Length::PUBLISHED)?;
            let every = (draws.len() / DRAWS).max(1);
            let draws: Vec<[f64; 3]> = draws.into_iter().step_by(every).collect();
            values.extend(predict(&draws, test));
        }
        Ok(values)
    }
}

/// The authors' sums are those over [0, 1]; ours are over [-1, 1].
fn normalised(variant: Variant, (x, y): (f64, f64)) -> (f64, f64) {
    if variant == Variant::Published { (x, y) } else { (2.0 * x - 1.0, 2.0 * y - 1.0) }
}

fn scales(variant: Variant) -> Scales {
    let (gram, fourth) = PUBLISHED;
    if variant == Variant::Published { Scales::in_units(gram, fourth, [1.0, 1.0]) } else { Scales::exact() }
}

/// NIG([1, 0], diag([.25, .25]), 20, .5) of slope b and intercept a. Over [-1, 1] the slope is the same, the intercept 2a + b - 1, and the
/// residual variance four times as large.
fn prior(variant: Variant) -> Result<Prior, InferError> {
    let (covariance, rate) = match variant {
        Variant::Published => ([4.0, 0.0, 0.0, 4.0], 0.5),
        _ => ([5.0, 1.0, 1.0, 1.0], 2.0),
    };
    Ok(Prior::new(vec![0.0, 1.0], &covariance, (20.0, rate))?.conjugate())
}

/// For each mass the share of responses within the central interval of their predictive law, and the mean standard deviation of these laws.
fn predict(draws: &[[f64; 3]], test: &[(f64, f64)]) -> [f64; 3] {
    let mut found = [0.0; 3];
    for (x, y) in test {
        let level = mean(draws, |[intercept, slope, variance]| {
            normal_distribution((y - intercept - slope * x) / variance.sqrt())
        });
        for (mass, held) in MASSES.iter().zip(&mut found) {
            let tail = 0.5 * (1.0 - mass);
            *held += f64::from(u8::from((tail..=1.0 - tail).contains(&level)));
        }
        let centre = mean(draws, |[intercept, slope, _]| intercept + slope * x);
        let spread = |[intercept, slope, variance]: [f64; 3]| {
            let away = intercept + slope * x - centre;
            variance + away * away
        };
        found[2] += mean(draws, spread).sqrt();
    }
    found.map(|sum| sum / test.len() as f64)
}

fn mean(draws: &[[f64; 3]], of: impl Fn([f64; 3]) -> f64) -> f64 {
    draws.iter().map(|draw| of(*draw)).sum::<f64>() / draws.len() as f64
}

fn normal_distribution(z: f64) -> f64 {
    0.5 * libm::erfc(-z / std::f64::consts::SQRT_2)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: the law N(1, 4) at x = 1 has its 50 percent interval within 1 +- 1.35 and its 90 percent interval within 1 +- 3.29.
    #[test]
    fn predictions_by_hand() {
        let draws = [[0.0, 1.0, 4.0]];
        let found = predict(&draws, &[(1.0, 1.0), (1.0, 2.3), (1.0, 2.4), (1.0, 4.2), (1.0, -2.3)]);
        assert_eq!(found, [0.4, 0.8, 2.0]);
    }

    /// The prior over [-1, 1] is that over [0, 1]: moments of a + b x at x = 1/4, by hand. Catches a prior in other units.
    #[test]
    fn both_priors_are_the_same() {
        let law = |variant: Variant, x: f64, unit: f64| {
            let prior = prior(variant).unwrap();
            let c = crate::linalg::inverse(prior.precision()).unwrap();
            let mean = prior.mean()[0] + prior.mean()[1] * x;
            let spread = c[0] + 2.0 * x * c[1] + x * x * c[3];
            let (shape, rate) = prior.variance();
            (mean, spread * rate / (shape - 1.0) / (unit * unit))
        };
        let (mean, spread) = law(Variant::Published, 0.25, 1.0);
        let (other, width) = law(Variant::Claimed, -0.5, 2.0);
        assert!(
            (2.0 * mean - 1.0 - other).abs() < 1e-12 && (spread - width).abs() < 1e-12,
            "{spread} {width}"
        );
    }

    /// On data of the shape of the paper's: without noise intervals hold about their mass, and all methods run.
    #[test]
    fn a_replicate_on_simulated_states() {
        let rows: Vec<(f64, f64)> = (0..46)
            .map(|k| {
                let x = f64::from(k) / 45.0;
                (x, (0.1 + 0.8 * x + 0.12 * (f64::from(k) * 2.4).sin()).clamp(0.0, 1.0))
            })
            .collect();
        for variant in [Variant::Published, Variant::Ours] {
            let study = Figure4Study { variant, rows: rows.clone() };
            let values = study.replicate(1, 1).unwrap();
            assert_eq!(values.len(), Figure4.columns(variant).len());
            assert!(values.iter().all(|value| value.is_finite()) && values[1] >= 0.7, "{values:?}");
        }
    }
}
