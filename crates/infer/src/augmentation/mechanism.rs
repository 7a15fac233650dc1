//! What a mechanism must be able to do.

/// The sum over one party's records, and the log density of its release there.
#[derive(Debug, Clone, PartialEq)]
pub struct PartySum {
    /// The sum of the contributions.
    pub sum: Vec<f64>,
    /// The log density there.
    pub log_density: f64,
}

/// Memory of a chain for what would be if one record were another.
#[derive(Debug, Clone)]
pub struct Replacement {
    old: Vec<f64>,
    new: Vec<f64>,
    moved: Vec<f64>,
    /// For mechanisms with short cuts of their own: room for as many pairs of places as a contribution has numbers, for instance those that
    /// lose and those that gain.
    pub places: Vec<[usize; 2]>,
}

impl Replacement {
    /// For contributions of at most this size.
    pub(super) fn new(size: usize) -> Self {
        let line = vec![0.0; size];
        Self { old: line.clone(), new: line.clone(), moved: line, places: vec![[0; 2]; size] }
    }
}

/// A mechanism whose density depends on the records through a sum. \[JAGR22\] Assumption 2.
pub trait RecordAdditive: Sync {
    /// The party, for messages.
    fn party(&self) -> &str;

    /// Public number of records of this party.
    fn records(&self) -> usize;

    /// Numbers of a contribution.
    fn size(&self) -> usize;

    /// What a latent record adds to the sum. Clamping happens here.
    fn contribution(&self, record: &[f64], out: &mut [f64]);

    /// Log density of what was released given the sum, up to a constant.
    fn log_density(&self, sum: &[f64]) -> f64;

    /// The loss if it is pure differential privacy. Every proposal of a record is then accepted with probability
    /// exp(-epsilon) at least, which is checked at run time: \[JAGR22\] Proposition 3.1.
    fn epsilon(&self) -> Option<f64>;

    /// The change of the log density if the record `new` stood in the place of `old`.
    ///
    /// As it stands it works with whole contributions. A mechanism whose contributions are mostly 0 can do with less: it implements this and
    /// [`Self::replace`], both or neither.
    #[inline]
    fn log_ratio(&self, at: &PartySum, old: &[f64], new: &[f64], memory: &mut Replacement) -> f64 {
        let size = at.sum.len();
        let moved = &mut memory.moved[..size];
        let (before, after) = (&mut memory.old[..size], &mut memory.new[..size]);
        self.contribution(old, before);
        self.contribution(new, after);
        for (((moved, sum), old), new) in moved.iter_mut().zip(&at.sum).zip(before).zip(after) {
            *moved = *sum + (*new - *old);
        }
        self.log_density(moved) - at.log_density
    }

    /// Puts the record `new` in the place of `old`, right after [`Self::log_ratio`] was asked for them.
    #[inline]
    fn replace(&self, sum: &mut [f64], old: &[f64], new: &[f64], memory: &Replacement) {
        let _ = (old, new);
        sum.copy_from_slice(&memory.moved[..sum.len()]);
    }
}
