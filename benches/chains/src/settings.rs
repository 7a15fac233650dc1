//! The settings of \[RKH21\]'s code for its two problems of 100,000 records: what a step asks and how a chain moves.
//!
//! Its tau is the paper's over sqrt(n), so the noise over the clip bound is 2 tau sqrt(n).

use crate::Failure;
use organza_curator::chains::{GradientQuery, RatioQuery, StepQueries};

/// How a chain moves.
#[derive(Debug, Clone, Copy)]
pub enum Motion {
    Hmc { step_size: f64, leapfrog_steps: usize },
    Walk { step_size: f64 },
    Langevin { step_size: f64 },
    Thermostat { step_size: f64, friction: f64 },
}

/// The questions and the motion of a method on a problem.
pub fn setting(method: &str, problem: &str, records: usize) -> Result<(StepQueries, Motion), Failure> {
    let dimension = match problem {
        "banana" => 2,
        "gauss" => 10,
        other => return Err(format!("unknown problem: {other}").into()),
    };
    let (banana, records) = (dimension == 2, records as f64);
    let (gradient, ratio, motion) = match method {
        "dp-hmc" => hmc(banana, records),
        "dp-penalty" => {
            let (tau, step_size, clip) = if banana { (0.17, 0.06, 0.15) } else { (0.05, 0.0007, 10.0) };
            (None, Some(RatioQuery { clip, noise: noise(tau, records) }), Motion::Walk { step_size })
        }
        "dp-sgld" => {
            let (clip, eta) = if banana { (0.2, 1.0) } else { (15.0, 0.008) };
            let step_size = eta / records;
            (Some(sampled(records, clip, step_size, step_size)), None, Motion::Langevin { step_size })
        }
        "dp-sgnht" => {
            let (clip, eta, friction) = if banana { (0.2, 100.0, 50.0) } else { (12.0, 0.2, 30.0) };
            let step_size = eta / records;
            let query = sampled(records, clip, step_size, 2.0 * friction * step_size);
            (Some(query), None, Motion::Thermostat { step_size, friction })
        }
        other => return Err(format!("unknown method: {other}").into()),
    };
    Ok((StepQueries { gradient, ratio, count_weight: 0.0, dimension }, motion))
}

fn noise(tau: f64, records: f64) -> f64 {
    2.0 * tau * records.sqrt()
}

fn hmc(banana: bool, records: f64) -> (Option<GradientQuery>, Option<RatioQuery>, Motion) {
    let (tau, tau_g, leapfrog_steps, step_size, ratio_clip, clip) =
        if banana { (0.10, 0.55, 25, 0.006, 0.1, 0.05) } else { (0.10, 0.25, 12, 0.00015, 6.0, 10.0) };
    let times = leapfrog_steps as u32 + 1;
    let gradient = GradientQuery { times, clip, noise: noise(tau_g, records), rate: 1.0 };
    let ratio = RatioQuery { clip: ratio_clip, noise: noise(tau, records) };
    (Some(gradient), Some(ratio), Motion::Hmc { step_size, leapfrog_steps })
}

/// The noise of the step is the noise of privacy: this variance, of a step along the gradient of a sample of 1,000.
fn sampled(records: f64, clip: f64, step: f64, variance: f64) -> GradientQuery {
    let rate = 1000.0 / records;
    GradientQuery { times: 1, clip, noise: rate * variance.sqrt() / (step * clip), rate }
}
