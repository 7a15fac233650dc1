//! The command as a person and a script use it.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod support;

use std::io::Write;
use std::process::Stdio;

use organza::release::read_many;
use serde_json::Value;
use support::{Folder, finished};

#[test]
fn from_table_to_inspected_release() {
    let folder = Folder::new();
    let ran = folder.run(
        "release table.csv --formula y~x+z+site --bounds bounds.toml --epsilon 1 --delta 1e-6 -o r.json",
    );
    ran.says(0, &["r.json: 1 release of 100 records", "no budget was set"]);
    assert!(ran.stdout.is_empty(), "what is said to a person goes to standard error");
    let inspected = folder.run("inspect r.json --json").json();
    assert_eq!(inspected[0]["claim"]["holds"], true);
    assert_eq!(inspected[0]["entries"].as_array().unwrap().len(), 15);
    let text = folder.run("inspect r.json");
    assert!(
        text.stdout.contains("follows from the noise") && text.stdout.contains("site[b]*y"),
        "{}",
        text.stdout
    );
}

#[test]
fn the_ledger_refuses_what_is_not_paid_for() {
    let folder = Folder::new();
    folder.release("-o a.json").says(0, &[]);
    folder.release("-o b.json").says(1, &["the budget of data set 'table' does not suffice"]);
    assert!(!folder.file("b.json").exists());
    folder.run("ledger budget --dataset table --epsilon 2 --delta 1e-6").says(0, &[]);
    folder.release("-o b.json").says(0, &[]);
    folder.run("ledger budget --dataset table --epsilon 1 --delta 1e-6").says(1, &["already spent"]);
    let shown = folder.run("ledger show --json").json();
    assert_eq!(shown[0]["charges"].as_array().unwrap().len(), 2);
    let spent = shown[0]["summary"]["spent"]["epsilon"].as_f64().unwrap();
    assert!(spent > 1.3 && spent < 1.5, "two Gaussian releases compose to less than their sum: {spent}");
    let text = folder.run("ledger show");
    assert!(text.stdout.contains("b.json"), "{}", text.stdout);
}

#[test]
fn a_bad_table_costs_nothing() {
    let folder = Folder::new();
    let good = folder.read("table.csv");
    folder.write("table.csv", &format!("{good}1,2,a,oops\n"));
    folder.release("-o a.json").says(2, &["line 102"]);
    folder.write("table.csv", &good);
    folder.release("-o a.json").says(0, &[]);
}

#[test]
fn dry_run_reads_nothing_and_reports_exact_sensitivities() {
    let folder = Folder::new();
    let laplace = folder
        .run("release --formula y~x --bounds bounds.toml --mechanism laplace --epsilon 1 --record-scale none --dry-run --json")
        .json();
    assert!((laplace["sensitivity"].as_f64().unwrap() - 16.0 / 3.0).abs() < 1e-12);
    assert_eq!((&laplace["norm"], &laplace["neighbours"]), (&Value::from("l1"), &Value::from("substitute")));
    assert_eq!(laplace["noise"]["scales"].as_array().unwrap().len(), 5);
    let gaussian = folder
        .run("release --formula y~x --bounds bounds.toml --epsilon 1 --delta 1e-6 --dry-run --json")
        .json();
    let number = |field: &str| gaussian["domain"][field].as_f64().unwrap();
    let (r, b) = (number("record_scale"), number("response_weight"));
    let closed_form = 2f64.sqrt() * (r * r + b * b / 2.0);
    assert!((gaussian["sensitivity"].as_f64().unwrap() / closed_form - 1.0).abs() < 1e-12);
    let upper = folder
        .run("release none.csv --formula y~x --bounds bounds.toml --epsilon 1 --delta 1e-6 --record-scale none --dry-run --json")
        .json();
    assert!((upper["sensitivity"].as_f64().unwrap() - 8f64.sqrt()).abs() < 1e-12);
    assert_eq!(upper["ledger"]["budget_would_be_set"], true);
    assert_eq!(folder.names(), ["bounds.toml", "table.csv"]);
}

#[test]
fn accounts_to_twelve_digits() {
    let folder = Folder::new();
    let number = |arguments: &str, field: &str| folder.run(arguments).json()[field].as_f64().unwrap();
    let sigma = number("account gaussian --epsilon 1 --delta 1e-5 --json", "sigma");
    // 60-digit arithmetic gives mu = 0.2680511232112942192.
    assert!((sigma * 0.268_051_123_211_294_2 - 1.0).abs() < 1e-12, "{sigma}");
    let epsilon = number(&format!("account gaussian --sigma {sigma} --delta 1e-5 --json"), "epsilon");
    assert!((epsilon - 1.0).abs() < 1e-12);
    let twice = number("account compose gaussian:sigma=5 gaussian:sigma=5 --delta 1e-5 --json", "epsilon");
    let once =
        number(&format!("account gaussian --sigma {} --delta 1e-5 --json", 5.0 / 2f64.sqrt()), "epsilon");
    assert!((twice / once - 1.0).abs() < 1e-12);
    let rho = number("account zcdp --epsilon 1 --delta 1e-5 --json", "rho");
    assert!((number(&format!("account zcdp --rho {rho} --delta 1e-5 --json"), "epsilon") - 1.0).abs() < 1e-9);
    assert!((number("account laplace --epsilon 0.5 --sensitivity 3 --json", "scale") - 6.0).abs() < 1e-14);
    assert_eq!(folder.run("account laplace --scale 6 --sensitivity 3").stdout, "epsilon = 0.5\n");
}

/// Catches delta = 1 for what is not Gaussian, and mixtures that are merely added up.
#[test]
fn compositions_of_all_kinds_are_accounted_by_their_losses() {
    let folder = Folder::new();
    let number = |verb: &str, name: &str| {
        folder.run(&format!("account compose {verb} --json")).json()[name].as_f64().unwrap()
    };
    let once = number("laplace:scale=2 --epsilon 0.2", "delta");
    assert!((once - (1.0 - (-0.15_f64).exp())).abs() < 1e-15, "{once}");
    let mixture = "gaussian:sigma=3 gaussian:sigma=10,times=10 laplace:scale=20 --delta 1e-6";
    let (least, most) = (number(mixture, "epsilon_lower"), number(mixture, "epsilon"));
    assert!(least > 2.066 && least <= most && most < 2.068, "{least} {most}");
    assert_eq!(number("laplace:scale=2,times=3 --delta 0", "epsilon"), 1.5);
    let counts = number("discrete-gaussian:scale=5,moved=2,times=3 --delta 1e-6", "epsilon");
    let like = number("gaussian:sigma=5,times=6 --delta 1e-6", "epsilon");
    assert!((counts / like - 1.0).abs() < 0.05, "{counts} {like}");
    let sampled = "subsampled-gaussian:sigma=2,rate=0.01,times=1000 pure:epsilon=0.1 --delta 1e-6";
    assert!(number(sampled, "epsilon") < number(&format!("{sampled} --neighbours substitute"), "epsilon"));
    folder.run("account compose discrete-gaussian:scale=5,moved=1.5 --delta 1e-6").says(2, &["moved"]);
}

#[test]
fn accounts_for_subsampled_steps_between_bounds() {
    let folder = Folder::new();
    let words = "account subsampled-gaussian --sigma 1 --rate 0.01 --steps 1000 --json";
    let found = folder.run(&format!("{words} --delta 1e-5")).json();
    let number = |field: &str| found[field].as_f64().unwrap();
    // An independent accountant says at most 1.82824 (see the golden table of the losses).
    assert!(number("epsilon_lower") <= 1.828_244 && number("epsilon_upper") >= 1.828_2);
    assert!(number("epsilon_upper") - number("epsilon_lower") < 1e-3);
}

#[test]
fn batches_from_standard_input() {
    let folder = Folder::new();
    let arguments = "release - --formula y~x --bounds bounds.toml --epsilon 1 --delta 1e-6 --batch-records 30 \
                     --party stream --dataset donations --ledger l.ledger -o batches.jsonl";
    let mut command = folder.command();
    let mut child = command
        .args(arguments.split_whitespace())
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(folder.read("table.csv").as_bytes()).unwrap();
    finished(child.wait_with_output().unwrap()).says(0, &["4 releases of 100 records"]);
    let releases = read_many(folder.read("batches.jsonl").as_bytes(), "batches").unwrap();
    let records: Vec<u64> = releases.iter().map(|release| release.records.unwrap()).collect();
    assert_eq!(records, [30, 30, 30, 10]);
    // Disjoint batches: one charge covers them all.
    assert_eq!(folder.run("ledger show l.ledger --json").json()[0]["charges"].as_array().unwrap().len(), 1);
    folder.run("inspect batches.jsonl").says(0, &[]);
}

#[test]
fn finished_batches_survive_a_later_error() {
    let folder = Folder::new();
    let table = format!("{}1,oops,a,1\n", folder.read("table.csv"));
    folder.write("table.csv", &table);
    // A file is looked through before it is charged; a stream, or a file without a ledger, is read but once.
    folder.release("--batch-records 30 -o b.jsonl").says(2, &["line 102"]);
    assert!(!folder.names().iter().any(|name| name.ends_with("ledger")));
    folder
        .release("--batch-records 30 --no-ledger -o b.jsonl")
        .says(1, &["3 batches were released to b.jsonl", "line 102"]);
    assert_eq!(read_many(folder.read("b.jsonl").as_bytes(), "b").unwrap().len(), 3);
}

#[test]
fn missing_values_by_rule() {
    let folder = Folder::new();
    folder.write("table.csv", "x,z,site,y\n1,0,a,2\n2,,b,1\n3,1,a,0\n");
    folder.release("--missing drop -o d.json").says(0, &["which records are complete is treated as public"]);
    let dropped = &read_many(folder.read("d.json").as_bytes(), "d").unwrap()[0];
    assert_eq!((dropped.records, format!("{:?}", dropped.missing)), (Some(2), "Dropped".to_string()));
    folder.release("--missing midpoint --no-ledger -o m.json").says(0, &[]);
    assert_eq!(read_many(folder.read("m.json").as_bytes(), "m").unwrap()[0].records, Some(3));
}

#[test]
fn confidential_counts_and_norm_bounds() {
    let folder = Folder::new();
    folder.release("--neighbours add-remove -o a.json").says(0, &[]);
    assert_eq!(folder.run("inspect a.json --json").json()[0]["records"], Value::Null);
    let ball = "release table.csv --formula y~x+z-1 --epsilon 1 --delta 1e-6 --radius 10 --response-bound 3 --no-ledger -o b.json";
    folder.run(ball).says(0, &[]);
    assert_eq!(folder.run("inspect b.json --json").json()[0]["claim"]["tight"], true);
    let pure = "release table.csv --formula y~x --bounds bounds.toml --mechanism laplace --epsilon 1 --no-ledger -o c.json";
    folder.run(pure).says(0, &[]);
    assert_eq!(folder.run("inspect c.json --json").json()[0]["privacy"]["delta"], 0.0);
}

#[test]
fn demo_and_simulation() {
    let folder = Folder::new();
    let demo = folder.run("demo --output demo --records 500 --json").json();
    for file in demo["releases"].as_array().unwrap() {
        folder.run(&format!("inspect demo/{}", file.as_str().unwrap())).says(0, &[]);
    }
    assert!(folder.run("demo --records 200").stdout.contains("Three hospitals"));
    folder.run("simulate -o one --parties 2 --records 50 --seed 7").says(0, &["bounds.toml"]);
    folder.run("simulate -o two --parties 2 --records 50 --seed 7 --json").json();
    for name in ["party1.csv", "party2.csv", "bounds.toml", "truth.json"] {
        assert_eq!(
            folder.read(&format!("one/{name}")),
            folder.read(&format!("two/{name}")),
            "same seed, same {name}"
        );
    }
    assert_ne!(folder.read("one/party1.csv"), folder.read("one/party2.csv"));
    folder.run("simulate -o one").says(2, &["exists already"]);
    folder
        .run("release one/party1.csv --formula y~x1+x2+x3 --bounds one/bounds.toml --epsilon 1 --delta 1e-6 -o r.json")
        .says(0, &[]);
}

#[test]
fn manual_and_completions_are_generated() {
    let folder = Folder::new();
    assert!(folder.run("generate man release").stdout.contains("record\\-scale"));
    assert!(folder.run("generate completions bash").stdout.contains("--record-scale"));
    folder.run("generate man dance").says(2, &["no verb"]);
}

/// Catches suggestions that fall to pieces when they are pasted into a shell.
#[test]
fn suggested_commands_can_be_pasted() {
    let folder = Folder::new();
    std::fs::create_dir(folder.file("my data")).unwrap();
    std::fs::copy(folder.file("table.csv"), folder.file("my data/it's.csv")).unwrap();
    let ran = folder.run(
        "release my|data/it's.csv --formula y~x --bounds bounds.toml --epsilon 1 --delta 1e-6 -o r.json",
    );
    ran.says(0, &[r"organza ledger budget 'my data/organza.ledger' --dataset 'it'\''s' --epsilon E"]);
    let ran = folder.run("demo --records 200 --output my|demo");
    for text in
        ["organza inspect 'my demo/north.release.json'", "organza predict 'my demo/fit' 'my demo/north.csv'"]
    {
        assert!(ran.stdout.contains(text), "{text} is not in\n{}", ran.stdout);
    }
}
