//! NetCDF for ArviZ.

use std::io::Write;

use netcdf_writer::{
    DimensionId, Error, NcAttrValue, NcFileBuilder, NcWriteFormat, NcWriteOptions, NcWriteType,
};

use super::variables::{Variable, variables};
use crate::diagnostics::{Traces, rectangle};
use crate::{Draws, DrawsError, Statistic};

/// Statistics that ArviZ knows under another name.
const ARVIZ_NAMES: [(&str, &str); 3] =
    [(Statistic::DIVERGENT, "diverging"), ("depth", "tree_depth"), ("gradients", "n_steps")];

/// Writes draws as netCDF-4 in the schema of ArviZ: `az.from_netcdf(file)` reads it, and `az.summary` shows
/// the names of the parameters as they are here.
///
/// **Groups.** `posterior` with the parameters, and `sample_stats` with the statistics of the steps, if there
/// are any; each has the dimensions `chain` and `draw`, which count from 0. Chains of unequal length are cut
/// to a rectangle as in [`Traces`]; `chain` has the numbers of those that are kept.
///
/// **Parameters.** `beta[intercept]` and `beta[age]` become one variable `beta` with a third dimension
/// `beta_index` and its coordinates "intercept" and "age"; so `sigma[1,2]` lies at "1,2" of `sigma`. A name
/// without brackets is a variable by itself. If `beta` is a parameter too, all of them keep their full names.
/// ArviZ lists variables by name, and the entries of a vector in their order here.
///
/// **Statistics.** `divergent` is `diverging` (true if a step since the last draw diverged), `depth` is
/// `tree_depth`, `gradients` is `n_steps`; all others keep their names.
///
/// The file is made in memory; the same draws give the same bytes.
pub fn write_netcdf(draws: &Draws, output: impl Write) -> Result<(), DrawsError> {
    let (chains, length) = rectangle(draws.records().iter().map(|record| record.draws));
    if chains * length == 0 {
        return Err(fail("there are no draws"));
    }
    let mut file = NcFileBuilder::new();
    describe(&mut file)?;
    let mut posterior = Group::new(&mut file, "posterior", draws, length)?;
    for variable in variables(draws.names(), &["chain", "draw"])? {
        posterior.add_parameter(draws, &variable)?;
    }
    if !draws.statistic_names().is_empty() {
        let mut statistics = Group::new(&mut file, "sample_stats", draws, length)?;
        for name in draws.statistic_names() {
            statistics.add_statistic(draws, name)?;
        }
    }
    file.write(output, NcWriteOptions { format: NcWriteFormat::Nc4 }).map_err(fail)?;
    Ok(())
}

/// Who wrote the file: for the file and for each group, since ArviZ reads the groups only.
fn describe(file: &mut NcFileBuilder) -> Result<(), DrawsError> {
    file.add_attribute("created_by", text("organza")).map_err(fail)?;
    file.add_attribute("version", text(env!("CARGO_PKG_VERSION"))).map_err(fail)
}

/// A group of the file, with its own dimensions.
struct Group<'f> {
    file: &'f mut NcFileBuilder,
    name: &'static str,
    /// Chain and draw.
    dimensions: [DimensionId; 2],
}

impl<'f> Group<'f> {
    fn new(
        file: &'f mut NcFileBuilder,
        name: &'static str,
        draws: &Draws,
        length: usize,
    ) -> Result<Self, DrawsError> {
        let kept = draws.records().iter().enumerate().filter(|(_, record)| record.draws >= length);
        let chains: Vec<i64> = kept.map(|(chain, _)| chain as i64).collect();
        let numbers: Vec<i64> = (0..length as i64).collect();
        let mut dimension = |place: &str, values: &[i64]| {
            let path = format!("{name}/{place}");
            let dimension = file.add_dimension_path(path.as_str(), values.len() as u64)?;
            let variable = file.add_variable_path::<i64>(path, &[dimension])?;
            file.write_variable(variable, values)?;
            Ok(dimension)
        };
        let dimensions = [dimension("chain", &chains), dimension("draw", &numbers)];
        let [chain, draw] = dimensions.map(|dimension| dimension.map_err(|error: Error| fail(error)));
        let attributes = [
            ("created_by", "organza"),
            ("version", env!("CARGO_PKG_VERSION")),
            ("inference_library", "organza"),
            ("inference_library_version", env!("CARGO_PKG_VERSION")),
        ];
        for (attribute, value) in attributes {
            file.add_group_attribute(name, attribute, text(value)).map_err(fail)?;
        }
        Ok(Self { file, name, dimensions: [chain?, draw?] })
    }

    fn add_parameter(&mut self, draws: &Draws, variable: &Variable<'_>) -> Result<(), DrawsError> {
        let columns: Vec<Traces> = variable.columns.iter().filter_map(|name| draws.traces(name)).collect();
        let Some(labels) = &variable.labels else {
            return columns.iter().try_for_each(|column| self.add(variable.name, &[], column.values(), &[]));
        };
        let path = format!("{}/{}", self.name, variable.index_name());
        let index = self.file.add_dimension_path(path.as_str(), labels.len() as u64).map_err(fail)?;
        let coordinate = self.file.add_string_variable_path(path, &[index]).map_err(fail)?;
        self.file.write_string_variable(coordinate, labels).map_err(fail)?;
        let rows = columns.first().map_or(0, |column| column.values().len());
        let values: Vec<f64> =
            (0..rows).flat_map(|row| columns.iter().map(move |column| column.values()[row])).collect();
        self.add(variable.name, &[index], &values, &[])
    }

    fn add_statistic(&mut self, draws: &Draws, name: &str) -> Result<(), DrawsError> {
        let traces = Traces::new(&draws.statistic(name).unwrap_or_default());
        let values = traces.values();
        let renamed = ARVIZ_NAMES.iter().find(|(ours, _)| *ours == name).map(|(_, theirs)| *theirs);
        match renamed {
            Some("diverging") => {
                let diverging: Vec<i8> = values.iter().map(|count| i8::from(*count > 0.0)).collect();
                // How xarray writes truth values.
                self.add("diverging", &[], &diverging, &[("dtype", "bool")])
            }
            Some(theirs) => {
                let counts: Vec<i64> = values.iter().map(|count| *count as i64).collect();
                self.add(theirs, &[], &counts, &[])
            }
            None => self.add(name, &[], values, &[]),
        }
    }

    fn add<T: NcWriteType>(
        &mut self,
        name: &str,
        more: &[DimensionId],
        values: &[T],
        attributes: &[(&str, &str)],
    ) -> Result<(), DrawsError> {
        let path = format!("{}/{name}", self.name);
        let dimensions = [&self.dimensions, more].concat();
        let variable = self.file.add_variable_path::<T>(path, &dimensions).map_err(fail)?;
        for (attribute, value) in attributes {
            self.file.add_variable_attribute(variable, *attribute, text(value)).map_err(fail)?;
        }
        self.file.write_variable(variable, values).map_err(fail)
    }
}

fn text(value: &str) -> NcAttrValue {
    NcAttrValue::Chars(value.to_string())
}

fn fail(error: impl std::fmt::Display) -> DrawsError {
    DrawsError::Write { format: "netCDF", reason: error.to_string() }
}
