//! Whether an integer matrix is positive definite, exactly, and by as much work for every matrix of a size.
//!
//! A symmetric matrix is positive definite if all its leading minors are positive (Sylvester). With entries of at most `most` they are at most
//! `(sqrt(p) most)^p` (Hadamard), so their remainders modulo primes whose product is more than twice that decide their signs. Modulo a prime
//! minors are products of the pivots of an elimination. So the number of primes, and with it all work, follows from the size and from
//! `most`; exact elimination in long integers is fast where minors are small, and its time tells a singular matrix.

use rayon::prelude::*;

/// Primes are just below this power of two.
const BITS: u32 = 60;
/// So many products of two remainders have a sum below 2^128.
const PRODUCTS: usize = 128;
/// Primes beyond those that are needed: modulo one of them a pivot may be 0 that is not 0.
const SPARE: usize = 4;

/// The tests of matrices of one size and no larger entries.
pub(super) struct Minors {
    size: usize,
    most: f64,
    primes: Vec<u64>,
}

impl Minors {
    /// For matrices of `size` rows whose entries, and shifts, are at most `most`.
    pub(super) fn new(size: usize, most: f64) -> Self {
        let rows = size as f64;
        let bits = 2.0 + rows * (0.5 * rows.max(1.0).log2() + 1.0 + most.max(1.0).log2());
        let count = (bits / f64::from(BITS - 1)).ceil() as usize + SPARE;
        let primes = (0..1u64 << BITS).rev().filter(|number| is_prime(*number)).take(count).collect();
        Self { size, most, primes }
    }

    /// Whether `A - t I` is positive definite. `None` where a number is too large, or too many primes divide a pivot.
    pub(super) fn is_definite(&self, matrix: &[i128], t: i128) -> Option<bool> {
        if std::iter::once(&t).chain(matrix).any(|value| value.unsigned_abs() as f64 > self.most) {
            return None;
        }
        let pivots: Vec<Vec<u64>> =
            self.primes.par_iter().map(|prime| self.pivots(matrix, t, *prime)).collect();
        let reached = |pivots: &[u64]| pivots.iter().position(|pivot| *pivot == 0).unwrap_or(self.size);
        let furthest = pivots.iter().map(|pivots| reached(pivots)).max()?;
        let (primes, pivots): (Vec<u64>, Vec<&Vec<u64>>) =
            std::iter::zip(self.primes.iter().copied(), &pivots)
                .filter(|(_, pivots)| reached(pivots) == furthest)
                .unzip();
        if primes.len() + SPARE < self.primes.len() {
            return None;
        }
        let radix = Radix::new(primes);
        let mut minors = vec![1; pivots.len()];
        // Where the pivots of all primes are 0 the minor is.
        let mut definite = furthest == self.size;
        for k in 0..self.size {
            for (minor, (pivots, prime)) in minors.iter_mut().zip(pivots.iter().zip(&radix.primes)) {
                *minor = multiply(*minor, pivots[k], *prime);
            }
            definite &= radix.is_positive(&minors);
        }
        Some(definite)
    }

    /// The pivots of `A - t I` modulo a prime. One that is 0 stays so, and the work goes on as if it were 1.
    fn pivots(&self, matrix: &[i128], t: i128, prime: u64) -> Vec<u64> {
        let remainder = |value: i128| value.rem_euclid(i128::from(prime)) as u64;
        let (mut rows, mut inverses): (Vec<Vec<u64>>, Vec<u64>) = (vec![], vec![]);
        for k in 0..self.size {
            let mut sums = vec![0u128; self.size - k];
            for (j, (row, inverse)) in rows.iter().zip(&inverses).enumerate() {
                let factor = u128::from(multiply(row[k - j], *inverse, prime));
                sums.iter_mut()
                    .zip(&row[k - j..])
                    .for_each(|(sum, value)| *sum += factor * u128::from(*value));
                if j % PRODUCTS == PRODUCTS - 2 {
                    sums.iter_mut().for_each(|sum| *sum %= u128::from(prime));
                }
            }
            let entry = |(i, sum): (usize, &u128)| {
                let shift = if i == 0 { remainder(t) } else { 0 };
                let taken = shift + (sum % u128::from(prime)) as u64;
                (remainder(matrix[k * self.size + k + i]) + 2 * prime - taken) % prime
            };
            let row: Vec<u64> = sums.iter().enumerate().map(entry).collect();
            inverses.push(power(row[0].max(1), prime - 2, prime));
            rows.push(row);
        }
        rows.iter().map(|row| row[0]).collect()
    }
}

/// Numbers by their remainders modulo several primes.
struct Radix {
    primes: Vec<u64>,
    /// Of the product of all primes before each, modulo it.
    inverses: Vec<u64>,
}

impl Radix {
    fn new(primes: Vec<u64>) -> Self {
        let inverse = |(i, prime): (usize, &u64)| {
            let before =
                primes[..i].iter().fold(1, |product, other| multiply(product, other % prime, *prime));
            power(before, prime - 2, *prime)
        };
        let inverses = primes.iter().enumerate().map(inverse).collect();
        Self { primes, inverses }
    }

    /// Whether the number nearest to 0 with these remainders is positive: in the mixed radix with digits on both sides of 0 its sign is that of
    /// its last digit that is not 0.
    fn is_positive(&self, remainders: &[u64]) -> bool {
        let (mut digits, mut sign): (Vec<i64>, i64) = (Vec::with_capacity(remainders.len()), 0);
        for ((remainder, prime), inverse) in remainders.iter().zip(&self.primes).zip(&self.inverses) {
            let modulo = |digit: i64| digit.rem_euclid(*prime as i64) as u64;
            let known = digits.iter().zip(&self.primes).rev().fold(0, |known, (digit, other)| {
                (multiply(known, other % prime, *prime) + modulo(*digit)) % prime
            });
            let digit = multiply(remainder + prime - known, *inverse, *prime) as i64;
            let digit = if digit > *prime as i64 / 2 { digit - *prime as i64 } else { digit };
            sign = if digit == 0 { sign } else { digit.signum() };
            digits.push(digit);
        }
        sign > 0
    }
}

fn multiply(a: u64, b: u64, prime: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(prime)) as u64
}

fn power(base: u64, exponent: u64, prime: u64) -> u64 {
    (0..BITS).rev().fold(1, |result, bit| {
        let square = multiply(result, result, prime);
        if exponent >> bit & 1 == 1 { multiply(square, base, prime) } else { square }
    })
}

/// Miller and Rabin's test, which is exact below 2^64 with these witnesses.
fn is_prime(number: u64) -> bool {
    const WITNESSES: [u64; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];
    if number < 38 || WITNESSES.iter().any(|prime| number.is_multiple_of(*prime)) {
        return WITNESSES.contains(&number);
    }
    let twos = (number - 1).trailing_zeros();
    WITNESSES.iter().all(|witness| {
        let mut value = power(*witness, (number - 1) >> twos, number);
        let mut passes = value == 1;
        for _ in 0..twos {
            passes |= value == number - 1;
            value = multiply(value, value, number);
        }
        passes
    })
}

#[cfg(test)]
mod tests {
    use super::super::smallest_eigenvalue::is_positive_definite;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Catches a wrong sign, also of matrices of any rank and with shifts at, below and above an eigenvalue.
        #[test]
        fn as_exact_elimination_says(
            size in 1usize..9, rank in 0usize..10, entries in prop::collection::vec(-9i64..10, 90), t in -30i128..60, far in 0u32..60
        ) {
            let row = |k: usize| &entries[k * rank..][..rank];
            let product = |k: usize| -> i128 {
                row(k / size).iter().zip(row(k % size)).map(|(a, b)| i128::from(a * b) << far).sum()
            };
            let matrix: Vec<i128> = (0..size * size).map(product).collect();
            let minors = Minors::new(size, 1e3 * f64::from(far).exp2());
            for t in [t, t << far, (t << far) + 1] {
                prop_assert_eq!(minors.is_definite(&matrix, t), Some(is_positive_definite(&matrix, size, t)));
            }
        }
    }

    #[test]
    fn numbers_are_positive_or_not() {
        let radix = Radix::new(Minors::new(3, 1e9).primes);
        let of = |number: i128| {
            radix.primes.iter().map(|p| number.rem_euclid(i128::from(*p)) as u64).collect::<Vec<_>>()
        };
        for number in [1, 2, 1 << 59, (1 << 60) - 1, 1 << 62, 1 << 100, i128::MAX] {
            assert!(radix.is_positive(&of(number)) && !radix.is_positive(&of(-number)), "{number}");
        }
        assert!(!radix.is_positive(&of(0)));
    }

    #[test]
    fn primes() {
        let small: Vec<u64> = (0..60).filter(|n| is_prime(*n)).collect();
        assert_eq!(small, [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59]);
        // The largest prime below 2^60, and strong pseudoprimes to many witnesses.
        assert_eq!(Minors::new(2, 9.0).primes[0], (1 << 60) - 93);
        assert!(![3_215_031_751, 3_474_749_660_383, 341_550_071_728_321].iter().any(|n| is_prime(*n)));
    }

    #[test]
    fn what_is_too_large_is_left_to_others() {
        assert_eq!(Minors::new(1, 9.0).is_definite(&[10], 0), None);
        assert_eq!(Minors::new(1, 9.0).is_definite(&[1], -10), None);
        // 1 - t is 0 modulo nearly all primes: no answer rather than a wrong one.
        let minors = Minors::new(1, 1e37);
        let product = i128::from(minors.primes[0]) * i128::from(minors.primes[1]);
        assert_eq!(minors.is_definite(&[product], 0), Some(true));
    }
}
