//! The walk: moves of m records from cell to cell, m learnt in warm-up.
//!
//! Four kinds of moves in turn, each its own inverse with the same probability: from any cell to any other; to a cell that differs in one
//! column, which leaves the margins without that column as they are; a swap of some columns between the records of two cells, which
//! leaves all margins inside of these columns and all outside of them as they are; and records that come or go where their number is not public.

use organza_mcmc::{ChainRng, Info, Kernel, Statistic, Stop, Thinned};
use rand::RngExt;

use super::{OverlappingTables, Party, start};
use crate::adaptation::StepSize;
use crate::fixed_gram::SCALAR_ACCEPTANCE;
use crate::random::{accept, gamma};
use crate::tables::records::Records;

/// Kinds of moves.
const KINDS: usize = 4;
/// Moves for each cell in a step.
const MOVES: usize = 4;

/// The kernel; the position is that of [`OverlappingTables::names`].
#[derive(Debug, Clone, PartialEq)]
pub struct CellWalk {
    sizes: [StepSize; KINDS],
}

impl Default for CellWalk {
    fn default() -> Self {
        Self { sizes: [StepSize::new(2.0, SCALAR_ACCEPTANCE); KINDS] }
    }
}

/// The rates of acceptance of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CellWalkInfo {
    rates: [f64; KINDS],
}

impl Info for CellWalkInfo {
    const STATISTICS: &'static [Statistic] = &[
        Statistic { name: "acceptance", thinned: Thinned::Mean },
        Statistic { name: "acceptance_column", thinned: Thinned::Mean },
        Statistic { name: "acceptance_swap", thinned: Thinned::Mean },
        Statistic { name: "acceptance_records", thinned: Thinned::Mean },
    ];

    fn write(&self, values: &mut [f64]) {
        values.copy_from_slice(&self.rates);
    }
}

/// What the next step needs.
#[derive(Debug, Clone)]
pub struct CellWalkState {
    parties: Vec<PartyState>,
    /// Counts of all parties together, and all records.
    pooled: Vec<usize>,
    total: usize,
    position: Vec<f64>,
}

#[derive(Debug, Clone)]
struct PartyState {
    cells: Vec<usize>,
    records: usize,
    /// The margins of the cells.
    margins: Vec<Vec<usize>>,
}

/// Changes of at most four different cells.
#[derive(Debug, Clone, Copy)]
struct Move {
    cells: [usize; 4],
    changes: [isize; 4],
    length: usize,
}

impl Move {
    fn new(changes: &[(usize, isize)]) -> Self {
        let mut all = Self { cells: [0; 4], changes: [0; 4], length: changes.len() };
        for (place, (cell, change)) in changes.iter().enumerate() {
            (all.cells[place], all.changes[place]) = (*cell, *change);
        }
        all
    }

    fn iter(&self) -> impl Iterator<Item = (usize, isize)> {
        self.cells.into_iter().zip(self.changes).take(self.length)
    }

    fn records(&self) -> isize {
        self.changes[..self.length].iter().sum()
    }
}

/// ln Gamma(count + change + a) - ln Gamma(count + a).
fn log_rise(count: usize, change: isize, a: f64) -> f64 {
    let base = count as f64 + a;
    libm::lgamma(base + change as f64) - libm::lgamma(base)
}

impl OverlappingTables {
    /// A move of this kind, drawn without a look at the counts; none if it changes nothing.
    fn propose(&self, rng: &mut ChainRng, kind: usize, size: f64) -> Option<Move> {
        let (one, other) = (rng.random_range(0..self.cells()), rng.random_range(0..self.cells()));
        let records = 1 + (size * -libm::log1p(-rng.random::<f64>())).min(1e15) as isize;
        match kind {
            0 => (one != other).then(|| Move::new(&[(one, -records), (other, records)])),
            1 => {
                let column = rng.random_range(0..self.strides.len());
                let moved = self.exchange(one, other, 1 << column);
                (one != moved).then(|| Move::new(&[(one, -records), (moved, records)]))
            }
            2 => {
                let columns = rng.random_range(0..1_u64 << self.strides.len().min(63));
                let (first, second) =
                    (self.exchange(one, other, columns), self.exchange(other, one, columns));
                let same = first == one || first == other;
                let changes = [(one, -records), (other, -records), (first, records), (second, records)];
                (!same).then(|| Move::new(&changes))
            }
            _ => {
                let sign = if rng.random::<f64>() < 0.5 { -1 } else { 1 };
                Some(Move::new(&[(one, sign * records)]))
            }
        }
    }

    /// The cell with the levels of `other` in some columns, and of `one` elsewhere.
    fn exchange(&self, one: usize, other: usize, columns: u64) -> usize {
        let mut cell = one;
        for (place, (stride, levels)) in self.strides.iter().enumerate() {
            if columns >> place & 1 == 1 {
                cell = cell - one / stride % levels * stride + other / stride % levels * stride;
            }
        }
        cell
    }

    /// Logarithm of the ratio of the weights after and before a move of a party's records.
    fn log_ratio(&self, state: &CellWalkState, party: usize, change: &Move) -> f64 {
        let (known, counts) = (&self.parties[party], &state.parties[party]);
        let mut log = 0.0;
        for (cell, records) in change.iter() {
            if counts.cells[cell].checked_add_signed(records).is_none() {
                return f64::NEG_INFINITY;
            }
            log += log_rise(state.pooled[cell], records, self.concentrations[cell])
                - log_rise(counts.cells[cell], records, 1.0);
        }
        for (table, margin) in known.tables.iter().zip(&counts.margins) {
            for (place, (cell, _)) in change.iter().enumerate() {
                let entry = table.entries[cell];
                let same = || change.iter().filter(|(other, _)| table.entries[*other] == entry);
                // Once for every entry: at the first of the cells that belong to it.
                if change.iter().take(place).any(|(other, _)| table.entries[other] == entry) {
                    continue;
                }
                let records: isize = same().map(|(_, records)| records).sum();
                let (seen, before) = (&table.counts[entry as usize], margin[entry as usize] as f64);
                log += seen.log_kernel(before + records as f64) - seen.log_kernel(before);
            }
        }
        log + self.log_ratio_of_records(state, (known, counts.records), change.records())
    }

    /// The part of the number of records.
    fn log_ratio_of_records(
        &self,
        state: &CellWalkState,
        (party, records): (&Party, usize),
        change: isize,
    ) -> f64 {
        if change == 0 {
            return 0.0;
        }
        let Some(after) = records.checked_add_signed(change) else { return f64::NEG_INFINITY };
        if after > party.records.range().1 {
            return f64::NEG_INFINITY;
        }
        let all: f64 = self.concentrations.iter().sum();
        log_rise(records, change, 1.0) - log_rise(state.total, change, all) + party.records.log_mass(after)
            - party.records.log_mass(records)
    }
}

impl CellWalkState {
    fn apply(&mut self, target: &OverlappingTables, party: usize, change: &Move) {
        let counts = &mut self.parties[party];
        // In two's complement a negative change wraps around to the right sum.
        let shift = |count: &mut usize, records: isize| *count = count.wrapping_add_signed(records);
        for (cell, records) in change.iter() {
            shift(&mut counts.cells[cell], records);
            shift(&mut self.pooled[cell], records);
            for (table, margin) in target.parties[party].tables.iter().zip(&mut counts.margins) {
                shift(&mut margin[table.entries[cell] as usize], records);
            }
        }
        shift(&mut counts.records, change.records());
        shift(&mut self.total, change.records());
    }

    /// Draws the probabilities given the counts.
    fn write_position(&mut self, target: &OverlappingTables, rng: &mut ChainRng) {
        let (shown, records) = self.position.split_at_mut(target.cells());
        let shapes = target.concentrations.iter().zip(&self.pooled);
        shown.iter_mut().zip(shapes).for_each(|(value, (a, count))| *value = gamma(rng, a + *count as f64));
        let total: f64 = shown.iter().sum();
        shown.iter_mut().for_each(|value| *value /= total);
        let unknown = target.parties.iter().zip(&self.parties);
        let unknown = unknown.filter(|(party, _)| matches!(party.records, Records::Unknown { .. }));
        records.iter_mut().zip(unknown).for_each(|(value, (_, party))| *value = party.records as f64);
    }
}

impl Kernel<OverlappingTables> for CellWalk {
    type State = CellWalkState;
    type Info = CellWalkInfo;

    fn init(&self, target: &OverlappingTables, rng: &mut ChainRng) -> Result<CellWalkState, Stop> {
        let mut pooled = vec![0; target.cells()];
        let mut parties = Vec::new();
        for party in &target.parties {
            let cells = start::counts(rng, target, party);
            pooled.iter_mut().zip(&cells).for_each(|(sum, count)| *sum += count);
            let margins = party.tables.iter().map(|table| {
                let mut sums = vec![0; table.counts.len()];
                table.entries.iter().zip(&cells).for_each(|(entry, count)| sums[*entry as usize] += count);
                sums
            });
            let (records, margins) = (cells.iter().sum(), margins.collect());
            parties.push(PartyState { cells, records, margins });
        }
        let total = pooled.iter().sum();
        let mut state = CellWalkState { parties, pooled, total, position: vec![0.0; target.names.len()] };
        state.write_position(target, rng);
        Ok(state)
    }

    fn step(
        &self,
        target: &OverlappingTables,
        state: &mut CellWalkState,
        rng: &mut ChainRng,
    ) -> Result<CellWalkInfo, Stop> {
        let (mut sums, mut tries) = ([0.0; KINDS], [0.0; KINDS]);
        for party in 0..target.parties.len() {
            let known = matches!(target.parties[party].records, Records::Known(_));
            let kinds = if known { KINDS - 1 } else { KINDS };
            for number in 0..MOVES * target.cells() {
                let kind = number % kinds;
                let Some(change) = target.propose(rng, kind, self.sizes[kind].size()) else { continue };
                let log_ratio = target.log_ratio(state, party, &change);
                if accept(rng, log_ratio) {
                    state.apply(target, party, &change);
                }
                sums[kind] += libm::exp(log_ratio.min(0.0));
                tries[kind] += 1.0;
            }
        }
        state.write_position(target, rng);
        let rate = |kind| if tries[kind] > 0.0 { sums[kind] / tries[kind] } else { SCALAR_ACCEPTANCE };
        Ok(CellWalkInfo { rates: std::array::from_fn(rate) })
    }

    fn position<'s>(&self, state: &'s CellWalkState) -> &'s [f64] {
        &state.position
    }

    fn adapt(&mut self, _state: &CellWalkState, info: &CellWalkInfo) {
        self.sizes.iter_mut().zip(info.rates).for_each(|(size, rate)| size.learn(rate));
    }
}
