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
        if u32::try_from(self.chains).is_err() {
            let reason = format!("{} are more than the {} that have a stream", self.chains, u32::MAX);
            return Err(RunError::Plan { field: "chains", reason });
        }
        let steps = self.draws.checked_mul(self.thin).and_then(|steps| steps.checked_add(self.warmup));
        steps.ok_or_else(|| RunError::Plan {
            field: "draws",
            reason: "warmup + draws * thin is too large to count; plan fewer".to_string(),
        })
    }
}
