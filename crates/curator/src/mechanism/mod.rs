//! From a request to a plan that reads no data, and from an exact statistic to a noisy release.

mod calibrate;
mod noise_rng;
mod plan;
mod publish;
mod request;
#[cfg(test)]
mod tests;

pub use noise_rng::NoiseRng;
pub use plan::Plan;
pub use request::{DomainChoice, RecordScale, Request};
