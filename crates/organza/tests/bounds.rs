//! `organza bounds`: templates, private bounds and common bounds.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod support;

use support::Folder;

/// A table of so many rows: a year, an income and a yes or no.
fn people(rows: usize) -> Folder {
    let folder = Folder::new();
    let row = |i: usize| format!("{},{},{}\n", 1990 + (i * 7) % 31, 20_000 + (i * 37) % 50_000, i % 2);
    folder.write("people.csv", &format!("year,income,ill\n{}", (0..rows).map(row).collect::<String>()));
    folder
}

#[test]
fn a_template_is_filled_in_by_hand() {
    let folder = people(10);
    let shown = folder.run("bounds --template people.csv");
    shown.says(0, &[]);
    assert!(shown.stdout.contains("[year]\n# lower = \n# upper = \n"), "{}", shown.stdout);
    assert!(!shown.stdout.contains("1990"), "{}", shown.stdout);
    folder.run("bounds people.csv --template -o b.toml").says(0, &["b.toml"]);
    folder.run("bounds people.csv --template -o b.toml").says(2, &["exists already"]);
    folder.run("bounds people.csv").says(2, &["--columns"]);
}

#[test]
fn private_bounds_are_charged_and_serve_a_release() {
    let folder = people(5000);
    folder.run("ledger budget --dataset people --epsilon 3 --delta 1e-6").says(0, &[]);
    let dry = folder.run("bounds people.csv --columns year,income --epsilon 1 --dry-run");
    dry.says(0, &[]);
    assert!(dry.stdout.contains("it fits") && dry.stdout.contains("year, income"), "{}", dry.stdout);
    let ran = folder.run("bounds people.csv --columns year,income,ill --epsilon 1 -o b.toml");
    ran.says(0, &["spent epsilon = 0.999999"]); // at the delta of the budget
    let text = folder.read("b.toml");
    assert!(text.contains("epsilon = 1, delta = 0") && text.contains("party \"people\""), "{text}");
    folder
        .run(
            "release people.csv --formula ill~year+income --bounds b.toml --epsilon 1 --delta 1e-6 -o r.json",
        )
        .says(0, &["spent epsilon"]);
    // A second look does not fit, and leaves nothing behind.
    folder.run("bounds people.csv --columns year --epsilon 2.5 -o c.toml").says(1, &["does not suffice"]);
    assert!(!folder.names().iter().any(|name| name == "c.toml" || name.starts_with(".organza")));
    folder.run("bounds people.csv --columns site --epsilon 1 -o c.toml").says(2, &["no column \"site\""]);
    folder.run("bounds people.csv --columns year,year --epsilon 1 -o c.toml").says(2, &["given twice"]);
    folder.run("bounds people.csv --columns year --epsilon 0 -o c.toml").says(2, &["--epsilon"]);
}

/// Catches a share after which the rest of the budget does not fit, and one that leaves a part unused.
#[test]
fn a_share_of_the_budget_leaves_the_rest() {
    let folder = people(5000);
    folder.run("ledger budget --dataset people --epsilon 1 --delta 1e-6").says(0, &[]);
    let bounds = "bounds people.csv --columns year,income,ill --epsilon 1 --share 0.1 -o b.toml";
    folder.run(bounds).says(2, &["--delta"]);
    folder.run(&format!("{bounds} --delta 1e-6")).says(0, &[]);
    assert!(folder.read("b.toml").contains("delta = 0.000001"), "{}", folder.read("b.toml"));
    let release =
        "release people.csv --formula ill~year+income --bounds b.toml --delta 1e-6 -o r.json --epsilon";
    folder.run(&format!("{release} 0.91")).says(1, &["does not suffice"]);
    folder.run(&format!("{release} 0.9")).says(0, &["spent epsilon"]);
}

/// Catches a column that noise hides and that gets bounds all the same.
#[test]
fn what_noise_hides_is_said() {
    let folder = people(20);
    let ran = folder.run("bounds people.csv --columns year --epsilon 0.01 --no-ledger -o b.toml");
    ran.says(3, &["noise hides year"]);
    assert!(folder.read("b.toml").contains("# noise hides this column"), "{}", folder.read("b.toml"));
}

#[test]
fn parties_join_their_bounds() {
    let folder = Folder::new();
    folder.write("a.toml", "[x]\nlower = 0\nupper = 5\n");
    folder.write("b.toml", "[x]\nlower = -1\nupper = 4\n");
    folder.run("bounds --combine a.toml b.toml -o c.toml").says(0, &[]);
    let text = folder.read("c.toml");
    assert!(text.contains("lower = -1\nupper = 5") && text.contains("a.toml, b.toml"), "{text}");
    folder.run("bounds --combine a.toml none.toml").says(2, &["none.toml"]);
}
