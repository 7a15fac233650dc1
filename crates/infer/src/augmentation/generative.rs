//! What a model must be able to do: simulate a record, and draw its parameters given records.

use std::ops::Range;

use organza_mcmc::{ChainRng, Stop};

/// A model that can simulate a record and, given records, its parameters. \[JAGR22\] Assumption 1.
pub trait Generative: Sync {
    /// Parameters with whatever the two draws keep beside them (factors, memory): no allocation after the start.
    type Parameters: Clone;

    /// Numbers of one latent record, at least 1.
    fn width(&self) -> usize;

    /// A dispersed start, for instance a draw of the prior.
    fn start(&self, rng: &mut ChainRng) -> Result<Self::Parameters, Stop>;

    /// One record given the parameters.
    fn draw_record(&self, parameters: &Self::Parameters, rng: &mut ChainRng, record: &mut [f64]);

    /// Parameters given all latent records (row-major), which are not clamped: an exact draw, or a kernel that leaves
    /// p(theta | x) as it is.
    fn draw_parameters(
        &self,
        records: &[f64],
        parameters: &mut Self::Parameters,
        rng: &mut ChainRng,
    ) -> Result<(), Stop>;

    /// Names of the values of a draw.
    fn names(&self) -> Vec<String>;

    /// The values of a draw, one for each name.
    fn write(&self, parameters: &Self::Parameters, values: &mut [f64]);
}

/// A model with a non-centred form: a record is a function of the parameters and of noise whose law does not depend on them.
///
/// Holding that noise and moving the parameters carries every record along. In coordinates with a prior density p the move is
/// accepted with the ratio of p times the noise density of the releases: nothing else of the model enters.
pub trait Interweave: Generative {
    /// Number of coordinates that describe the parameters, each on the whole line.
    fn coordinates(&self) -> usize;

    /// Coordinates that move together; blocks may overlap. None is empty.
    fn blocks(&self) -> Vec<Range<usize>>;

    /// The coordinates of parameters.
    fn write_coordinates(&self, parameters: &Self::Parameters, coordinates: &mut [f64]);

    /// Log prior density *of the coordinates*, up to a constant.
    fn log_prior(&self, parameters: &Self::Parameters) -> f64;

    /// Puts the parameters with these coordinates into `to` and prepares the way of records there from `from`; false where the
    /// numbers are beyond reach.
    fn move_to(&self, coordinates: &[f64], from: &Self::Parameters, to: &mut Self::Parameters) -> bool;

    /// The record with the same noise after the move that was prepared in `to`.
    fn carry(&self, to: &Self::Parameters, record: &[f64], moved: &mut [f64]);
}

/// A model whose records have a density: records can then also move a little at a time.
pub trait RecordDensity: Generative {
    /// Log density of a record given the parameters, up to a constant that does not depend on the record.
    fn log_density(&self, parameters: &Self::Parameters, record: &[f64]) -> f64;

    /// Typical sizes of the numbers of a record given the parameters, for proposals: any positive numbers are valid.
    fn write_spreads(&self, parameters: &Self::Parameters, spreads: &mut [f64]);
}
