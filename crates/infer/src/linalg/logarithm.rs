//! Sums of logarithms.

/// Sum of the logarithms of positive numbers between 1e-150 and 1e150: logarithms are taken of products, as few as possible.
#[inline]
pub(crate) fn sum_of_logarithms(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut product) = (0.0, 1.0);
    for value in values {
        product *= value;
        // Written so that NaN is passed on too.
        if !(1e-150..1e150).contains(&product) {
            sum += libm::log(product);
            product = 1.0;
        }
    }
    sum + libm::log(product)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_neither_overflow_nor_vanish() {
        for base in [1e-140, 1e-3, 1.0, 7.5, 1e140] {
            let values: Vec<f64> = (1..50).map(|k| base * f64::from(k)).collect();
            let expected: f64 = values.iter().map(|value| value.ln()).sum();
            let found = sum_of_logarithms(values.into_iter());
            assert!((found - expected).abs() <= 1e-12 * expected.abs(), "{base}: {found} against {expected}");
        }
        assert_eq!(sum_of_logarithms(std::iter::empty()), 0.0);
        assert!(sum_of_logarithms([1.0, f64::NAN, 2.0].into_iter()).is_nan());
    }
}
