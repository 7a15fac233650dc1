//! Computes what is missing, in parallel, and keeps it at once.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use organza_studies::{Watch, seed};
use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

use super::files::{Identity, Provenance};
use super::store::{Appender, Reading, read, rewrite, rounded};
use super::{Experiment, ReproduceError, Results, Row, Seeds, Study, Variant};

/// One part of the work, for one of several machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Which part, from 1.
    pub part: usize,
    /// Of how many.
    pub parts: usize,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers =
            text.split_once('/').and_then(|(part, parts)| Some((part.parse().ok()?, parts.parse().ok()?)));
        match numbers {
            Some((part, parts)) if 1 <= part && part <= parts => Ok(Self { part, parts }),
            _ => Err(format!("{text:?} is not a part like 2/4, from 1/4 to 4/4")),
        }
    }
}

/// What to compute and where to keep it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// In which way the experiment is repeated.
    pub variant: Variant,
    /// Replicates of each cell.
    pub replicates: u64,
    /// Only a part of the work.
    pub shard: Option<Shard>,
    /// The master seed.
    pub seed: u64,
    /// The folder of the paper.
    pub folder: PathBuf,
    /// Who computes, and when.
    pub provenance: Provenance,
}

/// A replicate to be computed.
struct Task {
    cell: usize,
    replicate: u64,
}

/// Computes the replicates that no file holds yet and gives all that there are. The second value says whether all that was asked for is
/// there: an interruption leaves it false.
pub fn run(
    experiment: &dyn Experiment,
    settings: &Settings,
    watch: &Watch<'_>,
) -> Result<(Results, bool), ReproduceError> {
    check_variant(experiment, settings.variant)?;
    let identity = Identity::of(experiment, settings);
    let path = own_file(&identity, settings);
    let (mut results, own) = kept(&identity, settings, watch)?;
    let study = experiment.prepare(settings.variant)?;
    study.notes().iter().for_each(|note| watch.say(note));
    let cells = study.cells();
    let tasks = missing(&cells, settings, &results);
    if !tasks.is_empty() || settings.shard.is_some() {
        // The file begins anew without a torn line, and exists before the first replicate is done.
        rewrite(&path, &identity.head(&settings.provenance, settings.replicates), &own)?;
    }
    if !tasks.is_empty() {
        let work = Work { study: &*study, cells: &cells, settings, key: experiment.key(), watch };
        let computed = work.compute(&tasks, &Appender::open(&path)?, experiment.is_timed())?;
        let whole = computed.len() == tasks.len();
        let rows = results.rows().iter().cloned().chain(computed).collect();
        results = Results::new(identity.columns, rows);
        results.sort(&cells);
        return Ok((results, whole));
    }
    results.sort(&cells);
    Ok((results, true))
}

/// The results that files hold already.
pub fn stored(experiment: &dyn Experiment, settings: &Settings) -> Result<Results, ReproduceError> {
    check_variant(experiment, settings.variant)?;
    Ok(kept(&Identity::of(experiment, settings), settings, &Watch::default())?.0)
}

fn check_variant(experiment: &dyn Experiment, variant: Variant) -> Result<(), ReproduceError> {
    if experiment.variants().contains(&variant) {
        return Ok(());
    }
    let known: Vec<&str> = experiment.variants().iter().map(|variant| variant.word()).collect();
    Err(ReproduceError::Variant { key: experiment.key(), variant: variant.word(), known: known.join(", ") })
}

/// The file that this run writes.
fn own_file(identity: &Identity, settings: &Settings) -> PathBuf {
    match settings.shard.filter(|shard| shard.parts > 1) {
        None => identity.results(&settings.folder),
        Some(Shard { part, parts }) => {
            let name = format!("{}.shard-{part}-of-{parts}.csv", identity.stem());
            settings.folder.join("results").join(name)
        }
    }
}

/// All finished replicates that this run knows of, and those of its own file.
fn kept(
    identity: &Identity,
    settings: &Settings,
    watch: &Watch<'_>,
) -> Result<(Results, Vec<Row>), ReproduceError> {
    let own = own_file(identity, settings);
    let mut files = vec![own.clone(), identity.results(&settings.folder)];
    if settings.shard.is_none_or(|shard| shard.parts == 1) {
        files.extend(shard_files(identity, &settings.folder)?);
    }
    files.dedup();
    let (mut rows, mut own_rows) = (Vec::new(), Vec::new());
    for file in files {
        let Some(Reading { rows: found, torn, .. }) = read(&file, identity)? else { continue };
        if let Some(line) = torn {
            watch.say(&format!("{}: the last line was cut off and is dropped: {line:?}", file.display()));
        }
        if file == own {
            own_rows.clone_from(&found);
        }
        rows.extend(found);
    }
    Ok((Results::new(identity.columns.clone(), rows), own_rows))
}

/// Files of parts, in the order of their names.
fn shard_files(identity: &Identity, folder: &Path) -> Result<Vec<PathBuf>, ReproduceError> {
    let folder = folder.join("results");
    let entries = match std::fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(ReproduceError::file(&folder, error)),
    };
    let mark = format!("{}.shard-", identity.stem());
    let is_part = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        name.starts_with(&mark) && name.ends_with(".csv")
    };
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(is_part).collect();
    files.sort();
    Ok(files)
}

/// Replicate by replicate over all cells, so that an interrupted run has some of everything.
fn missing(cells: &[String], settings: &Settings, results: &Results) -> Vec<Task> {
    let done: HashSet<(&str, u64)> =
        results.rows().iter().map(|row| (row.cell.as_str(), row.replicate)).collect();
    let all = (1..=settings.replicates)
        .flat_map(|replicate| (0..cells.len()).map(move |cell| Task { cell, replicate }));
    let shard = settings.shard.unwrap_or(Shard { part: 1, parts: 1 });
    let mine =
        all.enumerate().filter(|(place, _)| place % shard.parts + 1 == shard.part).map(|(_, task)| task);
    mine.filter(|task| !done.contains(&(cells[task.cell].as_str(), task.replicate))).collect()
}

/// Replicates under way.
struct Work<'w> {
    study: &'w dyn Study,
    cells: &'w [String],
    settings: &'w Settings,
    key: &'w str,
    watch: &'w Watch<'w>,
}

impl Work<'_> {
    /// Computes all tasks, or as many as there is time for.
    fn compute(&self, tasks: &[Task], file: &Appender, timed: bool) -> Result<Vec<Row>, ReproduceError> {
        let (done, rows) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let finish = |task: &Task| -> Result<(), ReproduceError> {
            if self.watch.is_interrupted() {
                return Ok(());
            }
            let row = self.replicate(task)?;
            file.add(&row)?;
            rows.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(row);
            let count = done.fetch_add(1, Ordering::Relaxed) + 1;
            self.watch.progress(count, tasks.len());
            Ok(())
        };
        match timed {
            true => tasks.iter().try_for_each(finish)?,
            false => tasks.par_iter().with_max_len(1).try_for_each(finish)?,
        }
        Ok(rows.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    fn replicate(&self, task: &Task) -> Result<Row, ReproduceError> {
        let cell = &self.cells[task.cell];
        let of = |cell: &str| seed(self.settings.seed, self.key, cell, task.replicate);
        let seeds = Seeds { own: of(cell), shared: of("") };
        let values = self.study.paired(task.cell, seeds).map_err(|reason| ReproduceError::Cell {
            cell: cell.clone(),
            replicate: task.replicate,
            reason,
        })?;
        Ok(Row {
            cell: cell.clone(),
            replicate: task.replicate,
            values: values.into_iter().map(rounded).collect(),
        })
    }
}
