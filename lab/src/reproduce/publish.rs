//! Writes what a finished run leaves: results, verdicts, picture, page.

use std::path::{Path, PathBuf};

use super::files::Identity;
use super::page::Section;
use super::store::{rewrite, write_whole};
use super::{Experiment, Report, ReproduceError, Results, Settings};

/// Writes everything and gives the report.
pub fn publish(
    experiment: &dyn Experiment,
    settings: &Settings,
    results: &Results,
) -> Result<Report, ReproduceError> {
    let identity = Identity::of(experiment, settings);
    let report = experiment.report(settings.variant, results);
    let replicates = results.replicates();
    let head = identity.head(&settings.provenance, replicates);
    rewrite(&identity.results(&settings.folder), &head, results.rows())?;
    write_whole(&verdicts_file(&identity, &settings.folder), &verdicts_text(&report))?;
    if let Some(figure) = &report.figure {
        let path = settings.folder.join("results").join(format!("{}.svg", identity.stem()));
        write_whole(&path, &figure.to_svg())?;
    }
    let section = Section {
        experiment,
        identity: &identity,
        provenance: &settings.provenance,
        replicates,
        report: &report,
    };
    section.write(&settings.folder)?;
    Ok(report)
}

/// The file of the verdicts, which [`super::check`] compares with.
pub(super) fn verdicts_file(identity: &Identity, folder: &Path) -> PathBuf {
    folder.join("results").join(format!("{}.verdicts.csv", identity.stem()))
}

/// Fields are separated by semicolons: places hold commas.
fn verdicts_text(report: &Report) -> String {
    let clean = |cell: &String| cell.replace(';', ",");
    let row = |line: &super::Line| line.cells().iter().map(clean).collect::<Vec<_>>().join(";") + "\n";
    "place;published;ours;standard error;verdict\n".to_string()
        + &report.lines.iter().map(row).collect::<String>()
}

/// The folder of a paper under the root of the repository, if the command runs inside it; else one in the folder where it runs.
pub fn folder_of(experiment: &dyn Experiment) -> PathBuf {
    match crate::data::repository() {
        Some(root) => root.join("lab").join(experiment.about().paper),
        None => PathBuf::from(format!("organza-{}", experiment.about().paper)),
    }
}
