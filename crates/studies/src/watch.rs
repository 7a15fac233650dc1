//! How long work is watched and stopped.

use std::sync::atomic::{AtomicBool, Ordering};

use organza_mcmc::Monitor;

/// How a run is watched and stopped.
#[derive(Clone, Copy, Default)]
pub struct Watch<'w> {
    /// Set it to stop after the replicates that are under way; finished ones are kept.
    pub interrupted: Option<&'w AtomicBool>,
    /// Called with the number of replicates that are done and of all.
    pub progress: Option<&'w (dyn Fn(usize, usize) + Sync)>,
    /// Called with words for a person.
    pub say: Option<&'w (dyn Fn(&str) + Sync)>,
}

impl Watch<'_> {
    /// Whether somebody wants it to stop.
    pub fn is_interrupted(&self) -> bool {
        self.interrupted.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// The same for the chains of a fit.
    pub fn monitor(&self) -> Monitor<'_> {
        Monitor { interrupted: self.interrupted, progress: None }
    }

    /// Tells how many are done, of how many.
    pub fn progress(&self, done: usize, total: usize) {
        if let Some(progress) = self.progress {
            progress(done, total);
        }
    }

    /// Says something to a person.
    pub fn say(&self, message: &str) {
        if let Some(say) = self.say {
            say(message);
        }
    }
}
