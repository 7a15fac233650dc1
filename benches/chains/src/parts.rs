//! What a step costs beside its pass: noise, the bytes of a sample; and the accountant.

use crate::Failure;
use crate::clock::{Seconds, best, timed};
use organza_curator::mechanism::NoiseRng;
use organza_release::loss::pld::{self, Step, SubsampledGaussian};
use organza_release::{Family, Neighbours};
use rand::rngs::{ChaCha20Rng, SysRng};
use rand::{Rng, SeedableRng};
use std::hint::black_box;

/// Draws of exact noise in one timing.
const DRAWS: usize = 1000;

/// One draw of noise of this many clip bounds.
pub fn noise(noise: f64, repetitions: usize) -> Result<Seconds, Failure> {
    let steps = (noise * f64::from(1u32 << 30)) as u128;
    let mut failed = None;
    let seconds = best(repetitions, || {
        for _ in 0..DRAWS {
            match NoiseRng::from_operating_system().draw(Family::Gaussian, steps) {
                Ok(drawn) => drop(black_box(drawn)),
                Err(error) => failed = Some(error),
            }
        }
    });
    let share = DRAWS as f64;
    failed.map_or(Ok(Seconds { wall: seconds.wall / share, cpu: seconds.cpu / share }), |error| {
        Err(error.into())
    })
}

/// The random bytes of one sample: a generator is seeded and one byte drawn for each record.
pub fn sample_bytes(records: usize, repetitions: usize) -> Result<Seconds, Failure> {
    let mut bytes = vec![0; records];
    let mut failed = None;
    let seconds = best(repetitions, || match ChaCha20Rng::try_from_rng(&mut SysRng) {
        Ok(mut rng) => {
            rng.fill_bytes(&mut bytes);
            black_box(&bytes);
        }
        Err(error) => failed = Some(error),
    });
    failed.map_or(Ok(seconds), |error| Err(error.to_string().into()))
}

/// The accountant: epsilon of so many sampled steps, or the steps that an epsilon of 10 covers.
pub fn account(question: &str, sigma: f64, rate: f64, steps: u64) -> Result<(Seconds, String), Failure> {
    let step: Step = SubsampledGaussian { sigma, rate, relation: Neighbours::Substitute }.into();
    let (answer, seconds) = timed(|| match question {
        "epsilon" => pld::compose(&[(step, steps)])
            .and_then(|composed| composed.epsilon(1e-6))
            .map(|bracket| format!("{} {}", bracket.lower, bracket.upper)),
        _ => pld::steps_for(step, 10.0, 1e-6).map(|steps| steps.to_string()),
    });
    Ok((seconds, answer?))
}
