//! The folder of a fit: it appears whole or not at all.

use std::fs::File;
use std::path::Path;

use organza_infer::{MethodSpec, ModelSpec};
use organza_mcmc::files::{Table, write_netcdf, write_parquet};
use organza_mcmc::{Draws, Plan};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::failure::Failure;
use super::result_folder::{Kind, ResultFolder};

/// Draws of the parameters.
pub const DRAWS: &str = "draws.parquet";
/// Draws and statistics for ArviZ and xarray.
pub const ARVIZ: &str = "draws.nc";
/// The table, the domain and everything that is said of the result.
pub const SUMMARY: &str = "summary.json";
/// All settings, to repeat the fit.
pub const SETTINGS: &str = "fit.toml";

/// Everything that decides a fit but the contents of the releases.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Version that wrote this.
    #[serde(default)]
    pub organza: String,
    /// Files and folders.
    pub releases: Vec<String>,
    /// Method and sampler.
    pub method: MethodSpec,
    /// Chains, draws, seed.
    pub plan: Plan,
    /// Prior and options.
    pub model: ModelSpec,
}

impl Settings {
    pub fn new(method: MethodSpec, model: ModelSpec, plan: Plan) -> Self {
        Self { organza: env!("CARGO_PKG_VERSION").into(), releases: Vec::new(), method, plan, model }
    }

    pub fn read(path: &Path) -> Result<Self, Failure> {
        let fail = |error: &dyn std::fmt::Display| Failure::bad_input(format!("{}: {error}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|error| fail(&error))?;
        toml::from_str(&text).map_err(|error| fail(&error))
    }
}

/// A folder that appears whole or not at all.
pub struct FitFolder(ResultFolder);

const KIND: Kind = Kind { what: "a fit", files: &[DRAWS, ARVIZ, SUMMARY, SETTINGS] };

impl FitFolder {
    /// Reserves the destination before any work is done.
    pub fn create(destination: &Path, overwrite: bool) -> Result<Self, Failure> {
        ResultFolder::create(destination, overwrite, KIND).map(Self)
    }

    /// Writes all files and gives the folder its name.
    pub fn finish(self, draws: &Draws, summary: &Value, settings: &impl Serialize) -> Result<(), Failure> {
        let folder = self.0;
        let create =
            |name: &str| File::create(folder.path().join(name)).map_err(|error| folder.broken(error));
        write_parquet(draws, Table::Parameters, create(DRAWS)?).map_err(|error| folder.broken(error))?;
        write_netcdf(draws, create(ARVIZ)?).map_err(|error| folder.broken(error))?;
        serde_json::to_writer_pretty(create(SUMMARY)?, summary)?;
        let text = toml::to_string(settings).map_err(|error| folder.broken(error))?;
        folder.write(SETTINGS, &text)?;
        folder.finish()
    }
}
