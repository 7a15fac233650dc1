//! The yardstick without privacy: exact sums for a comparison beside the table. **Never publish what comes out of this.**
//!
//! It is not a release, cannot become one, and no budget pays for it.

use organza_release::{BoxDomain, Domain};

use crate::CuratorError;
use crate::bounds::Bounds;
use crate::formula::{Design, Formula, Workspace};
use crate::gram::{GramAccumulator, IntegerGram, RecordMap};
use crate::measure::plan_for;
use crate::mechanism::{Request, record_map_for, unscaled};
use crate::table::{Reading, Table};

/// Exact sums of clamped records, without noise. For comparison beside the table only.
#[derive(Debug, Clone, PartialEq)]
pub struct NonPrivate {
    /// The Gram matrix of the constant (if any), the features and the response in plain normalised units, row-major.
    pub gram: Vec<f64>,
    /// The same with every record weighted by c^2 as the default release weights it, if that scales records.
    pub weighted: Option<Weighted>,
    /// Number of records.
    pub records: u64,
    /// The public domain, for names and units.
    pub domain: Domain,
}

/// Sums of records that are weighted by c^2 with c = min(1, r/|(g, u)|).
#[derive(Debug, Clone, PartialEq)]
pub struct Weighted {
    /// The Gram matrix, as without weights.
    pub gram: Vec<f64>,
    /// The radius r.
    pub radius: f64,
    /// Whether any record that the bounds allow is longer than that.
    pub shrinks: bool,
    /// The weight g of the constant.
    pub intercept_weight: f64,
}

/// Computes the exact Gram matrix of a table, clamped to its bounds like a release but not noisy: unscaled, and weighted as by
/// the default release with this loss.
pub fn non_private(
    formula: Formula,
    bounds: Bounds,
    (epsilon, delta): (f64, f64),
    reading: &Reading<'_>,
) -> Result<NonPrivate, CuratorError> {
    let usual = Request::new(formula, bounds, epsilon, delta);
    let plan = plan_for(&usual, reading)?;
    let plain = unscaled(&usual.formula, plan.design());
    let domain = Domain::Box(plain.clone());
    let maps = [record_map_for(&domain)?, plan.record_map().clone()];
    let ([sums, scaled], records) = measure_both(plan.design(), &maps, reading)?;
    let weighted = match plan.domain() {
        Domain::Box(domain) => domain.record_scale.map(|radius| Weighted {
            gram: normalised(&scaled, domain),
            radius,
            shrinks: !domain.shrinks_nothing(),
            intercept_weight: domain.intercept_weight,
        }),
        Domain::Ball(_) => None,
    };
    Ok(NonPrivate { gram: normalised(&sums, &plain), weighted, records, domain })
}

/// The Gram matrices of both maps in one pass.
fn measure_both(
    design: &Design,
    maps: &[RecordMap; 2],
    reading: &Reading<'_>,
) -> Result<([IntegerGram; 2], u64), CuratorError> {
    let new = || {
        let sums = [0, 1].map(|place| GramAccumulator::new(&maps[place]));
        (Workspace::default(), vec![Vec::new(); design.output_columns()], sums)
    };
    let table = Table::new(reading.input, design, reading.options, reading.progress);
    let (workers, counts) = table.fold(new, |(workspace, terms, sums), block| {
        design.evaluate(block, workspace, terms)?;
        let columns: Vec<&[f64]> = terms.iter().map(Vec::as_slice).collect();
        sums.iter_mut().try_for_each(|sums| sums.add_block(&columns))?;
        Ok(())
    })?;
    if counts.records == 0 {
        return Err(CuratorError::EmptyTable { path: format!("{}, after dropping", reading.input.name()) });
    }
    let mut total = new().2;
    for (.., sums) in workers {
        for (total, sums) in total.iter_mut().zip(sums) {
            total.merge(sums)?;
        }
    }
    Ok((total.map(GramAccumulator::finish), counts.records))
}

/// Sums in plain normalised units, the weights of the constant and the response taken out.
fn normalised(gram: &IntegerGram, domain: &BoxDomain) -> Vec<f64> {
    let size = gram.dimension();
    let unit = f64::exp2(-2.0 * f64::from(gram.grid_bits()));
    let weight = |place: usize| match place {
        0 if domain.intercept => domain.intercept_weight,
        place if place + 1 == size => domain.response_weight,
        _ => 1.0,
    };
    let entry = |index: usize| {
        let (row, column) = (index / size, index % size);
        gram.entry(row, column).map_or(0.0, |sum| sum as f64 * unit / (weight(row) * weight(column)))
    };
    (0..size * size).map(entry).collect()
}
