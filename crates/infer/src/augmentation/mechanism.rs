//! What a mechanism must be able to do.

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
}
