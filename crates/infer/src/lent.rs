//! Memory for evaluations on any number of threads.

use std::sync::{Mutex, PoisonError};

/// Memory that is not in use: one piece for every thread that has worked at the same time. After the first evaluation on every
/// thread nothing is allocated.
#[derive(Debug)]
pub(crate) struct Lent<T>(Mutex<Vec<T>>);

impl<T> Default for Lent<T> {
    /// Room for the pieces of more threads than there are, so that giving one back allocates nothing.
    fn default() -> Self {
        Self(Mutex::new(Vec::with_capacity(64)))
    }
}

impl<T> Lent<T> {
    /// Works with a piece of memory, a new one only if all are in use.
    pub fn with<R>(&self, new: impl FnOnce() -> T, work: impl FnOnce(&mut T) -> R) -> R {
        // A thread that panicked took its piece along; the others are as good as before.
        let pool = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = pool().pop();
        let mut piece = kept.unwrap_or_else(new);
        let result = work(&mut piece);
        pool().push(piece);
        result
    }
}
