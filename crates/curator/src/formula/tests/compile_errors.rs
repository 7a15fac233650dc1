use super::*;

fn message(formula: &str, more_bounds: &str) -> String {
    compiled(formula, more_bounds).unwrap_err().to_string()
}

#[test]
fn missing_bounds_say_how_to_give_them() {
    let expected = "column `v` has no public bounds; add to the bounds file

    [v]
    lower = LOWER
    upper = UPPER

or give the setting `bound` v=LOWER:UPPER (a categorical column: levels = [\"a\", \"b\"], or the setting `bound` v=a,b)";
    assert_eq!(message("y ~ x + log(v) + v:x", ""), expected);
    let odd = message("y ~ `body mass` + `log(v)` + v", "");
    assert!(
        odd.contains("[\"body mass\"]\n") && odd.contains("the setting `bound` '`body mass`=LOWER:UPPER'"),
        "{odd}"
    );
    assert!(odd.contains("the setting `bound` '`body mass`=a,b'"), "{odd}");
    assert!(odd.contains("[\"`log(v)`\"]\n") && odd.contains("column `v` has"), "{odd}");
}

#[test]
fn undefined_parts_name_the_column_and_its_bound() {
    let cases = [
        (
            "y ~ log(x)",
            "`log(x)` is not defined for every value inside the public bounds (x: lower = 0, upper = 10): \
             log needs values above 0, but `x` reaches 0; raise a bound, or use log1p",
        ),
        (
            "y ~ sqrt(x + z)",
            "`sqrt(x + z)` is not defined for every value inside the public bounds (x: lower = 0, upper = \
             10; z: lower = -2, upper = 3): sqrt needs values from 0, but `x + z` reaches -2; raise a bound",
        ),
        (
            "y ~ I(1 + x / z)",
            "`x / z` is not defined for every value inside the public bounds (x: lower = 0, upper = 10; z: \
             lower = -2, upper = 3): the divisor may be 0; choose bounds that keep it away from 0",
        ),
        (
            "y ~ exp(100 * x)",
            "`exp(100 * x)` is not defined for every value inside the public bounds (x: lower = 0, upper = \
             10): it overflows; tighten the bounds",
        ),
        (
            "y ~ I(z^0.5)",
            "`z^0.5` is not defined for every value inside the public bounds (z: lower = -2, upper = 3): a \
             power that is not a whole number needs a positive base, which reaches -2 here; raise a bound or \
             take a whole power",
        ),
    ];
    for (formula, expected) in cases {
        assert_eq!(message(formula, ""), expected);
    }
}

#[test]
fn other_undefined_parts_are_refused() {
    let cases = [
        ("y ~ I(x^-1)", "a negative power of 0"),
        ("y ~ log1p(z)", "log1p needs values above -1, but `z` reaches -2"),
        ("y ~ log2(z)", "log2 needs values above 0"),
        ("y ~ I(x^1001)", "whole exponents may be 1000 at most"),
        ("y ~ I(x^400)", "it overflows"),
        ("y ~ I(x^w + x^z)", "needs a positive base, which reaches 0"),
        ("y ~ I(1 / (1 - 1) + x)", "(it has no column): the divisor may be 0"),
        ("y ~ I(1e308 * w + w)", "it overflows"),
        ("y ~ I(1e200 * w):I(1e200 * x)", "it overflows"),
        ("y ~ I(1e-200 * w / x)", "the divisor may be 0"),
        ("log(z) ~ x", "log needs values above 0"),
    ];
    for (formula, expected) in cases {
        assert!(message(formula, "").contains(expected), "{formula}: {}", message(formula, ""));
    }
}

#[test]
fn constant_terms_are_refused() {
    assert_eq!(
        message("y ~ x + I(2 + 3)", ""),
        "constant term: `I(2 + 3)` is always 5; remove it from the formula"
    );
    assert!(message("y ~ I(x^0)", "").contains("constant term"));
    assert!(message("y ~ I(0 * x):z", "").contains("constant term"));
    assert!(message("I(1) ~ x", "").contains("constant term"));
    assert!(compiled("y ~ I(2):x", "").is_ok());
}

#[test]
fn categorical_columns_stand_alone_or_in_interactions() {
    assert_eq!(
        message("site ~ x", ""),
        "the response `site` is categorical; regression needs a numeric response: give lower and upper \
         instead of levels"
    );
    assert_eq!(
        message("y ~ I(x * site)", ""),
        "`I(x * site)` computes with the categorical column `site`; use `site` as a term of its own, or give \
         it lower and upper instead of levels"
    );
    assert!(message("y ~ log(site)", "").contains("`log(site)` computes"));
    assert!(message("y ~ I(site)", "").contains("`I(site)` computes"));
    assert!(message("log(site) ~ x", "").contains("`log(site)` computes"));
}

#[test]
fn bounds_of_derived_terms_are_checked() {
    let outside = "['log(w)']\nlower = 2\nupper = 3\n";
    assert_eq!(
        message("y ~ log2(w)", &outside.replace("log", "log2")),
        "the bounds of `log2(w)` are given as [2, 3], but its columns allow [-1, 2] only; bounds of a \
         derived term may tighten that interval, so give bounds that meet it in more than one point"
    );
    assert!(message("y ~ w:site", "['w:site']\nlower = 0\nupper = 1\n").contains("has a categorical column"));
    assert!(message("y ~ log(x)", "['log(x)']\nlower = 0\nupper = 2\n").contains("log needs values above 0"));
}

#[test]
fn too_many_features_are_refused() {
    let levels: Vec<String> = (0..400).map(|k| k.to_string()).collect();
    let more = format!("p = {{ levels = {levels:?} }}\nq = {{ levels = {levels:?} }}\n");
    assert!(message("y ~ p*q", &more).contains("more than 100000 features"));
}
