//! A documented command is a tested command: the README's shell examples run as they stand.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod support;

use std::path::Path;
use std::process::Command;

use support::{Folder, finished};

/// Noise is fresh, and nothing here fails by its chance. A fit is done when its files are written, whether or not
/// diagnostics ask for a longer run (code 3). Private bounds of 3,000 records at a tenth of epsilon 3 see some 500 of
/// them in one power of two, where about 150 suffice and a count's noise has a standard deviation of 15.
const ORGANZA: &str = r#"organza() {
    code=0
    command organza "$@" || code=$?
    if [ "$1" = fit ] && [ $code = 3 ]; then code=0; fi
    return $code
}"#;

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
    for example in examples {
        let script = format!("{ORGANZA}\n{example}");
        let mut shell = Command::new("sh");
        shell.current_dir(folder.path.path()).env("PATH", &path).args(["-e", "-c", &script]);
        let ran = finished(shell.output().unwrap());
        assert_eq!(ran.code, 0, "{example}\n{}\n{}", ran.stdout, ran.stderr);
        // What a comment promises is what is printed.
        if example.contains("3.730631634815942") {
            assert!(ran.stdout.contains("\"sigma\": 3.730631634815942"), "{}", ran.stdout);
            assert!(ran.stdout.contains("epsilon = 1.2710877669435985"), "{}", ran.stdout);
        }
    }
}
