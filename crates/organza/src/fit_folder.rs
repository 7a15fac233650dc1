//! The folder of a fit: it appears whole or not at all.

use std::fs::File;
use std::path::Path;

use organza_infer::{Fit, MethodSpec, Model, ModelSpec, Predictor};
use organza_mcmc::files::{Table, read_parquet, write_netcdf, write_parquet};
use organza_mcmc::{Draws, Plan};
use organza_release::Domain;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::result_folder::{Kind, ResultFolder};

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
    /// Settings of this version; the releases are to be named.
    pub fn new(method: MethodSpec, model: ModelSpec, plan: Plan) -> Self {
        Self { organza: env!("CARGO_PKG_VERSION").into(), releases: Vec::new(), method, plan, model }
    }

    /// What the fit has chosen, so that it can be repeated.
    pub fn keep_choices(&mut self, fit: &Fit) {
        self.model.model = Some(fit.model);
        self.method = MethodSpec { method: fit.method, sampler: Some(fit.sampler) };
    }

    /// Reads a file of settings.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path).map_err(|error| Error::unusable(path, error))?;
        toml::from_str(&text).map_err(|error| Error::unusable(path, error))
    }
}

/// A folder that appears whole or not at all.
pub struct FitFolder(ResultFolder);

const KIND: Kind = Kind { what: "a fit", files: &[DRAWS, ARVIZ, SUMMARY, SETTINGS] };

impl FitFolder {
    /// Reserves the destination before any work is done.
    pub fn create(destination: &Path, replace: bool) -> Result<Self, Error> {
        ResultFolder::create(destination, replace, KIND).map(Self)
    }

    /// Makes the folder no more open than the table that it is about.
    pub fn as_private_as(&self, table: &Path) -> Result<(), Error> {
        self.0.as_private_as(table)
    }

    /// Writes all files and gives the folder its name.
    pub fn finish(
        self,
        draws: &Draws,
        summary: &impl Serialize,
        settings: &impl Serialize,
    ) -> Result<(), Error> {
        let folder = self.0;
        let create =
            |name: &str| File::create(folder.path().join(name)).map_err(|error| folder.broken(error));
        write_parquet(draws, Table::Parameters, create(DRAWS)?).map_err(|error| folder.broken(error))?;
        write_netcdf(draws, create(ARVIZ)?).map_err(|error| folder.broken(error))?;
        serde_json::to_writer_pretty(create(SUMMARY)?, summary).map_err(|error| folder.broken(error))?;
        let text = toml::to_string(settings).map_err(|error| folder.broken(error))?;
        folder.write(SETTINGS, &text)?;
        folder.finish()
    }
}

/// A fit that was kept in a folder.
#[derive(Debug)]
pub struct SavedFit {
    /// The model that was fitted.
    pub model: Model,
    /// The regression's domain, of a fit that can predict.
    pub domain: Domain,
    /// Draws of the parameters, as a predictor.
    pub predictor: Predictor,
}

/// What a fit's summary says that prediction needs.
#[derive(Deserialize)]
struct Summary {
    model: Model,
    residual_sd: Option<f64>,
    domain: Option<Domain>,
}

impl SavedFit {
    /// Opens the folder of a fit that has predictions.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        let path = folder.join(SUMMARY);
        let fail = |problem: &dyn std::fmt::Display| Error::unusable(&path, problem);
        let text = std::fs::read(&path).map_err(|error| fail(&error))?;
        let Summary { model, residual_sd, domain } =
            serde_json::from_slice(&text).map_err(|error| fail(&error))?;
        let none = if model.is_of_levels() {
            format!(
                "a {model} fit predicts no records: its draws are the probabilities of the levels themselves"
            )
        } else {
            format!("a {model} fit has no predictions if it comes from private chains")
        };
        let domain = domain.ok_or_else(|| fail(&none))?;
        domain.validate().map_err(|error| fail(&error))?;
        let path = folder.join(DRAWS);
        let draws = File::open(&path).map_err(|error| Error::unusable(&path, error))?;
        let draws = read_parquet(draws).map_err(|error| Error::unusable(&path, error))?;
        let predictor =
            Predictor::of(model, &draws, residual_sd).map_err(|error| Error::unusable(&path, error))?;
        if domain.feature_count() + usize::from(domain.intercept()) != predictor.coefficients() {
            return Err(Error::unusable(&path, "the draws and the summary are of different fits"));
        }
        Ok(Self { model, domain, predictor })
    }
}
