//! How the size of a random walk's steps is learnt in warm-up.

/// The size of a proposal, moved on the log scale towards a rate of acceptance.
///
/// Robbins and Monro: steps shrink like t^-0.6, so that the size settles but can still travel any distance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct StepSize {
    log_size: f64,
    target: f64,
    learnt: f64,
}

/// Beyond e^40 times its unit a size is nonsense, and its exponential soon is not a number.
const LARGEST_LOG: f64 = 40.0;
/// About the inverse slope of the rate of acceptance against the logarithm of the size.
const GAIN: f64 = 2.5;

impl StepSize {
    /// A size to begin with and the rate of acceptance to approach.
    pub fn new(size: f64, target: f64) -> Self {
        Self { log_size: libm::log(size), target, learnt: 0.0 }
    }

    /// The size.
    pub fn size(&self) -> f64 {
        libm::exp(self.log_size)
    }

    /// Learns from the probability with which a proposal was accepted.
    pub fn learn(&mut self, acceptance: f64) {
        self.learnt += 1.0;
        let gain = GAIN * libm::pow(self.learnt, -0.6);
        self.log_size = (self.log_size + gain * (acceptance - self.target)).clamp(-LARGEST_LOG, LARGEST_LOG);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches the wrong sign: with acceptance 1/(1 + size) the rate 0.2 belongs to size 4.
    #[test]
    fn the_size_approaches_the_rate() {
        for start in [1e-6, 1.0, 1e6] {
            let mut step = StepSize::new(start, 0.2);
            (0..2_000).for_each(|_| step.learn(1.0 / (1.0 + step.size())));
            assert!((step.size() - 4.0).abs() < 1e-3, "{}", step.size());
        }
    }
}
