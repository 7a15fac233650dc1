//! What a step reports.

use organza_mcmc::{Info, Statistic, Thinned};

/// Moves of all parameters in one step of [`Interweaving`](super::Interweaving).
pub(super) const MOVES: usize = 6;

/// Rates of acceptance of one step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AugmentationInfo {
    /// Mean probability of acceptance over the records of this sweep.
    pub acceptance: f64,
    /// The smallest of them.
    pub smallest: f64,
    /// Rate of acceptance, over the whole chain, of the record that is accepted least often.
    pub least_record: f64,
    /// The same of the record that is accepted most often.
    pub most_record: f64,
    /// Mean probability of acceptance of the moves with all records in tow; 1 if there are none.
    pub moves: f64,
    /// Mean probability of acceptance of exchanges between two records; 1 if there are none.
    pub exchanges: f64,
    /// The same, move by move, beginning with this block.
    pub(super) first_block: usize,
    pub(super) by_move: [f64; MOVES],
}

impl AugmentationInfo {
    /// Of a sweep over the records alone.
    pub(super) fn of(sweep: Sweep, (least_record, most_record): (f64, f64)) -> Self {
        let Sweep { acceptance, smallest } = sweep;
        let by_move = [1.0; MOVES];
        Self {
            acceptance,
            smallest,
            least_record,
            most_record,
            moves: 1.0,
            exchanges: 1.0,
            first_block: 0,
            by_move,
        }
    }
}

/// Probabilities of acceptance of one sweep over the records.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Sweep {
    pub acceptance: f64,
    pub smallest: f64,
}

impl Info for AugmentationInfo {
    const STATISTICS: &'static [Statistic] = &[
        Statistic { name: "acceptance", thinned: Thinned::Mean },
        Statistic { name: "smallest_acceptance", thinned: Thinned::Last },
        Statistic { name: "least_accepted_record", thinned: Thinned::Last },
        Statistic { name: "most_accepted_record", thinned: Thinned::Last },
        Statistic { name: "move_acceptance", thinned: Thinned::Mean },
        Statistic { name: "exchange_acceptance", thinned: Thinned::Mean },
    ];

    fn write(&self, values: &mut [f64]) {
        let numbers =
            [self.acceptance, self.smallest, self.least_record, self.most_record, self.moves, self.exchanges];
        values.copy_from_slice(&numbers);
    }
}
