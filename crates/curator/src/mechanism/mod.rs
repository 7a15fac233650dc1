//! From a request to a plan that reads no data, and from an exact statistic to a noisy release.

mod calibrate;
mod entropy;
mod exact;
#[cfg(test)]
mod kind_tests;
mod noise_rng;
mod plan;
mod publish;
mod radius;
mod request;
mod request_kind;
mod samplers;
#[cfg(test)]
mod tests;

pub use exact::Exact;
pub use noise_rng::NoiseRng;
pub use plan::Plan;
pub(crate) use plan::{record_map_for, unscaled};
pub(crate) use request::check_delta;
pub use request::{DomainChoice, RecordScale, Request, StatisticKind};
