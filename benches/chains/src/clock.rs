//! Wall time and CPU time of this process.

use rustix::time::{ClockId, clock_gettime};
use std::time::Instant;

/// Seconds that something took.
#[derive(Debug, Clone, Copy)]
pub struct Seconds {
    pub wall: f64,
    /// Of all threads together; other programs on the machine do not count.
    pub cpu: f64,
}

fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}

/// A result and the seconds that it took.
pub fn timed<R>(work: impl FnOnce() -> R) -> (R, Seconds) {
    let (cpu, wall) = (cpu_seconds(), Instant::now());
    let result = work();
    (result, Seconds { wall: wall.elapsed().as_secs_f64(), cpu: cpu_seconds() - cpu })
}

/// The best of so many repetitions, of each clock by itself: what disturbs takes time, it never gives any.
pub fn best(repetitions: usize, mut work: impl FnMut()) -> Seconds {
    let mut found = Seconds { wall: f64::INFINITY, cpu: f64::INFINITY };
    for _ in 0..repetitions.max(1) {
        let ((), once) = timed(&mut work);
        found = Seconds { wall: found.wall.min(once.wall), cpu: found.cpu.min(once.cpu) };
    }
    found
}
