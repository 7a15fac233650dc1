//! The weights of one cell: its share of the Dirichlet-multinomial law times the likelihood of its noisy counts.

use super::noise::Observation;
use super::weights::Weights;

/// A cell: ln w(m) = ln Gamma(m + shape) - ln m! + the log likelihoods of its noisy counts.
pub(super) struct Leaf<'l> {
    pub shape: f64,
    pub observations: &'l [Observation],
}

impl Leaf<'_> {
    /// Fills the window in which a weight may exceed e^-drop of the peak; the error says that it is longer than the limit.
    pub fn fill(&self, most: usize, drop: f64, limit: usize, out: &mut Weights) -> Result<(), String> {
        let (first, last) = self.window(most, drop);
        if last - first >= limit {
            return Err(format!(
                "records, value: a count may be anything from {first} to {last}, and exact sums take at most {limit} possible counts; \
                 the noise is too wide for exact sums: try the sampler metropolis (table) or plain (naive-bayes)"
            ));
        }
        out.first = first;
        out.log.clear();
        // Relative to the first: Gamma(m + 1 + a) / (m + 1)! = (m + a) / (m + 1) times that of m.
        let mut prior = 0.0;
        for count in first..=last {
            let m = count as f64;
            out.log.push(prior + self.log_likelihood(m));
            prior += libm::log1p((self.shape - 1.0) / (m + 1.0));
        }
        out.log_lost = f64::NEG_INFINITY;
        out.settle(self.log_prior(first as f64), drop);
        if last - first < most {
            // Every count outside of the window is below the threshold.
            let outside = (most - (last - first)) as f64;
            let lost = out.peak - drop + libm::log(outside);
            out.log_lost = super::weights::log_add(out.log_lost, lost);
        }
        Ok(())
    }

    fn log_prior(&self, m: f64) -> f64 {
        libm::lgamma(m + self.shape) - libm::lgamma(m + 1.0)
    }

    fn log_likelihood(&self, m: f64) -> f64 {
        self.observations.iter().map(|observation| observation.log_kernel(m)).sum()
    }

    /// The first and last count of the window.
    ///
    /// For shapes of at least 1 the logarithm of the weight is concave, so both ends are found by bisection. For smaller shapes the
    /// prior's part decreases from ln Gamma(shape) at 0; with that value in its place the weight is concave again and nowhere smaller.
    fn window(&self, most: usize, drop: f64) -> (usize, usize) {
        if self.observations.is_empty() {
            return (0, most);
        }
        let concave = |count: usize| {
            let m = count as f64;
            self.log_likelihood(m) + if self.shape >= 1.0 { self.log_prior(m) } else { 0.0 }
        };
        let mode = first_where(0, most, |count| concave(count + 1) <= concave(count));
        let slack = match self.shape >= 1.0 {
            true => 0.0,
            false => self.log_prior(0.0) - self.log_prior(mode as f64),
        };
        let least = concave(mode) - slack - drop;
        let first = first_where(0, mode, |count| concave(count) >= least);
        let beyond = first_where(mode, most + 1, |count| concave(count) < least);
        (first, beyond - 1)
    }
}

/// The first count from `low` on where the condition holds, `high` if nowhere below; it must not cease to hold.
fn first_where(mut low: usize, mut high: usize, condition: impl Fn(usize) -> bool) -> usize {
    while low < high {
        let middle = low + (high - low) / 2;
        if condition(middle) { high = middle } else { low = middle + 1 }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use organza_release::{CountFamily, CountNoise};

    /// Catches an end of a window that bisection misses: every count with weight is inside, for all shapes and odd values.
    #[test]
    fn windows_hold_everything_above_the_threshold() {
        let most = 3000;
        for family in [CountFamily::Laplace, CountFamily::DiscreteGaussian] {
            for (shape, scale, value) in
                [(2.0, 3.0, 100.4), (0.01, 40.0, 700.0), (5e4, 30.0, -80.0), (1.0, 0.01, 4000.7)]
            {
                let observations = [Observation::new(value, &CountNoise { family, scale })];
                let leaf = Leaf { shape, observations: &observations };
                let mut weights = Weights::default();
                leaf.fill(most, 60.0, most + 1, &mut weights).unwrap();
                let log = |m: usize| leaf.log_prior(m as f64) + leaf.log_likelihood(m as f64);
                let peak = (0..=most).map(log).fold(f64::NEG_INFINITY, f64::max);
                assert!((weights.peak - peak).abs() < 1e-9 * peak.abs().max(1.0), "{shape} {value}");
                for count in 0..=most {
                    let inside = count >= weights.first && weights.last().is_some_and(|last| count <= last);
                    assert!(inside || log(count) < peak - 59.9, "{shape} {value}: {count}");
                    if inside {
                        let error = weights.log[count - weights.first] - (log(count) - peak);
                        assert!(error.abs() < 1e-9 * peak.abs().max(1.0), "{error}");
                    }
                }
            }
        }
    }
}
