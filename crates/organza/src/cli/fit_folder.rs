//! The folder of a fit: it appears whole or not at all.

use std::fs::File;
use std::path::{Path, PathBuf};

use organza_infer::{MethodSpec, ModelSpec};
use organza_mcmc::files::{Table, write_netcdf, write_parquet};
use organza_mcmc::{Draws, Plan};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::failure::Failure;

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

/// A folder that is written beside its destination and then renamed.
pub struct FitFolder {
    temporary: tempfile::TempDir,
    destination: PathBuf,
    overwrite: bool,
}

impl FitFolder {
    /// Reserves the destination before any work is done.
    pub fn create(destination: &Path, overwrite: bool) -> Result<Self, Failure> {
        check_destination(destination, overwrite)?;
        let parent = destination.parent().filter(|parent| !parent.as_os_str().is_empty());
        let temporary = tempfile::Builder::new()
            .prefix(".organza-")
            .tempdir_in(parent.unwrap_or(Path::new(".")))
            .map_err(|error| fail(destination, error))?;
        Ok(Self { temporary, destination: destination.to_path_buf(), overwrite })
    }

    /// Writes all files and gives the folder its name.
    pub fn finish(self, draws: &Draws, summary: &Value, settings: &impl Serialize) -> Result<(), Failure> {
        let Self { temporary, destination, overwrite } = self;
        let broken = |error: &dyn std::fmt::Display| fail(&destination, error);
        let create = |name: &str| File::create(temporary.path().join(name)).map_err(|error| broken(&error));
        write_parquet(draws, Table::Parameters, create(DRAWS)?).map_err(|error| broken(&error))?;
        write_netcdf(draws, create(ARVIZ)?).map_err(|error| broken(&error))?;
        serde_json::to_writer_pretty(create(SUMMARY)?, summary)?;
        let text = toml::to_string(settings).map_err(|error| broken(&error))?;
        std::fs::write(temporary.path().join(SETTINGS), text).map_err(|error| broken(&error))?;
        check_destination(&destination, overwrite)?;
        if destination.exists() {
            std::fs::remove_dir_all(&destination).map_err(|error| broken(&error))?;
        }
        std::fs::rename(temporary.keep(), &destination).map_err(|error| broken(&error))?;
        readable_by_others(&destination);
        Ok(())
    }
}

/// An existing folder is replaced only on demand, and only if it is an earlier fit.
fn check_destination(destination: &Path, overwrite: bool) -> Result<(), Failure> {
    let name = destination.display();
    if !destination.exists() {
        return Ok(());
    }
    if !overwrite {
        return Err(Failure::bad_input(format!("{name} exists: choose another folder or say --force")));
    }
    let ours = [DRAWS, ARVIZ, SUMMARY, SETTINGS];
    let entries = std::fs::read_dir(destination).map_err(|error| fail(destination, error))?;
    for entry in entries {
        let file = entry.map_err(|error| fail(destination, error))?.file_name();
        if !ours.iter().any(|known| file == *known) {
            let file = file.to_string_lossy();
            return Err(Failure::bad_input(format!(
                "{name} holds {file}, which is not of a fit: not replaced"
            )));
        }
    }
    Ok(())
}

/// Temporary folders are private; a result need not be.
fn readable_by_others(path: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // A folder that stays private is no reason to fail.
        let _ = std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755));
    }
}

fn fail(destination: &Path, error: impl std::fmt::Display) -> Failure {
    Failure::failed(format!("{}: cannot be written: {error}", destination.display()))
}
