//! Each kind of bad input gets a message that a person can act on, the right exit code, and leaves nothing behind.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod support;

use support::{BOUNDS, Folder, finished};

/// Replaces the table by one bad row after a good one and expects a refusal.
fn refused(rows: &str, code: i32, texts: &[&str]) {
    let folder = Folder::new();
    folder.write("table.csv", &format!("x,z,site,y\n{rows}"));
    let before = folder.names();
    folder.release("-o out.json").says(code, texts);
    assert_eq!(folder.names(), before, "nothing may be written or charged");
}

#[test]
fn cells_rows_and_tables() {
    refused("1,0,a,2\n2,zero,b,1\n", 2, &["table.csv: line 3, column \"z\": not a number"]);
    refused("1,0,a,2\n2,0,1\n", 2, &["table.csv: line 3: has 3 fields, the first line has 4"]);
    refused("1,0,a,2\n\"2\n\",0,a,1\n3,inf,a,1\n", 2, &["line 5, column \"z\": not a finite number"]);
    refused("1,0,a,2\n2,,a,1\n", 2, &["line 3, column \"z\": the value is missing", "--missing drop"]);
    refused("1,NaN,a,2\n", 2, &["line 2, column \"z\": the value is missing"]);
    refused("", 2, &["table.csv: the table holds no record"]);
    let folder = Folder::new();
    folder.write("table.csv", "");
    folder.release("-o out.json").says(2, &["table.csv: the table holds no record"]);
    folder
        .run("release none.csv --formula y~x --bounds bounds.toml --epsilon 1 --delta 1e-6 -o o.json")
        .says(2, &["none.csv"]);
}

#[test]
fn levels_and_columns() {
    let folder = Folder::new();
    let release = |formula: &str, more: &str| {
        folder.run(&format!("release table.csv --formula {formula} --bounds bounds.toml --epsilon 1 --delta 1e-6 -o o.json {more}"))
    };
    release("y~x+w", "").says(2, &["w", "--bound w=LOWER:UPPER"]);
    release("y~x+w", "--bound w=0:1")
        .says(2, &["table.csv: there is no column \"w\"; the table has x, z, site, y"]);
    release("y~site", "--bound site=a,c")
        .says(2, &["line 3, column \"site\": not among the public levels a, c"]);
    release("y~x+", "").says(2, &["^"]);
    release("y~log(x)", "").says(2, &["log needs values above 0"]);
    folder.write("bounds.toml", &BOUNDS.replace("upper = 10", "upper = -10"));
    release("y~x", "").says(2, &["bounds.toml:2:9: lower = 0 of `x` is not below upper = -10"]);
}

#[test]
fn losses() {
    let folder = Folder::new();
    let run = |loss: &str| {
        folder.run(&format!("release table.csv --formula y~x --bounds bounds.toml -o o.json {loss}"))
    };
    run("--epsilon 0 --delta 1e-6").says(2, &["--epsilon: must be positive and finite, found 0"]);
    run("--epsilon=-1 --delta 1e-6").says(2, &["--epsilon"]);
    run("--epsilon nan --delta 1e-6").says(2, &["--epsilon"]);
    run("--epsilon 1 --delta 0").says(2, &["--delta: Gaussian noise needs one between 0 and 1"]);
    run("--epsilon 1 --delta 1").says(2, &["--delta: Gaussian noise needs one between 0 and 1"]);
    run("--epsilon 1").says(2, &["--delta: Gaussian noise needs one"]);
    run("--epsilon 1 --delta 1e-6 --mechanism laplace").says(2, &["Laplace noise is pure"]);
    run("--epsilon 1 --delta 1e-6 --record-scale -3").says(2, &["--record-scale"]);
    run("--epsilon 1 --delta 1e-6 --radius 2 --response-bound 1").says(2, &["no intercept"]);
    run("--epsilon 1 --delta 1e-6 --neighbours add-remove --batch-records 10").says(2, &["--batch-records"]);
    run("--epsilon 1e9 --delta 1e-6").says(2, &["--epsilon"]);
    assert_eq!(folder.names(), ["bounds.toml", "table.csv"]);
}

#[test]
fn warnings_do_not_stop_a_release() {
    let folder = Folder::new();
    folder.write("table.csv", "x,z,site,y\n1,0,a,2\n2,0,b,1\n");
    let ran = folder.release("-o out.json");
    ran.says(0, &["2 records for 3 coefficients"]);
    folder.run("release table.csv --formula y~x --bounds bounds.toml --epsilon 1 --delta 0.4 -o b.json --no-ledger")
        .says(0, &["no ledger is charged"]);
    // A constant column carries no information and is no error.
    folder.run("release table.csv --formula y~z --bounds bounds.toml --epsilon 1 --delta 1e-6 -o c.json --no-ledger").says(0, &[]);
}

#[test]
fn an_existing_output_is_kept_and_force_replaces_it() {
    let folder = Folder::new();
    folder.write("out.json", "mine");
    folder.release("-o out.json").says(2, &["out.json: exists already", "--force"]);
    assert_eq!(folder.read("out.json"), "mine");
    folder.release("-o out.json --force").says(2, &["out.json", "is not replaced"]);
    assert_eq!(folder.read("out.json"), "mine");
    std::fs::remove_file(folder.file("out.json")).unwrap();
    folder.release("-o out.json").says(0, &[]);
    folder.release("-o out.json --force --no-ledger").says(0, &[]);
    assert!(folder.read("out.json").contains("organza/release/3"));
}

#[test]
fn an_unwritable_place_costs_no_budget() {
    let folder = Folder::new();
    folder.release("-o missing/folder/out.json").says(1, &["missing/folder/out.json: cannot be written"]);
    assert_eq!(folder.names(), ["bounds.toml", "table.csv"]);
}

/// No byte can be written to any file: what a full disk looks like to a program.
#[cfg(unix)]
#[test]
fn a_full_disk_leaves_nothing_half_written() {
    let folder = Folder::new();
    let organza = env!("CARGO_BIN_EXE_organza");
    let script = format!(
        "trap '' XFSZ; ulimit -f 0; exec {organza} release table.csv --formula y~x --bounds bounds.toml --epsilon 1 \
         --delta 1e-6 -o out.json --no-ledger"
    );
    let mut shell = std::process::Command::new("sh");
    let ran = finished(shell.current_dir(folder.path.path()).args(["-c", &script]).output().unwrap());
    ran.says(1, &["out.json: nothing was written"]);
    assert_eq!(folder.names(), ["bounds.toml", "table.csv"]);
}

#[test]
fn releases_that_are_not() {
    let folder = Folder::new();
    folder.release("-o out.json").says(0, &[]);
    let good = folder.read("out.json");
    folder.write("newer.json", &good.replace("organza/release/3", "organza/release/4"));
    folder.run("inspect newer.json").says(2, &["newer.json: schema", "install a newer organza"]);
    folder.write("extra.json", &good.replacen('{', "{\"extra\": 1,", 1));
    folder.run("inspect extra.json").says(2, &["extra.json: extra: unknown field"]);
    folder.run("inspect none.json").says(2, &["none.json"]);
    // Noise that does not pay for the claim is told apart from a broken file.
    folder.write("weak.json", &good.replace("\"epsilon\": 1.0", "\"epsilon\": 0.5"));
    let ran = folder.run("inspect weak.json");
    ran.says(3, &[]);
    assert!(ran.stdout.contains("DOES NOT FOLLOW"), "{}", ran.stdout);
}

#[test]
fn accounting_needs_the_right_numbers() {
    let folder = Folder::new();
    folder.run("account gaussian --epsilon 1").says(2, &["exactly two"]);
    folder.run("account gaussian --epsilon 1 --delta 2").says(2, &["delta"]);
    folder.run("account gaussian --sigma 0 --delta 1e-5").says(2, &["--sigma 0"]);
    folder.run("account laplace").says(2, &["exactly one"]);
    folder.run("account compose gaussian:sigma=1,times=0.5 --delta 1e-6").says(2, &["times"]);
    folder.run("account compose gaussian:sigm=1 --delta 1e-6").says(2, &["sigma"]);
    folder.run("account compose cauchy:scale=1 --delta 1e-6").says(2, &["cauchy"]);
    folder.run("ledger show none.ledger").says(2, &["none.ledger: there is no such ledger"]);
}

#[test]
fn a_slip_of_the_finger_gets_a_suggestion() {
    let folder = Folder::new();
    folder.write("bounds.toml", "[age]\nlower = 0\nupper = 100\n[stay]\nlower = 0\nupper = 60\n");
    folder.write("table.csv", "age,stay\n34,3\n71,12\n");
    let release = |formula: &str, more: &str| {
        folder.run(&format!("release table.csv --formula {formula} --bounds bounds.toml --epsilon 1 --delta 1e-6 --no-ledger --force -o o.json {more}"))
    };
    release("stay~agee", "").says(2, &["column `agee` has no public bounds", "did you mean `age`?"]);
    release("stay~agee", "--bound agee=0:1").says(2, &["there is no column \"agee\"", "did you mean `age`?"]);
    assert!(!release("stay~weight", "").stderr.contains("did you mean"));
    release("stay~age", "--bound agee=0:1").says(0, &["`agee`", "did you mean `age`?"]);
    folder.write("prior.toml", "[coefficients]\nsd = { agee = 1.0 }\n");
    folder
        .run("fit o.json --method fixed-gram --prior prior.toml")
        .says(2, &["prior.toml", "\"agee\"", "did you mean `age`?"]);
    folder.write("bounds.toml", "[age]\nlower = 0\nuper = 100\n");
    release("stay~age", "").says(2, &["unknown key `uper`", "did you mean `upper`?"]);
}

#[test]
fn advice_goes_the_right_way() {
    let folder = Folder::new();
    let run =
        |words: &str| folder.run(&format!("release {words} --formula y~x --bounds bounds.toml -o o.json"));
    // So small a delta asks for more care than the lattice has, not for less noise.
    run("table.csv --epsilon 1 --delta 1e-300").says(2, &["--delta: 1e-300 is too small", "raise it"]);
    run("table.csv --epsilon 1e9 --delta 1e-6").says(2, &["--epsilon", "lower it"]);
    let ran = run(". --epsilon 1 --delta 1e-6");
    ran.says(2, &[".: this is a folder; name the table in it"]);
    assert!(!ran.stderr.contains("standard input"), "{}", ran.stderr);
    assert_eq!(folder.names(), ["bounds.toml", "table.csv"]);
}

/// Catches "26.8861 instead of 26.8861".
#[test]
fn numbers_that_are_compared_differ() {
    let folder = Folder::new();
    for features in ["x", "x+z", "x+z+site"] {
        let ran = folder.run(&format!(
            "release --formula y~{features} --bounds bounds.toml --epsilon 1 --delta 1e-6 --dry-run"
        ));
        let line = ran.stdout.lines().find(|line| line.contains("largest noise scale")).unwrap().to_string();
        let words: Vec<&str> = line.split_whitespace().collect();
        let Some(at) = words.iter().position(|word| *word == "instead") else {
            assert!(line.ends_with("all the same."), "{line}");
            continue;
        };
        assert_ne!(words[at - 1], words[at + 2].trim_end_matches('.'), "{line}");
    }
}
