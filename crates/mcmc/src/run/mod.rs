//! The one driver: chains, warm-up, thinning, seeds, progress, interruption and storage for all methods.
//!
//! **Same bits.** A chain reads only the target, its own clone of the kernel and its own generator
//! ([`ChainRng`](crate::ChainRng)), so its draws do not depend on the number of threads or on the other
//! chains, as long as the target itself does not change while it is asked. **Ends.** An interruption and an
//! exhausted budget keep the draws so far, so chains may differ in length. A failure ends the run; chains
//! with a higher number are given up, those with a lower number go on, so the failure that is reported is
//! always the same.
//!
//! **Threads.** One task for each chain inside one pool; a kernel that splits its own work with rayon shares
//! it. With one thread chains run in turn on the caller's.

mod chain;
mod monitor;

use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};

use crate::{Draws, Info, Kernel, Plan, RunError};
use chain::ChainRun;
pub(crate) use chain::Outcome;
use monitor::Signals;
pub use monitor::{Monitor, Progress};

/// Runs all chains of a plan.
pub fn run<T, K>(kernel: &K, target: &T, plan: &Plan) -> Result<Draws, RunError>
where
    T: Sync + ?Sized,
    K: Kernel<T>,
{
    run_monitored(kernel, target, plan, &Monitor::default())
}

/// Runs all chains of a plan, with progress and a way to interrupt.
///
/// ```
/// # use organza_mcmc::{ChainRng, Kernel, Monitor, Plan, Stop, run_monitored};
/// # #[derive(Clone)]
/// # struct Still;
/// # impl Kernel<()> for Still {
/// #     type State = [f64; 1];
/// #     type Info = ();
/// #     fn init(&self, _: &(), _: &mut ChainRng) -> Result<[f64; 1], Stop> { Ok([0.0]) }
/// #     fn step(&self, _: &(), _: &mut [f64; 1], _: &mut ChainRng) -> Result<(), Stop> { Ok(()) }
/// #     fn position<'s>(&self, state: &'s [f64; 1]) -> &'s [f64] { state }
/// # }
/// # let (kernel, target) = (Still, ());
/// use std::sync::atomic::{AtomicBool, Ordering};
///
/// let interrupted = AtomicBool::new(false); // a signal handler would set it
/// let progress = |progress: organza_mcmc::Progress| {
///     if progress.chain == 0 && progress.step >= 500 {
///         interrupted.store(true, Ordering::Relaxed);
///     }
/// };
/// let monitor = Monitor { interrupted: Some(&interrupted), progress: Some(&progress) };
/// let plan = Plan { warmup: 0, threads: 1, ..Plan::default() };
/// let draws = run_monitored(&kernel, &target, &plan, &monitor)?;
/// assert_eq!(draws.records()[0].draws, 500);
/// # Ok::<(), organza_mcmc::RunError>(())
/// ```
pub fn run_monitored<T, K>(
    kernel: &K,
    target: &T,
    plan: &Plan,
    monitor: &Monitor<'_>,
) -> Result<Draws, RunError>
where
    T: Sync + ?Sized,
    K: Kernel<T>,
{
    let steps = plan.steps()?;
    let signals = Signals::new(monitor, steps);
    let finish = |chain: usize| ChainRun::new(kernel, target, plan, chain).finish(&signals);
    let outcomes: Vec<_> = if plan.threads == 1 {
        // On the caller's thread: many fits side by side need no pool each.
        (0..plan.chains).map(finish).collect()
    } else {
        // Never more threads than the plan names; with 0, as many as cores.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(plan.threads).build();
        let pool = pool.map_err(|error| RunError::Threads { reason: error.to_string() })?;
        pool.install(|| (0..plan.chains).into_par_iter().with_max_len(1).map(finish).collect())
    };
    // In the order of the chains: the first failure is that of the lowest chain.
    let outcomes = outcomes.into_iter().collect::<Result<Vec<_>, _>>()?;
    same_dimension(&outcomes)?;
    let statistics = K::Info::STATISTICS.iter().map(|statistic| statistic.name.to_string()).collect();
    Ok(Draws::from_outcomes(outcomes, statistics))
}

fn same_dimension(outcomes: &[Outcome]) -> Result<(), RunError> {
    let mut known = None;
    for (chain, outcome) in outcomes.iter().enumerate().filter(|(_, outcome)| outcome.record.draws > 0) {
        let expected = *known.get_or_insert(outcome.dimension);
        if outcome.dimension != expected {
            let found = outcome.dimension;
            return Err(RunError::Dimension { chain: chain + 1, step: 0, expected, found });
        }
    }
    Ok(())
}
