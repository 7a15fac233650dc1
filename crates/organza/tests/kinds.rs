//! Kinds of releases beyond the Gram matrix of records, as a person makes and inspects them.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod support;

use support::Folder;

const LOSS: &str = "--bounds bounds.toml --epsilon 1 --delta 1e-6";

#[test]
fn averaged_records() {
    let folder = Folder::new();
    folder
        .run(&format!("release table.csv --formula y~x+z-1 {LOSS} --average 7 -o a.json"))
        .says(0, &["the last 2 of 100 records do not fill a row of 7"]);
    let inspected = folder.run("inspect a.json --json").json();
    assert_eq!(inspected[0]["claim"]["holds"], true);
    assert_eq!(inspected[0]["statistic"]["averaged"], 7);
    let text = folder.run("inspect a.json").stdout;
    assert!(text.contains("rows that are 7 records each") && text.contains("x*z"), "{text}");
    let plan = folder.run(&format!("release --formula y~x+z-1 {LOSS} --average 7 --dry-run"));
    assert!(plan.stdout.contains("rows that are 7 records each"), "{}", plan.stdout);
    // Each batch of 30 has four rows and two records left over; the last ten records make one row.
    folder
        .run(&format!(
            "release table.csv --formula y~x+z-1 {LOSS} --average 7 --batch-records 30 -o b.jsonl --no-ledger"
        ))
        .says(0, &["4 releases"]);
}

#[test]
fn averaging_is_refused_before_it_costs_anything() {
    let folder = Folder::new();
    let run = |more: &str| folder.run(&format!("release table.csv {LOSS} -o a.json {more}"));
    run("--formula y~x --average 4").says(2, &["--average: the constant of an averaged record"]);
    run("--formula y~x-1 --average 4 --neighbours add-remove")
        .says(2, &["--average: adding a record would shift"]);
    run("--formula y~x-1 --average 101")
        .says(2, &["--average: table.csv: 100 records do not fill a row of 101"]);
    assert_eq!(folder.names(), ["bounds.toml", "table.csv"]);
}

#[test]
fn parts_of_ada_ssp_and_fourth_moments() {
    let folder = Folder::new();
    let release = |more: &str| folder.run(&format!("release table.csv {LOSS} --formula y~x+z {more}"));
    folder.run("ledger budget --dataset table --epsilon 3 --delta 1e-5").says(0, &[]);
    release("--statistic ada-ssp -o a.json").says(0, &[]);
    release("--statistic fourth-moments -o m.json").says(0, &[]);
    let pure = "release table.csv --bounds bounds.toml --formula y~x+z --epsilon 1 --mechanism laplace";
    folder.run(&format!("{pure} --statistic fourth-moments -o l.json --no-ledger")).says(0, &[]);
    let kinds = ["ada-ssp", "fourth-moments", "fourth-moments"];
    let inspected = folder.run("inspect a.json m.json l.json --json").json();
    for (index, kind) in kinds.into_iter().enumerate() {
        assert_eq!(inspected[index]["claim"]["holds"], true, "{kind}");
        assert_eq!(inspected[index]["statistic"]["kind"], kind);
    }
    let text = folder.run("inspect a.json m.json").stdout;
    for part in ["smallest eigenvalue", "x*x*z*z", "1*1*1*x", "products of four"] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    // Each kind has a charge of its own, which says what it is.
    let charges = folder.run("ledger show").stdout;
    assert!(charges.contains("ada-ssp") && charges.contains("fourth moments"), "{charges}");
    let plan =
        folder.run(&format!("release --formula y~x+z {LOSS} --statistic ada-ssp --dry-run --json")).json();
    assert!((plan["sensitivity"].as_f64().unwrap() - 3f64.sqrt()).abs() < 1e-15);
    release("--statistic fourth-moments --record-scale 1 -o n.json --no-ledger")
        .says(2, &["--statistic: fourth moments are those of plain records"]);
    release("--statistic ada-ssp --neighbours add-remove -o n.json --no-ledger")
        .says(2, &["--statistic: the sensitivities"]);
}

/// Least squares by hand on a line with known noise: the weak prior moves nothing that can be seen.
#[test]
fn the_yardstick_is_least_squares_and_says_that_it_is_not_private() {
    let folder = Folder::new();
    let wobble = |i: usize| if i.is_multiple_of(2) { 0.25 } else { -0.25 };
    let row = |i: usize| format!("{},{}\n", i % 10, 0.5 * (i % 10) as f64 - 2.0 + wobble(i / 10));
    folder.write("line.csv", &format!("x,y\n{}", (0..2000).map(row).collect::<String>()));
    let ran = folder.run("non-private line.csv --formula y~x --bounds bounds.toml --json");
    ran.says(0, &["NOT PRIVATE", "must not be published"]);
    let coefficients = &ran.json()["coefficients"];
    let number = |index: usize, field: &str| coefficients[index][field].as_f64().unwrap();
    assert!(
        (number(0, "mean") + 2.0).abs() < 1e-3 && (number(1, "mean") - 0.5).abs() < 1e-3,
        "{coefficients}"
    );
    // sigma = 0.25, sum of squares of centred x = 2000 * 8.25.
    assert!((number(1, "sd") / (0.25 / (2000.0 * 8.25f64).sqrt()) - 1.0).abs() < 0.01, "{coefficients}");
    let half = 0.5
        * (coefficients[1]["interval"][1].as_f64().unwrap()
            - coefficients[1]["interval"][0].as_f64().unwrap());
    assert!((half / number(1, "sd") - 1.96).abs() < 0.01, "{half}");
    assert!(folder.run("non-private line.csv --formula y~x --bounds bounds.toml").stdout.contains("97.5%"));
    assert_eq!(folder.names(), ["bounds.toml", "line.csv", "table.csv"], "nothing is written or charged");
}

/// The papers' sensitivity costs more noise than the exact one: 15 against 75/8 for two features.
#[test]
fn the_sensitivity_by_ranges_is_there_for_those_who_ask() {
    let folder = Folder::new();
    let plan = |more: &str| {
        let fixed = "release --formula y~x+z --bounds bounds.toml --epsilon 1 --dry-run";
        folder.run(&format!("{fixed} {more}"))
    };
    let of = |more: &str| {
        plan(&format!("--mechanism laplace --json {more}")).json()["sensitivity"].as_f64().unwrap()
    };
    assert_eq!(of("--sensitivity ranges"), 15.0);
    assert!((of("") - 3.0 * 25.0 / 8.0).abs() < 1e-12);
    plan("--delta 1e-6 --sensitivity ranges").says(2, &["--sensitivity"]);
}
