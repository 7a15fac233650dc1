//! A running sum that does not lose digits, for budgets that are spent in a million small steps.

/// Neumaier's compensated sum: the error is that of the terms, not of the additions.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct CompensatedSum {
    sum: f64,
    lost: f64,
}

impl CompensatedSum {
    pub(super) fn add(&mut self, term: f64) {
        let next = self.sum + term;
        self.lost +=
            if self.sum.abs() >= term.abs() { (self.sum - next) + term } else { (term - next) + self.sum };
        self.sum = next;
    }

    pub(super) fn total(self) -> f64 {
        // An infinite sum has lost NaN.
        if self.sum.is_finite() { self.sum + self.lost } else { self.sum }
    }

    pub(super) fn times(self, count: f64) -> Self {
        Self { sum: self.total() * count, lost: 0.0 }
    }
}

impl FromIterator<f64> for CompensatedSum {
    fn from_iter<I: IntoIterator<Item = f64>>(terms: I) -> Self {
        let mut sum = Self::default();
        terms.into_iter().for_each(|term| sum.add(term));
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::CompensatedSum;

    #[test]
    fn keeps_what_a_plain_sum_loses() {
        let terms = || std::iter::once(1.0).chain(std::iter::repeat_n(1e-16, 1_000_000));
        assert_eq!(terms().sum::<f64>(), 1.0);
        assert_eq!(terms().collect::<CompensatedSum>().total(), 1.0 + 1e-10);
    }

    #[test]
    fn overflows_to_infinity_and_not_to_nan() {
        assert_eq!([f64::MAX, f64::MAX].into_iter().collect::<CompensatedSum>().total(), f64::INFINITY);
    }
}
