//! What a step tells diagnostics.

use crate::{Info, Statistic, Thinned};

/// Numbers about a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NutsInfo {
    /// Whether the path diverged.
    pub divergent: bool,
    /// Energy at the new point.
    pub energy: f64,
    /// Doublings of the path.
    pub depth: u64,
    /// Step size of the path.
    pub step_size: f64,
    /// Gradients that the path took.
    pub gradients: u64,
}

impl Info for NutsInfo {
    const STATISTICS: &'static [Statistic] = &[
        Statistic { name: Statistic::DIVERGENT, thinned: Thinned::Sum },
        Statistic { name: Statistic::ENERGY, thinned: Thinned::Last },
        Statistic { name: "depth", thinned: Thinned::Last },
        Statistic { name: "step_size", thinned: Thinned::Last },
        Statistic { name: "gradients", thinned: Thinned::Sum },
    ];

    fn write(&self, values: &mut [f64]) {
        let divergent = f64::from(u8::from(self.divergent));
        let counts = [self.depth as f64, self.step_size, self.gradients as f64];
        values[..2].copy_from_slice(&[divergent, self.energy]);
        values[2..].copy_from_slice(&counts);
    }
}
