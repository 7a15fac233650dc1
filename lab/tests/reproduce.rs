//! `organza-lab reproduce` from outside.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

use std::path::PathBuf;
use std::process::Command;

struct Folder(tempfile::TempDir);

struct Ran {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.file(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.file(name)).unwrap()
    }
}

impl Ran {
    /// Asserts the exit code and that standard error says all of this.
    fn says(&self, code: i32, texts: &[&str]) {
        assert_eq!(self.code, code, "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        for text in texts {
            assert!(self.stderr.contains(text), "{text:?} is not in: {}", self.stderr);
        }
    }

    fn json(&self) -> serde_json::Value {
        assert_eq!(self.code, 0, "{}", self.stderr);
        serde_json::from_str(&self.stdout).unwrap()
    }
}

fn run(folder: &Folder, arguments: &str) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_organza-lab"));
    command.args(arguments.split_whitespace()).current_dir(folder.0.path());
    let output = command.env("ORGANZA_DATA", "/no/such/folder").output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran { code: output.status.code().unwrap_or(-1), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// Finished results of twenty replicates of Figure 4 with distances that fall with epsilon.
fn finished_figure4() -> String {
    let mut text = "# organza-lab reproduce ayb23-figure4 --as published\n# version = 2\n# seed = 1\n# tool = organza 0\n# date = 2026-01-31\n\
                    # replicates = 20\ncell,replicate,normal-x,fixed-gram,fast,gibbs-update\n"
        .to_string();
    for parties in [1, 5, 10] {
        for epsilon in [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0] {
            let value = 1.0 / epsilon;
            for replicate in 1..=20 {
                text += &format!(
                    "J={parties} epsilon={epsilon},{replicate},{value:e},{value:e},{value:e},{value:e}\n"
                );
            }
        }
    }
    text
}

#[test]
fn keys_are_listed() {
    let folder = Folder::new();
    let listed = run(&folder, "reproduce");
    assert!(listed.code == 0 && listed.stdout.contains("ayb23-table1"), "{}", listed.stdout);
    let listed = run(&folder, "reproduce --json").json();
    assert!(listed.as_array().unwrap().iter().any(|row| row["key"] == "ayb23-figure4"));
}

#[test]
fn wrong_requests_are_refused() {
    let folder = Folder::new();
    run(&folder, "reproduce ayb23-table9").says(2, &["ayb23-table9", "ayb23-table1"]);
    run(&folder, "reproduce ayb23-figure3 --as ours --out o").says(2, &["it can --as published"]);
    run(&folder, "reproduce ayb23-figure3 --as sideways").says(2, &["sideways"]);
    run(&folder, "reproduce ayb23-figure3 --shard 3/2").says(2, &["3/2"]);
    run(&folder, "reproduce ayb23-figure3 --replicates 0").says(2, &["at least 1"]);
    run(&folder, "reproduce ayb23-figure4 --check --out o").says(2, &["no results are kept"]);
}

#[test]
fn missing_data_are_said_aloud() {
    let folder = Folder::new();
    run(&folder, "reproduce ayb23-table1 --out o").says(2, &["power_plant_energy.csv", "ORGANZA_DATA"]);
    assert!(!folder.file("o").exists());
}

/// One replicate in one of many parts; a second run has nothing to do, and another seed is refused.
#[test]
fn a_part_is_kept_and_not_computed_again() {
    let folder = Folder::new();
    let request = "reproduce ayb23-figure4 --replicates 1 --shard 1/21 --out o";
    run(&folder, request).says(0, &["this part"]);
    let file = "o/results/ayb23-figure4-published.shard-1-of-21.csv";
    let first = folder.read(file);
    assert_eq!(first.lines().count(), 8);
    run(&folder, request).says(0, &[]);
    assert_eq!(folder.read(file), first);
    run(&folder, &format!("{request} --seed 2")).says(2, &["the seed", "--out"]);
}

/// Catches a check that cannot fail, and results that are computed although they are there.
#[test]
fn finished_results_are_published_and_checked() {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.file("o/results")).unwrap();
    folder.write("o/results/ayb23-figure4-published.csv", &finished_figure4());
    let report = run(&folder, "reproduce ayb23-figure4 --replicates 20 --out o --json").json();
    assert_eq!(report["lines"][0]["verdict"], "agrees");
    assert!(folder.read("o/README.md").contains("ayb23-figure4 --as published"));
    assert!(folder.read("o/results/ayb23-figure4-published.svg").starts_with("<svg"));
    run(&folder, "reproduce ayb23-figure4 --check --out o").says(0, &["all verdicts hold"]);
    let verdicts = "o/results/ayb23-figure4-published.verdicts.csv";
    folder.write(verdicts, &folder.read(verdicts).replacen("agrees", "worse", 1));
    run(&folder, "reproduce ayb23-figure4 --check --out o").says(1, &["was worse, now agrees"]);
}

/// Catches a check that checks nothing and is content.
#[test]
fn a_check_without_results_fails() {
    let folder = Folder::new();
    run(&folder, "reproduce --check").says(2, &["no results", "repository", "--out"]);
    run(&folder, "reproduce --check --out o").says(2, &["no results"]);
}
