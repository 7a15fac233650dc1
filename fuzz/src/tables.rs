//! Tables and folders of fits.

use std::path::Path;
use std::sync::LazyLock;

use organza::fit_folder::{DRAWS, SUMMARY, SavedFit};
use organza_curator::formula::{CategoricalColumn, Design, Formula};
use organza_curator::table::{Input, ReadOptions, Reading, Table, column_names};
use organza_release::Missing;
use tempfile::TempDir;

use crate::pick;
use crate::texts::BOUNDS;

/// A folder for what can only be read from a file.
static FOLDER: LazyLock<TempDir> =
    LazyLock::new(|| tempfile::tempdir().expect("a folder for temporary files"));

/// A table of text; the first byte chooses the options and a formula.
pub fn csv(bytes: &[u8]) -> bool {
    table(bytes)
}

/// A Parquet table; the first byte chooses the options and a formula.
pub fn parquet(bytes: &[u8]) -> bool {
    table(bytes)
}

fn table(bytes: &[u8]) -> bool {
    let Some((choice, file)) = bytes.split_first() else { return false };
    let mut choice = usize::from(*choice);
    let options = ReadOptions {
        missing: pick(&mut choice, &[Missing::Refused, Missing::Dropped, Missing::Midpoint]),
        decimal_comma: pick(&mut choice, &[false, true]),
        delimiter: pick(&mut choice, b",;"),
        header: pick(&mut choice, &[true, false]),
        threads: 1,
        ..ReadOptions::default()
    };
    let formulas = ["y ~ x + z + site", "y ~ x", "c1 ~ c2 + log(c3)", "x ~ z * ill"];
    let formula: Formula = pick(&mut choice, &formulas).parse().expect("a formula");
    let design = Design::compile(&formula, &BOUNDS).expect("columns with bounds");
    let input = Input::File(write(FOLDER.path(), "table", file));
    let named = column_names(&input, &options).is_ok();
    let whole = Table::new(&input, &design, &options, &());
    let read = whole.fold(|| (), |(), _| Ok(()));
    let batches = whole.for_each_batch(3, &mut |_| Ok(()));
    // Both ways of reading agree.
    assert_eq!(
        read.as_ref().map(|(_, counts)| counts.records).ok(),
        batches.map(|counts| counts.records).ok()
    );
    let levels = ["site", "ill"]
        .map(|name| CategoricalColumn { name: name.into(), levels: vec!["a".into(), "b".into()] });
    let reading = Reading { input: &input, options: &options, progress: &() };
    let counted = Table::of_levels(&reading, &levels).and_then(|table| table.fold(|| (), |(), _| Ok(())));
    named && (read.is_ok() || counted.is_ok())
}

/// The folder of a fit, its summary and then its draws, which predicts a table.
pub fn fit_folder(bytes: &[u8]) -> bool {
    let Some(begin) = bytes.windows(4).position(|window| window == b"PAR1") else { return false };
    write(FOLDER.path(), SUMMARY, &bytes[..begin]);
    write(FOLDER.path(), DRAWS, &bytes[begin..]);
    let Ok(fit) = SavedFit::open(FOLDER.path()) else { return false };
    let input = Input::File(write(FOLDER.path(), "records", b"x,z,site,y\n1,0.5,a,2\n99,-1,b,-7\n,0,,1\n"));
    let options = ReadOptions { missing: Missing::Dropped, threads: 1, ..ReadOptions::default() };
    let reading = Reading { input: &input, options: &options, progress: &() };
    let predictions =
        [(0.95, true), (0.9999, false)].map(|(mass, scored)| fit.predict(&reading, mass, scored));
    predictions.iter().flatten().for_each(|predictions| drop((predictions.to_csv(), predictions.scores())));
    predictions.iter().all(Result::is_ok)
}

fn write(folder: &Path, name: &str, bytes: &[u8]) -> std::path::PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, bytes).expect("a file in a temporary folder");
    path
}
