//! Watching a run from outside, and stopping it.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A callback for progress.
type Callback<'m> = &'m (dyn Fn(Progress) + Sync);

/// Upper bound on the number of reports of progress from one chain.
const REPORTS: usize = 200;

/// How a run is watched and stopped; by default it is neither.
#[derive(Clone, Copy, Default)]
pub struct Monitor<'m> {
    /// Set it to stop all chains after their current step; their draws so far are kept.
    pub interrupted: Option<&'m AtomicBool>,
    /// Called from the threads of the chains, about 200 times for each chain and after its last step.
    pub progress: Option<Callback<'m>>,
}

impl std::fmt::Debug for Monitor<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut monitor = formatter.debug_struct("Monitor");
        monitor.field("interrupted", &self.interrupted);
        monitor.field("progress", &self.progress.map(|_| "callback")).finish()
    }
}

/// How far a chain is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The chain, from 0.
    pub chain: usize,
    /// Steps that it has taken, warm-up included.
    pub step: usize,
    /// Steps that it will take.
    pub steps: usize,
    /// Whether the last step belonged to warm-up.
    pub warmup: bool,
}

/// Why a chain should not take its next step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Halt {
    /// From outside.
    Interrupted,
    /// A chain with a lower number failed, so this one will not be reported.
    GivenUp,
}

/// What chains tell each other and the outside.
pub(super) struct Signals<'m> {
    monitor: &'m Monitor<'m>,
    pub(super) steps: usize,
    every: usize,
    lowest_failure: AtomicUsize,
}

impl<'m> Signals<'m> {
    pub(super) fn new(monitor: &'m Monitor<'m>, steps: usize) -> Self {
        Self { monitor, steps, every: steps.div_ceil(REPORTS), lowest_failure: AtomicUsize::new(usize::MAX) }
    }

    pub(super) fn halt(&self, chain: usize) -> Option<Halt> {
        if self.lowest_failure.load(Ordering::Relaxed) < chain {
            return Some(Halt::GivenUp);
        }
        let interrupted = self.monitor.interrupted.is_some_and(|flag| flag.load(Ordering::Relaxed));
        interrupted.then_some(Halt::Interrupted)
    }

    pub(super) fn failed(&self, chain: usize) {
        self.lowest_failure.fetch_min(chain, Ordering::Relaxed);
    }

    pub(super) fn stepped(&self, chain: usize, step: usize, warmup: bool) {
        if let Some(progress) = self.monitor.progress
            && (step.is_multiple_of(self.every) || step == self.steps)
        {
            progress(Progress { chain, step, steps: self.steps, warmup });
        }
    }
}
