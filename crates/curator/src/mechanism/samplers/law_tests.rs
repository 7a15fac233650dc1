//! Draws from the operating system's bits against the laws: these can fail by chance, all together once in 10^8 runs.

use super::*;
use crate::mechanism::entropy::SystemBits;

const DRAWS: usize = 500_000;
const SCALES: [f64; 6] = [0.3, 1.0, 3.7, 20.0, 1000.0, 1_073_741_824.0];
/// Normal quantiles of 10^-8 over 24 tests: one-sided and two-sided.
const ONE_SIDED: f64 = 6.139;
const TWO_SIDED: f64 = 6.248;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Law {
    Laplace,
    Gaussian,
}
use Law::{Gaussian, Laplace};

impl Law {
    fn draw(self, scale: &RBig) -> Result<i128, String> {
        let bits = &mut SystemBits::new();
        if self == Laplace { discrete_laplace(scale, bits) } else { discrete_gaussian(scale, bits) }
    }

    /// What the scale is estimated from: |z| or z^2, in units of the scale.
    fn statistic(self, z: f64, scale: f64) -> f64 {
        if self == Laplace { (z / scale).abs() } else { (z / scale).powi(2) }
    }

    fn weight(self, z: f64, scale: f64) -> f64 {
        let x = self.statistic(z, scale);
        (if self == Laplace { -x } else { -x / 2.0 }).exp()
    }

    /// The sum of weight times `term` over the lattice from `from` on. Above a scale of 1000 the sum goes in steps of a
    /// thousandth of the scale, with half a weight at `from`: an error of 10^-7, that of draws is 10^-3.
    fn sum(self, scale: f64, from: f64, term: impl Fn(f64) -> f64) -> f64 {
        let step = (scale / 1000.0).max(1.0);
        let terms = (40.0 * scale / step).ceil() as i32 + 20;
        let value = |k: i32| {
            let z = from + f64::from(k) * step;
            self.weight(z, scale) * term(z) * step
        };
        (0..terms).map(value).sum::<f64>() - value(0) / 2.0 + self.weight(from, scale) * term(from) / 2.0
    }

    /// The sum over all of the lattice of an even term.
    fn total(self, scale: f64, term: impl Fn(f64) -> f64) -> f64 {
        2.0 * self.sum(scale, 0.0, &term) - self.weight(0.0, scale) * term(0.0)
    }
}

fn each(check: impl Fn(Law, f64, &[i128])) {
    for law in [Laplace, Gaussian] {
        for scale in SCALES {
            let exact = RBig::try_from(scale).unwrap();
            let drawn: Result<Vec<i128>, String> = (0..DRAWS).map(|_| law.draw(&exact)).collect();
            check(law, scale, &drawn.unwrap());
        }
    }
}

/// Chi-square over cells of a third of the scale, of which the outer ones are open; and the mean of the statistic.
#[test]
fn draws_follow_the_law() {
    each(|law, scale, drawn| {
        let mass = law.total(scale, |_| 1.0);
        let width = (scale / 3.0).ceil();
        let edges: Vec<f64> = (0..7).map(|k| f64::from(k) * width + 1.0).collect();
        let mut upper: Vec<f64> = edges.iter().map(|&edge| law.sum(scale, edge, |_| 1.0) / mass).collect();
        upper.retain(|&tail| tail * DRAWS as f64 > 20.0);
        let cells = upper.len();
        let tails = |k: usize| upper[k] - upper.get(k + 1).copied().unwrap_or(0.0);
        // Cell 0 is zero alone, 2k + 1 is the k-th above it, 2k + 2 the k-th below.
        let mut seen = vec![0.0; 2 * cells + 1];
        for &z in drawn {
            let k = (((z.unsigned_abs() as f64 - 1.0) / width) as usize).min(cells - 1);
            seen[if z == 0 { 0 } else { 2 * k + 1 + usize::from(z < 0) }] += 1.0;
        }
        let expected = |cell: usize| {
            let p = if cell == 0 { law.weight(0.0, scale) / mass } else { tails((cell - 1) / 2) };
            p * DRAWS as f64
        };
        // A single lattice point of a wide law is no cell of its own: too few draws are expected there.
        let cell_range = usize::from(expected(0) < 20.0)..seen.len();
        let freedom = cell_range.len() as f64 - 1.0;
        let chi: f64 = cell_range.map(|c| (seen[c] - expected(c)).powi(2) / expected(c)).sum();
        // Wilson and Hilferty's quantile.
        let nine = 2.0 / (9.0 * freedom);
        let limit = freedom * (1.0 - nine + ONE_SIDED * nine.sqrt()).powi(3);
        println!("{law:?} {scale}: chi-square {chi:.1} of {freedom}, limit {limit:.1}");
        assert!(chi < limit, "{law:?} {scale}: chi-square {chi} of {freedom}, limit {limit}");
        let mean = |power: i32| law.total(scale, |z| law.statistic(z, scale).powi(power)) / mass;
        let found = drawn.iter().map(|&z| law.statistic(z as f64, scale)).sum::<f64>() / DRAWS as f64;
        let error = (found - mean(1)) / ((mean(2) - mean(1).powi(2)) / DRAWS as f64).sqrt();
        println!("{law:?} {scale}: mean off by {error:.2} standard errors");
        assert!(error.abs() < TWO_SIDED, "{law:?} {scale}: mean off by {error} standard errors");
    });
}

/// The numbers are as large as they need be, and the end of the type is an error. By chance it fails less than once in
/// 10^30 runs: at least three in ten of 200 draws are on either side of what is asked for.
#[test]
fn extreme_scales() {
    let draw =
        |law: Law, scale: RBig| -> Vec<Result<i128, String>> { (0..200).map(|_| law.draw(&scale)).collect() };
    for law in [Laplace, Gaussian] {
        let tiny = RBig::try_from(f64::from_bits(1)).unwrap();
        assert!(draw(law, tiny).iter().all(|z| *z == Ok(0)));
        let wide = draw(law, RBig::from(UBig::ONE << 110));
        assert!(wide.iter().all(|z| z.as_ref().is_ok_and(|z| z.unsigned_abs() < 1 << 120)));
        assert!(wide.iter().any(|z| z.as_ref().is_ok_and(|z| z.unsigned_abs() > 1 << 109)));
        // Of 200 about 70 or more are beyond the type, and about 60 or more are not.
        let beyond = draw(law, RBig::from(UBig::from(u128::MAX)));
        assert!(beyond.iter().any(Result::is_err) && beyond.iter().any(Result::is_ok));
        assert!(draw(law, RBig::try_from(f64::MAX).unwrap()).iter().all(Result::is_err));
    }
}
