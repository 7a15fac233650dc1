//! The samplers on all strings of bits up to a length: exact probabilities, without chance.

use std::collections::BTreeMap;
use std::fmt::Debug;

use super::*;

/// Gives the bits of a string, first the highest of `length`, and fails when they are used up.
struct Replay {
    string: u64,
    left: u32,
    exhausted: bool,
}

impl Bits for Replay {
    fn bits(&mut self, count: u32) -> Result<u64, String> {
        self.exhausted = count > self.left;
        if self.exhausted {
            return Err("no bits left".into());
        }
        self.left -= count;
        Ok(self.string >> self.left & ((1 << count) - 1))
    }
}

/// How many strings of `longest` bits lead to each outcome, and how many to none yet.
struct Tally<T> {
    longest: u32,
    decided: BTreeMap<T, u64>,
    undecided: u64,
}

impl<T: Ord + Copy + Debug> Tally<T> {
    fn of(longest: u32, draw: impl Fn(&mut Replay) -> Result<T, String>) -> Self {
        let mut tally = Self { longest, decided: BTreeMap::new(), undecided: 0 };
        tally.add(0, 0, &draw);
        tally
    }

    fn add(&mut self, string: u64, length: u32, draw: &impl Fn(&mut Replay) -> Result<T, String>) {
        let mut bits = Replay { string, left: length, exhausted: false };
        match draw(&mut bits) {
            Ok(outcome) => {
                assert_eq!(bits.left, 0, "a shorter string gave no outcome");
                *self.decided.entry(outcome).or_default() += 1 << (self.longest - length);
            }
            Err(error) => {
                assert!(bits.exhausted, "{error}");
                if length == self.longest {
                    self.undecided += 1;
                } else {
                    self.add(string << 1, length + 1, draw);
                    self.add(string << 1 | 1, length + 1, draw);
                }
            }
        }
    }

    /// Every probability is between the decided mass and that with the undecided one, which is at most `undecided`.
    fn check(&self, what: &str, undecided: f64, probability: impl Fn(T) -> f64) {
        let share = |strings: u64| strings as f64 / (1_u64 << self.longest) as f64;
        println!("{what}: undecided {:.2e}", share(self.undecided));
        assert!(share(self.undecided) <= undecided, "{what}: {} undecided", share(self.undecided));
        for (&outcome, &strings) in &self.decided {
            let (low, truth) = (share(strings), probability(outcome));
            let high = low + share(self.undecided);
            assert!(
                low <= truth + 1e-12 && truth <= high + 1e-12,
                "{what} {outcome:?}: {truth} not in {low}..{high}"
            );
        }
    }
}

fn big(number: u64) -> UBig {
    UBig::from(number)
}

fn ratio(numerator: u64, denominator: u64) -> RBig {
    RBig::from_parts(numerator.into(), denominator.into())
}

fn bernoulli(p: f64) -> impl Fn(bool) -> f64 {
    move |outcome| if outcome { p } else { 1.0 - p }
}

/// The probability of an outcome of weight `weight(|z|)`, a function of which 200 terms are all.
fn symmetric(weight: impl Fn(f64) -> f64) -> impl Fn(i128) -> f64 {
    let total: f64 = (-200..=200).map(|z| weight(f64::from(z).abs())).sum();
    move |outcome| weight((outcome as f64).abs()) / total
}

#[test]
fn uniform() {
    for bound in 1..=9 {
        let tally = Tally::of(20, |bits| Ok(u64::try_from(uniform_below(&big(bound), bits)?).unwrap()));
        tally.check(&format!("uniform below {bound}"), 0.04, |_| 1.0 / bound as f64);
        assert!(tally.decided.into_keys().eq(0..bound));
    }
}

#[test]
fn bernoulli_of_a_ratio() {
    for (n, d) in [(0, 1), (1, 1), (1, 2), (1, 3), (2, 3), (5, 8), (6, 7), (1, 1000), (4, 6)] {
        let tally = Tally::of(20, |bits| bernoulli_rational(&big(n), &big(d), bits));
        tally.check(&format!("{n}/{d}"), 1e-6, bernoulli(n as f64 / d as f64));
    }
}

#[test]
fn bernoulli_of_a_double() {
    for p in [0.0, 1.0, 0.5, 0.1, 0.9999, 1e-5] {
        Tally::of(20, |bits| bernoulli_f64(p, bits)).check(&p.to_string(), 1e-6, bernoulli(p));
    }
    // All 55 digits after the point of 0.1: the last is a one, and the string that differs there alone is decided by it.
    let digits = (0.1_f64 * 2_f64.powi(55)) as u64;
    let draw = |string| bernoulli_f64(0.1, &mut Replay { string, left: 55, exhausted: false });
    assert_eq!((digits % 2, draw(digits - 1), draw(digits)), (1, Ok(true), Ok(false)));
}

#[test]
fn bernoulli_of_an_exponential() {
    for (n, d) in [(0, 1), (1, 2), (1, 1), (3, 2), (2, 1), (7, 3), (1, 100)] {
        let tally = Tally::of(20, |bits| bernoulli_exp(&big(n), &big(d), bits));
        tally.check(&format!("exp(-{n}/{d})"), 3e-3, bernoulli((-(n as f64) / d as f64).exp()));
    }
}

const SCALES: [(u64, u64); 4] = [(1, 2), (1, 1), (3, 2), (2, 1)];

/// Half of (1 - e^-1)/t times the sum over x = s y, ..., s y + s - 1 of exp(-x/t): the probability that a
/// round gives a z of size y.
fn laplace_law(t: f64, s: f64, z: f64) -> f64 {
    let drawn = (1.0 - (-1_f64).exp()) / t * (-z.abs() * s / t).exp();
    drawn * (1.0 - (-s / t).exp()) / (1.0 - (-1.0 / t).exp()) / 2.0
}

/// A round that gives nothing has the probability that is left.
fn round_law(law: impl Fn(f64) -> f64) -> impl Fn(Option<i128>) -> f64 {
    let total: f64 = (-200..=200).map(|z| law(z.into())).sum();
    move |outcome| outcome.map_or(1.0 - total, |z| law(z as f64))
}

fn small(drawn: Option<IBig>) -> Option<i128> {
    drawn.map(|z| z.try_into().unwrap())
}

#[test]
fn laplace_rounds() {
    for (t, s) in SCALES {
        let tally = Tally::of(22, |bits| Ok(small(laplace_round(&big(t), &big(s), bits)?)));
        let law = round_law(|z| laplace_law(t as f64, s as f64, z));
        tally.check(&format!("a round of Laplace {t}/{s}"), 0.02, law);
    }
}

#[test]
fn gaussian_rounds() {
    for (n, d) in SCALES {
        let rounds = GaussianRounds::new(&ratio(n, d)).unwrap();
        let tally = Tally::of(24, |bits| Ok(small(rounds.round(bits)?)));
        let (sigma, t) = (n as f64 / d as f64, (n / d + 1) as f64);
        let accepted = |z: f64| (-(z.abs() - sigma * sigma / t).powi(2) / (2.0 * sigma * sigma)).exp();
        let law = round_law(|z| laplace_law(t, 1.0, z) * accepted(z));
        tally.check(&format!("a round of Gaussian {n}/{d}"), 0.04, law);
    }
}

#[test]
fn laplace_noise() {
    for (n, d) in SCALES {
        let tally = Tally::of(20, |bits| discrete_laplace(&ratio(n, d), bits));
        let law = symmetric(|z| (-z * d as f64 / n as f64).exp());
        tally.check(&format!("Laplace {n}/{d}"), 0.5, law);
    }
}

#[test]
fn gaussian_noise() {
    for (n, d) in SCALES {
        let tally = Tally::of(20, |bits| discrete_gaussian(&ratio(n, d), bits));
        let law = symmetric(|z| (-(z * d as f64 / n as f64).powi(2) / 2.0).exp());
        tally.check(&format!("Gaussian {n}/{d}"), 0.5, law);
    }
}

#[test]
fn what_is_no_law_is_refused() {
    let bits = &mut Replay { string: 0, left: 64, exhausted: false };
    assert!(uniform_below(&big(0), bits).is_err());
    assert!(bernoulli_rational(&big(3), &big(2), bits).is_err());
    assert!(bernoulli_rational(&big(0), &big(0), bits).is_err());
    assert!(bernoulli_exp(&big(1), &big(0), bits).is_err());
    for p in [-0.5, 1.5, f64::NAN, f64::INFINITY] {
        assert!(bernoulli_f64(p, bits).is_err(), "{p}");
    }
    for scale in [ratio(0, 1), -ratio(1, 1)] {
        assert!(discrete_laplace(&scale, bits).is_err() && discrete_gaussian(&scale, bits).is_err());
    }
    assert_eq!(bits.left, 64);
}
