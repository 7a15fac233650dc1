use super::*;

fn canonical(text: &str) -> String {
    text.parse::<Formula>().unwrap_or_else(|error| panic!("{error}")).to_string()
}

#[test]
fn operators_expand_as_in_r() {
    let cases = [
        ("y ~ x1 + x2", "y ~ x1 + x2"),
        ("y~x1-1", "y ~ 0 + x1"),
        ("y ~ x1 + 0", "y ~ 0 + x1"),
        ("y ~ 0 + x1 + 1", "y ~ x1"),
        ("y ~ x1 - 0", "y ~ x1"),
        ("y ~ 1", "y ~ 1"),
        ("y ~ -x1", "y ~ 1"),
        ("y ~ x1 - x1", "y ~ 1"),
        ("y ~ a:b + c", "y ~ c + a:b"),
        ("y ~ a*b", "y ~ a + b + a:b"),
        ("y ~ a*b*c", "y ~ a + b + c + a:b + a:c + b:c + a:b:c"),
        ("y ~ (a + b + c)^2", "y ~ a + b + c + a:b + a:c + b:c"),
        ("y ~ (a + b)**3", "y ~ a + b + a:b"),
        ("y ~ (a + b):(c + d)", "y ~ a:c + a:d + b:c + b:d"),
        ("y ~ (1 + a):b", "y ~ b + a:b"),
        ("y ~ (1 + a + b)^2", "y ~ a + b + a:b"),
        ("y ~ (0 + a) + b", "y ~ 0 + a + b"),
        ("y ~ a + b:a + a:b + a", "y ~ a + b:a"),
        ("y ~ a*b - b:a", "y ~ a + b"),
        ("y ~ a:b:a", "y ~ a:b"),
        ("y ~ a*b - (a + b)", "y ~ a:b"),
        ("y ~ + a^2", "y ~ a"),
    ];
    for (text, expected) in cases {
        assert_eq!(canonical(text), expected, "{text}");
    }
}

#[test]
fn arithmetic_keeps_its_tree_with_the_fewest_parentheses() {
    let cases = [
        ("log(y)~I(x^2)", "log(y) ~ I(x^2)"),
        ("y ~ I(x1*x2/3+1)", "y ~ I(x1 * x2 / 3 + 1)"),
        ("y ~ I((a-b)-c) + I(a-(b-c))", "y ~ I(a - b - c) + I(a - (b - c))"),
        ("y ~ I(-a^2) + I((-a)^2)", "y ~ I(-a^2) + I((-a)^2)"),
        ("y ~ I(a^b^c) + I((a^b)^c)", "y ~ I(a^b^c) + I((a^b)^c)"),
        ("y ~ I(a^-2)", "y ~ I(a^-2)"),
        ("y ~ I(a * -b) + I(+a)", "y ~ I(a * -b) + I(a)"),
        ("y ~ I(I(a) + 1)", "y ~ I(a + 1)"),
        ("y ~ log(log1p(x)) + I(log(x))", "y ~ log(log1p(x)) + I(log(x))"),
        ("y ~ I(1e3 * x + .5 + 2.50)", "y ~ I(1000 * x + 0.5 + 2.5)"),
        ("y ~ `body mass` + log(`a\\`b\\\\`)", "y ~ `body mass` + log(`a\\`b\\\\`)"),
        ("`y` ~ `x.1` + .x + _x + größe", "y ~ x.1 + .x + _x + größe"),
        ("y ~ I + log + I(I)", "y ~ I + log + I(I)"),
        ("y ~\n a +\t b\n", "y ~ a + b"),
    ];
    for (text, expected) in cases {
        assert_eq!(canonical(text), expected, "{text}");
    }
}

#[test]
fn a_response_of_several_columns_may_share_them() {
    assert_eq!(canonical("I(after - before) ~ before"), "I(after - before) ~ before");
    assert!("I(after - before) ~ I(after - before):x".parse::<Formula>().is_err());
    assert!("log(y) ~ x:I(y^2)".parse::<Formula>().is_err());
}

fn message(text: &str) -> String {
    text.parse::<Formula>().unwrap_err().to_string()
}

#[test]
fn errors_point_at_the_position() {
    let cases = [
        (
            "y ~ x1 +",
            "formula, column 9: expected a term, found the end of the formula\n  y ~ x1 +\n          ^",
        ),
        (
            "y ~ .",
            "formula, column 5: `.` (all other columns) is not supported: name every column, because each \
             needs public bounds\n  y ~ .\n      ^",
        ),
        (
            "y ~ x + I(y)",
            "formula, column 9: the response `y` is among the features, in `I(y)`; remove it\n  y ~ x + \
             I(y)\n          ^",
        ),
        (
            "y ~ sin(x)",
            "formula, column 5: unknown function `sin`; known are log, log2, log10, log1p, exp, sqrt, abs \
             and I\n  y ~ sin(x)\n      ^",
        ),
        (
            "y + x",
            "formula, column 3: the response is one column or one function; put arithmetic in I(...)\n  y + \
             x\n    ^",
        ),
        ("y", "formula, column 2: expected `~` and the terms, as in `y ~ x1 + x2`\n  y\n   ^"),
        ("~ x", "formula, column 1: name the response before `~`\n  ~ x\n  ^"),
        (
            "y ~ (a + b",
            "formula, column 11: expected `)`, found the end of the formula\n  y ~ (a + b\n            ^",
        ),
        (
            "y ~ größe 2",
            "formula, column 11: unexpected `2`; expected an operator such as `+`\n\
             \x20 y ~ größe 2\n\
             \x20           ^",
        ),
        (
            "y ~ a / b",
            "formula, column 7: `/` is not supported here; write a + a:b instead of a/b, or I(a / b) for a \
             quotient\n  y ~ a / b\n        ^",
        ),
        (
            "y ~ 0",
            "formula, column 6: no terms are left; write `~ 1` for the intercept alone\n  y ~ 0\n       ^",
        ),
        (
            "y ~ x^n",
            "formula, column 7: expected a whole number of at least 1; for a power of a column write \
             I(x^2)\n  y ~ x^n\n        ^",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(message(text), expected);
    }
}

#[test]
fn other_mistakes_have_their_own_words() {
    let cases = [
        ("y ~ x ~ z", "a formula has one `~`"),
        ("y = x", "unexpected `=`"),
        ("y ~ (1 | g)", "grouped effects"),
        ("y ~ 2x", "runs into a name"),
        ("y ~ I(1e999)", "not a finite number"),
        ("y ~ I(1.2.3)", "not a finite number"),
        ("y ~ `x", "no partner"),
        ("y ~ ``", "is empty"),
        ("y ~ `a\\n`", "stands before a backtick"),
        ("y ~ log(x, 2)", "one argument"),
        ("y ~ log()", "expected a column, a number or a function"),
        ("y ~ 3", "only 0 and 1"),
        ("y ~ x:(0 + z)", "cannot stand in an interaction"),
        ("y ~ I(.)", "name every column"),
        ("y ~ a + + b", "expected a term, found `+`"),
        ("y ~ ", "expected a term"),
        ("", "expected a term"),
        ("y ~ x $", "unexpected `$`"),
    ];
    for (text, expected) in cases {
        assert!(message(text).contains(expected), "{text}: {}", message(text));
    }
}

#[test]
fn hostile_texts_end_in_errors() {
    let deep = |open: &str, close: &str| format!("y ~ {}x{}", open.repeat(100_000), close.repeat(100_000));
    assert!(message(&deep("(", ")")).contains("nested deeper"));
    assert!(message(&deep("log(", ")")).contains("nested deeper"));
    assert!(message(&format!("y ~ I({}x)", "-".repeat(100_000))).contains("nested deeper"));
    assert!(message(&format!("y ~ I(x{})", "^x".repeat(100_000))).contains("nested deeper"));
    assert!(message(&format!("y ~ I(x{})", " + x".repeat(100_000))).contains("more than 256 operators"));
    let wide: Vec<String> = (0..200).map(|k| format!("x{k}")).collect();
    assert!(message(&format!("y ~ ({})^1000", wide.join("+"))).contains("more than 10000 terms"));
    assert!(message(&"y".repeat(2_000_000)).contains("bytes at most"));
}

#[test]
fn a_long_formula_is_cut_around_the_position() {
    let columns: Vec<String> = (0..500).map(|k| format!("x{k}")).collect();
    let error = message(&format!("y ~ {} + $ + {}", columns.join(" + "), columns.join(" + ")));
    let lines: Vec<&str> = error.lines().collect();
    assert_eq!(lines.len(), 3);
    let caret = lines[2].chars().count() - 1;
    assert_eq!(lines[1].chars().nth(caret), Some('$'));
    assert!(lines[1].chars().count() <= 92);
}
