//! `organza fit` for every model, from a table to a posterior.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod support;

use support::Folder;

const QUICK: &str = "--chains 2 --warmup 300 --draws 400 --seed 3";

/// 300 people: every third smokes, wards in turn, ages from 30 to 79, every fourth is ill. And their releases.
fn people() -> Folder {
    let folder = Folder::new();
    let row = |k: usize| {
        let (smoker, ward) = (if k.is_multiple_of(3) { "yes" } else { "no" }, ["a", "b", "c"][k / 3 % 3]);
        format!("{smoker},{ward},{},{}\n", 30 + k * 7 % 50, u8::from(k.is_multiple_of(4)))
    };
    let rows: String = (0..300).map(row).collect();
    folder.write("people.csv", &format!("smoker,ward,age,ill\n{rows}"));
    for file in ["smoker", "smoker_ward", "smoker_answers", "by_ward", "age", "ill", "ill_clear"] {
        folder.bring(&[&format!("{file}.json")]);
    }
    folder
}

/// Mean of a parameter.
fn mean(result: &serde_json::Value, name: &str) -> f64 {
    let rows = result["summary"]["parameters"].as_array().unwrap();
    rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("{name} in {rows:?}"))["mean"]
        .as_f64()
        .unwrap()
}

/// The result of a short run, for which diagnostics may ask for more draws: code 3.
fn fit(folder: &Folder, arguments: &str) -> serde_json::Value {
    let ran = folder.run(&format!("fit {arguments} {QUICK} --json"));
    assert!(ran.code == 0 || ran.code == 3, "{}", ran.stderr);
    serde_json::from_str(&ran.stdout).unwrap()
}

#[test]
fn proportions_and_tables() {
    let folder = people();
    let found = fit(&folder, "smoker.json");
    assert_eq!(found["sampler"], "exact");
    assert!((mean(&found, "p[smoker=yes]") - 1.0 / 3.0).abs() < 0.03);
    let found = fit(&folder, "smoker_ward.json");
    assert!((mean(&found, "p[smoker=yes, ward=b]") - 1.0 / 9.0).abs() < 0.03);
    folder
        .run("fit --model proportion smoker_ward.json")
        .says(2, &["not about one column of two levels; say table"]);
    let found = fit(&folder, "smoker_answers.json");
    assert_eq!(found["sampler"], "nuts");
    assert!((mean(&found, "p[smoker=yes]") - 1.0 / 3.0).abs() < 0.05);
}

#[test]
fn naive_bayes_with_its_prior() {
    let folder = people();
    folder.write("prior.toml", "[prior]\nconcentration = 1e6\n");
    let weak = fit(&folder, "--model naive-bayes by_ward.json");
    assert!((mean(&weak, "p[ill=1 | ward=a]") - 0.25).abs() < 0.06);
    let paper = fit(&folder, "--model naive-bayes by_ward.json --sampler plain --thin 5");
    assert_eq!(paper["sampler"], "plain");
    assert!((mean(&paper, "p[ill=1 | ward=a]") - mean(&weak, "p[ill=1 | ward=a]")).abs() < 0.05);
    let strong = fit(&folder, "--model naive-bayes by_ward.json --prior prior.toml");
    assert!((mean(&strong, "p[ill=1 | ward=a]") - 0.5).abs() < 0.001);
    folder.write("prior.toml", "[prior]\nconcentration = -1\n");
    folder
        .run("fit --model naive-bayes by_ward.json --prior prior.toml")
        .says(2, &["prior.toml", "concentration"]);
}

#[test]
fn numbers_and_log_odds() {
    let folder = people();
    let found = fit(&folder, "--model normal --method augmentation age.json --thin 2");
    // The ages have mean 54.5 and standard deviation 14.4.
    assert!((mean(&found, "beta[intercept]") - 54.5).abs() < 4.0);
    assert!((mean(&found, "sigma") - 14.4).abs() < 3.0);
    folder.run("fit --model normal ill.json").says(2, &["the releases have features; say linear"]);
    let found = fit(&folder, "--model logistic ill.json --sampler plain");
    assert_eq!((&found["sampler"], &found["model"]), (&"plain".into(), &"logistic".into()));
    folder.run("fit --model logistic age.json").says(2, &["age.json"]);
}

#[test]
fn a_folder_holds_draws_summary_and_settings() {
    let folder = people();
    let run = |more: &str| folder.run(&format!("fit --model proportion smoker.json --seed 3 -o out {more}"));
    run("").says(0, &["are in out"]);
    run("").says(2, &["out exists"]);
    run("--force").says(0, &[]);
    let settings = folder.read("out/fit.toml");
    assert!(settings.contains("model = \"proportion\"") && settings.contains("seed = 3"), "{settings}");
    for file in ["draws.parquet", "draws.nc", "summary.json"] {
        assert!(folder.file(&format!("out/{file}")).metadata().unwrap().len() > 0);
    }
}

#[test]
fn wrong_kinds_and_samplers_are_explained() {
    let folder = people();
    folder
        .run("fit age.json smoker.json")
        .says(2, &["smoker.json", "is a release of counts, not a release of sums"]);
    folder
        .run("fit --model table age.json")
        .says(2, &["releases of sums are fitted by linear, normal and logistic"]);
    folder.run("fit --model linear smoker.json").says(2, &["releases of counts are fitted by proportion"]);
    folder.run("fit --model poisson smoker.json").says(2, &["\"poisson\" is not known"]);
    folder.run("fit smoker.json --method marginal").says(2, &["marginal is for linear models"]);
    folder
        .run("fit --model table smoker.json --sampler nuts")
        .says(2, &["exact, gibbs, metropolis and plain"]);
    folder.run("fit --model table smoker.json --sampler best").says(2, &["\"best\" is not known"]);
    folder.run("fit --model table smoker.json --draws 0").says(2, &["at least 1"]);
    folder.run("fit --model table smoker.json smoker.json").says(2, &["--allow-duplicates", "smoker.json"]);
    folder.run("fit --model table nowhere.json").says(2, &["nowhere.json"]);
}

/// Catches a logistic fit that cannot predict, probabilities of the wrong level, and scores of another scale.
#[test]
fn a_logistic_fit_predicts_probabilities_and_a_table_fit_says_that_it_cannot() {
    let folder = people();
    fit(&folder, "--model logistic ill_clear.json -o out");
    let ran = folder.run("predict out people.csv -o p.csv --scores --json");
    ran.says(0, &["neither is private"]);
    let scores = ran.json();
    assert!(scores["root_mean_squared_error"].is_null() && scores["rows"] == 300);
    // A quarter is ill, whatever the age: the log loss of saying so is 0.562.
    let loss = -scores["mean_log_density"].as_f64().unwrap();
    assert!((0.5..0.65).contains(&loss), "{loss}");
    for line in folder.read("p.csv").lines().skip(1) {
        let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        assert!(cells[1] < 0.5 && 0.0 <= cells[3] && cells[3] <= cells[1] && cells[1] <= cells[4], "{line}");
    }
    fit(&folder, "smoker.json -o levels");
    folder.run("predict levels people.csv").says(2, &["a proportion fit predicts no records"]);
}
