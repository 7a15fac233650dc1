//! The binomial law.

/// Logarithms of factorials up to a number.
#[derive(Debug, Clone)]
pub struct Binomial {
    log_factorials: Vec<f64>,
}

impl Binomial {
    /// For up to this many trials.
    pub fn up_to(trials: usize) -> Self {
        let mut log_factorials = vec![0.0; trials + 1];
        for k in 1..=trials {
            log_factorials[k] = log_factorials[k - 1] + libm::log(k as f64);
        }
        Self { log_factorials }
    }

    /// Probability of so many successes.
    pub fn probability(&self, successes: usize, trials: usize, p: f64) -> f64 {
        if p >= 1.0 {
            return f64::from(u8::from(successes == trials));
        }
        let choose = self.log_factorials[trials]
            - self.log_factorials[successes]
            - self.log_factorials[trials - successes];
        let failures = (trials - successes) as f64;
        libm::exp(choose + successes as f64 * libm::log(p) + failures * libm::log1p(-p))
    }

    /// The narrowest central range of counts with at most `tail` on each side.
    pub fn range(&self, trials: usize, p: f64, tail: f64) -> [usize; 2] {
        let end = |from_below: bool| {
            let mut beyond = 0.0;
            for step in 0..=trials {
                let count = if from_below { step } else { trials - step };
                beyond += self.probability(count, trials, p);
                if beyond > tail {
                    return count;
                }
            }
            if from_below { trials } else { 0 }
        };
        [end(true), end(false)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: four throws of a coin have 1, 4, 6, 4, 1 of 16.
    #[test]
    fn by_hand() {
        let law = Binomial::up_to(4);
        for (successes, of_sixteen) in [1.0, 4.0, 6.0, 4.0, 1.0].into_iter().enumerate() {
            assert!((16.0 * law.probability(successes, 4, 0.5) - of_sixteen).abs() < 1e-13);
        }
        assert_eq!(law.range(4, 0.5, 0.05), [0, 4]);
        // Exactly the tail may be beyond: 1/16 on each side.
        assert_eq!(law.range(4, 0.5, 0.0626), [1, 3]);
        assert_eq!(law.range(4, 0.5, 0.35), [2, 2]);
        assert_eq!(law.probability(4, 4, 1.0), 1.0);
    }
}
