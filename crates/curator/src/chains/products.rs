//! Products and sums in plain loops, fused where the machine can.

use pulp::Simd;

/// Whether a product and a sum are one operation. The results differ by one rounding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Products {
    /// One operation: only where the machine has it, it is very slow elsewhere.
    Fused,
    /// Two operations, the same on all machines.
    Separate,
}

impl Products {
    /// What is fast with these registers: all that are wider than one number can fuse.
    #[inline(always)]
    pub fn of<S: Simd>() -> Self {
        if S::F64_LANES > 1 { Self::Fused } else { Self::Separate }
    }

    /// a b + c.
    #[inline(always)]
    pub fn add(self, a: f64, b: f64, c: f64) -> f64 {
        match self {
            Self::Fused => a.mul_add(b, c),
            Self::Separate => a * b + c,
        }
    }
}
