//! The smallest eigenvalue of an exact integer matrix, rounded to an integer without any rounding error.
//!
//! A floating-point eigenvalue errs by an amount that depends on the data, and a sensitivity that ignores it claims too much.
//! Here `floor` is exact instead: the result is the largest integer `t` below `lambda_min(A)`, that is the largest `t` for which
//! `A - t I` is positive definite, and positive definiteness is decided in exact integers ([`Minors`]).
//!
//! **What is claimed.** If the eigenvalues of two neighbours differ by at most an integer `c`, then so do their roundings
//! (`t + c` is below `lambda_min + c`). In grid steps squared `|X|^2` is an integer, at most `c = floor(4^k R^2)`; so the rounded eigenvalue has
//! sensitivity at most `R^2` in weighted units, with no slack, and lies on the lattice of the noise.
//!
//! **Cost** `p^3/6` products per test and prime, about `p` primes. Floating-point tests find where to begin; the number of all tests follows from the
//! number of records and coordinates, and none ends early: how long it takes does not tell whether the matrix is singular.

use dashu_int::IBig;

use super::IntegerGram;
use super::minors::Minors;

impl IntegerGram {
    /// The largest integer below the smallest eigenvalue of the leading block of `size` coordinates; `None` if there is no
    /// such block. The matrix is positive semi-definite, so this is at least -1.
    pub fn below_smallest_eigenvalue(&self, size: usize) -> Option<i128> {
        let entry = |index: usize| self.entry(index / size, index % size);
        let matrix: Vec<i128> = (0..size * size).map(entry).collect::<Option<_>>()?;
        // No entry is larger unless the constant weighs more than a column; twice as much is room for that and for the tests' shifts.
        let largest = 2.0 * self.records() as f64 * f64::from(self.grid_bits()).exp2().powi(2);
        // Powers of two: a bisection takes as many steps wherever it ends.
        let steps = largest.log2().clamp(0.0, 120.0).ceil() as u32;
        let near = bisect((-1, (1 << steps) - 1), |t| is_nearly_definite(&matrix, size, t));
        // Floating point is wrong by about 2^-52 sqrt(p) of the largest entry possible.
        let wrong = (largest * (size as f64).sqrt() * f64::EPSILON).max(4.0);
        let minors = Minors::new(size, 4.0 * largest.max(wrong));
        let exact =
            |t| minors.is_definite(&matrix, t).unwrap_or_else(|| is_positive_definite(&matrix, size, t));
        Some(search(near, 1 << wrong.log2().clamp(0.0, 120.0).ceil() as u32, exact))
    }
}

/// The largest integer for which a condition holds, near a guess; as many tests for every guess that is no further off than `width`.
fn search(near: i128, mut width: i128, holds: impl Fn(i128) -> bool) -> i128 {
    loop {
        let ends = (near.saturating_sub(width), near.saturating_add(width));
        if holds(ends.0) & !holds(ends.1) {
            return bisect(ends, holds);
        }
        width = width.saturating_mul(4);
    }
}

/// The largest integer for which a condition holds that holds at the first and fails at the second number.
fn bisect((mut low, mut high): (i128, i128), holds: impl Fn(i128) -> bool) -> i128 {
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if holds(middle) { low = middle } else { high = middle }
    }
    low
}

/// Whether `A - t I` is positive definite, for numbers of any size: Bareiss' fraction-free elimination, whose pivots are the minors. Only the upper triangle
/// is used.
pub(super) fn is_positive_definite(matrix: &[i128], size: usize, t: i128) -> bool {
    let shifted = |index: usize| {
        IBig::from(matrix[index]) - if index.is_multiple_of(size + 1) { IBig::from(t) } else { IBig::ZERO }
    };
    let mut a: Vec<IBig> = (0..size * size).map(shifted).collect();
    let mut previous = IBig::ONE;
    for k in 0..size {
        let pivot = a[k * size + k].clone();
        if pivot <= IBig::ZERO {
            return false;
        }
        for i in k + 1..size {
            for j in i..size {
                let minor = &pivot * &a[i * size + j] - &a[k * size + i] * &a[k * size + j];
                a[i * size + j] = minor / &previous;
            }
        }
        previous = pivot;
    }
    true
}

/// The same in floating point: right but near the eigenvalue.
fn is_nearly_definite(matrix: &[i128], size: usize, t: i128) -> bool {
    let shifted = |index: usize| (matrix[index] - if index.is_multiple_of(size + 1) { t } else { 0 }) as f64;
    let (mut a, mut definite): (Vec<f64>, _) = ((0..size * size).map(shifted).collect(), true);
    for k in 0..size {
        let pivot = a[k * size + k];
        definite &= pivot > 0.0;
        for i in k + 1..size {
            for j in i..size {
                a[i * size + j] -= a[k * size + i] / pivot * a[k * size + j];
            }
        }
    }
    definite
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]
        /// Rows of two integers: the eigenvalue has a closed form, compared without roots.
        #[test]
        fn two_rows_agree_with_the_closed_form(rows in prop::collection::vec((-65536i64..65536, -65536i64..65536), 1..40)) {
            let sum = |f: &dyn Fn(i128, i128) -> i128| rows.iter().map(|&(x, y)| f(x.into(), y.into())).sum::<i128>();
            let (a, b, c) = (sum(&|x, _| x * x), sum(&|x, y| x * y), sum(&|_, y| y * y));
            let matrix = [a, b, b, c];
            // t is below the eigenvalue exactly if a > t and (a - t)(c - t) > b^2.
            let below = |t: i128| a > t && (a - t) * (c - t) > b * b;
            let high = a.min(c);
            let found = bisect((-1, high), |t| is_positive_definite(&matrix, 2, t));
            prop_assert!(below(found) && !below(found + 1), "{} for {:?}", found, matrix);
        }
    }

    /// Catches tests whose number tells where the eigenvalue is, and a guess that is far off.
    #[test]
    fn as_many_tests_wherever_the_eigenvalue_is() {
        let tests = |last: i128| {
            let count = std::cell::Cell::new(0);
            let holds = |t| {
                count.set(count.get() + 1);
                t <= last
            };
            assert_eq!(search(0, 8, holds), last);
            count.get()
        };
        assert!((-8..8).all(|last| tests(last) == 6), "{:?}", (-8..8).map(tests).collect::<Vec<_>>());
        assert!(tests(1_000_000) > 6 && tests(-1_000_000) > 6);
    }

    #[test]
    fn diagonal_and_singular_matrices() {
        let least = |matrix: &[i128], size: usize, high: i128| {
            bisect((-1, high), |t| is_positive_definite(matrix, size, t))
        };
        assert_eq!(least(&[7, 0, 0, 0, 5, 0, 0, 0, 9], 3, 5), 4);
        assert_eq!(least(&[4, 4, 4, 4], 2, 4), -1);
        let huge = 1i128 << 100;
        assert_eq!(least(&[huge + 3, 1, 1, huge + 3], 2, huge + 3), huge + 1);
    }
}
