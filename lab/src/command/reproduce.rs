//! `organza-lab reproduce`: the numbers of papers, computed anew.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use organza_lab::reproduce::{
    Experiment, Provenance, Report, Results, Settings, Shard, Variant, check, folder_of, publish,
    run as compute, stored, summarise,
};
use organza_lab::{data, experiments};
use organza_studies::Watch;
use serde_json::json;

use super::Failure;
use super::terminal::{bar, interruption, print_json, print_text, say, table};

#[derive(Args, Debug)]
pub struct ReproduceArguments {
    /// Table or figure of a paper; without it all keys are listed
    key: Option<String>,
    /// published: what the authors' code did; claimed: what the paper says; ours: our defaults at the same true guarantee
    #[arg(long = "as", value_name = "VARIANT")]
    variant: Option<Variant>,
    /// Replicates of each cell; without it as many as the paper has
    #[arg(long, value_name = "N")]
    replicates: Option<u64>,
    /// Only one part of the work, like 2/4; a run without it joins the parts
    #[arg(long, value_name = "I/N", conflicts_with = "check")]
    shard: Option<Shard>,
    /// Same seed, same numbers, in parts or as a whole
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Folder for results and page; without it that of the paper in the repository
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Only recompute the verdicts from kept results; exit code 1 if one no longer holds
    #[arg(long)]
    check: bool,
    /// Only write the page over all papers, lab/README.md
    #[arg(long, conflicts_with_all = ["key", "check"])]
    summary: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the verb; exit code 1 says that a verdict no longer holds.
pub fn run(arguments: &ReproduceArguments) -> Result<ExitCode, Failure> {
    let all = experiments();
    if arguments.summary {
        summarise(&root()?, &all)?;
        return Ok(ExitCode::SUCCESS);
    }
    if arguments.check && arguments.key.is_none() {
        return check_all(arguments, &all);
    }
    let Some(key) = &arguments.key else { return list(arguments, &all) };
    let known = || all.iter().map(|experiment| experiment.key()).collect::<Vec<_>>().join(", ");
    let experiment = all.iter().find(|experiment| experiment.key() == key);
    let experiment =
        experiment.ok_or_else(|| Failure::bad_input(format!("no key {key:?}; there are {}", known())))?;
    let settings = arguments.settings(&**experiment)?;
    match arguments.check {
        true => arguments.check_one(&**experiment, &settings),
        false => arguments.reproduce(&**experiment, &settings, &all),
    }
}

fn root() -> Result<PathBuf, Failure> {
    data::repository().ok_or_else(|| Failure::bad_input("--summary: run this inside the repository"))
}

fn list(arguments: &ReproduceArguments, all: &[Box<dyn Experiment>]) -> Result<ExitCode, Failure> {
    let words = |experiment: &dyn Experiment| {
        experiment.variants().iter().map(|each| each.word()).collect::<Vec<_>>()
    };
    if arguments.json {
        let rows = all.iter().map(|experiment| {
            json!({
                "key": experiment.key(), "title": experiment.about().title, "paper": experiment.about().paper,
                "as": words(&**experiment), "minutes": experiment.about().minutes,
            })
        });
        print_json(&rows.collect::<Vec<_>>())?;
        return Ok(ExitCode::SUCCESS);
    }
    let rows = all.iter().map(|each| {
        let about = each.about();
        vec![
            about.key.to_string(),
            words(&**each).join(", "),
            about.minutes.to_string(),
            about.title.to_string(),
        ]
    });
    print_text(&table(&["key", "--as", "minutes", ""], rows))?;
    Ok(ExitCode::SUCCESS)
}

impl ReproduceArguments {
    fn settings(&self, experiment: &dyn Experiment) -> Result<Settings, Failure> {
        if self.replicates == Some(0) {
            return Err(Failure::bad_input("--replicates must be at least 1"));
        }
        let variant = self.variant.unwrap_or(experiment.variants()[0]);
        Ok(Settings {
            variant,
            replicates: self.replicates.unwrap_or(experiment.replicates(variant)),
            shard: self.shard,
            seed: self.seed,
            folder: self.out.clone().unwrap_or_else(|| folder_of(experiment)),
            provenance: Provenance {
                tool: format!("organza-lab {}", env!("CARGO_PKG_VERSION")),
                date: jiff::Timestamp::now().strftime("%Y-%m-%d").to_string(),
            },
        })
    }

    /// Computes with a progress bar; Ctrl-C keeps what is finished.
    fn reproduce(
        &self,
        experiment: &dyn Experiment,
        settings: &Settings,
        all: &[Box<dyn Experiment>],
    ) -> Result<ExitCode, Failure> {
        let results = self.compute(experiment, settings)?;
        if settings.shard.is_some_and(|shard| shard.parts > 1) {
            say(&format!("this part is in {}", settings.folder.join("results").display()));
            return Ok(ExitCode::SUCCESS);
        }
        let report = publish(experiment, settings, &results)?;
        if let (None, Some(root)) = (&self.out, data::repository()) {
            summarise(&root, all)?;
        }
        self.print(&report, &settings.folder)?;
        Ok(ExitCode::SUCCESS)
    }

    fn compute(
        &self,
        experiment: &dyn Experiment,
        settings: &Settings,
    ) -> Result<crate::reproduce::Results, Failure> {
        let bar = bar(self.json);
        let progress = |done: usize, total: usize| {
            bar.set_length(total as u64);
            bar.set_position(done as u64);
        };
        let watch = Watch { interrupted: Some(interruption()), progress: Some(&progress), say: Some(&say) };
        let computed = compute(experiment, settings, &watch);
        bar.finish_and_clear();
        let (results, whole) = computed?;
        if !whole {
            let kept = results.rows().len();
            return Err(Failure::failed(format!(
                "interrupted: {kept} replicates are kept; run it again to go on"
            )));
        }
        Ok(results)
    }

    fn print(&self, report: &Report, folder: &Path) -> Result<(), Failure> {
        if self.json {
            return print_json(report);
        }
        let rows = report.lines.iter().map(|line| line.cells().to_vec());
        print_text(&table(&["place", "published", "ours", "standard error", "verdict"], rows))?;
        report.notes.iter().for_each(|note| say(note));
        say(&format!("results, picture and page are in {}", folder.display()));
        Ok(())
    }

    /// Verdicts from kept results; with --replicates missing ones are computed first.
    fn check_one(&self, experiment: &dyn Experiment, settings: &Settings) -> Result<ExitCode, Failure> {
        let results = match self.replicates {
            Some(_) => self.compute(experiment, settings)?,
            None => stored(experiment, settings)?,
        };
        let name = format!("{} --as {}", experiment.key(), settings.variant.word());
        if results.rows().is_empty() {
            return Err(Failure::bad_input(format!(
                "{name}: no results are kept; run without --check first"
            )));
        }
        let changes = check(experiment, settings, &results)?;
        if self.json {
            print_json(&json!({ "key": experiment.key(), "as": settings.variant, "changes": changes }))?;
        } else {
            let word = |verdict: &Option<String>| verdict.clone().unwrap_or_else(|| "absent".into());
            for change in &changes {
                say(&format!(
                    "{name}: {}: was {}, now {}",
                    change.place,
                    word(&change.before),
                    word(&change.now)
                ));
            }
        }
        if changes.is_empty() {
            say(&format!("{name}: all verdicts hold"));
            return Ok(ExitCode::SUCCESS);
        }
        Ok(ExitCode::FAILURE)
    }
}

/// All experiments that have results.
fn check_all(arguments: &ReproduceArguments, all: &[Box<dyn Experiment>]) -> Result<ExitCode, Failure> {
    let (mut status, mut checked) = (ExitCode::SUCCESS, 0);
    for experiment in all {
        for variant in experiment.variants() {
            let settings = Settings { variant: *variant, ..arguments.settings(&**experiment)? };
            if stored(&**experiment, &settings)?.rows().is_empty() {
                continue;
            }
            checked += 1;
            if arguments.check_one(&**experiment, &settings)? == ExitCode::FAILURE {
                status = ExitCode::FAILURE;
            }
        }
    }
    if checked == 0 {
        let text = "--check: there are no results to check; run this inside the repository, or name their folder with --out";
        return Err(Failure::bad_input(text));
    }
    Ok(status)
}
