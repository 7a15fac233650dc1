//! CPU time of this process: other programs on the machine do not count.

use rustix::time::{ClockId, clock_gettime};

/// Seconds of CPU that this process has used.
pub fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}

/// A result and the CPU seconds that it took.
pub fn timed<R>(work: impl FnOnce() -> R) -> (R, f64) {
    let start = cpu_seconds();
    let result = work();
    (result, cpu_seconds() - start)
}
