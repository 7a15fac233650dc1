//! Tables as people have them, and what is said when they cannot be read. No message shows a value of the table.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod support;

use support::{Folder, Ran};

/// Releases a table of this text.
fn release(text: &str, more: &str) -> Ran {
    let folder = Folder::new();
    folder.write("table.csv", text);
    folder.release(&format!("-o out.json --no-ledger {more}"))
}

#[test]
fn messages_name_the_place_and_never_the_value() {
    let cases = [
        ("1,zero,a,2", "line 2, column \"z\": not a number"),
        ("1,inf,a,2", "line 2, column \"z\": not a finite number"),
        ("1,2024-03-07,a,2", "looks like a date: turn it into a number, for instance days since"),
        ("1,07.03.2024,a,2", "looks like a date"),
        ("1,3/7/2024,a,2", "looks like a date"),
        ("1,\"0,25\",a,2", "looks like a decimal comma: say --decimal-comma"),
    ];
    for (row, text) in cases {
        let ran = release(&format!("x,z,site,y\n{row}\n"), "");
        ran.says(2, &["table.csv: line 2, column \"z\"", text]);
        for value in ["zero", "inf ", "2024", "0,25"] {
            assert!(!ran.stderr.contains(value), "{}", ran.stderr);
        }
    }
    let folder = Folder::new();
    folder.write("table.csv", "site,y\nzebra,1\n");
    let ran = folder
        .run("release table.csv --formula y~site --bounds bounds.toml --epsilon 1 --delta 1e-6 -o o.json");
    ran.says(2, &["line 2, column \"site\": not among the public levels a, b"]);
    assert!(!ran.stderr.contains("zebra"), "{}", ran.stderr);
}

#[test]
fn decimal_commas_and_tabs() {
    let rows = "x;z;site;y\n1,5;0,25;a;-2\n2;-1e-1;b;1,25\n";
    release(rows, "--delimiter ;").says(2, &["line 2, column \"x\": not a number", "say --decimal-comma"]);
    release(rows, "--delimiter ; --decimal-comma").says(0, &["2 records"]);
    release("x,z,site,y\n\"1,5\",0,a,2\n", "--decimal-comma").says(0, &[]);
    // A point may separate thousands.
    release("x,z,site,y\n1.500,0,a,2\n", "--decimal-comma").says(2, &["line 2, column \"x\": not a number"]);
    release("x\tz\tsite\ty\n1\t0\ta\t2\n", r"--delimiter \t").says(0, &["1 release of 1 records"]);
    release("", "--delimiter ab").says(2, &["--delimiter"]);
}

/// Catches lines that are counted at carriage returns, where a record seems to begin one line early.
#[test]
fn lines_of_windows_files() {
    let refused = |text: &str, place: &str| release(text, "").says(2, &[place]);
    refused("x,z,site,y\r\n1,0,a,2\r\n2,zero,b,1\r\n", "line 3, column \"z\"");
    refused("x,z,site,y\r\n1,0,a,2\r\n2,0,1\r\n", "line 3: has 3 fields");
    refused("x,z,site,y\r\n\"1\r\n\",0,a,2\r\n2,zero,b,1\r\n", "line 4, column \"z\"");
    refused("x,z,site,y\r\n\r\n1,0,a,2\r\n2,zero,b,1\r\n", "line 4, column \"z\"");
    refused("x,z,site,y\n\n1,0,a,2\n2,zero,b,1\n", "line 4, column \"z\"");
}

/// Catches a dry run that promises what the release then refuses.
#[test]
fn a_dry_run_looks_at_the_header_and_at_nothing_else() {
    let folder = Folder::new();
    let dry = |more: &str| folder.release(&format!("--dry-run {more}"));
    folder.write("table.csv", "x,z,site,why\n1,2,a,3\n");
    dry("").says(2, &["table.csv: there is no column \"y\"", "x, z, site, why"]);
    folder
        .run("release table.csv --counts sex --bound sex=m,f --epsilon 1 --dry-run")
        .says(2, &["no column \"sex\""]);
    folder
        .run("release table.csv --randomised-response sex --bound sex=m,f --epsilon 1 --dry-run")
        .says(2, &["no column \"sex\""]);
    folder.write("table.csv", "x;z;site;y\n1;2;a;3\n");
    dry("").says(2, &["there is no column"]);
    dry("--delimiter ;").says(0, &[]);
    // Values are not looked at: they are for the release, which is paid for.
    folder.write("table.csv", "x,z,site,y\nnot,a,single,number\n");
    dry("").says(0, &[]);
    folder.write("table.csv", "");
    dry("").says(2, &["the table holds no record"]);
    std::fs::remove_file(folder.file("table.csv")).unwrap();
    dry("").says(0, &["table.csv: there is no such file, so its columns were not checked"]);
    assert_eq!(folder.names(), ["bounds.toml"]);
}

/// Catches wrong units (an age in years, bounds of 0 to 10) before budget is spent on them.
#[test]
fn a_check_shows_what_is_clamped_and_shrunk() {
    let folder = Folder::new();
    let rows: String = (0..100).map(|k| format!("{k},{},a,1\n", f64::from(k) / 25.0 - 2.0)).collect();
    folder.write("table.csv", &format!("x,z,site,y\n{rows}"));
    let before = folder.names();
    let ran = folder.release("--check");
    ran.says(0, &["PRIVATE", "must not be passed on"]);
    let line =
        |start: &str| ran.stdout.lines().find(|line| line.trim().starts_with(start)).unwrap().to_string();
    // x is 0, 1, ..., 99 in 0:10; z is -2, ..., 1.96 in -1:1.
    assert!(line("x").contains("0%") && line("x").contains("89%"), "{}", ran.stdout);
    assert!(line("z").contains("25%") && line("z").contains("24%"), "{}", ran.stdout);
    assert_eq!(line("y").split_whitespace().nth(2), Some("0%"), "{}", ran.stdout);
    assert!(ran.stderr.contains("`x`: 89 percent of the values are clamped"), "{}", ran.stderr);
    assert!(
        ran.stdout.contains("records are shrunk") && ran.stdout.contains("mean of c^2"),
        "{}",
        ran.stdout
    );
    let unscaled = folder.release("--check --record-scale none");
    assert!(unscaled.stdout.contains("records are not scaled"), "{}", unscaled.stdout);
    assert_eq!(folder.names(), before, "nothing is written or charged");
    for conflict in ["-o o.json", "--json", "--dry-run", "--batch-records 10", "--ledger l"] {
        folder.release(&format!("--check {conflict}")).says(2, &["--check"]);
    }
}

/// Records enter a release with weights; the estimate without privacy has them too, for comparison.
#[test]
fn the_estimate_without_privacy_is_weighted_as_the_release() {
    let folder = Folder::new();
    // No noise: y = x in the middle, and flat outside, where records are long and weigh less.
    let rows: String = (0..=10)
        .map(|k| format!("{k},{},a,{}\n", f64::from(k % 3) - 1.0, f64::from(k - 5).clamp(-2.0, 2.0)))
        .collect();
    folder.write("table.csv", &format!("x,z,site,y\n{rows}"));
    let ran = folder.run("non-private table.csv --formula y~x+z --bounds bounds.toml --json").json();
    let slope = |which: &str| ran[which][1]["mean"].as_f64().unwrap();
    assert_eq!(
        (&ran["coefficients"][0]["name"], &ran["weighted"][1]["name"]),
        (&"intercept".into(), &"x".into())
    );
    assert!(slope("weighted") > slope("coefficients") + 0.005, "{ran}");
    let text = folder.run("non-private table.csv --formula y~x+z --bounds bounds.toml").stdout;
    assert!(text.contains("weighted") && text.contains("c^2"), "{text}");
    // One feature: as the plan decides.
    let plan = folder
        .run("release --formula y~x --bounds bounds.toml --epsilon 1 --delta 1e-6 --dry-run --json")
        .json();
    let ran = folder.run("non-private table.csv --formula y~x --bounds bounds.toml --json").json();
    assert_eq!(plan["domain"]["record_scale"].is_null(), ran["weighted"].is_null());
}
