//! What a person sees: tables on standard output, progress and warnings on standard error.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use comfy_table::{Cell, CellAlignment, Table, TableComponent, presets};
use indicatif::{ProgressBar, ProgressStyle};
use organza_curator::table::Progress;
use organza_mcmc::MOST_CHAINS;
use organza_release::printable;
use serde::Serialize;

use super::failure::Failure;

/// What a terminal may obey: lines, tabs and our own styles. All else comes from a file or an argument.
const OBEYED: [&str; 6] = ["\n", "\t", "\u{1b}[0m", "\u{1b}[1m", "\u{1b}[1;31m", "\u{1b}[1;33m"];

/// The text with everything escaped that a terminal would obey and that is not ours.
fn shown(text: &str) -> String {
    let (mut shown, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(character) = rest.chars().next() {
        let ours = OBEYED.iter().find(|ours| rest.starts_with(**ours));
        let (part, left) = rest.split_at(ours.map_or(character.len_utf8(), |ours| ours.len()));
        shown += &if ours.is_some() { part.into() } else { printable(part) };
        rest = left;
    }
    shown
}

/// Prints indented JSON.
pub fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value)?;
    print_data(&format!("{text}\n")).map(drop)
}

/// Prints text for a person; a closed pipe (`| head`) is an ordinary end.
pub fn print_text(text: &str) -> Result<(), Failure> {
    print_data(&shown(text)).map(drop)
}

/// Prints a part of a text for a program as it is; the answer is whether anybody reads on.
pub fn print_data(text: &str) -> Result<bool, Failure> {
    use std::io::Write;
    let mut output = anstream::stdout();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Failure::failed(format!("standard output: {error}"))),
        Ok(()) => Ok(true),
    }
}

/// Says something on standard error.
pub fn warn(message: &str) {
    say(&format!("\u{1b}[1;33mwarning:\u{1b}[0m {message}"));
}

/// Tells a person what was done, on standard error; where that is closed or full nobody is told, and the work goes on.
pub fn say(message: &str) {
    use std::io::Write;
    let _ = writeln!(anstream::stderr(), "{}", shown(&super::flags::in_text(message)));
}

/// A table with a header; all columns but the first are aligned to the right.
pub fn table(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_preset(presets::UTF8_HORIZONTAL_ONLY);
    // One rule below the header, none between rows.
    table.remove_style(TableComponent::HorizontalLines).remove_style(TableComponent::MiddleIntersections);
    table.remove_style(TableComponent::LeftBorderIntersections);
    table.remove_style(TableComponent::RightBorderIntersections);
    table.set_header(header.to_vec());
    for row in rows {
        table.add_row(row.into_iter().map(Cell::new));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    format!("{table}\n")
}

/// The columns of the terminal; 80 where there is none, for files and mails.
fn width() -> usize {
    terminal_size::terminal_size_of(std::io::stdout()).map_or(80, |(width, _)| usize::from(width.0))
}

/// A table that is no wider than the terminal: its last columns are left out where needed, all but the first `needed`. A line
/// below says which are gone.
pub fn fitting_table(header: &[&str], rows: &[Vec<String>], needed: usize) -> String {
    fit_into(width(), header, rows, needed)
}

fn fit_into(width: usize, header: &[&str], rows: &[Vec<String>], needed: usize) -> String {
    let first = |count: usize| table(&header[..count], rows.iter().map(|row| row[..count].to_vec()));
    let fits = |count: &usize| first(*count).lines().all(|line| line.chars().count() <= width);
    let shown = (needed..=header.len()).rev().find(fits).unwrap_or(needed);
    if shown == header.len() {
        return first(shown);
    }
    let gone = header[shown..].join(", ");
    first(shown) + &fold(&format!("left out: {gone}; --json and summary.json have them"), width)
}

/// Prose in lines that are no wider than the terminal.
pub fn prose(text: &str) -> String {
    fold(text, width())
}

fn fold(text: &str, width: usize) -> String {
    let (mut folded, mut used) = (String::new(), 0);
    for word in text.split_whitespace() {
        let size = word.chars().count();
        let (gap, before) = match used {
            0 => ("", 0),
            used if used + 1 + size <= width => (" ", used + 1),
            _ => ("\n", 0),
        };
        folded += gap;
        folded += word;
        used = before + size;
    }
    folded + "\n"
}

/// A number with a few significant digits.
pub fn short(value: f64) -> String {
    let magnitude = value.abs();
    if value == 0.0 || (1e-3..1e6).contains(&magnitude) {
        let decimals = if magnitude >= 1.0 { 5 - (magnitude.log10() as usize).min(5) } else { 6 };
        let text = format!("{value:.decimals$}");
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
    } else {
        let text = format!("{value:.4e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        format!("{}e{exponent}", mantissa.trim_end_matches('0').trim_end_matches('.'))
    }
}

/// Two numbers with so many digits that they differ; none if they are equal.
pub fn apart(left: f64, right: f64) -> Option<(String, String)> {
    let plain = Some((short(left), short(right))).filter(|(left, right)| left != right);
    let longer = || (6..17).map(|digits| (format!("{left:.digits$e}"), format!("{right:.digits$e}")));
    // Back from scientific notation: rounded numbers print as short as they are.
    let number =
        |text: &String| text.parse::<f64>().map_or_else(|_| text.clone(), |number| number.to_string());
    let differ = |(left, right): &(String, String)| left != right;
    plain.or_else(|| longer().find(differ).map(|(left, right)| (number(&left), number(&right))))
}

/// How often progress is told where no bar can be drawn.
const PERIOD: Duration = Duration::from_secs(10);

/// Progress on standard error: a bar on a terminal, a line now and then elsewhere, nothing if output is for machines.
enum Shown {
    Nothing,
    Bar(ProgressBar),
    Lines(Lines),
}

impl Shown {
    fn new(work: &str, quiet: bool) -> Self {
        if quiet {
            return Self::Nothing;
        }
        if !std::io::stderr().is_terminal() {
            return Self::Lines(Lines::new(work, PERIOD));
        }
        let template = format!("{work} {{wide_bar}} {{percent}}% {{elapsed}}, {{eta}} left");
        let style = ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_bar());
        Self::Bar(ProgressBar::no_length().with_style(style))
    }

    fn update(&self, done: u64, total: Option<u64>) {
        match self {
            Self::Nothing => {}
            Self::Bar(bar) => {
                total.iter().for_each(|total| bar.set_length(*total));
                bar.set_position(done);
            }
            Self::Lines(lines) => {
                if let Some(line) = lines.update(done, total) {
                    say(&line);
                }
            }
        }
    }

    fn finish(&self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

/// A line of progress once in a period.
struct Lines {
    work: String,
    period: Duration,
    started: Instant,
    /// When the last line was due.
    last: Mutex<Instant>,
}

impl Lines {
    fn new(work: &str, period: Duration) -> Self {
        let started = Instant::now();
        Self { work: work.to_string(), period, started, last: Mutex::new(started) }
    }

    /// The line, if it is time for one.
    fn update(&self, done: u64, total: Option<u64>) -> Option<String> {
        // Another thread that holds the lock is about to say the same.
        let mut last = self.last.try_lock().ok()?;
        if last.elapsed() < self.period {
            return None;
        }
        *last = Instant::now();
        let share = total.filter(|total| *total > 0).map_or(String::new(), |total| {
            format!("{}% after ", 100 * u128::from(done.min(total)) / u128::from(total))
        });
        Some(format!("{}: {share}{} s", self.work, self.started.elapsed().as_secs()))
    }
}

/// Progress of reading a table.
pub struct Bar(Shown);

impl Bar {
    /// Says nothing if output is for machines.
    pub fn new(quiet: bool) -> Self {
        Self(Shown::new("reading", quiet))
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.0.finish();
    }
}

impl Progress for Bar {
    fn update(&self, done: u64, total: Option<u64>) {
        self.0.update(done, total);
    }
}

/// Progress over the steps of all chains.
pub struct StepBar {
    shown: Shown,
    done: Vec<AtomicUsize>,
}

impl StepBar {
    /// Says nothing if output is for machines.
    pub fn new(chains: usize, quiet: bool) -> Self {
        Self::labelled("sampling", chains, quiet)
    }

    /// The same for another kind of work.
    pub fn labelled(work: &str, chains: usize, quiet: bool) -> Self {
        Self {
            shown: Shown::new(work, quiet),
            done: (0..chains.min(MOST_CHAINS)).map(|_| 0.into()).collect(),
        }
    }

    /// A chain has come this far.
    pub fn update(&self, chain: usize, step: usize, steps: usize) {
        if let Some(done) = self.done.get(chain) {
            done.store(step, Relaxed);
            let all = self.done.iter().map(|done| done.load(Relaxed) as u64).sum();
            self.shown.update(all, Some(steps.saturating_mul(self.done.len()) as u64));
        }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.shown.finish();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches runs that say nothing for hours where standard error is a file.
    #[test]
    fn a_line_of_progress_now_and_then() {
        let lines = Lines::new("sampling", Duration::ZERO);
        assert_eq!(lines.update(1, Some(4)).unwrap(), "sampling: 25% after 0 s");
        assert_eq!(lines.update(7, None).unwrap(), "sampling: 0 s");
        assert_eq!(lines.update(0, Some(0)).unwrap(), "sampling: 0 s");
        let lines = Lines::new("reading", Duration::from_secs(3600));
        assert_eq!(lines.update(1, Some(4)), None);
    }

    #[test]
    fn compared_numbers_are_told_apart() {
        let shown = |left: f64, right: f64| apart(left, right).map(|(left, right)| format!("{left} {right}"));
        assert_eq!(shown(1.0, 2.0).unwrap(), "1 2");
        assert_eq!(shown(26.88651, 26.88652).unwrap(), "26.88651 26.88652");
        assert_eq!(shown(1.0, 1.0 + f64::EPSILON).unwrap(), "1 1.0000000000000002");
        assert_eq!(shown(3.0, 3.0), None);
    }

    #[test]
    fn the_last_columns_go_first() {
        let rows = [vec!["beta[intercept]".to_string(), "1.5".into(), "0.125".into(), "4000".into()]];
        let shown = |width: usize| fit_into(width, &["", "mean", "mcse", "ess"], &rows, 2);
        assert!(!shown(80).contains("left out") && shown(80).contains("4000"));
        assert!(shown(33).contains("left out: ess;") && shown(33).contains("0.125"), "{}", shown(33));
        assert!(shown(15).contains("left out: mcse,\ness;") && shown(15).contains("1.5"), "{}", shown(15));
    }
}
