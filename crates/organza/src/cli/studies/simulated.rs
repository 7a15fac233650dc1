//! What verbs over simulated studies have in common: threads, progress, Ctrl-C, the folder.

use std::path::PathBuf;

use clap::Args;
use organza_studies::{StudyError, Watch};

use crate::cli::failure::Failure;
use crate::cli::fit;
use crate::cli::terminal::{StepBar, say};
use organza::result_folder::{Kind, ResultFolder};

/// How much of the machine, and where the result goes.
#[derive(Args, Debug)]
pub struct SimulatedArguments {
    /// Same seed, same numbers, on any number of threads
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Threads; 0 is one for each core
    #[arg(long, default_value_t = 0, value_parser = crate::cli::read_arguments::threads)]
    threads: usize,
    /// Folder for table and picture; without it the result is only printed
    #[arg(short, long, visible_alias = "out", value_name = "FOLDER")]
    pub output: Option<PathBuf>,
    /// Replace an earlier result
    #[arg(long)]
    force: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

impl From<StudyError> for Failure {
    fn from(error: StudyError) -> Self {
        match error {
            StudyError::Setting { .. } => Failure::bad_input(error),
            other => Failure::failed(other),
        }
    }
}

impl SimulatedArguments {
    /// Reserves the folder before any work is done.
    pub fn folder(&self, kind: Kind) -> Result<Option<ResultFolder>, Failure> {
        self.output
            .as_deref()
            .map(|path| ResultFolder::create(path, self.force, kind).map_err(Failure::from))
            .transpose()
    }

    /// Says where the result is kept.
    pub fn say_where(&self, what: &str) {
        if let Some(output) = &self.output {
            say(&format!("{what} are in {}", output.display()));
        }
    }

    /// Works with a progress bar on so many threads; Ctrl-C ends it, and nothing is kept.
    pub fn watch<T: Send>(
        &self,
        label: &str,
        work: impl FnOnce(&Watch<'_>) -> Result<T, StudyError> + Send,
    ) -> Result<T, Failure> {
        fit::listen();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.threads).build();
        let pool = pool.map_err(|error| Failure::failed(format!("--threads: {error}")))?;
        let bar = StepBar::labelled(label, 1, self.json);
        let progress = |done: usize, total: usize| bar.update(0, done, total);
        let watch = Watch { interrupted: Some(fit::interruption()), progress: Some(&progress), say: None };
        let result = pool.install(|| work(&watch));
        bar.finish();
        Ok(result?)
    }
}
