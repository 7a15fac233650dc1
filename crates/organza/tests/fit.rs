//! From releases to a posterior and predictions, as a person and a script do it.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod support;

use serde_json::Value;
use support::Folder;

/// A folder with the releases of three parties.
fn released() -> Folder {
    let folder = Folder::new();
    folder.bring(&["party1.json", "party2.json", "party3.json"]);
    folder
}

/// The same with the tables and the truth behind them.
fn simulated() -> Folder {
    let folder = released();
    std::fs::remove_file(folder.file("bounds.toml")).unwrap();
    folder.run("simulate -o . --force --records 1500 --features 2 --seed 4").says(0, &[]);
    folder
}

fn mean(fit: &Value, name: &str) -> f64 {
    row(fit, name)["mean"].as_f64().unwrap()
}

fn row<'f>(fit: &'f Value, name: &str) -> &'f Value {
    let rows = fit["summary"]["parameters"].as_array().unwrap();
    rows.iter().find(|row| row["name"] == name).unwrap()
}

#[test]
fn a_fit_leaves_a_complete_folder_and_predicts() {
    let folder = simulated();
    let ran = folder.run("fit party1.json party2.json party3.json -o fit");
    ran.says(0, &["draws, summary and settings are in fit"]);
    for text in
        ["beta[intercept]", "beta[x2]", "sigma", "r_squared", "method marginal (nuts)", "due to noise"]
    {
        assert!(ran.stdout.contains(text), "{text} is not in\n{}", ran.stdout);
    }
    for file in ["draws.parquet", "draws.nc", "summary.json", "fit.toml"] {
        assert!(folder.file(&format!("fit/{file}")).exists(), "{file}");
    }
    let fit: Value = serde_json::from_str(&folder.read("fit/summary.json")).unwrap();
    assert_eq!((&fit["records"], &fit["releases"]), (&4500.0.into(), &3.into()));
    let truth: Value = serde_json::from_str(&folder.read("truth.json")).unwrap();
    for (name, value) in
        [("x1", 0), ("x2", 1)].map(|(name, k)| (name, truth["coefficients"][k][1].as_f64().unwrap()))
    {
        let row = row(&fit, &format!("beta[{name}]"));
        let z = (row["mean"].as_f64().unwrap() - value) / row["sd"].as_f64().unwrap();
        assert!(z.abs() < 5.0, "{name}: {row}, truth {value}");
        assert!(fit["noise_share"][format!("beta[{name}]")].as_f64().unwrap() > 0.3);
    }
    let scored = folder.run("predict fit party1.csv -o out.csv --scores --json").json();
    assert_eq!(scored["rows"], 1500);
    assert!(scored["coverage"].as_f64().unwrap() > 0.8, "{scored}");
    assert!(folder.read("out.csv").starts_with("row,mean,sd,lower,upper,observed,log_density\n1,"));
}

#[test]
fn new_records_need_no_response() {
    let folder = released();
    folder.run("fit party1.json --method fast -o fit").says(0, &[]);
    folder.write("new.csv", "x2,x1\n1,2\n3,4\n");
    let ran = folder.run("predict fit new.csv");
    ran.says(0, &[]);
    assert_eq!(ran.stdout.lines().count(), 3);
    assert!(ran.stdout.starts_with("row,mean,sd,lower,upper\n1,"));
    folder.write("bad.csv", "x1\n1\n");
    folder.run("predict fit bad.csv").says(2, &["there is no column"]);
    folder.run("predict nowhere new.csv").says(2, &["nowhere/summary.json"]);
}

#[test]
fn same_seed_same_bits_on_any_number_of_threads() {
    let folder = released();
    let draws = |name: &str| std::fs::read(folder.file(&format!("{name}/draws.parquet"))).unwrap();
    let fit = "fit party1.json party2.json --method marginal --warmup 200 --draws 50 --chains 3";
    for (name, options) in [("a", "--threads 1"), ("b", "--threads 2"), ("c", "--threads 2 --seed 1")] {
        folder.run(&format!("{fit} {options} -o {name}"));
    }
    assert_eq!(draws("a"), draws("b"));
    assert_ne!(draws("a"), draws("c"));
    folder.run("fit --settings c/fit.toml -o d");
    assert_eq!(draws("c"), draws("d"));
}

#[test]
fn a_short_chain_is_reported_by_exit_code_three_and_kept() {
    let folder = released();
    let ran = folder.run("fit party1.json --method marginal --warmup 50 --draws 10 -o fit");
    ran.says(3, &["effective size"]);
    assert!(folder.file("fit/draws.parquet").exists());
}

#[test]
fn a_prior_in_users_units_is_heard() {
    let folder = released();
    let firm = "[coefficients]\nmean = { x1 = 7 }\nsd = { x1 = 1e-4 }\n";
    folder.write("prior.toml", firm);
    let fit = folder.run("fit party1.json --method fixed-gram --prior prior.toml --json").json();
    assert!((mean(&fit, "beta[x1]") - 7.0).abs() < 1e-3);
    folder.write("prior.toml", "[coefficients]\nsd = { x9 = 1 }\n");
    folder.run("fit party1.json --prior prior.toml").says(2, &["prior.toml", "x9", "intercept, x1, x2"]);
    folder.write("prior.toml", "[coefficients]\ncovariance = [[1,2,0],[2,1,0],[0,0,1]]\n");
    folder.run("fit party1.json --prior prior.toml").says(2, &["positive definite"]);
    folder.write("prior.toml", "[variance]\nshape = -1\nrate = 1\n");
    folder.run("fit party1.json --prior prior.toml").says(2, &["shape must be positive"]);
    folder.write("prior.toml", "[coefficients]\nmeen = { x1 = 7 }\n");
    folder.run("fit party1.json --prior prior.toml").says(2, &["prior.toml", "meen"]);
}

#[test]
fn bad_input_is_explained() {
    let folder = released();
    folder.run("fit party1.json party1.json").says(2, &["party1.json", "--allow-duplicates"]);
    folder.run("fit party1.json party1.json --allow-duplicates --method fast").says(0, &[]);
    folder.run("fit party1.json --draws 0").says(2, &["--draws"]);
    folder.run("fit party1.json --method guess").says(2, &["guess", "marginal"]);
    folder.run("fit party1.json --method fast --sampler nuts").says(2, &["fast has no sampler nuts"]);
    folder.run("fit party1.json --mass 2 --method fast").says(2, &["mass"]);
    folder.run("fit nowhere.json").says(2, &["nowhere.json"]);
    folder.bring(&["swapped.json", "no_constant.json"]);
    folder.run("fit party1.json swapped.json").says(2, &["party1.json", "swapped.json", "the features"]);
    folder.run("fit party1.json no_constant.json").says(2, &["the intercept"]);
    folder.run("fit party1.json --method fast -o fit").says(0, &[]);
    folder.run("fit party1.json --method fast -o fit").says(2, &["exists", "--force"]);
    folder.run("fit party1.json --method fast -o fit --force").says(0, &[]);
    folder.write("fit/notes.txt", "mine");
    folder.run("fit party1.json --method fast -o fit --force").says(2, &["notes.txt", "not replaced"]);
}

#[test]
fn a_method_that_cannot_accept_a_release_names_those_that_can() {
    let folder = released();
    folder.bring(&["laplace.json"]);
    folder.run("fit laplace.json --method fast").says(2, &["laplace.json", "gaussian noise", "marginal"]);
    let ran = folder.run("fit laplace.json");
    ran.says(0, &[]);
    assert!(ran.stdout.contains("method marginal"), "{}", ran.stdout);
    let accepted = folder.run("methods laplace.json --json").json();
    let of =
        |word: &str| accepted.as_array().unwrap().iter().find(|row| row["method"] == word).unwrap().clone();
    assert_eq!((&of("gibbs-update")["accepted"], &of("fast")["accepted"]), (&true.into(), &false.into()));
    folder.run("methods").says(0, &[]);
}

#[test]
fn noise_that_drowns_the_data_gives_the_prior_and_says_so() {
    let folder = released();
    folder.bring(&["drowned.json"]);
    folder.run("fit drowned.json").says(0, &["the releases say almost nothing", "those of the prior"]);
    for method in ["fast", "fixed-gram"] {
        let ran = folder.run(&format!("fit drowned.json --method {method}"));
        ran.says(0, &["the noise on X'X is as large as X'X itself", "prefer marginal"]);
    }
}

#[test]
fn fewer_records_than_coefficients() {
    let folder = released();
    folder.bring(&["tiny.json"]);
    folder.run("fit tiny.json").says(0, &["1 records for 3 coefficients"]);
    folder
        .run("fit tiny.json --method normal-x")
        .says(2, &["at least as many records as coefficients", "marginal"]);
}

#[test]
fn a_folder_of_releases_is_read_in_order() {
    let folder = released();
    std::fs::create_dir(folder.file("all")).unwrap();
    for party in ["party1", "party2", "party3"] {
        std::fs::copy(folder.file(&format!("{party}.json")), folder.file(&format!("all/{party}.json")))
            .unwrap();
    }
    let one = folder.run("fit all --method fast --json").json();
    let other = folder.run("fit party1.json party2.json party3.json --method fast --json").json();
    assert_eq!(one, other);
    std::fs::create_dir(folder.file("none")).unwrap();
    folder.run("fit none").says(2, &["there is no .json file"]);
}

/// Ctrl-C while chains run: the draws so far are kept, and the exit code says that the chains are short.
#[cfg(target_os = "linux")]
#[test]
fn an_interruption_keeps_the_draws() {
    let folder = released();
    let arguments = "fit party1.json --method fixed-gram --sampler metropolis --draws 1000000 --warmup 0 --thin 1000 -o fit";
    let ran = folder.interrupt(arguments);
    ran.says(3, &["stopped early", "draws, summary and settings are in fit"]);
    let fit: Value = serde_json::from_str(&folder.read("fit/summary.json")).unwrap();
    assert!(fit["summary"]["records"][0]["draws"].as_u64().unwrap() > 0);
    assert_eq!(fit["summary"]["records"][0]["end"], "interrupted");
}

/// A table of 120 columns breaks on a terminal of 80 and in a mail.
#[test]
fn the_table_fits_eighty_columns() {
    let folder = released();
    let ran = folder.run("fit party1.json party2.json");
    let widest = ran.stdout.lines().map(|line| line.chars().count()).max().unwrap();
    assert!(widest <= 80, "{widest}\n{}", ran.stdout);
    for text in
        ["mean", "sd", "95% hdi", "r_hat", "left out: ", "due to noise, mcse, ess tail", "summary.json"]
    {
        assert!(ran.stdout.contains(text), "{text} is not in\n{}", ran.stdout);
    }
}

/// Catches a prior of the features that only a matrix can say, and advice that cannot be followed.
#[test]
fn a_number_is_enough_for_the_scale_of_the_features() {
    let folder = released();
    folder.write("prior.toml", "units = \"users\"\n[coefficients]\nmean = { x1 = 1.0 }\nsd = { x1 = 0.5 }\n[variance]\nshape = 3\nrate = 2\n[features]\nscale = 0.2\n");
    for method in ["marginal", "gibbs-update --draws 50 --warmup 50", "normal-x --draws 50 --warmup 50"] {
        let ran = folder.run(&format!("fit party1.json party2.json --prior prior.toml --method {method}"));
        assert!(ran.code == 0 || ran.code == 3, "{method}: {}", ran.stderr);
    }
    folder.write("prior.toml", "[features]\nscale = -0.2\n");
    folder.run("fit party1.json party2.json --prior prior.toml").says(2, &["features.scale"]);
}

/// Catches readers that recommend options which they refuse.
#[test]
fn all_readers_take_the_same_options() {
    let folder = simulated();
    folder.run("fit party1.json --method fast -o fit").says(0, &[]);
    folder.write("new.csv", "1;2\n3;NA\n5;6\n");
    folder.write("prior.csv", "2;1;0\n4;NA;1\n");
    let options = "--delimiter ; --no-header --missing drop";
    let bounds = "--bound c1=0:9 --bound c2=0:9 --bound c3=0:9";
    folder.run(&format!("non-private prior.csv --formula c3~c1+c2 {bounds} {options}")).says(0, &[]);
    folder.run("predict fit party1.csv --delimiter ;").says(2, &["there is no column"]);
    folder.write("new.csv", "x2;x1\n1;2\n3;NA\n5;6\n");
    folder.run("predict fit new.csv --delimiter ;").says(2, &["line 3, column \"x1\"", "--missing drop"]);
    let ran = folder.run("predict fit new.csv --delimiter ; --missing drop");
    ran.says(0, &["1 of 3 rows are incomplete"]);
    assert_eq!(ran.stdout.lines().count(), 3);
    assert!(ran.stdout.contains("\n3,"), "rows keep their numbers:\n{}", ran.stdout);
}

/// Batches of one party are about different records; the same batch twice, or a batch beside the whole, is not.
#[test]
fn batches_are_fitted_together_but_no_batch_twice() {
    let folder = released();
    folder.bring(&["500.jsonl", "400.jsonl"]);
    let fit = folder.run("fit 500.jsonl party2.json --method fixed-gram --json").json();
    assert_eq!((&fit["releases"], &fit["records"]), (&4.into(), &3000.0.into()));
    for both in
        ["500.jsonl 500.jsonl", "500.jsonl party1.json", "party1.json 500.jsonl", "500.jsonl 400.jsonl"]
    {
        folder.run(&format!("fit {both} --method fixed-gram")).says(2, &["party1", "--allow-duplicates"]);
    }
}

#[test]
fn help_states_the_defaults_that_are_used() {
    let folder = released();
    let help = folder.run("fit --help").stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for (words, method) in [("metropolis", "fixed-gram --sampler metropolis"), ("gibbs", "gibbs-update")] {
        let fit = folder.run(&format!("fit party1.json --method {method} --draws 50 -o {words}"));
        assert!(fit.code == 0 || fit.code == 3, "{}", fit.stderr);
        let settings = folder.read(&format!("{words}/fit.toml"));
        assert!(settings.contains("warmup = 5000") && settings.contains("thin = 20"), "{settings}");
        assert!(help.contains(words), "{help}");
    }
    assert!(help.contains("[default: 1000; 0 for independent draws; 5000 for metropolis, gibbs, dense and plain; 2000 for interweaving]"), "{help}");
    assert!(
        help.contains("[default: 1; 20 for metropolis, gibbs, dense and plain; 5 for interweaving]"),
        "{help}"
    );
}
