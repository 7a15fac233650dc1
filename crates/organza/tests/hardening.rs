//! Pipes, hostile tables, files that are not ours: nothing is lost and nothing is betrayed.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod support;

use std::os::unix::fs::PermissionsExt;

use support::{Folder, Ran, finished};

/// Runs a script of Bash in which `$organza` is the command and `$usual` the arguments of a small release.
fn bash(folder: &Folder, script: &str) -> Ran {
    let usual = "--formula y~x+z --bounds bounds.toml --epsilon 1 --delta 1e-6 --no-ledger --party p";
    let mut shell = std::process::Command::new("bash");
    shell.current_dir(folder.path.path()).env("organza", env!("CARGO_BIN_EXE_organza")).env("usual", usual);
    finished(shell.args(["-c", script]).output().unwrap())
}

/// Catches a format that is sniffed by a reader of its own: the first bytes of a pipe were lost, and a record with them.
#[test]
fn pipes_lose_nothing() {
    let folder = Folder::new();
    let rows = "1,0,a,2\n2,0,b,1\n3,0,a,1\n";
    folder.write("rows.csv", rows);
    folder.write("table3.csv", &format!("x,z,site,y\n{rows}"));
    let read = |from: &str, more: &str| {
        bash(&folder, &format!("$organza release {from} $usual {more} -o out.json --force"))
    };
    let bare = "--no-header --formula c4~c1+c2 --bound c1=0:10 --bound c2=-1:1 --bound c4=-5:5";
    let usual = "--epsilon 1 --delta 1e-6 --no-ledger --party p -o out.json --force";
    for from in ["<(cat rows.csv)", "<(gzip -c rows.csv)", "rows.csv"] {
        bash(&folder, &format!("$organza release {from} {bare} {usual}")).says(0, &["3 records"]);
    }
    read("<(cat table3.csv)", "").says(0, &["3 records"]);
    read("/dev/stdin < <(cat table3.csv)", "").says(0, &["3 records"]);
    read("- < table3.csv", "").says(0, &["3 records"]);
    bash(&folder, "mkfifo p; gzip -c table3.csv > p & $organza release p $usual -o out.json --force")
        .says(0, &["3 records"]);
    read("<(printf PAR1; cat table3.csv)", "").says(2, &["Parquet cannot be read from a pipe"]);
    let ran = bash(&folder, "$organza bounds --template <(gzip -c table3.csv)");
    assert!(ran.stdout.contains("[x]") && ran.stdout.contains("[site]"), "{}{}", ran.stdout, ran.stderr);
}

/// Catches messages that print a data row where a header was expected.
#[test]
fn a_first_row_of_data_is_not_shown() {
    let folder = Folder::new();
    for row in ["Smith,34,2024-03-07\n", "34;Smith\n", "Smith;Jones\n", "\"Smith\n34,1\n1,2\n"] {
        folder.write("table.csv", row);
        let ran = folder.release("-o out.json");
        ran.says(2, &["table.csv: there is no column \"y\"", "--no-header", "--delimiter"]);
        assert!(["Smith", "34", "2024"].iter().all(|value| !ran.stderr.contains(value)), "{}", ran.stderr);
    }
    folder.write("table.csv", "x,z,site,\u{1b}[31my\n1,2,a,3\n");
    let ran = folder.release("-o out.json");
    assert!(ran.stderr.contains("\\u{1b}[31my"), "{}", ran.stderr);
    folder.write("table.csv", "x,z,site,y\n1,zebra,a,3\n");
    folder.release("-o out.json --show-values").says(2, &["not a number; the cell is \"zebra\""]);
}

/// Catches memory that grows with what a gzip expands to.
#[test]
fn a_gigabyte_in_a_megabyte_needs_little_memory() {
    let folder = Folder::new();
    let script = "head -c 1048576 /dev/zero | tr '\\0' a | gzip > m; for i in {1..1024}; do cat m; done > t.gz; \
                  ulimit -v 600000; $organza release t.gz $usual -o out.json";
    bash(&folder, script).says(2, &["t.gz: line 1: a record has more than 16777216 bytes"]);
}

/// Catches an inspection that holds the explanations of all releases before it prints the first: 11 kilobytes each.
#[test]
fn many_releases_are_inspected_one_by_one() {
    let folder = Folder::new();
    folder.bring(&["site.json"]);
    let script = "(tr -d '\\n' < site.json; echo) > many.jsonl; \
                  for i in {1..16}; do cat many.jsonl many.jsonl > twice; mv twice many.jsonl; done; \
                  ulimit -v 700000; $organza inspect many.jsonl | head -1";
    let ran = bash(&folder, script);
    ran.says(0, &[]);
    assert!(ran.stdout.starts_with("many.jsonl"), "{}", ran.stdout);
}

/// Catches sums over records that take the square of their number: a minute, where the product takes a fifth of a second.
#[test]
fn naive_bayes_of_a_hundred_thousand_records_is_quick() {
    let folder = Folder::new();
    let row = |i: usize| {
        format!("{},{},{}\n", ["a", "b"][i % 2], ["yes", "no", "no"][i % 3], ["f", "m"][i % 5 / 2 % 2])
    };
    folder.write("people.csv", &format!("ward,ill,sex\n{}", (0..100_000).map(row).collect::<String>()));
    let levels = "--bound ward=a,b --bound ill=yes,no --bound sex=f,m --counts ward,ill;ward,sex";
    let release = format!("release people.csv {levels} --epsilon 1 --no-ledger -o counts.json");
    folder.run(&release).says(0, &[]);
    let script = "timeout 30 $organza fit counts.json --model naive-bayes --draws 200";
    let ran = bash(&folder, script);
    assert!([0, 3].contains(&ran.code), "{}: {}", ran.code, ran.stderr);
}

#[test]
fn threads_beyond_the_machine_are_refused() {
    let folder = Folder::new();
    folder.release("-o out.json --threads 100000").says(2, &["--threads", "at most"]);
}

/// Catches a table, a ledger or a file of somebody else that `--force` throws away.
#[test]
fn force_replaces_its_own_kind_only() {
    let folder = Folder::new();
    let table = folder.read("table.csv");
    folder.release("-o table.csv --force").says(2, &["table.csv", "is not replaced"]);
    folder.release("-o ./table.csv --force --no-ledger").says(2, &["is not replaced"]);
    folder.release("-o bounds.toml --force").says(2, &["bounds.toml", "is not replaced"]);
    folder.release("-o out.json").says(0, &[]);
    folder.release("-o organza.ledger --force").says(2, &["a ledger"]);
    folder.run("bounds table.csv --template -o table.csv --force").says(2, &["is not replaced"]);
    folder.run("bounds table.csv --template -o new.toml").says(0, &[]);
    folder.run("bounds table.csv --template -o new.toml --force").says(0, &[]);
    folder.release("-o /dev/null --force --no-ledger").says(2, &["a device or a pipe"]);
    std::os::unix::fs::symlink(folder.file("table.csv"), folder.file("link.json")).unwrap();
    folder.release("-o link.json --force --no-ledger").says(2, &["a link"]);
    folder.write("party1.csv", &table);
    folder.run("simulate -o . --force").says(2, &["truth.json", "not replaced"]);
    assert_eq!((folder.read("table.csv"), folder.read("party1.csv")), (table.clone(), table));
}

/// Catches text of a file, or the name of one, that moves the cursor, clears the screen or forges a line of `inspect`.
#[test]
fn what_strangers_wrote_is_shown_and_not_obeyed() {
    let folder = Folder::new();
    folder.bring(&["site.json"]);
    let odd = "\\u001b[2Jx\\u202e";
    let shown = "\\u{1b}[2Jx\\u{202e}";
    folder.write("odd.toml", &format!("[\"{odd}\"]\nlower = 3\nupper = 1\n"));
    folder.run("release table.csv --formula y~x --bounds odd.toml --epsilon 1 -o a.json").says(2, &[shown]);
    folder.write("prior.toml", &format!("units = \"{odd}\"\n"));
    folder.run("fit site.json --prior prior.toml -o fit").says(2, &[shown]);
    folder.run("fit site.json --method fast -o fit");
    let settings = folder.read("fit/fit.toml").replace("site.json", odd);
    folder.write("settings.toml", &settings);
    folder.run("fit --settings settings.toml -o again").says(2, &[shown]);
    let name = "b\u{1b}[2J\n  guarantee  (0.1, 0)-differential privacy";
    std::fs::copy(folder.file("site.json"), folder.file(name)).unwrap();
    let inspected = finished(folder.command().args(["inspect", name]).output().unwrap());
    assert!(inspected.stdout.starts_with("b\\u{1b}[2J\\u{a}  guarantee"), "{}", inspected.stdout);
}

/// Catches true responses of a private table in an output that asked for predictions, and modes that open them.
#[test]
fn predictions_hold_no_response_unless_asked() {
    let folder = Folder::new();
    folder.bring(&["site.json"]);
    folder.run("fit site.json --method fast -o fit").says(0, &[]);
    std::fs::set_permissions(folder.file("table.csv"), PermissionsExt::from_mode(0o600)).unwrap();
    folder.run("predict fit table.csv -o out.csv").says(0, &[]);
    assert!(folder.read("out.csv").starts_with("row,mean,sd,lower,upper\n1,"));
    assert_eq!(folder.read("out.csv").lines().count(), 101);
    assert_eq!(folder.file("out.csv").metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let ran = folder.run("predict fit table.csv -o out.csv --scores --force");
    ran.says(0, &["responses of the table as they are", "neither is private"]);
    assert!(folder.read("out.csv").starts_with("row,mean,sd,lower,upper,observed,log_density\n1,"));
    // A response that cannot be read does not matter unless it is scored.
    folder.write("odd.csv", "site,y\na,none of your business\n");
    folder.run("predict fit odd.csv").says(0, &[]);
    folder.run("predict fit odd.csv --scores").says(2, &["line 2, column \"y\""]);
    folder.write("site.csv", "row,mean,sd,lower,upper,site\n1,1,1,1,1,a\n");
    folder.run("predict fit site.csv -o site.csv --force").says(2, &["the table itself"]);
    folder.run("predict fit table.csv -o site.json --force").says(2, &["is not replaced"]);
}
