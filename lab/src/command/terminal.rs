//! What a person sees: results on standard output, everything else on standard error.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

use comfy_table::{CellAlignment, Table, presets};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use super::Failure;

/// Prints indented JSON.
pub fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    print_text(&(serde_json::to_string_pretty(value).map_err(Failure::failed)? + "\n"))
}

/// Prints text; a closed pipe (`| head`) is an ordinary end.
pub fn print_text(text: &str) -> Result<(), Failure> {
    let mut output = anstream::stdout();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(Failure::failed(error)),
        _ => Ok(()),
    }
}

/// Tells a person something on standard error; where that is closed nobody is told, and the work goes on.
pub fn say(message: &str) {
    let _ = writeln!(anstream::stderr(), "{message}");
}

/// A table with a header; all columns but the first are aligned to the right.
pub fn table(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_header(header.to_vec()).add_rows(rows);
    table.column_iter_mut().skip(1).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
    format!("{table}\n")
}

/// Progress on a terminal; nothing elsewhere.
pub fn bar(quiet: bool) -> ProgressBar {
    let style = ProgressStyle::with_template("reproducing {wide_bar} {percent}% {elapsed}, {eta} left");
    let bar = if quiet { ProgressBar::hidden() } else { ProgressBar::no_length() };
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// From now on the first Ctrl-C asks the work to end after the replicates that are under way; the second does not wait.
pub fn interruption() -> &'static AtomicBool {
    // A second call in one process finds the handler set, which is as good.
    let _ = ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
    });
    &INTERRUPTED
}
