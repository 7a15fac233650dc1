//! The smallest eigenvalue of an exact integer matrix, rounded to an integer without any rounding error.
//!
//! A floating-point eigenvalue errs by an amount that depends on the data, and a sensitivity that ignores it claims too much.
//! Here `floor` is exact instead: the result is the largest integer `t` below `lambda_min(A)`, that is the largest `t` for which
//! `A - t I` is positive definite, and positive definiteness is decided in exact integers: all leading minors are positive
//! (Sylvester), and they are the pivots of Bareiss' fraction-free elimination.
//!
//! **What is claimed.** If the eigenvalues of two neighbours differ by at most an integer `c`, then so do their roundings
//! (`t + c` is below `lambda_min + c`). In grid steps squared `|X|^2` is an integer, at most `c = floor(4^k R^2)`; so the rounded eigenvalue has
//! sensitivity at most `R^2` in weighted units, with no slack, and lies on the lattice of the noise.
//!
//! **Cost** `p^3/3` products of numbers of up to `72 p` bits per test; floating-point tests find a starting point, so a few exact ones
//! suffice.

use dashu::integer::IBig;

use super::IntegerGram;

impl IntegerGram {
    /// The largest integer below the smallest eigenvalue of the leading block of `size` coordinates; `None` if there is no
    /// such block. The matrix is positive semi-definite, so this is at least -1.
    pub fn below_smallest_eigenvalue(&self, size: usize) -> Option<i128> {
        let entry = |index: usize| self.entry(index / size, index % size);
        let matrix: Vec<i128> = (0..size * size).map(entry).collect::<Option<_>>()?;
        // At most the smallest diagonal entry; there a pivot is not positive.
        let (low, high) = (-1, (0..size).map(|k| matrix[k * size + k]).min()?);
        let near = bisect((low, high), |t| is_nearly_definite(&matrix, size, t));
        let exact = |t| is_positive_definite(&matrix, size, t);
        Some(bisect(bracket(near, (low, high), exact), exact))
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

/// Two numbers between which the condition changes, found in steps that double from a guess.
fn bracket(guess: i128, (low, high): (i128, i128), holds: impl Fn(i128) -> bool) -> (i128, i128) {
    let (mut at, mut step) = (guess, 1);
    if guess == low || holds(guess) {
        loop {
            let next = high.min(at + step);
            if next == high || !holds(next) {
                return (at, next);
            }
            (at, step) = (next, 2 * step);
        }
    }
    loop {
        let next = low.max(at - step);
        if next == low || holds(next) {
            return (next, at);
        }
        (at, step) = (next, 2 * step);
    }
}

/// Whether `A - t I` is positive definite, exactly. Only the upper triangle is used.
fn is_positive_definite(matrix: &[i128], size: usize, t: i128) -> bool {
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
    let mut a: Vec<f64> = (0..size * size).map(shifted).collect();
    for k in 0..size {
        let pivot = a[k * size + k];
        // A number that is not one cannot come up: entries are finite and pivots positive.
        if pivot <= 0.0 {
            return false;
        }
        for i in k + 1..size {
            for j in i..size {
                a[i * size + j] -= a[k * size + i] / pivot * a[k * size + j];
            }
        }
    }
    true
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
            let found = bisect(bracket(high / 3, (-1, high), |t| is_positive_definite(&matrix, 2, t)), |t| {
                is_positive_definite(&matrix, 2, t)
            });
            prop_assert!(below(found) && !below(found + 1), "{} for {:?}", found, matrix);
            prop_assert_eq!(bisect((-1, high), below), found);
        }
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
