//! One budget for one data set, whatever it is called; what a site forbids; guarantees that are hardly one.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use support::{Folder, Ran, finished};

const LOSS: &str = "--formula y~x+z --bounds bounds.toml --epsilon 1 --delta 1e-6";

/// Runs a command with one more variable in its environment.
fn run_with(folder: &Folder, variable: (&str, &str), arguments: &str) -> Ran {
    let mut command = folder.command();
    finished(command.env(variable.0, variable.1).args(arguments.split(' ')).output().unwrap())
}

#[test]
fn copies_links_and_other_names_have_no_budget_of_their_own() {
    let folder = Folder::new();
    folder.release("-o a.json").says(0, &[]);
    let known = &["charged as data set 'table' before"][..];
    std::fs::copy(folder.file("table.csv"), folder.file("copy.csv")).unwrap();
    std::fs::hard_link(folder.file("table.csv"), folder.file("hard.csv")).unwrap();
    std::fs::create_dir(folder.file("elsewhere")).unwrap();
    std::os::unix::fs::symlink(folder.file("table.csv"), folder.file("elsewhere/link.csv")).unwrap();
    // The same records in another order, with other names.
    let table = folder.read("table.csv");
    let mut rows: Vec<&str> = table.lines().skip(1).collect();
    rows.reverse();
    folder.write("other.csv", &format!("a,b,c,d\n{}\n", rows.join("\n")));
    for name in ["copy.csv", "hard.csv", "elsewhere/link.csv"] {
        folder.run(&format!("release {name} {LOSS} -o b.json")).says(1, known);
    }
    folder
        .run("release other.csv --formula d~a+b --bound a=0:10 --bound b=-1:1 --bound d=-5:5 --epsilon 1 --delta 1e-6 -o b.json")
        .says(1, known);
    folder.release("--dataset fresh -o b.json").says(1, known);
    folder.release("--party fresh -o b.json").says(1, &["the budget of data set 'table' does not suffice"]);
    folder.release("--dataset table\u{200b} -o b.json").says(2, &["characters that are not visible"]);
    assert!(!folder.file("b.json").exists());
    assert_eq!(folder.run("ledger show --json").json().as_array().unwrap().len(), 1);
    // Other records are another data set.
    folder.write("others.csv", &table.replace("0.", "0.1"));
    folder.run(&format!("release others.csv {LOSS} -o b.json")).says(0, &[]);
}

#[test]
fn streams_and_batches_are_recognised_too() {
    let folder = Folder::new();
    folder.release("-o a.json").says(0, &[]);
    let stream = |more: &str| {
        let mut command = folder.command();
        command.stdin(std::fs::File::open(folder.file("table.csv")).unwrap());
        let words = format!("release - {LOSS} --party p --dataset stream --ledger organza.ledger {more}");
        finished(command.args(words.split(' ')).output().unwrap())
    };
    stream("-o b.json").says(1, &["charged as data set 'table' before"]);
    std::fs::copy(folder.file("table.csv"), folder.file("copy.csv")).unwrap();
    let batches = "--batch-records 30 -o c.jsonl";
    folder
        .run(&format!("release copy.csv {LOSS} {batches}"))
        .says(1, &["charged as data set 'table' before"]);
    // A stream in batches is charged before it is known: it is said afterwards.
    stream(batches).says(0, &["charged as data set 'table' before"]);
}

#[test]
fn one_ledger_for_a_site() {
    let folder = Folder::new();
    let site = ("ORGANZA_LEDGER", "site.ledger");
    run_with(&folder, site, &format!("release table.csv {LOSS} -o a.json")).says(0, &["site.ledger"]);
    std::fs::create_dir(folder.file("far")).unwrap();
    std::fs::copy(folder.file("table.csv"), folder.file("far/copy.csv")).unwrap();
    run_with(&folder, site, &format!("release far/copy.csv {LOSS} -o b.json")).says(1, &["'table' before"]);
    assert_eq!(run_with(&folder, site, "ledger show --json").json()[0]["summary"]["charges"], 1);
}

#[test]
fn a_policy_binds_with_and_without_a_ledger() {
    let folder = Folder::new();
    let rules = "columns = ['x', 'y']\nstatistics = ['gram']\nneighbours = 'substitute'\nbudget_users = [4294967294]\n\
                 [release]\nepsilon = 1\ndelta = 1e-6\n[total]\nepsilon = 1.2\ndelta = 1e-6\n";
    folder.write("policy.toml", rules);
    let run = |arguments: &str| run_with(&folder, ("ORGANZA_POLICY", "policy.toml"), arguments);
    let release = |more: &str| run(&format!("release table.csv --bounds bounds.toml --delta 1e-6 {more}"));
    let before = folder.names();
    for ledger in ["", " --no-ledger"] {
        let refused =
            |more: &str, text: &str| release(&format!("{more}{ledger}")).says(2, &["policy.toml", text]);
        refused("--formula y~z --epsilon 1 -o a.json", "`z`");
        refused("--formula y~x --epsilon 1.1 -o a.json", "one release may lose");
        refused("--formula y~x --epsilon 1 --neighbours add-remove -o a.json", "neighbours");
        refused("--formula y~x --epsilon 1 --statistic ada-ssp -o a.json", "`ada-ssp`");
    }
    run("ledger budget --dataset table --epsilon 1 --delta 1e-6").says(2, &["may not set budgets"]);
    assert_eq!(folder.names(), before, "nothing was written");
    release("--formula y~x --epsilon 1 -o a.json").says(0, &[]);
    // Without the policy a person may raise the budget; with it the total binds all the same.
    folder.run("ledger budget --dataset table --epsilon 9 --delta 1e-6").says(0, &[]);
    release("--formula y~x --epsilon 1 -o b.json").says(1, &["in total by the policy of this site"]);
    folder.write("policy.toml", "ledger = 'site.ledger'\n");
    release("--formula y~x --epsilon 1 -o b.json --no-ledger").says(2, &["the ledger must be site.ledger"]);
    folder.write("policy.toml", "epsilon = 1\n");
    release("--formula y~x --epsilon 1 -o b.json").says(2, &["policy.toml", "epsilon"]);
}

#[test]
fn a_weak_guarantee_is_asked_for_by_name() {
    let folder = Folder::new();
    let weak = |what: &str, text: &str| {
        let words = format!("release table.csv --bounds bounds.toml {what} -o w.json");
        folder.run(&words).says(2, &[text, "--allow-weak-guarantee"]);
        assert!(!folder.names().iter().any(|name| name == "w.json" || name.ends_with("ledger")), "{what}");
        folder.run(&format!("{words} --no-ledger --allow-weak-guarantee")).says(0, &[]);
        let said = folder.run("inspect w.json").stdout;
        assert!(said.contains("is right afterwards") && said.contains("HARDLY PROTECTS ANYBODY"), "{said}");
        std::fs::remove_file(folder.file("w.json")).unwrap();
    };
    weak("--formula y~x --epsilon 21 --delta 1e-6", "epsilon = 21");
    weak("--formula y~x --epsilon 1 --delta 0.02", "delta = 0.02");
    weak("--randomised-response site --epsilon 30", "epsilon = 30");
    weak("--counts site --epsilon 1e3", "epsilon = 1000");
}

/// Catches a loss for added records that is explained as one between two answers, and praise for a guarantee that is void.
#[test]
fn inspect_says_what_a_guarantee_is_worth() {
    let folder = Folder::new();
    let inspected = |more: &str| {
        folder.release(&format!("{more} --no-ledger --force -o a.json")).says(0, &[]);
        folder.run("inspect a.json").stdout
    };
    let said = inspected("");
    assert!(said.contains("between two answers of a person is right afterwards in at most 73.1% of cases\n"));
    let said = inspected("--neighbours add-remove");
    assert!(said.contains("whether a person is in the table is right afterwards in at most 73.1% of cases"));
    let void = folder.read("a.json").replace("\"public_bounds\": true", "\"public_bounds\": false");
    folder.write("a.json", &void);
    let said = folder.run("inspect a.json").stdout;
    assert!(said.contains("VOID") && !said.contains("is right afterwards"), "{said}");
}

#[test]
fn a_confidential_number_of_records_is_not_told() {
    let folder = Folder::new();
    let ran = folder.release("--neighbours add-remove -o a.json");
    ran.says(0, &["a confidential number of records"]);
    assert!(!ran.stderr.contains("100"), "{}", ran.stderr);
    let told = folder.release("--neighbours add-remove --no-ledger -o b.json --json").json();
    assert!(told["records"].is_null() && told["rows"].is_null(), "{told}");
}

#[cfg(unix)]
#[test]
fn a_ledger_is_for_its_owner() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    folder.release("-o a.json").says(0, &[]);
    let mode = std::fs::metadata(folder.file("organza.ledger")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}
