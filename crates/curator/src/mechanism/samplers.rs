//! Exact samplers of discrete laws, after \[CKS20\] Algorithms 1 to 3.
//!
//! Every probability is exactly the stated one if the bits are independent and fair: arithmetic is on whole numbers of
//! any size, nothing is rounded and nothing is cut off. A draw that does not fit its type is an error.
//!
//! Three steps differ from the listings, and none changes a law:
//!
//! - Bernoulli(p) compares the binary digits of p with random bits from the left and stops at the first that differ. The
//!   bits are those of a uniform U on \[0, 1\], and the result is whether U < p. It takes two bits on average.
//! - Bernoulli(gamma/k) of Algorithm 1 is drawn as Bernoulli(1/k) and Bernoulli(gamma), independent: both are true with
//!   probability gamma/k. The numbers compared stay as small as gamma's.
//! - Algorithm 3 takes each candidate from Algorithm 2, which tries until one is found. Here a try that finds none starts
//!   Algorithm 3 again, which has kept nothing and so would go on with the same new try.
//!
//! Time depends on the scale, which is public, and on the bits, that is on the noise (and on candidates that were
//! refused). No function here is given a datum, so time depends on none.

use dashu_base::{BitTest, UnsignedAbs};
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

use super::entropy::Bits;

#[cfg(test)]
mod enumeration_tests;
#[cfg(test)]
mod law_tests;

/// One of 0, ..., `bound` - 1, each alike: as many bits as `bound` - 1 has, again until they are below `bound`.
pub(crate) fn uniform_below(bound: &UBig, bits: &mut impl Bits) -> Result<UBig, String> {
    if bound.is_zero() {
        return Err("no whole number is below 0".into());
    }
    let length = (bound - UBig::ONE).bit_len();
    loop {
        let mut drawn = UBig::ZERO;
        let mut missing = length;
        while missing > 0 {
            let count = missing.min(64);
            drawn = (drawn << count) | UBig::from(bits.bits(count as u32)?);
            missing -= count;
        }
        if drawn < *bound {
            return Ok(drawn);
        }
    }
}

/// True with probability `numerator / denominator`, a number from 0 to 1.
pub(crate) fn bernoulli_rational(
    numerator: &UBig,
    denominator: &UBig,
    bits: &mut impl Bits,
) -> Result<bool, String> {
    if numerator > denominator || denominator.is_zero() {
        return Err("a probability is a number from 0 to 1".into());
    }
    if numerator == denominator {
        return Ok(true);
    }
    // rest / denominator is the probability without the digits that were compared, shifted to start at the next.
    let mut rest = numerator.clone();
    while !rest.is_zero() {
        rest <<= 1;
        let digit = rest >= *denominator;
        if digit {
            rest -= denominator;
        }
        if digit != (bits.bits(1)? == 1) {
            return Ok(digit);
        }
    }
    Ok(false)
}

/// True with exactly the probability that the double is.
pub(crate) fn bernoulli_f64(probability: f64, bits: &mut impl Bits) -> Result<bool, String> {
    let (numerator, denominator) = RBig::try_from(probability)
        .ok()
        .and_then(|exact| non_negative(&exact))
        .ok_or("a probability is a number from 0 to 1")?;
    bernoulli_rational(&numerator, &denominator, bits)
}

/// True with probability exp(-`numerator / denominator`), for any ratio from 0 on: \[CKS20\] Algorithm 1.
pub(crate) fn bernoulli_exp(
    numerator: &UBig,
    denominator: &UBig,
    bits: &mut impl Bits,
) -> Result<bool, String> {
    if denominator.is_zero() {
        return Err("a ratio has a positive denominator".into());
    }
    let mut rest = numerator.clone();
    while rest >= *denominator {
        if !bernoulli_exp_one(bits)? {
            return Ok(false);
        }
        rest -= denominator;
    }
    bernoulli_exp_of(bits, |bits| bernoulli_rational(&rest, denominator, bits))
}

fn bernoulli_exp_one(bits: &mut impl Bits) -> Result<bool, String> {
    bernoulli_exp_of(bits, |_| Ok(true))
}

/// Bernoulli(exp(-gamma)), where `draw` gives Bernoulli(gamma).
fn bernoulli_exp_of<B: Bits>(
    bits: &mut B,
    draw: impl Fn(&mut B) -> Result<bool, String>,
) -> Result<bool, String> {
    let mut k = 1_u64;
    while bernoulli_rational(&UBig::ONE, &UBig::from(k), bits)? && draw(bits)? {
        k += 1;
    }
    Ok(k % 2 == 1)
}

/// Noise z with probability proportional to exp(-|z| / `scale`): \[CKS20\] Algorithm 2.
pub(crate) fn discrete_laplace(scale: &RBig, bits: &mut impl Bits) -> Result<i128, String> {
    let (t, s) = positive(scale)?;
    first(bits, |bits| laplace_round(&t, &s, bits))
}

/// Noise z with probability proportional to exp(-z^2 / (2 `scale`^2)): \[CKS20\] Algorithm 3.
pub(crate) fn discrete_gaussian(scale: &RBig, bits: &mut impl Bits) -> Result<i128, String> {
    let rounds = GaussianRounds::new(scale)?;
    first(bits, |bits| rounds.round(bits))
}

/// What the first round gives that gives anything. Rounds are independent and alike.
fn first<B: Bits>(
    bits: &mut B,
    round: impl Fn(&mut B) -> Result<Option<IBig>, String>,
) -> Result<i128, String> {
    loop {
        if let Some(drawn) = round(bits)? {
            return i128::try_from(drawn).map_err(|_| "noise beyond 127 bits: take a smaller scale".into());
        }
    }
}

/// One passage through the loop of Algorithm 2, in its letters: the scale is `t / s`.
fn laplace_round(t: &UBig, s: &UBig, bits: &mut impl Bits) -> Result<Option<IBig>, String> {
    let u = uniform_below(t, bits)?;
    if !bernoulli_exp(&u, t, bits)? {
        return Ok(None);
    }
    let mut v = 0_u64;
    while bernoulli_exp_one(bits)? {
        v += 1;
    }
    let y = IBig::from((u + t * v) / s);
    let negative = bits.bits(1)? == 1;
    if negative && y.is_zero() {
        return Ok(None);
    }
    Ok(Some(if negative { -y } else { y }))
}

/// Algorithm 3 of one scale sigma = n/d. There (|y| - sigma^2/t)^2 / (2 sigma^2) is the ratio of integers
/// (|y| t d^2 - n^2)^2 / (2 (n d t)^2).
struct GaussianRounds {
    t: UBig,
    /// t d^2.
    unit: UBig,
    /// n^2.
    centre: IBig,
    denominator: UBig,
}

impl GaussianRounds {
    fn new(scale: &RBig) -> Result<Self, String> {
        let (n, d) = positive(scale)?;
        let t = &n / &d + UBig::ONE;
        let (unit, centre) = (&t * d.sqr(), n.sqr().into());
        let denominator = (n * d * &t).sqr() << 1;
        Ok(Self { t, unit, centre, denominator })
    }

    fn round(&self, bits: &mut impl Bits) -> Result<Option<IBig>, String> {
        let Some(y) = laplace_round(&self.t, &UBig::ONE, bits)? else { return Ok(None) };
        let numerator = ((&y).unsigned_abs() * &self.unit - &self.centre).unsigned_abs().sqr();
        Ok(bernoulli_exp(&numerator, &self.denominator, bits)?.then_some(y))
    }
}

fn non_negative(ratio: &RBig) -> Option<(UBig, UBig)> {
    let (numerator, denominator) = ratio.clone().into_parts();
    Some((UBig::try_from(numerator).ok()?, denominator))
}

fn positive(scale: &RBig) -> Result<(UBig, UBig), String> {
    let parts = non_negative(scale).filter(|(numerator, _)| !numerator.is_zero());
    parts.ok_or("the scale of noise is above 0".into())
}
