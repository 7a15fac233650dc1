//! The private kernels. Each asks an oracle, which clips, adds noise and takes the payment.

mod dp_hmc;
mod dp_penalty;
mod dp_sgld;
mod dp_sgnht;
mod halton;
mod info;
mod preconditioner;
mod start;

pub use dp_hmc::{DpHmc, HmcState};
pub use dp_penalty::{DpPenalty, PenaltyState, Walk};
pub use dp_sgld::{DpSgld, Langevin, LangevinState};
pub use dp_sgnht::{DpSgnht, ThermostatState};
pub use info::ChainInfo;
pub use preconditioner::Preconditioner;
pub use start::Start;
