//! The one trait that every method implements.
//!
//! State, info and tuning are three things: the state is what the next step needs, the info is what
//! diagnostics want, and the tuning is the kernel itself, which only [`Kernel::adapt`] may change, and only
//! in warm-up.

use crate::ChainRng;

/// A way to move from one point to the next that leaves the target's distribution as it is.
///
/// Methods with independent draws fit too: `init` does the work and `step` draws. Each chain adapts its own
/// clone of the kernel.
pub trait Kernel<T: ?Sized>: Clone + Sync {
    /// What the next step needs, nothing else. It stays on the thread where `init` made it, so it need not be
    /// [`Send`].
    type State;

    /// What diagnostics want; never read by [`step`](Self::step).
    type Info: Info;

    /// The start of a chain.
    fn init(&self, target: &T, rng: &mut ChainRng) -> Result<Self::State, Stop>;

    /// One step.
    fn step(&self, target: &T, state: &mut Self::State, rng: &mut ChainRng) -> Result<Self::Info, Stop>;

    /// Where the chain is: the values of a draw. Its length must not change.
    fn position<'s>(&self, state: &'s Self::State) -> &'s [f64];

    /// Learns from a step of warm-up. It is never called afterwards: a kernel that changes with the draws
    /// does not have the target as its distribution.
    fn adapt(&mut self, _state: &Self::State, _info: &Self::Info) {}

    /// Called once between warm-up and the first step that counts, for instance to settle on an average of
    /// what was learnt.
    fn freeze(&mut self) {}
}

/// Why a chain cannot go on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Stop {
    /// The target may not be asked any more. This is an ordinary end: the draws so far are kept.
    #[error("the budget is exhausted")]
    BudgetExhausted,
    /// A computation failed. The run fails.
    #[error("{reason}")]
    Numerical {
        /// What failed, where, and what to do.
        reason: String,
    },
}

impl Stop {
    /// A computation that failed.
    pub fn numerical(reason: impl Into<String>) -> Self {
        Stop::Numerical { reason: reason.into() }
    }
}

/// Numbers about a step, each with a name.
pub trait Info {
    /// The numbers that every step reports, in order.
    const STATISTICS: &'static [Statistic];

    /// Writes the numbers; `values` has one place for each of [`Self::STATISTICS`].
    fn write(&self, values: &mut [f64]);
}

/// Nothing to report.
impl Info for () {
    const STATISTICS: &'static [Statistic] = &[];

    fn write(&self, _values: &mut [f64]) {}
}

/// The name of a number about a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Statistic {
    /// Its name, for instance [`Statistic::DIVERGENT`].
    pub name: &'static str,
    /// What a draw reports of it when steps between draws are thinned away.
    pub thinned: Thinned,
}

impl Statistic {
    /// Name of the statistic that is 1 for a step whose simulated path diverged and 0 otherwise.
    pub const DIVERGENT: &'static str = "divergent";

    /// Name of the statistic that holds the energy of a Hamiltonian step.
    pub const ENERGY: &'static str = "energy";
}

/// How a draw summarises the steps since the draw before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Thinned {
    /// The value of the last step, for values that belong to the position.
    Last,
    /// The mean, for rates.
    Mean,
    /// The sum, for counts: thinning does not hide them.
    Sum,
}
