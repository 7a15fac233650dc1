//! The probability of the truth: as large as the loss allows, and never larger.

use organza_release::randomised_epsilon;

use crate::CuratorError;

/// The largest double, up to a few units in the last place, at which an answer among `choices` loses at most `epsilon`.
///
/// The exact one is 1 / (1 + (choices - 1) e^-epsilon). [`randomised_epsilon`] is computed with three roundings inside the
/// logarithm and one outside, each below 1.2e-16 and 2.3e-16 relative: it is within 4e-16 + 3e-16 epsilon of the truth. The
/// result is accepted with a margin of 1e-15 (1 + epsilon), so its exact loss is below `epsilon`.
pub(super) fn truth(epsilon: f64, choices: usize) -> Result<f64, CuratorError> {
    let allowed = epsilon - 1e-15 * (1.0 + epsilon);
    let others = choices as f64 - 1.0;
    let mut candidate = 1.0 / (1.0 + others * libm::exp(-epsilon));
    let mut step = candidate * f64::EPSILON;
    loop {
        // Below this the answer says more about what is not true.
        if candidate * choices as f64 <= 1.0 {
            let reason = format!("{epsilon} is too small: answers would say nothing about the records");
            return Err(CuratorError::setting("epsilon", reason));
        }
        if candidate < 1.0 && randomised_epsilon(candidate, choices) <= allowed {
            return Ok(candidate);
        }
        candidate = (candidate - step).min(1.0 - f64::EPSILON);
        step *= 1.5;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dashu_ratio::RBig;

    /// e^x from below by a rational number: the first terms of its series, all of them positive.
    fn exponential_below(x: f64) -> RBig {
        let x = RBig::try_from(x).unwrap();
        let (mut term, mut sum) = (RBig::ONE, RBig::ONE);
        for n in 1..90u32 {
            term = term * &x / RBig::from(n);
            sum += &term;
        }
        sum
    }

    /// In exact arithmetic: truth (k - 1) / (1 - truth) <= e^epsilon. Catches rounding the probability up.
    #[test]
    fn the_loss_is_never_exceeded_and_hardly_missed() {
        for epsilon in [1e-6, 0.01, 0.5, 1.0, 2.0, 5.0, 10.0] {
            for choices in [2usize, 3, 17, 1000, 1_000_000] {
                let found = truth(epsilon, choices).unwrap();
                let exact = RBig::try_from(found).unwrap();
                let odds = &exact * RBig::from(choices - 1) / (RBig::ONE - &exact);
                assert!(odds <= exponential_below(epsilon), "{epsilon}, {choices}");
                let missed = epsilon - randomised_epsilon(found, choices);
                assert!(missed < 1e-12 * (1.0 + epsilon), "{epsilon}, {choices}: {missed:e}");
            }
        }
    }

    #[test]
    fn extreme_losses_have_an_answer_or_an_error() {
        for epsilon in [30.0, 40.0, 700.0, 1e6] {
            let found = truth(epsilon, 4).unwrap();
            assert!(found < 1.0 && randomised_epsilon(found, 4) <= epsilon, "{epsilon}: {found}");
        }
        assert!(truth(1e-16, 4).unwrap_err().to_string().contains("`epsilon`"));
    }
}
