//! `organza augment`: posteriors of models beyond regression, by latent records or latent counts.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::{Args, ValueEnum};
use organza_infer::tables::{TableFit, TableModel, TableSpec, fit_counts, fit_randomised};
use organza_infer::{InferError, Method, MethodSpec, ModelSpec, PriorFile, Sampler, fit_logistic};
use organza_mcmc::{Monitor, Plan};
use organza_release::{CountRelease, Kind, LevelColumn, RandomisedRelease};
use serde::Serialize;

use super::failure::{Failure, Status};
use super::fit::{self, Output, PlanArguments};
use super::inspect;
use super::posterior_report::Posterior;
use super::sources::{OfParty, Sources, files_of};
use super::terminal::{print_json, print_text, warn};
use organza::fit_folder::Settings;

#[derive(Args, Debug)]
pub struct AugmentArguments {
    /// The model of a record
    #[arg(value_enum)]
    model: Model,
    /// Release files, or folders of them: one for every party
    #[arg(long, value_name = "FILE", required = true, num_args = 1..)]
    release: Vec<PathBuf>,
    /// Prior as TOML; weakly informative without it
    #[arg(long, value_name = "FILE")]
    prior: Option<PathBuf>,
    /// Sampler of the model; without it the best for the releases
    #[arg(long)]
    sampler: Option<String>,
    #[command(flatten)]
    plan: PlanArguments,
    /// Mass of the intervals
    #[arg(long, default_value_t = 0.95)]
    mass: f64,
    /// Accept several releases of one party: they must be about different records
    #[arg(long)]
    allow_duplicates: bool,
    #[command(flatten)]
    output: Output,
}

/// The models that need no code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Model {
    /// The probability of one of two levels, from counts or randomised answers
    Proportion,
    /// Probabilities of all cells of a contingency table, from counts or randomised answers
    Table,
    /// Features that are independent given a class, from counts of every feature by class
    NaiveBayes,
    /// Mean and variance of one number, from a release of `y ~ 1`
    Normal,
    /// Linear regression, clamping included, from a release of sums
    Linear,
    /// Logistic regression of a response with bounds 0 and 1, from a release of sums
    Logistic,
}

/// All settings, to repeat the run.
#[derive(Serialize)]
struct AugmentSettings<'s, S> {
    organza: &'static str,
    augment: &'static str,
    releases: Vec<String>,
    plan: &'s Plan,
    model: &'s S,
}

pub fn run(arguments: &AugmentArguments) -> Result<Status, Failure> {
    fit::listen();
    match arguments.model {
        Model::Proportion | Model::Table | Model::NaiveBayes => arguments.tables(),
        Model::Normal | Model::Linear => arguments.linear(),
        Model::Logistic => arguments.logistic(),
    }
}

impl Model {
    fn word(self) -> &'static str {
        match self {
            Model::Proportion => "proportion",
            Model::Table => "table",
            Model::NaiveBayes => "naive-bayes",
            Model::Normal => "normal",
            Model::Linear => "linear",
            Model::Logistic => "logistic",
        }
    }
}

impl AugmentArguments {
    /// From counts or randomised answers: the first file says which.
    fn tables(&self) -> Result<Status, Failure> {
        let mut spec = self.read_prior(TableSpec::from_toml)?;
        spec.model = match self.model {
            Model::NaiveBayes => TableModel::NaiveBayes,
            _ => TableModel::Table,
        };
        spec.sampler = self.sampler()?.or(spec.sampler);
        (spec.mass, spec.allow_duplicates) = (self.mass, self.allow_duplicates);
        let plan = self.plan.on(Plan::default())?;
        let first = files_of(&self.release[0])?;
        if inspect::kind(&first[0])? == Some(Kind::Randomised) {
            let sources = self.sources(inspect::read_kind::<RandomisedRelease>)?;
            self.check_columns(sources.releases.first().map(|release| &release.columns[..]))?;
            return self.complete((&spec, &plan), &sources, |releases, monitor| {
                fit_randomised(&spec, releases, &plan, monitor)
            });
        }
        let sources = self.sources(inspect::read_kind::<CountRelease>)?;
        self.check_columns(sources.releases.first().map(|release| &release.columns[..]))?;
        self.complete((&spec, &plan), &sources, |releases, monitor| {
            fit_counts(&spec, releases, &plan, monitor)
        })
    }

    fn complete<R: OfParty>(
        &self,
        settings: (&TableSpec, &Plan),
        sources: &Sources<R>,
        work: impl FnOnce(&[R], &Monitor<'_>) -> Result<TableFit, InferError>,
    ) -> Result<Status, Failure> {
        let (spec, plan) = settings;
        self.keep((spec, plan), sources, |monitor| {
            Ok(Posterior::of_table(self.model.word(), work(&sources.releases, monitor)?))
        })
    }

    /// The same as `fit --method augmentation`.
    fn linear(&self) -> Result<Status, Failure> {
        let sampler = self.sampler::<Sampler>()?;
        let model = self.model_spec()?;
        let plan = fit::usual_plan(Some(Method::Augmentation), sampler);
        let method = MethodSpec { method: Some(Method::Augmentation), sampler };
        let mut settings = Settings::new(method, model, self.plan.on(plan)?);
        settings.releases = self.paths();
        let sources = self.sources(inspect::read)?;
        let has_features = |release: &organza_release::Release| release.domain.feature_count() > 0;
        if self.model == Model::Normal && sources.releases.iter().any(has_features) {
            return Err(Failure::bad_input(
                "normal: the releases have features; say linear, or release `y ~ 1`",
            ));
        }
        fit::complete(&mut settings, &sources, &self.output)
    }

    fn logistic(&self) -> Result<Status, Failure> {
        let sampler = self.sampler::<Sampler>()?;
        let model = self.model_spec()?;
        let plan = self.plan.on(fit::usual_plan(Some(Method::Augmentation), sampler))?;
        let sources = self.sources(inspect::read)?;
        self.keep((&model, &plan), &sources, |monitor| {
            let fitted = fit_logistic(sampler, &model, &sources.releases, &plan, monitor)?;
            Ok(Posterior::of_logistic(self.model.word(), fitted))
        })
    }

    /// Runs with a progress bar, keeps and prints the posterior.
    fn keep<R: OfParty>(
        &self,
        (spec, plan): (&impl Serialize, &Plan),
        sources: &Sources<R>,
        work: impl FnOnce(&Monitor<'_>) -> Result<Posterior, InferError>,
    ) -> Result<Status, Failure> {
        let folder = self.output.folder()?;
        let posterior = fit::watch(plan, self.output.json, work).map_err(|error| sources.explain(error))?;
        fit::refuse_empty(&posterior.draws)?;
        let warnings = posterior.summary.warnings();
        if let Some(folder) = folder {
            let settings = AugmentSettings {
                organza: env!("CARGO_PKG_VERSION"),
                augment: self.model.word(),
                releases: self.paths(),
                plan,
                model: spec,
            };
            folder.finish(&posterior.draws, &posterior.as_json(), &settings)?;
        }
        if self.output.json {
            print_json(&posterior.as_json())?;
        } else {
            print_text(&posterior.table())?;
            posterior.notes.iter().chain(&warnings).for_each(|note| warn(note));
            self.output.say_where();
        }
        Ok(if warnings.is_empty() { Status::Fine } else { Status::CheckFailed })
    }

    fn paths(&self) -> Vec<String> {
        self.release.iter().map(|path| path.display().to_string()).collect()
    }

    fn sources<R: OfParty>(
        &self,
        read: impl Fn(&Path) -> Result<Vec<R>, Failure>,
    ) -> Result<Sources<R>, Failure> {
        let mut sources = Sources::read(&self.paths(), read)?;
        sources.prior = self.prior.as_ref().map(|path| path.display().to_string());
        Ok(sources)
    }

    fn sampler<S: FromStr<Err = InferError>>(&self) -> Result<Option<S>, Failure> {
        self.sampler.as_deref().map(str::parse).transpose().map_err(Failure::bad_input)
    }

    /// What the file of the prior says; the default without one.
    fn read_prior<T: Default>(&self, read: impl Fn(&str) -> Result<T, InferError>) -> Result<T, Failure> {
        let Some(path) = &self.prior else { return Ok(T::default()) };
        let fail = |error: &dyn std::fmt::Display| Failure::bad_input(format!("{}: {error}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|error| fail(&error))?;
        read(&text).map_err(|error| fail(&error))
    }

    fn model_spec(&self) -> Result<ModelSpec, Failure> {
        let prior = self.read_prior(PriorFile::from_toml)?;
        let (mass, allow_duplicates) = (self.mass, self.allow_duplicates);
        Ok(ModelSpec { prior, mass, allow_duplicates, ..ModelSpec::default() })
    }

    /// A proportion is about one column of two levels.
    fn check_columns(&self, columns: Option<&[LevelColumn]>) -> Result<(), Failure> {
        let two = |columns: &[LevelColumn]| columns.len() == 1 && columns[0].levels.len() == 2;
        if self.model != Model::Proportion || columns.is_none_or(two) {
            return Ok(());
        }
        Err(Failure::bad_input("proportion: the release is not about one column of two levels; say table"))
    }
}
