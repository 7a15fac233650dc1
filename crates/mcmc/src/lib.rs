//! Markov chains: one trait for all methods, one driver, one type of result, and the diagnostics.
//!
//! A method implements [`Kernel`]: how a chain starts, how it takes a step, and where it is. [`run`] takes a
//! kernel, a target and a [`Plan`] and does the rest for every method: chains in parallel, warm-up, thinning,
//! seeds, progress, interruption and storage. For a target with a gradient there is [`Nuts`]. The result is
//! [`Draws`]; [`Summary`] describes them and warns, from the functions in [`diagnostics`]; [`files`] writes
//! them for R, Python and everything else (with the feature `files`, which is on by default).
//!
//! This crate knows nothing about privacy and nothing about data.
//!
//! ```
//! use organza_mcmc::{ChainRng, Kernel, Plan, Stop, Summary, run};
//! use rand::RngExt;
//!
//! /// Independent uniform draws: a method may do all of its work in `init`.
//! #[derive(Clone)]
//! struct Uniform;
//!
//! impl Kernel<f64> for Uniform {
//!     type State = [f64; 1];
//!     type Info = ();
//!     fn init(&self, width: &f64, rng: &mut ChainRng) -> Result<[f64; 1], Stop> {
//!         Ok([width * rng.random::<f64>()])
//!     }
//!     fn step(&self, width: &f64, state: &mut [f64; 1], rng: &mut ChainRng) -> Result<(), Stop> {
//!         state[0] = width * rng.random::<f64>();
//!         Ok(())
//!     }
//!     fn position<'s>(&self, state: &'s [f64; 1]) -> &'s [f64] {
//!         state
//!     }
//! }
//!
//! let plan = Plan { chains: 4, warmup: 0, draws: 500, seed: 1, ..Plan::default() };
//! let draws = run(&Uniform, &2.0, &plan)?.named(vec!["width".to_string()])?;
//! let summary = Summary::new(&draws, 0.9)?;
//! assert!((summary.parameters[0].mean - 1.0).abs() < 0.1);
//! assert!(summary.warnings().is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod density;
pub mod diagnostics;
mod draws;
mod error;
#[cfg(feature = "files")]
pub mod files;
mod kernel;
mod nuts;
mod plan;
mod rng;
mod run;
mod special;
mod summary;
mod warnings;

pub use density::{Gradient, LogDensity, gradient_error};
pub use draws::{ChainRecord, Draws, End};
pub use error::{DrawsError, RunError};
pub use kernel::{Info, Kernel, Statistic, Stop, Thinned};
pub use nuts::{Mass, Nuts, NutsInfo, NutsState, Warmup};
pub use plan::{MOST_BYTES, MOST_CHAINS, MOST_THREADS_PER_CORE, Plan};
pub use rng::ChainRng;
pub use run::{Monitor, Progress, run, run_monitored};
pub use special::{normal_quantile, student_quantile};
pub use summary::{ParameterSummary, Summary};
