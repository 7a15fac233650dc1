//! The default radius and the number of records, from outside.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod support;

use std::process::Stdio;

use support::{Folder, finished};

const WHAT: &str = "--formula y~x --bounds bounds.toml --epsilon 12 --delta 1e-9 --no-ledger";

fn with_tables(sizes: &[(&str, usize)]) -> Folder {
    let folder = Folder::new();
    for (name, records) in sizes {
        let row = |i: usize| format!("{},{}\n", i % 11, (i % 7) as f64 - 3.0);
        folder.write(name, &format!("x,y\n{}", (0..*records).map(row).collect::<String>()));
    }
    folder
}

/// Radius of the first release of a file.
fn radius_in(folder: &Folder, release: &str) -> f64 {
    let told = folder.run(&format!("inspect {release} --json")).json();
    told[0]["domain"]["record_scale"].as_f64().unwrap()
}

/// Catches a radius that no longer follows from the number of records, and one that differs between parties of about
/// one size.
#[test]
fn many_records_are_not_shrunk() {
    let folder =
        with_tables(&[("few.csv", 300), ("some.csv", 17_000), ("more.csv", 19_000), ("many.csv", 70_000)]);
    let radius = |table: &str, more: &str| {
        folder.run(&format!("release {table} {WHAT} -o out.json --force {more}")).says(0, &[]);
        radius_in(&folder, "out.json")
    };
    let few = radius("few.csv", "");
    let some = radius("some.csv", "");
    assert_eq!(some, radius("more.csv", ""), "both are 16,384 records");
    let many = radius("many.csv", "");
    assert!(few < some && some < many, "{few} {some} {many}");
    let told = folder.run("inspect out.json").stdout;
    assert!(told.contains("none was shrunk"), "{told}");
    // A number that is given wins over the table's own; that of a batch is its size.
    assert_eq!(radius("many.csv", "--records 300"), few);
    assert_eq!(radius("few.csv", "--records 16384"), some);
    assert_eq!(radius("many.csv", "--batch-records 300"), few);
    let told = folder.run("inspect out.json").stdout;
    assert!(told.contains("a record counts c^2"), "{told}");
    // With add-remove the number of records is protected: only a given one counts.
    assert_eq!(radius("many.csv", "--neighbours add-remove"), few);
    assert!(radius("many.csv", "--neighbours add-remove --records 70000") > few);
}

/// Catches a second pass over what can be read once.
#[test]
fn standard_input_is_not_counted() {
    let folder = with_tables(&[("many.csv", 70_000)]);
    let mut command = folder.command();
    command.args(format!("release - {WHAT} --party p -o out.json").split(' '));
    command.stdin(Stdio::from(std::fs::File::open(folder.file("many.csv")).unwrap()));
    finished(command.output().unwrap()).says(0, &["70000 records"]);
    assert!(radius_in(&folder, "out.json") < 0.5);
}

#[test]
fn a_dry_run_says_which_radius_it_shows() {
    let folder = with_tables(&[("many.csv", 70_000)]);
    let dry = |more: &str| folder.run(&format!("release many.csv {WHAT} --dry-run {more}")).stdout;
    assert!(dry("").contains("that of few records"), "{}", dry(""));
    let known = dry("--records 70000");
    assert!(!known.contains("that of few records") && known.contains("none is longer than"), "{known}");
    folder.run(&format!("release many.csv {WHAT} --dry-run --records 0")).says(2, &["--records"]);
}

/// Missing values are treated as the release treats them, and an existing file is found before the table is counted.
#[test]
fn what_stops_a_release_stops_its_counting() {
    let folder = with_tables(&[("few.csv", 300)]);
    folder.write("gaps.csv", "x,y\n1,2\n,2\n3,1\n");
    folder.run(&format!("release gaps.csv {WHAT} -o out.json")).says(2, &["line 3"]);
    folder.run(&format!("release gaps.csv {WHAT} --missing drop -o out.json")).says(0, &["2 records"]);
    folder.run(&format!("release gaps.csv {WHAT} -o out.json")).says(2, &["out.json", "--force"]);
}

#[test]
fn without_privacy_the_weights_are_those_of_the_release() {
    let folder = with_tables(&[("few.csv", 300), ("many.csv", 70_000)]);
    let shown = |table: &str, more: &str| {
        folder.run(&format!("non-private {table} --formula y~x --bounds bounds.toml {more}")).stdout
    };
    assert!(shown("few.csv", "").contains("every record counts c^2"));
    let many = shown("many.csv", "--epsilon 12 --delta 1e-9");
    assert!(many.contains("all weights are 1") || many.contains("all\nweights are 1"), "{many}");
    assert!(shown("many.csv", "--epsilon 0.1").contains("every record counts c^2"));
}

/// Catches widths that do not follow epsilon, records or fill, and units that are not the user's.
#[test]
fn a_dry_run_with_records_says_how_wide_intervals_will_be() {
    let folder = Folder::new();
    let dry = |more: &str| {
        folder.run(&format!("release --formula y~x+site --bounds bounds.toml --delta 1e-6 --dry-run {more}"))
    };
    let slopes = |more: &str| {
        let told = dry(&format!("{more} --json")).json();
        let number = |value: &serde_json::Value| value.as_f64().unwrap();
        let slope = &told["expected"]["slopes"][0];
        assert_eq!(slope["name"], "x");
        (number(&slope["width"]), number(&slope["width_without_privacy"]))
    };
    let (usual, bare) = slopes("--epsilon 1 --records 4000");
    // sd of x is 0.15 * 5, of y 0.15 * 5, of its residuals sqrt(1/2) of that.
    let expected = 2.0 * 1.96 * (0.5_f64 / 4000.0).sqrt();
    assert!((bare / expected - 1.0).abs() < 0.1, "{bare} {expected}");
    assert!(usual > 1.5 * bare, "{usual} {bare}");
    assert!(slopes("--epsilon 8 --records 4000").0 < 0.7 * usual);
    assert!(slopes("--epsilon 1 --records 400000").0 < 0.2 * usual);
    assert!(slopes("--epsilon 1 --records 4000 --fill 0.3").0 < 0.7 * usual);
    let text = dry("--epsilon 1 --records 4000").stdout;
    assert!(
        ["expected width", "--fill", "4000 records", "0.15"].iter().all(|part| text.contains(part)),
        "{text}"
    );
    dry("--epsilon 1 --fill 0.2").says(2, &["--records"]);
    dry("--epsilon 1 --records 100 --fill 2").says(2, &["--fill", "between 0 and 1"]);
    assert!(dry("--epsilon 1 --json").json()["expected"].is_null());
}
