//! The yardstick without privacy: exact sums for a comparison beside the table. **Never publish what comes out of this.**
//!
//! It is not a release, cannot become one, and no budget pays for it.

use organza_release::Domain;

use crate::CuratorError;
use crate::bounds::Bounds;
use crate::formula::Formula;
use crate::measure::measure;
use crate::mechanism::{DomainChoice, Plan, RecordScale, Request};
use crate::table::{Input, Progress, ReadOptions};

/// Exact sums of clamped, unscaled records, without noise. For comparison beside the table only.
#[derive(Debug, Clone, PartialEq)]
pub struct NonPrivate {
    /// The Gram matrix of the constant (if any), the features and the response in plain normalised units, row-major.
    pub gram: Vec<f64>,
    /// Number of records.
    pub records: u64,
    /// The public domain, for names and units.
    pub domain: Domain,
}

/// Computes the exact Gram matrix of a table, clamped to its bounds like a release but neither scaled nor noisy.
pub fn non_private(
    formula: Formula,
    bounds: Bounds,
    input: &Input,
    options: &ReadOptions,
    progress: &dyn Progress,
) -> Result<NonPrivate, CuratorError> {
    // The loss is of no importance: only the map from rows to integers is used.
    let domain = DomainChoice::Box { record_scale: RecordScale::None, intercept_weight: None };
    let plan = Plan::new(&Request { domain, ..Request::new(formula, bounds, 1.0, 0.5) })?;
    let (gram, counts) = measure(&plan, input, options, progress)?;
    let size = gram.dimension();
    let unit = f64::exp2(-2.0 * f64::from(gram.grid_bits()));
    // Unscaled records have weights 1.
    let entry = |index: usize| gram.entry(index / size, index % size).map_or(0.0, |sum| sum as f64 * unit);
    Ok(NonPrivate {
        gram: (0..size * size).map(entry).collect(),
        records: counts.records,
        domain: plan.domain().clone(),
    })
}
