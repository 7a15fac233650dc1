use proptest::prelude::*;

use super::*;
use crate::formula::Term;

fn read(text: &str) -> Bounds {
    Bounds::from_toml(text, "bounds.toml").unwrap_or_else(|error| panic!("{error}"))
}

fn numeric(lower: f64, upper: f64) -> ColumnBounds {
    ColumnBounds::Numeric { lower, upper }
}

fn categorical(levels: &[&str]) -> ColumnBounds {
    ColumnBounds::Categorical { levels: levels.iter().map(|level| (*level).to_owned()).collect() }
}

fn interval(bounds: &Bounds, term: &str) -> Option<(f64, f64)> {
    bounds.term(&term.parse::<Term>().unwrap()).map(|interval| (interval.lower, interval.upper))
}

#[test]
fn a_file_has_one_table_per_column_in_its_order() {
    let text = "[x]\nlower = 0\nupper = 1_000\n[site]\nlevels = ['b', 1, -2.50, 1_0]\n\
                ['body mass']\nlower = -1.5\nupper = 2e3\n[a]\nlevels=['x','y']";
    let found: Vec<_> =
        read(text).columns().map(|(name, bounds)| (name.to_owned(), bounds.clone())).collect();
    let expected = [
        ("x", numeric(0.0, 1000.0)),
        ("site", categorical(&["b", "1", "-2.50", "10"])),
        ("body mass", numeric(-1.5, 2000.0)),
        ("a", categorical(&["x", "y"])),
    ];
    assert_eq!(found, expected.map(|(name, bounds)| (name.to_owned(), bounds)));
}

#[test]
fn keys_that_read_as_derived_terms_tighten_them() {
    let bounds = read(
        "['log( x )']\nlower = 0\nupper = 2\n['x:z']\nlower = 0\nupper = 3\n['`log(x)`']\nlower = 4\nupper = \
         5\n['x + z']\nlower = 6\nupper = 7\n",
    );
    assert_eq!(interval(&bounds, "log(x)"), Some((0.0, 2.0)));
    assert_eq!(interval(&bounds, "z:x"), Some((0.0, 3.0)));
    assert_eq!(interval(&bounds, "I(x + z)"), None);
    assert_eq!(bounds.column("log(x)"), Some(&numeric(4.0, 5.0)));
    assert_eq!(bounds.column("x + z"), Some(&numeric(6.0, 7.0)));
    assert_eq!(bounds.columns().count(), 2);
}

#[test]
fn errors_name_file_line_column_and_remedy() {
    let cases = [
        (
            "[x]\nlower = 0\nuper = 1",
            "bounds.toml:3:1: unknown key `uper` in the bounds of `x` (did you mean `upper`?); known are lower, upper and levels",
        ),
        (
            "[x]\nlower = 5\nupper = 2",
            "bounds.toml:2:9: lower = 5 of `x` is not below upper = 2; give lower < upper",
        ),
        (
            "[x]\nlower = 5\nupper = 5.0",
            "bounds.toml:2:9: lower = 5 of `x` is not below upper = 5; give lower < upper",
        ),
        ("[x]\nlower = 5\nupper = inf", "bounds.toml:3:9: upper of `x` is inf; give a finite number"),
        ("[x]\nupper = 5\nlower = nan", "bounds.toml:3:9: lower of `x` is NaN; give a finite number"),
        (
            "[x]\nlower = -1e308\nupper = 1e308",
            "bounds.toml:2:9: the bounds of `x` are too far apart for double precision; tighten them",
        ),
        (
            "[x]\nlower = 5\nlevels = ['a', 'b']",
            "bounds.toml:3:10: `x` has both bounds and levels; keep lower and upper for numbers, or levels \
             for categories",
        ),
        (
            "\n[site]\nlevels = ['a']",
            "bounds.toml:3:10: `site` needs at least 2 levels, the first one is the reference; 1 given",
        ),
        (
            "[site]\nlevels = ['1', 'b',\n  1]",
            "bounds.toml:3:3: level `1` of `site` is given twice; remove one",
        ),
        (
            "'größe' = { lower = 5 }",
            "bounds.toml:1:1: `größe` has no upper; give lower and upper for numbers, or levels for \
             categories",
        ),
        (
            "[x]\nupper = 5",
            "bounds.toml:1:2: `x` has no lower; give lower and upper for numbers, or levels for categories",
        ),
        (
            "'größe' = { lower = 5, upper = 2 }",
            "bounds.toml:1:21: lower = 5 of `größe` is not below upper = 2; give lower < upper",
        ),
        (
            "[x]\n",
            "bounds.toml:1:2: `x` has no bounds and no levels; give lower and upper for numbers, or levels \
             for categories",
        ),
        (
            "x = 3",
            "bounds.toml:1:1: `x` is a number; give a table, `[x]` with lower and upper, or with levels",
        ),
        (
            "[age.years]\nlower = 0\nupper = 1",
            "bounds.toml:1:6: `years` is a table inside `age`; put a column name with a dot in quotes: \
             [\"age.years\"]",
        ),
        ("[x]\nlower = '0'\nupper = 1", "bounds.toml:2:9: lower of `x` is a text; give a decimal number"),
        ("[x]\nlower = 0x1\nupper = 3", "bounds.toml:2:9: lower of `x` is a number; give a decimal number"),
        (
            "[x]\nlevels = 'a'",
            "bounds.toml:2:10: levels of `x` is a text; give a list such as [\"a\", \"b\"]",
        ),
        (
            "[x]\nlevels = ['a', true]",
            "bounds.toml:2:16: a level of `x` is true or false; give a text in quotes or a decimal number",
        ),
        (
            "['log(x)']\nlevels = ['a', 'b']",
            "bounds.toml:2:10: `log(x)` is a derived term and cannot have levels; give lower and upper, or \
             put a column name in backticks",
        ),
        (
            "['x:z']\nlower = 0\nupper = 1\n['z:x']\nlower = 0\nupper = 1",
            "bounds.toml:4:2: bounds of `z:x` are given twice; remove one",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(Bounds::from_toml(text, "bounds.toml").unwrap_err().to_string(), expected, "{text}");
    }
}

#[test]
fn broken_toml_is_located() {
    let broken = Bounds::from_toml("[x]\nlower = 0\nupper == 1\n", "my.toml").unwrap_err().to_string();
    assert!(broken.starts_with("my.toml:3:"), "{broken}");
    let twice = Bounds::from_toml("[x]\nlower = 0\nupper = 1\n[x]\n", "my.toml").unwrap_err().to_string();
    assert!(twice.starts_with("my.toml:4:") && twice.contains("duplicate"), "{twice}");
}

#[test]
fn flags_win_over_the_file() {
    let mut bounds = read("[x]\nlower = 0\nupper = 1\n[z]\nlower = 0\nupper = 1\n");
    for flag in ["x = -1e2 : 10", "site=a, b,c", "z=u,v", "log(x)=0:2", "`a=b`=3:4", "body mass=40:80"] {
        bounds.set_flag(flag).unwrap();
    }
    assert_eq!(bounds.column("x"), Some(&numeric(-100.0, 10.0)));
    assert_eq!(bounds.column("site"), Some(&categorical(&["a", "b", "c"])));
    assert_eq!(bounds.column("z"), Some(&categorical(&["u", "v"])));
    assert_eq!(bounds.column("a=b"), Some(&numeric(3.0, 4.0)));
    assert_eq!(bounds.column("body mass"), Some(&numeric(40.0, 80.0)));
    assert_eq!(interval(&bounds, "log(x)"), Some((0.0, 2.0)));
    let order: Vec<&str> = bounds.columns().map(|(name, _)| name).collect();
    assert_eq!(order, ["x", "z", "site", "a=b", "body mass"]);
}

#[test]
fn bad_flags_say_what_to_write() {
    let end = "write the setting `bound` x=0:10 for numbers or the setting `bound` site=a,b,c for levels";
    let cases = [
        ("x", format!("the setting `bound` x: there is no `=` after the column; {end}")),
        ("=0:1", format!("the setting `bound` =0:1: there is no column before `=`; {end}")),
        ("x=0:b", format!("the setting `bound` x=0:b: `b` is not a number; {end}")),
        (
            "x=0,5:1",
            format!(
                "the setting `bound` x=0,5:1: it has both `:` and `,`; levels with a colon belong in the bounds file; \
                 {end}"
            ),
        ),
        ("x=a,,b", format!("the setting `bound` x=a,,b: a level is empty; {end}")),
        (
            "x=a",
            "the setting `bound` x=a: `x` needs at least 2 levels, the first one is the reference; 1 given"
                .to_owned(),
        ),
        ("x=a,a", "the setting `bound` x=a,a: level `a` of `x` is given twice; remove one".to_owned()),
        (
            "x=2:1",
            "the setting `bound` x=2:1: lower = 2 of `x` is not below upper = 1; give lower < upper"
                .to_owned(),
        ),
        ("x=0:inf", "the setting `bound` x=0:inf: upper of `x` is inf; give a finite number".to_owned()),
    ];
    for (flag, expected) in cases {
        let mut bounds = Bounds::default();
        assert_eq!(bounds.set_flag(flag).unwrap_err().to_string(), expected);
        assert_eq!(bounds, Bounds::default());
    }
}

#[test]
fn inserted_bounds_are_checked() {
    let mut bounds = Bounds::default();
    assert!(bounds.insert("x", numeric(1.0, 0.0)).is_err());
    assert!(bounds.insert("x", categorical(&["a"])).is_err());
    assert!(bounds.insert("x", numeric(0.0, 1.0)).is_ok());
}

#[test]
fn the_text_of_bounds_is_readable() {
    let mut bounds = Bounds::default();
    bounds.insert("x", numeric(0.0, 10.5)).unwrap();
    bounds.insert("age.years", categorical(&["young", "o\"ld"])).unwrap();
    bounds.set_flag("log(x)=0:2").unwrap();
    let expected = "[x]\nlower = 0\nupper = 10.5\n\n\
                    [\"age.years\"]\nlevels = [\"young\", \"o\\\"ld\"]\n\n\
                    [\"log(x)\"]\nlower = 0\nupper = 2\n";
    assert_eq!(bounds.to_toml(), expected);
}

/// Catches stacks that overflow and places that are counted from the beginning for every key.
#[test]
fn hostile_files_are_read_or_refused_quickly() {
    let begin = std::time::Instant::now();
    for text in [
        "[".repeat(1_000_000),
        "a = ".to_owned() + &"[".repeat(1_000_000),
        "a = { b = ".repeat(100_000),
        "a.".repeat(500_000),
    ] {
        assert!(Bounds::from_toml(&text, "b").is_err());
    }
    let many: String = (0..60_000).map(|k| format!("[v{k}]\nlower = 0\nupper = 1\n")).collect();
    assert_eq!(Bounds::from_toml(&many, "b").unwrap().columns().count(), 60_000);
    assert!(Bounds::from_toml(&" ".repeat((16 << 20) + 1), "b").is_err());
    assert!(begin.elapsed() < std::time::Duration::from_secs(10), "{:?}", begin.elapsed());
}

fn any_bounds() -> impl Strategy<Value = ColumnBounds> {
    let finite = proptest::num::f64::NORMAL | proptest::num::f64::ZERO | proptest::num::f64::SUBNORMAL;
    let text = || proptest::collection::vec(any::<char>(), 0..4).prop_map(String::from_iter);
    prop_oneof![
        (finite, finite).prop_map(|(a, b)| numeric(a.min(b), a.max(b))),
        proptest::collection::vec(text(), 2..5).prop_map(|levels| ColumnBounds::Categorical { levels }),
    ]
}

fn any_name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ -~]{0,5}",
        "(log\\(|`|I\\()x(\\)|`|:z)",
        proptest::collection::vec(any::<char>(), 0..4).prop_map(String::from_iter),
    ]
}

proptest! {
    #![proptest_config(crate::formula::seeded(1000))]

    #[test]
    fn the_text_of_bounds_reads_back(
        columns in proptest::collection::vec((any_name(), any_bounds()), 0..5),
        flags in proptest::collection::vec("(log\\(|I\\(2 \\* )[a-c]\\)=-?[0-9]:1[0-9]", 0..3)
    ) {
        let mut bounds = Bounds::default();
        for (name, column) in &columns {
            let _ = bounds.insert(name, column.clone());
        }
        for flag in &flags {
            bounds.set_flag(flag).unwrap();
        }
        let text = bounds.to_toml();
        let again = Bounds::from_toml(&text, "again");
        prop_assert_eq!(again.map_err(|e| TestCaseError::fail(format!("{e}\n{text}")))?, bounds);
    }
}
