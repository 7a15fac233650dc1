//! Where a chain starts.

use crate::{ChainRng, Gradient, Stop};

/// As in Stan.
const TRIES: usize = 100;

/// The first start of the target where its log density and gradient are finite.
pub(super) fn find(target: &impl Gradient, rng: &mut ChainRng) -> Result<Vec<f64>, Stop> {
    let (mut point, mut gradient) = (vec![0.0; target.dim()], vec![0.0; target.dim()]);
    let mut problem = String::new();
    for _ in 0..TRIES {
        target.start(rng, &mut point);
        gradient.fill(f64::NAN);
        let value = target.log_density_and_gradient(&point, &mut gradient);
        match fault(value, &gradient) {
            None => return Ok(point),
            Some(found) => problem = found,
        }
    }
    Err(Stop::numerical(format!(
        "no start in {TRIES} tries: at the last one {problem}; \
         let the target start where its density is finite"
    )))
}

/// Why a chain cannot start here.
fn fault(value: f64, gradient: &[f64]) -> Option<String> {
    if !value.is_finite() {
        return Some(format!("the log density is {value}"));
    }
    let wrong = |entry: &f64| !entry.is_finite();
    if let Some(place) = gradient.iter().position(wrong) {
        return Some(format!("the gradient in coordinate {} is {}", place + 1, gradient[place]));
    }
    // The first guess of a scale is the inverse of the gradient.
    let place = gradient.iter().position(|entry| *entry == 0.0)?;
    Some(format!("the gradient in coordinate {} is 0, as at a mode", place + 1))
}
