//! The page of a paper: a section for every experiment and variant, written by the program.

use std::path::Path;

use super::files::{Identity, Provenance};
use super::store::write_whole;
use super::{Experiment, Report, ReproduceError};

/// The head of every table of verdicts.
pub(super) const TABLE_HEAD: &str =
    "| place | published | ours | standard error | verdict |\n| --- | --- | --- | --- | --- |\n";

/// One experiment in one variant.
pub(super) struct Section<'s> {
    pub experiment: &'s dyn Experiment,
    pub identity: &'s Identity,
    pub provenance: &'s Provenance,
    pub replicates: u64,
    pub report: &'s Report,
}

impl Section<'_> {
    /// The text between the marks.
    fn text(&self) -> String {
        let Self { experiment, identity, provenance, replicates, report } = self;
        let rows: String =
            report.lines.iter().map(|line| format!("| {} |\n", line.cells().join(" | "))).collect();
        let table = if rows.is_empty() { String::new() } else { format!("{TABLE_HEAD}{rows}\n") };
        let further: String = report.tables.iter().map(super::Table::to_markdown).collect();
        let stem = identity.stem();
        let picture = match report.figure {
            Some(_) => format!("![{}](results/{stem}.svg)\n\n", experiment.about().title),
            None => String::new(),
        };
        let notes: String = report.notes.iter().map(|note| format!("- {note}\n")).collect();
        let notes = if notes.is_empty() { notes } else { notes + "\n" };
        format!(
            "## {} --as {}\n\n{}. {replicates} replicates of each cell, seed {}, {}, {}; every number is in `results/{stem}.csv`.\n\n\
             {picture}{notes}{table}{further}",
            identity.key,
            identity.variant.word(),
            experiment.about().title,
            identity.seed,
            provenance.tool,
            provenance.date,
        )
    }

    /// Puts the section into the page, in the place of an older one.
    pub fn write(&self, folder: &Path) -> Result<(), ReproduceError> {
        let path = folder.join("README.md");
        let old = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => head(self.experiment.about().paper),
            Err(error) => return Err(ReproduceError::file(&path, error)),
        };
        write_whole(&path, &replaced(&old, &self.identity.stem(), &self.text()))
    }
}

fn head(paper: &str) -> String {
    format!(
        "# [{}], computed anew\n\nWritten by `organza-lab reproduce`; do not edit. \"Agrees\" means within three standard errors, those of both sides\n\
         and of the rounding of the published number together.\n\n",
        paper.to_uppercase()
    )
}

/// The page with a section replaced, or added in alphabetical order.
fn replaced(page: &str, stem: &str, text: &str) -> String {
    let (begin, end) = (format!("<!-- begin {stem} -->\n"), format!("<!-- end {stem} -->\n"));
    let section = format!("{begin}{text}{end}");
    if let (Some(from), Some(to)) = (page.find(&begin), page.find(&end)) {
        return format!("{}{section}{}", &page[..from], &page[to + end.len()..]);
    }
    let later = page.match_indices("<!-- begin ").find(|(place, mark)| {
        let name = page[place + mark.len()..].split(' ').next().unwrap_or_default();
        name > stem
    });
    match later {
        Some((place, _)) => format!("{}{section}\n{}", &page[..place], &page[place..]),
        None => format!("{}\n\n{section}", page.trim_end()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_are_replaced_and_kept_in_order() {
        let page = replaced(&replaced("# head\n", "b", "B\n"), "a", "A\n");
        assert!(page.find("A\n").unwrap() < page.find("B\n").unwrap(), "{page}");
        let page = replaced(&page, "b", "new\n");
        assert!(!page.contains("B\n") && page.contains("new\n") && page.starts_with("# head\n"), "{page}");
        assert_eq!(page.matches("begin b").count(), 1);
    }
}
