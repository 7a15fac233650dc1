//! Releases of counts and of randomised answers, as a person makes and inspects them.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod support;

use organza::release::{CountRelease, Document, RandomisedRelease};
use support::{Folder, Ran};

/// 300 records with three columns of levels and a number.
fn folder() -> Folder {
    let folder = Folder::new();
    let row = |i: usize| format!("{},{},{},{}\n", ["a", "b", "c"][i % 3], i % 2, ["f", "m"][i / 150], i);
    folder.write("ward.csv", &format!("site,ill,sex,age\n{}", (0..300).map(row).collect::<String>()));
    folder.write(
        "levels.toml",
        "[site]\nlevels = [\"a\", \"b\", \"c\"]\n[ill]\nlevels = [\"0\", \"1\"]\n[sex]\nlevels = [\"f\", \"m\"]\n[age]\nlower = 0\nupper = 300\n",
    );
    folder
}

fn release(folder: &Folder, more: &str) -> Ran {
    folder.run(&format!("release ward.csv --bounds levels.toml {more}"))
}

fn counts(folder: &Folder, name: &str) -> Vec<CountRelease> {
    CountRelease::read_many(folder.read(name).as_bytes(), name).unwrap()
}

#[test]
fn from_table_to_inspected_counts() {
    let folder = folder();
    release(&folder, "--counts site,|ill --epsilon 1 -o c.json")
        .says(0, &["c.json: 1 release of 300 records, (1, 0)-differentially private", "no budget was set"]);
    let found = &counts(&folder, "c.json")[0];
    assert_eq!((found.records, found.value.len(), found.noise.scale), (Some(300), 6, 2.0));
    // Every exact count is 50; forty scales of noise are beyond any chance.
    assert!(found.value.iter().all(|value| (value - 50.0).abs() < 80.0), "{:?}", found.value);
    let inspected = folder.run("inspect c.json --json").json();
    assert_eq!((&inspected[0]["claim"]["holds"], &inspected[0]["kind"]), (&true.into(), &"counts".into()));
    let text = folder.run("inspect c.json").stdout;
    for part in
        ["site by ill (6 cells)", "follows from the noise", "discrete Laplace of scale 2", "noisy count"]
    {
        assert!(text.contains(part), "{part} is not in {text}");
    }
}

#[test]
fn several_tables_gaussian_noise_and_a_confidential_number_of_records() {
    let folder = folder();
    let ran = release(
        &folder,
        "--counts site;ill,sex --count-records --neighbours add-remove --epsilon 1 --delta 1e-6 -o g.json --json",
    );
    assert_eq!(ran.json()["privacy"]["norm"], "l2");
    let found = &counts(&folder, "g.json")[0];
    assert_eq!((found.records, found.value.len(), found.tables.len()), (None, 8, 3));
    assert!((found.value[7] - 300.0).abs() < 40.0 * found.noise.scale, "{:?}", found.value);
    // sqrt(3) over the scale of continuous noise for sensitivity 1 would be 7.3: the discrete one is as small.
    assert!(found.noise.scale > 7.2 && found.noise.scale < 7.4, "{}", found.noise.scale);
    let text = folder.run("inspect g.json").stdout;
    assert!(text.contains("the number of records") && text.contains("confidential records"), "{text}");
    assert!(text.contains("discrete Gaussian") && text.contains("follows from the noise"), "{text}");
    // Noise that does not pay for the claim is told apart from a broken file.
    let weak = folder.read("g.json").replace("\"epsilon\": 1.0", "\"epsilon\": 0.5");
    folder.write("weak.json", &weak);
    let ran = folder.run("inspect weak.json");
    ran.says(3, &[]);
    assert!(ran.stdout.contains("DOES NOT FOLLOW"), "{}", ran.stdout);
}

#[test]
fn randomised_answers_of_records_and_of_columns() {
    let folder = folder();
    release(&folder, "--randomised-response site,ill --epsilon 2 -o r.json --no-ledger")
        .says(0, &["300 records"]);
    release(&folder, "--randomised-response site,ill --per column --epsilon 2 -o s.json --no-ledger")
        .says(0, &[]);
    let read = |name: &str| RandomisedRelease::read_one(folder.read(name).as_bytes(), name).unwrap();
    let (together, apart) = (read("r.json"), read("s.json"));
    assert_eq!((together.answers.len(), together.answers[0].value.len(), apart.answers.len()), (1, 300, 2));
    let e = f64::exp(2.0);
    assert!((together.answers[0].truth - e / (e + 5.0)).abs() < 1e-12);
    let inspected = folder.run("inspect r.json s.json --json").json();
    for index in 0..2 {
        assert_eq!(inspected[index]["claim"]["holds"], true);
        assert!((inspected[index]["claim"]["epsilon"].as_f64().unwrap() - 2.0).abs() < 1e-9);
    }
    let text = folder.run("inspect r.json").stdout;
    assert!(text.contains("site by ill") && text.contains("follows from the probabilities"), "{text}");
    let greedy = folder.read("r.json").replace("\"epsilon\": 2.0", "\"epsilon\": 1.9");
    folder.write("greedy.json", &greedy);
    folder.run("inspect greedy.json").says(3, &[]);
}

#[test]
fn the_ledger_is_charged_once_and_refuses_what_is_not_paid_for() {
    let folder = folder();
    release(&folder, "--counts site --epsilon 1 -o a.json").says(0, &[]);
    release(&folder, "--counts ill --epsilon 1 -o b.json").says(1, &["does not suffice"]);
    assert!(!folder.file("b.json").exists());
    folder.run("ledger budget --dataset ward --epsilon 4 --delta 1e-6").says(0, &[]);
    release(&folder, "--counts ill --epsilon 1 --delta 1e-6 -o b.json").says(0, &[]);
    release(&folder, "--randomised-response sex --epsilon 2 -o r.json").says(0, &[]);
    release(&folder, "--counts sex --epsilon 0.1 -o d.json").says(1, &["does not suffice"]);
    let shown = folder.run("ledger show --json").json();
    assert_eq!(shown[0]["charges"].as_array().unwrap().len(), 3);
    let text = folder.run("ledger show").stdout;
    assert!(text.contains("counts of ill") && text.contains("randomised answers about sex"), "{text}");
}

#[test]
fn batches_are_disjoint_and_paid_for_once() {
    let folder = folder();
    release(&folder, "--counts site,ill --epsilon 1 --batch-records 120 -o c.jsonl")
        .says(0, &["3 releases of 300"]);
    let sizes: Vec<_> = counts(&folder, "c.jsonl").iter().map(|release| release.records.unwrap()).collect();
    assert_eq!(sizes, [120, 120, 60]);
    let shown = folder.run("ledger show --json").json();
    assert_eq!(shown[0]["charges"].as_array().unwrap().len(), 1);
    release(&folder, "--randomised-response sex --epsilon 1 --batch-records 200 -o r.jsonl --no-ledger")
        .says(0, &["2 releases of 300"]);
    folder.run("inspect c.jsonl r.jsonl").says(0, &[]);
}

#[test]
fn dry_runs_read_nothing() {
    let folder = folder();
    let names = folder.names();
    let plan = folder
        .run("release none.csv --bounds levels.toml --counts site,ill;sex --epsilon 0.5 --dry-run --json")
        .json();
    assert_eq!((&plan["sensitivity"], &plan["noise"]["scale"]), (&4.0.into(), &8.0.into()));
    assert_eq!((&plan["cells"], &plan["ledger"]["budget_would_be_set"]), (&8.into(), &true.into()));
    let text = folder.run("release --bounds levels.toml --counts site --epsilon 1 --dry-run").stdout;
    assert!(text.contains("error of a count about") && text.contains("sensitivity  2 (L1, exact)"), "{text}");
    let text =
        folder.run("release --bounds levels.toml --randomised-response site --epsilon 1 --dry-run").stdout;
    assert!(text.contains("one of 3, true with probability 0.576117"), "{text}");
    assert_eq!(folder.names(), names);
}

#[test]
fn bad_requests_are_refused_before_they_cost_anything() {
    let folder = folder();
    let names = folder.names();
    let refuse = |more: &str, texts: &[&str]| release(&folder, &format!("-o o.json {more}")).says(2, texts);
    refuse("--epsilon 1", &["--formula", "--counts", "--randomised-response"]);
    refuse("--formula age~site --counts site --epsilon 1 --delta 1e-6", &["cannot be used with"]);
    refuse("--counts site --randomised-response sex --epsilon 1", &["cannot be used with"]);
    refuse("--counts site --epsilon 1 --average 4", &["cannot be used with"]);
    refuse("--counts site --epsilon 1 --per column", &["cannot be used with"]);
    refuse("--formula age~site --epsilon 1 --delta 1e-6 --count-records", &["cannot be used with"]);
    refuse("--counts site --epsilon 0", &["--epsilon: must be positive"]);
    refuse("--counts site --epsilon 1 --noise laplace --delta 1e-6", &["--delta: Laplace noise is pure"]);
    refuse("--counts site --epsilon 1 --noise gaussian", &["--delta: Gaussian noise needs one"]);
    refuse("--counts site,age --epsilon 1", &["--counts: column \"age\" has bounds"]);
    refuse("--counts site,shoe --epsilon 1", &["column \"shoe\" has no public levels", "--bound shoe="]);
    refuse("--counts site,shoe --bound shoe=x,y --epsilon 1", &["there is no column \"shoe\""]);
    refuse("--counts site,,ill --epsilon 1", &["a name is missing"]);
    refuse("--counts site,ill;ill,site --epsilon 1", &["earlier table"]);
    refuse("--counts site --count-records --epsilon 1", &["--count-records", "--neighbours add-remove"]);
    refuse("--counts site --bound site=a,b --epsilon 1", &["ward.csv: line 4, column \"site\": not among"]);
    refuse("--randomised-response site --neighbours add-remove --epsilon 1", &["--neighbours"]);
    refuse("--randomised-response site --delta 1e-6 --epsilon 1", &["cannot be used with"]);
    refuse("--counts site --epsilon 1 --neighbours add-remove --batch-records 9", &["--batch-records"]);
    assert_eq!(folder.names(), names, "nothing may be written or charged");
}

#[test]
fn missing_levels_follow_the_rule() {
    let folder = folder();
    folder.write("ward.csv", "site,ill,sex,age\na,1,f,3\n,0,m,4\nb,0,f,5\n");
    release(&folder, "--counts site --epsilon 1 -o a.json --no-ledger")
        .says(2, &["line 3, column \"site\": the value is missing"]);
    release(&folder, "--counts site --epsilon 1 -o a.json --no-ledger --missing midpoint")
        .says(2, &["--missing: levels have no midpoint"]);
    release(&folder, "--counts site --epsilon 1 -o a.json --no-ledger --missing drop")
        .says(0, &["which records are complete is treated as public", "larger than the average count"]);
    assert_eq!(counts(&folder, "a.json")[0].records, Some(2));
}

/// The wrong kind of file is named as what it is.
#[test]
fn kinds_are_told_apart() {
    let folder = folder();
    release(&folder, "--counts site --epsilon 1 -o c.json --no-ledger").says(0, &[]);
    folder.run("predict c.json ward.csv").says(2, &["c.json"]);
    folder.run("methods c.json").says(2, &["c.json: is a release of counts"]);
    let newer = folder.read("c.json").replace("organza/counts/2", "organza/counts/9");
    folder.write("newer.json", &newer);
    folder.run("inspect newer.json").says(2, &["newer.json: schema", "install a newer organza"]);
}
