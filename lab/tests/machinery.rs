//! The machinery on an experiment of two cells: restarts, shards, torn lines, checks, pages.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use organza_lab::metrics::Estimate;
use organza_lab::reproduce::{
    About, Experiment, Line, Provenance, Published, Report, ReproduceError, Results, Settings, Shard, Study,
    Variant, Verdict, check, publish, run, stored,
};
use organza_studies::plot::{Axis, Figure, Mark, Panel, Series};
use organza_studies::{Watch, generator};
use rand::RngExt;

/// Means of uniform numbers.
struct Toy {
    version: u32,
    published: f64,
}

impl Toy {
    fn new() -> Self {
        Self { version: 1, published: 0.5 }
    }
}

struct ToyStudy;

/// How often a replicate was computed.
static ASKED: AtomicUsize = AtomicUsize::new(0);

impl Study for ToyStudy {
    fn cells(&self) -> Vec<String> {
        vec!["first".into(), "second".into()]
    }

    fn replicate(&self, cell: usize, seed: u64) -> Result<Vec<f64>, String> {
        ASKED.fetch_add(1, Ordering::SeqCst);
        let value: f64 = generator(seed, 0).random();
        Ok(vec![value, if cell == 0 { f64::NAN } else { 1.0 / 3.0 }])
    }
}

impl Experiment for Toy {
    fn about(&self) -> About {
        About { key: "toy-table1", title: "Uniform numbers", paper: "toy", version: self.version, minutes: 1 }
    }
    fn variants(&self) -> &'static [Variant] {
        &[Variant::Published, Variant::Ours]
    }
    fn replicates(&self, _: Variant) -> u64 {
        20
    }
    fn columns(&self, _: Variant) -> Vec<String> {
        vec!["mean".into(), "third".into()]
    }
    fn prepare(&self, _: Variant) -> Result<Box<dyn Study>, ReproduceError> {
        Ok(Box::new(ToyStudy))
    }
    fn report(&self, _: Variant, results: &Results) -> Report {
        let line = |cell: &&str| {
            let ours = results.mean(cell, "mean").unwrap_or(Estimate::exact(f64::NAN));
            let verdict = Verdict::of_error(self.published, 0.01, ours);
            Line::new(format!("Table 1, {cell}"), Published::Number(self.published), ours, verdict)
        };
        let series = Series::new("mean", 0, Mark::Points, vec![(0.0, 0.5)]);
        let panel = Panel::new("p", Axis::linear("x"), Axis::linear("y"), vec![series]);
        Report {
            lines: results.cells().iter().map(line).collect(),
            figure: Some(Figure::new("Toy", vec![panel])),
            tables: vec![],
            notes: vec!["A note.".into()],
        }
    }
}

fn settings(folder: &Path) -> Settings {
    Settings {
        variant: Variant::Published,
        replicates: 20,
        shard: None,
        seed: 1,
        folder: folder.to_path_buf(),
        provenance: Provenance { tool: "organza 0".into(), date: "2026-01-31".into() },
    }
}

fn body(folder: &Path) -> String {
    std::fs::read_to_string(folder.join("results/toy-table1-published.csv")).unwrap()
}

/// Runs to the end and publishes; how often the study was asked. One test at a time counts.
fn complete(settings: &Settings, watch: &Watch<'_>) -> (Results, bool, usize) {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap();
    ASKED.store(0, Ordering::SeqCst);
    let (results, whole) = run(&Toy::new(), settings, watch).unwrap();
    let asked = ASKED.load(Ordering::SeqCst);
    if whole && settings.shard.is_none() {
        publish(&Toy::new(), settings, &results).unwrap();
    }
    (results, whole, asked)
}

/// Catches rows that are computed twice or lost, and a restart that draws other numbers.
#[test]
fn an_interrupted_run_goes_on_where_it_was() {
    let [whole, parts] = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let (expected, finished, asked) = complete(&settings(whole.path()), &Watch::default());
    assert!(finished && asked == 40 && expected.rows().len() == 40);

    let stop = AtomicBool::new(false);
    let progress = |done: usize, _: usize| stop.store(done >= 7, Ordering::SeqCst);
    let watch = Watch { interrupted: Some(&stop), progress: Some(&progress), say: None };
    let (_, finished, first) = complete(&settings(parts.path()), &watch);
    assert!(!finished && (7..20).contains(&first), "{first}");
    assert!(!parts.path().join("README.md").exists(), "nothing is published of half a run");
    let (results, finished, second) = complete(&settings(parts.path()), &Watch::default());
    assert!(finished && first + second == 40, "{first} + {second}");
    assert_eq!(body(parts.path()), body(whole.path()));
    // NaN is not equal to itself.
    assert_eq!(format!("{results:?}"), format!("{expected:?}"));
    let (_, _, third) = complete(&settings(parts.path()), &Watch::default());
    assert_eq!(third, 0);
}

/// Catches a shard that overlaps another, and seeds that depend on the shard.
#[test]
fn shards_add_up_to_the_whole() {
    let [whole, parts] = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    complete(&settings(whole.path()), &Watch::default());
    for part in 1..=3 {
        let settings = Settings { shard: Some(Shard { part, parts: 3 }), ..settings(parts.path()) };
        let (_, _, asked) = complete(&settings, &Watch::default());
        assert!((13..=14).contains(&asked), "{asked}");
        assert!(parts.path().join(format!("results/toy-table1-published.shard-{part}-of-3.csv")).exists());
    }
    let (_, _, asked) = complete(&settings(parts.path()), &Watch::default());
    assert_eq!(asked, 0);
    assert_eq!(body(parts.path()), body(whole.path()));
    assert!(
        "0/3".parse::<Shard>().is_err() && "4/3".parse::<Shard>().is_err() && "x".parse::<Shard>().is_err()
    );
    assert_eq!("2/3".parse(), Ok(Shard { part: 2, parts: 3 }));
}

#[test]
fn a_torn_line_is_dropped_with_a_word_and_computed_anew() {
    let folder = tempfile::tempdir().unwrap();
    complete(&settings(folder.path()), &Watch::default());
    let path = folder.path().join("results/toy-table1-published.csv");
    let text = body(folder.path());
    std::fs::write(&path, &text[..text.len() - 5]).unwrap();
    let said = Mutex::new(Vec::new());
    let say = |message: &str| said.lock().unwrap().push(message.to_string());
    let watch = Watch { say: Some(&say), ..Watch::default() };
    let (_, _, asked) = complete(&settings(folder.path()), &watch);
    assert_eq!(asked, 1);
    assert!(said.lock().unwrap()[0].contains("cut off"));
    assert_eq!(body(folder.path()), text);
}

#[test]
fn results_of_other_settings_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    complete(&settings(folder.path()), &Watch::default());
    let other = Settings { seed: 2, ..settings(folder.path()) };
    let error = run(&Toy::new(), &other, &Watch::default()).unwrap_err().to_string();
    assert!(error.contains("the seed is seed = 1, this run has seed = 2"), "{error}");
    let newer = Toy { version: 2, ..Toy::new() };
    assert!(
        run(&newer, &settings(folder.path()), &Watch::default()).unwrap_err().to_string().contains("version")
    );
    let claimed = Settings { variant: Variant::Claimed, ..settings(folder.path()) };
    let error = run(&Toy::new(), &claimed, &Watch::default()).unwrap_err().to_string();
    assert!(error.contains("it can --as published, ours"), "{error}");
}

/// Catches a check that always passes.
#[test]
fn a_verdict_that_no_longer_holds_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let settings = settings(folder.path());
    complete(&settings, &Watch::default());
    let results = stored(&Toy::new(), &settings).unwrap();
    assert_eq!(check(&Toy::new(), &settings, &results).unwrap(), []);
    let changed = Toy { published: 0.1, ..Toy::new() };
    let changes = check(&changed, &settings, &results).unwrap();
    assert_eq!(changes.len(), 2);
    assert_eq!((changes[0].before.as_deref(), changes[0].now.as_deref()), (Some("agrees"), Some("worse")));
    let page = std::fs::read_to_string(folder.path().join("README.md")).unwrap();
    assert!(
        page.contains("| Table 1, first | 0.500 |") && page.contains("A note.") && page.contains(".svg"),
        "{page}"
    );
}
