//! One page over all papers.

use std::path::Path;

use super::page::TABLE_HEAD;
use super::store::write_whole;
use super::{Experiment, ReproduceError};

const HEAD: &str = "# The laboratory

Written by `organza-lab reproduce --summary`; do not edit. `organza-lab reproduce` lists the keys; the page of each paper has pictures, notes and
provenance. Standard errors are over replicates. \"Agrees\" means within three standard errors; `published` repeats what the authors' code did,
`claimed` what the paper says, `ours` uses our own defaults at the same true guarantee. Minutes are those of all replicates of the slowest variant on
two cores.

Beside the papers: [`defaults`](defaults/README.md), the experiment behind the defaults of a release, and `organza-lab methods`, honesty and speed of every method.
";

/// Writes the page from the verdicts that the folders of the papers hold.
pub fn summarise(root: &Path, experiments: &[Box<dyn Experiment>]) -> Result<(), ReproduceError> {
    let (mut counts, mut tables) = (String::new(), String::new());
    for experiment in experiments {
        for variant in experiment.variants() {
            let stem = format!("{}-{}", experiment.key(), variant.word());
            let folder = root.join("lab").join(experiment.about().paper);
            let path = folder.join("results").join(format!("{stem}.verdicts.csv"));
            let Ok(text) = std::fs::read_to_string(&path) else { continue };
            let rows: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split(';').collect()).collect();
            counts += &count_row(&**experiment, variant.word(), &rows);
            let body: String = rows.iter().map(|row| format!("| {} |\n", row.join(" | "))).collect();
            tables += &format!("\n## {} --as {}\n\n{TABLE_HEAD}{body}", experiment.key(), variant.word());
        }
    }
    let counted = "\n| key | as | agrees | better | worse | differs | minutes | |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n";
    write_whole(&root.join("lab").join("README.md"), &format!("{HEAD}{counted}{counts}{tables}"))
}

fn count_row(experiment: &dyn Experiment, variant: &str, rows: &[Vec<&str>]) -> String {
    let count = |word: &str| {
        rows.iter()
            .filter(|row| row.last().is_some_and(|verdict| verdict.starts_with(word)))
            .count()
            .to_string()
    };
    let counts: Vec<String> = ["agrees", "better", "worse", "differs"].map(count).into();
    format!(
        "| [`{}`]({}/README.md) | {variant} | {} | {} | {} |\n",
        experiment.key(),
        experiment.about().paper,
        counts.join(" | "),
        experiment.about().minutes,
        experiment.about().title
    )
}
