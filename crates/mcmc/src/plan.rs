//! How much to run.

use serde::{Deserialize, Serialize};

use crate::RunError;

/// Chains, steps, seed and threads of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Plan {
    /// Number of chains.
    pub chains: usize,
    /// Steps of a chain before the first draw; the kernel adapts in them.
    pub warmup: usize,
    /// Draws to keep from each chain.
    pub draws: usize,
    /// Steps for each draw: 1 keeps every step, k keeps every k-th of `draws * k`.
    pub thin: usize,
    /// Seed of all chains. The same seed gives the same bits on any number of threads.
    pub seed: u64,
    /// Threads to use; 0 means one for each core.
    pub threads: usize,
}

/// Most chains of a plan.
pub const MOST_CHAINS: usize = 100_000;
/// Most bytes that the draws of all chains may take.
pub const MOST_BYTES: f64 = 8.0 * 1024.0 * 1024.0 * 1024.0;
/// Most threads for every core.
pub const MOST_THREADS_PER_CORE: usize = 4;

/// Four chains of 1,000 steps of warm-up and 1,000 draws.
impl Default for Plan {
    fn default() -> Self {
        Self { chains: 4, warmup: 1000, draws: 1000, thin: 1, seed: 0, threads: 0 }
    }
}

impl Plan {
    /// Steps of one chain, warm-up included; refuses what cannot be run.
    pub(crate) fn steps(&self) -> Result<usize, RunError> {
        let sizes = [("chains", self.chains), ("draws", self.draws), ("thin", self.thin)];
        if let Some((field, _)) = sizes.into_iter().find(|(_, size)| *size == 0) {
            return Err(RunError::Plan { field, reason: "must be at least 1".to_string() });
        }
        if self.chains > MOST_CHAINS {
            let reason = format!("{} are more than {MOST_CHAINS}; plan fewer", self.chains);
            return Err(RunError::Plan { field: "chains", reason });
        }
        let most = MOST_THREADS_PER_CORE * std::thread::available_parallelism().map_or(1, usize::from);
        if self.threads > most {
            let reason =
                format!("{} are more than {MOST_THREADS_PER_CORE} for every core, {most}", self.threads);
            return Err(RunError::Plan { field: "threads", reason });
        }
        self.check_memory(1)?;
        let steps = self.draws.checked_mul(self.thin).and_then(|steps| steps.checked_add(self.warmup));
        steps.ok_or_else(|| RunError::Plan {
            field: "draws",
            reason: "warmup + draws * thin is too large to count; plan fewer".to_string(),
        })
    }

    /// Refuses what cannot be run, or whose draws of so many parameters memory would not hold.
    pub fn check(&self, parameters: usize) -> Result<(), RunError> {
        self.steps()?;
        self.check_memory(parameters)
    }

    /// Refuses draws of so many parameters that memory would not hold them.
    pub(crate) fn check_memory(&self, parameters: usize) -> Result<(), RunError> {
        let bytes = 8.0 * self.chains as f64 * self.draws as f64 * parameters as f64;
        if bytes <= MOST_BYTES {
            return Ok(());
        }
        let Self { chains, draws, .. } = self;
        let [found, most] = [bytes, MOST_BYTES].map(|bytes| bytes / f64::from(1 << 30));
        let reason = format!(
            "{chains} chains of {draws} draws of {parameters} parameters take {found:.1} GiB, more than {most} GiB; plan fewer"
        );
        Err(RunError::Plan { field: "draws", reason })
    }
}
