//! `organza calibration` and `organza frontier` from outside.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod support;

use support::Folder;

#[test]
fn a_calibrated_method_is_called_so() {
    let folder = Folder::new();
    let ran = folder.run("calibration --method fixed-gram --replicates 60 --seed 3 -o out");
    ran.says(0, &["normal records, X'X without noise", "out"]);
    assert!(
        ran.stdout.contains("fixed-gram is calibrated here") && ran.stdout.contains("beta[x2]"),
        "{}",
        ran.stdout
    );
    let ranks = folder.read("out/calibration.csv");
    assert!(ranks.starts_with("replicate,parameter,rank,draws\n1,beta[x1],"), "{ranks}");
    assert_eq!(ranks.lines().count(), 1 + 60 * 3);
    assert!(folder.read("out/calibration.svg").starts_with("<svg"));
    let report: serde_json::Value = serde_json::from_str(&folder.read("out/calibration.json")).unwrap();
    assert_eq!(report["calibrated"], true);
    // Same seed, same bits, on any number of threads; another seed, other ranks.
    folder.run("calibration --method fixed-gram --replicates 60 --seed 3 --threads 1 -o again").says(0, &[]);
    assert_eq!(folder.read("again/calibration.csv"), ranks);
    folder.run("calibration --method fixed-gram --replicates 60 --seed 4 -o other").says(0, &[]);
    assert_ne!(folder.read("other/calibration.csv"), ranks);
}

/// Catches a verdict that cannot fail.
#[test]
fn a_dishonest_method_is_called_so() {
    let folder = Folder::new();
    let ran = folder.run("calibration --method naive --replicates 60 --json");
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(report["calibrated"], false);
    assert!(report["rows"][0]["coverage"][2].as_f64().unwrap() < 0.5, "{report}");
    let ran = folder.run("calibration --method naive --replicates 60");
    assert!(ran.code == 3 && ran.stdout.contains("intervals are too narrow"), "{}", ran.stdout);
    // Where there is noise in X'X, `fixed-gram` is not on its own model.
    assert_eq!(
        folder.run("calibration --method fixed-gram --data records --replicates 200 --records 2000").code,
        3
    );
}

#[test]
fn a_matrix_has_a_cell_for_every_setting() {
    let folder = Folder::new();
    let ran = folder.run("calibration --matrix --method fast,naive --replicates 20 --draws 19 -o out");
    ran.says(3, &["out"]);
    let table = folder.read("out/calibration.csv");
    // Two parameters of `fast` and three of `naive` in twelve settings.
    assert_eq!(table.lines().count(), 1 + 12 * 5, "{table}");
    let picture = folder.read("out/calibration.svg");
    assert!(["fast", "naive", "n = 2000", "5 parties"].iter().all(|word| picture.contains(word)));
}

#[test]
fn wrong_requests_for_a_calibration_are_refused() {
    let folder = Folder::new();
    let before = folder.names();
    let refused =
        |more: &str, texts: &[&str]| folder.run(&format!("calibration -o out {more}")).says(2, texts);
    refused("", &["--method"]);
    refused("--method fasst", &["fasst", "fixed-gram"]);
    refused("--method ada-ssp", &["--method", "point estimate"]);
    refused("--method fast,naive", &["--method", "--matrix"]);
    refused("--method fast --sampler nuts", &["--sampler", "closed-form"]);
    refused("--method fast --mechanism laplace", &["--method", "gaussian noise"]);
    refused("--method fast --draws 50", &["--draws", "multiple of 10"]);
    refused("--method fast --replicates 5", &["--replicates", "between 20 and"]);
    refused("--method fast --epsilon=-1", &["--epsilon", "positive"]);
    refused("--method fast --delta 2", &["--delta", "between 0 and 1"]);
    refused("--method fast --features 0", &["--features"]);
    refused("--method individual --records 30000", &["--method", "20,000"]);
    assert_eq!(folder.names(), before, "nothing may be left behind");
    folder.run("calibration --matrix").says(2, &["--output"]);
    std::fs::create_dir(folder.file("full")).unwrap();
    folder.write("full/thesis.txt", "mine");
    folder.run("calibration --method fast -o full").says(2, &["full exists", "--force"]);
    folder.run("calibration --method fast -o full --force").says(2, &["thesis.txt", "not replaced"]);
}

#[test]
fn a_frontier_is_printed_and_kept() {
    let folder = Folder::new();
    let request = "frontier --records 2000 --features 2 --parties 2 --epsilons 3,0.3 --replicates 8 --method fixed-gram";
    let ran = folder.run(&format!("{request} -o out"));
    ran.says(0, &["fixed-gram", "out"]);
    assert!(ran.stdout.contains("deviation of every column is 0.15"), "{}", ran.stdout);
    assert!(ran.stdout.contains("without privacy") && ran.stdout.contains("epsilon = 3"), "{}", ran.stdout);
    let rows = folder.read("out/frontier.csv");
    let losses: Vec<&str> = rows.lines().map(|line| line.split(',').next().unwrap()).collect();
    assert_eq!(losses, ["epsilon", "0.3", "3", "inf"]);
    assert!(folder.read("out/frontier.svg").starts_with("<svg"));
    folder.run(&format!("{request} --threads 1 -o again")).says(0, &[]);
    assert_eq!(folder.read("again/frontier.csv"), rows, "same seed, same bits");
    let report = folder.run(&format!("{request} --json")).json();
    assert_eq!((report["points"].as_array().unwrap().len(), report["fill"].as_f64().unwrap()), (3, 0.15));
    assert!(report["points"][2]["epsilon"].is_null() && report["points"][2]["ratio"] == 1.0, "{report}");
    folder.run(&format!("{request} -o out")).says(2, &["out exists"]);
    folder.run(&format!("{request} -o out --force")).says(0, &[]);
}

#[test]
fn wrong_requests_for_a_frontier_are_refused() {
    let folder = Folder::new();
    let before = folder.names();
    let refused = |more: &str, texts: &[&str]| folder.run(&format!("frontier -o out {more}")).says(2, texts);
    refused("--epsilons 1,zero", &["zero"]);
    refused("--epsilons 1,0", &["--epsilons", "positive"]);
    refused("--epsilons 1000", &["--epsilons: 1000", "lattice"]);
    refused("--delta 0", &["--delta", "between 0 and 1"]);
    refused("--r-squared 1", &["--r-squared"]);
    refused("--fill 0", &["--fill", "between 0 and 1"]);
    refused("--level 95", &["--level", "95"]);
    refused("--records 1", &["--records"]);
    refused("--parties 0", &["--parties"]);
    refused("--replicates 1", &["--replicates"]);
    refused("--method nonsense", &["nonsense"]);
    refused("--method ada-ssp", &["--method", "point estimate"]);
    refused("--method gibbs-noisy", &["--method", "gibbs-noisy needs"]);
    refused("--design table.csv", &["--design"]);
    assert_eq!(folder.names(), before, "nothing may be left behind");
    let help = folder.run("frontier --help");
    assert!(help.stdout.contains("never as a table"), "{}", help.stdout);
}

/// Ranks of some replicates only are of no use: nothing is written, and no temporary folder stays. Catches chains that do not listen.
#[test]
#[cfg(target_os = "linux")]
fn an_interruption_leaves_nothing_behind() {
    let folder = Folder::new();
    let before = folder.names();
    let arguments = "calibration --method normal-x --features 8 --replicates 10000 --draws 9999 -o out";
    folder.interrupt(arguments).says(1, &["interrupted: nothing is kept"]);
    assert_eq!(folder.names(), before);
}
