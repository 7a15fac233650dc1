//! What the machine can do at best: bytes that it reads and floating-point operations that it does in a second.

use crate::clock::{Seconds, best};
use pulp::{Arch, Simd, WithSimd};
use rayon::ThreadPool;
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use rayon::slice::ParallelSlice;
use std::hint::black_box;

/// Sums that proceed side by side: enough to hide the latency of an addition, and few enough for the registers.
const SUMS: usize = 32;
/// Numbers in a task of a read: 128 kB.
const TASK: usize = 16_384;

struct Sum<'a>(&'a [f64]);

impl WithSimd for Sum<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> f64 {
        let mut sums = [0.0; SUMS];
        for values in self.0.chunks_exact(SUMS) {
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
        }
        sums.iter().sum()
    }
}

/// A plain sum over an array, on all threads of the pool.
pub fn read(pool: &ThreadPool, bytes: usize, repetitions: usize) -> Seconds {
    let (values, architecture) = (vec![1.0; bytes / 8], Arch::new());
    pool.install(|| {
        best(repetitions, || {
            let parts = values.par_chunks(TASK).map(|part| architecture.dispatch(Sum(part)));
            black_box(parts.sum::<f64>());
        })
    })
}

/// Turns of the loop in one task.
const TURNS: usize = 1_000_000;

struct Work;

impl WithSimd for Work {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        // Enough to hide the latency of an operation, and few enough for the registers, of which there are twice as many where they are wide.
        if S::F64_LANES > 4 { work::<S, 12>(simd) } else { work::<S, 6>(simd) }
    }
}

/// Products and sums that do not wait for each other, CHAINS of each in a turn. Both units of a core are busy: a product and a sum are separate operations, and
/// so are they counted in the pass, where most of them are fused.
#[inline(always)]
fn work<S: Simd, const CHAINS: usize>(simd: S) -> f64 {
    let (factor, term) = (simd.splat_f64s(black_box(1.000_000_1)), simd.splat_f64s(black_box(1e-9)));
    let mut products = [simd.splat_f64s(1.0); CHAINS];
    let mut sums = [simd.splat_f64s(1.0); CHAINS];
    for _ in 0..TURNS {
        for (product, sum) in products.iter_mut().zip(&mut sums) {
            *product = simd.mul_f64s(*product, factor);
            *sum = simd.add_f64s(*sum, term);
        }
    }
    let total = products.into_iter().chain(sums).map(|value| simd.reduce_sum_f64s(value)).sum::<f64>();
    // Adding the lanes costs nothing beside a million turns; their number is what the caller needs.
    black_box(total);
    (TURNS * 2 * CHAINS * S::F64_LANES) as f64
}

/// Products and sums on all threads of the pool: how many, and how long they took.
pub fn operations(pool: &ThreadPool, repetitions: usize) -> (f64, Seconds) {
    let (architecture, tasks) = (Arch::new(), pool.current_num_threads());
    let mut count = 0.0;
    let seconds = pool.install(|| {
        best(repetitions, || {
            count = (0..tasks).into_par_iter().map(|_| architecture.dispatch(Work)).sum();
        })
    });
    (count, seconds)
}
