//! A documented command is a tested command: the README's shell examples run as they stand.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod support;

use std::path::Path;
use std::process::Command;

use support::{Folder, finished};

#[test]
fn shell_examples_run() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = std::fs::read_to_string(readme).unwrap();
    let blocks: Vec<&str> =
        readme.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    let examples: Vec<&&str> = blocks.iter().filter(|block| block.contains("\norganza ")).collect();
    assert!(!examples.is_empty(), "no example was found");
    let folder = Folder::new();
    let row = |i: usize| format!("{},{},{},{}\n", 20 + i % 70, i % 49, ["a", "b", "c"][i % 3], 1 + i % 20);
    folder.write("north.csv", &format!("age,dose,site,stay\n{}", (0..300).map(row).collect::<String>()));
    let person = |i: usize| format!("{},{}\n", ["a", "b", "c"][i % 3], ["no", "yes"][i % 2]);
    folder.write("people.csv", &format!("ward,smoker\n{}", (0..300).map(person).collect::<String>()));
    folder.write(
        "people.toml",
        "[ward]\nlevels = [\"a\", \"b\", \"c\"]\n[smoker]\nlevels = [\"no\", \"yes\"]\n",
    );
    let programs = Path::new(env!("CARGO_BIN_EXE_organza")).parent().unwrap().display().to_string();
    let path = format!("{programs}:{}", std::env::var("PATH").unwrap_or_default());
    let mut folder = folder.path;
    for example in examples {
        // Noise is fresh: once in a few hundred times diagnostics ask for a longer run (code 3). Twice in a row would be a fault.
        let attempt = || {
            let copy = copied(folder.path());
            let mut shell = Command::new("sh");
            shell.current_dir(copy.path()).env("PATH", &path).args(["-e", "-c", example]);
            (finished(shell.output().unwrap()), copy)
        };
        let first = attempt();
        let (ran, after) = if first.0.code == 3 { attempt() } else { first };
        assert_eq!(ran.code, 0, "{example}\n{}\n{}", ran.stdout, ran.stderr);
        folder = after;
        // What a comment promises is what is printed.
        if example.contains("3.730631634815942") {
            assert!(ran.stdout.contains("\"sigma\": 3.730631634815942"), "{}", ran.stdout);
            assert!(ran.stdout.contains("epsilon = 1.2710877669435985"), "{}", ran.stdout);
        }
    }
}

/// The same files in a folder of their own.
fn copied(folder: &Path) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    let files = folder.join(".");
    let copying = Command::new("cp").arg("-r").arg(files).arg(copy.path()).status().unwrap();
    assert!(copying.success());
    copy
}
