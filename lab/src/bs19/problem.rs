//! Noisy sums over records (1, u, v) in normalised units, with the prior that goes with them.

use organza_infer::methods::FourthMoments;
use organza_infer::{Evidence, Prior};
use organza_release::loss::LossError;
use organza_release::{
    BoxDomain, Domain, Family, Interval, Layout, Neighbours, Norm, Release, Statistic, gram_entries,
    sensitivity,
};
use rand::Rng;

use organza_studies::seeded::{Mechanism, standard_noise};

/// Entries of the Gram matrix of (1, u, v) that are released: all but the public number of records.
pub const ENTRIES: usize = 5;
/// Powers of u whose sums are the fourth moments of (1, u).
pub const POWERS: usize = 4;

/// Exact sums over records in normalised units.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sums {
    /// Number of records.
    pub records: u64,
    /// Gram matrix of (1, u, v), row-major.
    pub gram: [f64; 9],
    /// Sums of u, u^2, u^3 and u^4.
    pub powers: [f64; POWERS],
}

impl Sums {
    /// Over features and responses.
    pub fn new(records: impl Iterator<Item = (f64, f64)>) -> Self {
        let mut sums = Self::default();
        for (u, v) in records {
            let record = [1.0, u, v];
            sums.records += 1;
            (0..9).for_each(|k| sums.gram[k] += record[k / 3] * record[k % 3]);
            (0..POWERS).for_each(|k| sums.powers[k] += u.powi(k as i32 + 1));
        }
        sums
    }
}

/// Scales of Laplace noise for epsilon = 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Scales {
    /// One for every released entry, in the order of [`gram_entries`].
    pub gram: [f64; ENTRIES],
    /// One for every power.
    pub powers: [f64; POWERS],
}

impl Scales {
    /// Exact sensitivities of the cube.
    pub fn exact() -> Self {
        let statistic = statistic(Layout::Upper);
        let gram = sensitivity::of_release(&domain(), &statistic, Neighbours::Substitute, Norm::L1).value;
        let powers = sensitivity::fourth_moments(1, Norm::L1).value;
        Self { gram: [gram; ENTRIES], powers: [powers; POWERS] }
    }

    /// Sensitivities of sums over records in other units: a unit there is so many half-widths of the bounds of feature and response.
    pub fn in_units(gram: f64, powers: f64, [u, v]: [f64; 2]) -> Self {
        let unit = [1.0, u, v];
        let entries = gram_entries(&domain(), true, true);
        Self {
            gram: std::array::from_fn(|k| gram * unit[entries[k][0]] * unit[entries[k][1]]),
            powers: std::array::from_fn(|k| powers * u.powi(k as i32 + 1)),
        }
    }
}

/// What all methods of one replicate share.
#[derive(Debug, Clone)]
pub struct Problem {
    /// The exact sums.
    pub sums: Sums,
    /// The noise.
    pub scales: Scales,
    /// The loss.
    pub epsilon: f64,
    /// The prior of coefficients, residual variance and features.
    pub prior: Prior,
    /// The same with the feature law whose moments `gibbs-prior` takes for the true ones.
    pub moments_prior: Prior,
}

impl Problem {
    /// Exact sums, as if nothing were private.
    pub fn exact(&self) -> Result<Evidence, String> {
        let mut release = self.laplace(1.0, &mut organza_studies::generator(0, 0));
        release.value = entries(&self.sums);
        Evidence::new(&[release]).map_err(|error| error.to_string())
    }

    /// Sums with Laplace noise for this share of the budget.
    pub fn noisy(&self, share: f64, rng: &mut impl Rng) -> Result<Evidence, String> {
        Evidence::new(&[self.laplace(share, rng)]).map_err(|error| error.to_string())
    }

    /// Fourth moments with Laplace noise for this share of the budget.
    pub fn fourth_moments(&self, share: f64, rng: &mut impl Rng) -> Result<FourthMoments, String> {
        let noise = |scale: &f64| scale / (share * self.epsilon) * standard_noise(Family::Laplace, rng);
        let noise: Vec<f64> = self.scales.powers.iter().map(noise).collect();
        let sums: Vec<f64> = self.sums.powers.iter().zip(noise).map(|(sum, noise)| sum + noise).collect();
        // u^k is the product of k coordinates u and 4 - k constants.
        let entry = |power: usize| std::array::from_fn(|k| usize::from(k + power >= POWERS));
        let entries: Vec<[usize; 4]> = (1..=POWERS).map(entry).collect();
        FourthMoments::new(2, &entries, &sums, self.sums.records as f64).map_err(|error| error.to_string())
    }

    /// Sums with isometric Gaussian noise that keeps (epsilon, delta).
    pub fn gaussian(&self, delta: f64, rng: &mut impl Rng) -> Result<Evidence, String> {
        let mechanism = Mechanism::calibrated(domain(), statistic(Layout::Isometric), (self.epsilon, delta));
        let mechanism = mechanism.map_err(|error: LossError| error.to_string())?;
        let release = mechanism.publish("all", self.sums.records, &entries(&self.sums), rng);
        Evidence::new(&[release]).map_err(|error| error.to_string())
    }

    fn laplace(&self, share: f64, rng: &mut impl Rng) -> Release {
        let epsilon = share * self.epsilon;
        let mechanism = Mechanism {
            domain: domain(),
            statistic: statistic(Layout::Upper),
            family: Family::Laplace,
            scales: self.scales.gram.map(|scale| scale / epsilon).to_vec(),
            epsilon,
            delta: 0.0,
            sensitivity: self.scales.gram[0],
        };
        mechanism.publish("all", self.sums.records, &entries(&self.sums), rng)
    }
}

/// Features and responses in [-1, 1], with a constant.
fn domain() -> Domain {
    let interval = |name: &str| Interval { name: name.into(), lower: -1.0, upper: 1.0 };
    Domain::Box(BoxDomain {
        formula: "y ~ x".into(),
        columns: vec![],
        intercept: true,
        features: vec![interval("x")],
        response: interval("y"),
        record_scale: None,
        intercept_weight: 1.0,
        response_weight: 1.0,
    })
}

fn statistic(layout: Layout) -> Statistic {
    Statistic::Gram { entries: gram_entries(&domain(), true, true), layout }
}

fn entries(sums: &Sums) -> Vec<f64> {
    let of = |[row, column]: [usize; 2]| sums.gram[row * 3 + column];
    gram_entries(&domain(), true, true).into_iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand for the records (1/2, 2) and (-1, 3), and for units of a half and a third: catches entries in another order.
    #[test]
    fn sums_and_scales_by_hand() {
        let sums = Sums::new([(0.5, 2.0), (-1.0, 3.0)].into_iter());
        assert_eq!(sums.gram, [2.0, -0.5, 5.0, -0.5, 1.25, -2.0, 5.0, -2.0, 13.0]);
        assert_eq!(sums.powers, [-0.5, 1.25, -0.875, 1.0625]);
        assert_eq!(gram_entries(&domain(), true, true), [[0, 1], [0, 2], [1, 1], [1, 2], [2, 2]]);
        let scales = Scales::in_units(36.0, 16.0, [0.5, 1.0 / 3.0]);
        let expected = [18.0, 12.0, 9.0, 6.0, 4.0];
        assert!(scales.gram.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{scales:?}");
        assert_eq!(scales.powers, [8.0, 4.0, 2.0, 1.0]);
        let exact = Scales::exact();
        assert!((exact.gram[0] - 16.0 / 3.0).abs() < 1e-12 && exact.powers[0] == 6.0, "{exact:?}");
    }
}
