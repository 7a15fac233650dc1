//! Numbers that begin at a cache line: a register that straddles two lines costs two reads.

use std::ops::{Deref, DerefMut};

/// Numbers in a cache line.
const LINE: usize = 8;

/// A fixed number of doubles that begin at a cache line.
#[derive(Debug, Default)]
pub(super) struct Aligned {
    values: Vec<f64>,
    start: usize,
    length: usize,
}

impl Aligned {
    pub(super) fn zeros(length: usize) -> Self {
        let values = vec![0.0; length + LINE];
        // Where the line cannot be found the place does not matter for the result.
        let start = values.as_ptr().align_offset(LINE * size_of::<f64>()).min(LINE);
        Self { values, start, length }
    }
}

impl Deref for Aligned {
    type Target = [f64];

    #[inline(always)]
    fn deref(&self) -> &[f64] {
        &self.values[self.start..self.start + self.length]
    }
}

impl DerefMut for Aligned {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [f64] {
        &mut self.values[self.start..self.start + self.length]
    }
}

impl Clone for Aligned {
    fn clone(&self) -> Self {
        let mut copy = Self::zeros(self.length);
        copy.copy_from_slice(self);
        copy
    }
}

impl PartialEq for Aligned {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}
