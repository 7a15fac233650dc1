//! The smallest scale on a grid for which the claim holds.

use dashu_int::UBig;
use dashu_ratio::RBig;
use organza_release::Family;
use organza_release::loss::{discrete_gaussian_delta, gaussian_scale};

use crate::CuratorError;

/// Scales are whole multiples of 2^-20 of a record: fine enough to waste nothing, and exact as doubles and as rationals.
const STEPS_PER_RECORD: f64 = 1_048_576.0;
/// Four billion records of noise; steps are still exact as doubles.
const MOST_STEPS: u64 = 1 << 52;

/// The smallest scale on the grid for which `moved` counts that move by one each lose at most (epsilon, delta).
pub(crate) fn smallest_scale(
    family: Family,
    (epsilon, delta): (f64, f64),
    moved: u64,
) -> Result<f64, CuratorError> {
    let steps = match family {
        Family::Laplace => laplace_steps(epsilon, moved)?,
        Family::Gaussian => gaussian_steps(epsilon, delta, moved)?,
    };
    if steps > MOST_STEPS {
        let reason = format!("{epsilon} asks for noise beyond any use; raise it");
        return Err(CuratorError::setting("epsilon", reason));
    }
    Ok(steps as f64 / STEPS_PER_RECORD)
}

/// moved / epsilon, rounded up to the grid in exact arithmetic: the release is epsilon-private without any rounding error.
fn laplace_steps(epsilon: f64, moved: u64) -> Result<u64, CuratorError> {
    let exact = rational(epsilon)?;
    let steps = (RBig::from(UBig::from(moved) * UBig::from(STEPS_PER_RECORD as u64)) / exact).ceil();
    Ok(u64::try_from(steps).unwrap_or(u64::MAX).max(1))
}

/// By bisection over the grid, from the scale of continuous noise, which is close.
fn gaussian_steps(epsilon: f64, delta: f64, moved: u64) -> Result<u64, CuratorError> {
    let fits = |steps: u64| -> Result<bool, CuratorError> {
        Ok(discrete_gaussian_delta(epsilon, steps as f64 / STEPS_PER_RECORD, moved)? <= delta)
    };
    let close = gaussian_scale(epsilon, delta, (moved as f64).sqrt())? * STEPS_PER_RECORD;
    let (mut enough, mut too_few) = ((close.ceil() as u64).clamp(1, MOST_STEPS), 0);
    while !fits(enough)? {
        too_few = enough;
        enough = enough.saturating_mul(2);
        if enough > 2 * MOST_STEPS {
            return Ok(enough);
        }
    }
    // The search narrows from the side of the close guess: a few units of the last decimal digits first.
    let mut width = (enough / 1024).max(1);
    while too_few == 0 && width < enough {
        if fits(enough - width)? {
            enough -= width;
            width *= 2;
        } else {
            too_few = enough - width;
        }
    }
    while enough - too_few > 1 {
        let middle = too_few + (enough - too_few) / 2;
        if fits(middle)? {
            enough = middle;
        } else {
            too_few = middle;
        }
    }
    Ok(enough)
}

/// A double as the rational number that it is.
pub(crate) fn rational(number: f64) -> Result<RBig, CuratorError> {
    RBig::try_from(number).map_err(|error| {
        CuratorError::setting("epsilon", format!("{number} is not a finite number: {error}"))
    })
}
