//! Bounds read off the data, for experiments that reproduce papers which did so.
//!
//! This is **not private**: the bounds themselves betray extreme records. It is not reachable from the command's
//! `release` verb, and a release planned with such bounds says `private_bounds: false`, which voids its claim.

use organza_release::Missing;

use crate::CuratorError;
use crate::bounds::{Bounds, ColumnBounds};
use crate::formula::{BlockColumns, Design, Formula, quoted_name};
use crate::mechanism::Request;
use crate::table::{Input, ReadOptions, Table};

/// Wide enough for any number in a table, and finite when squared.
const REACH: f64 = 1e100;

impl Request {
    /// A request whose bounds are the smallest and largest values of every column of the table.
    pub fn with_bounds_from_data(
        formula: Formula,
        input: &Input,
        options: &ReadOptions,
        (epsilon, delta): (f64, f64),
    ) -> Result<Self, CuratorError> {
        let bounds = bounds_from_data(&formula, input, options)?;
        Ok(Request { private_bounds: false, ..Request::new(formula, bounds, epsilon, delta) })
    }
}

/// Every column, of numbers, as a feature of its own: only values are of interest, not a formula's terms.
pub(crate) fn plain_design(columns: &[&str]) -> Result<Design, CuratorError> {
    let mut wide = Bounds::default();
    for name in columns {
        wide.insert(name, ColumnBounds::Numeric { lower: -REACH, upper: REACH })?;
    }
    let quoted: Vec<String> = columns.iter().map(|name| quoted_name(name)).collect();
    let plain = format!("{} ~ {}", quoted[0], [&["1".to_string()], &quoted[1..]].concat().join(" + "));
    Ok(Design::compile(&plain.parse()?, &wide)?)
}

fn bounds_from_data(formula: &Formula, input: &Input, options: &ReadOptions) -> Result<Bounds, CuratorError> {
    let design = plain_design(&formula.columns())?;
    let options = ReadOptions { missing: Missing::Refused, ..options.clone() };
    let table = Table::new(input, &design, &options, &());
    let columns = design.numeric_columns().len();
    let (ranges, _) = table
        .fold(|| vec![(f64::INFINITY, f64::NEG_INFINITY); columns], |ranges, block| widen(ranges, block))?;
    let mut bounds = Bounds::default();
    for (index, column) in design.numeric_columns().iter().enumerate() {
        let lower = ranges.iter().map(|range| range[index].0).fold(f64::INFINITY, f64::min);
        let upper = ranges.iter().map(|range| range[index].1).fold(f64::NEG_INFINITY, f64::max);
        bounds.insert(&column.name, ColumnBounds::Numeric { lower, upper })?;
    }
    Ok(bounds)
}

fn widen(ranges: &mut [(f64, f64)], block: &BlockColumns<'_>) -> Result<(), CuratorError> {
    for (range, column) in ranges.iter_mut().zip(block.numeric) {
        for value in *column {
            *range = (range.0.min(*value), range.1.max(*value));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::Plan;

    #[test]
    fn ranges_are_found_and_the_claim_is_void() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        std::fs::write(&path, "x,y\n3,1\n-2,8\n5,4\n").unwrap();
        let formula = "log(y) ~ x + I(x^2)".parse().unwrap();
        let request =
            Request::with_bounds_from_data(formula, &Input::File(path), &ReadOptions::default(), (1.0, 1e-6))
                .unwrap();
        assert_eq!(request.bounds.column("x"), Some(&ColumnBounds::Numeric { lower: -2.0, upper: 5.0 }));
        assert_eq!(request.bounds.column("y"), Some(&ColumnBounds::Numeric { lower: 1.0, upper: 8.0 }));
        assert!(!Plan::new(&request).unwrap().privacy().private_bounds);
    }
}
