use super::*;

fn names(formula: &str) -> Vec<String> {
    let design = compiled(formula, "").unwrap();
    design.features().iter().map(|feature| feature.name.clone()).collect()
}

fn interval(term: &str) -> (f64, f64) {
    let design = compiled(&format!("y ~ {term}"), "").unwrap();
    (design.features()[0].lower, design.features()[0].upper)
}

#[test]
fn intervals_are_exact_where_the_arithmetic_is() {
    let cases = [
        ("x", (0.0, 10.0)),
        ("z", (-2.0, 3.0)),
        ("I(z^2)", (0.0, 9.0)),
        ("I(z * z)", (0.0, 9.0)),
        ("I(z^3)", (-8.0, 27.0)),
        ("I(-z^2)", (-9.0, 0.0)),
        ("I((z - 1)^4)", (0.0, 81.0)),
        ("I(w^-1)", (0.25, 2.0)),
        ("I(w^-2)", (0.0625, 4.0)),
        ("I(1 / w)", (0.25, 2.0)),
        ("I(z / w)", (-4.0, 6.0)),
        ("I(x - z)", (-3.0, 12.0)),
        ("I(3 - 2 * z)", (-3.0, 7.0)),
        ("I(z * x + 1)", (-19.0, 31.0)),
        ("z:x", (-20.0, 30.0)),
        ("z:x:w", (-80.0, 120.0)),
        ("abs(z)", (0.0, 3.0)),
        ("abs(w)", (0.5, 4.0)),
        ("abs(-w)", (0.5, 4.0)),
        ("sqrt(x)", (0.0, 10.0_f64.sqrt())),
        ("log1p(x)", (0.0, libm::log1p(10.0))),
        ("log2(w)", (-1.0, 2.0)),
        ("log10(I(x + 1) * 10)", (1.0, libm::log10(110.0))),
        ("exp(-x)", (libm::exp(-10.0), 1.0)),
        ("I(w^0.5)", (libm::pow(0.5, 0.5), 2.0)),
        ("I(w^z)", (0.0625, 64.0)),
        ("I(x^(1 / 2))", (0.0, libm::pow(10.0, 0.5))),
        ("I(x^(4 / 2))", (0.0, 100.0)),
        ("I(0 * x + z)", (-2.0, 3.0)),
    ];
    for (term, expected) in cases {
        assert_eq!(interval(term), expected, "{term}");
    }
}

#[test]
fn indicators_are_between_0_and_1_and_times_a_number_reach_0() {
    let design = compiled("y ~ w*site", "").unwrap();
    let found: Vec<_> = design.features().iter().map(|f| (f.name.as_str(), f.lower, f.upper)).collect();
    let expected = [
        ("w", 0.5, 4.0),
        ("site[b]", 0.0, 1.0),
        ("site[c]", 0.0, 1.0),
        ("w:site[b]", 0.0, 4.0),
        ("w:site[c]", 0.0, 4.0),
    ];
    assert_eq!(found, expected);
}

#[test]
fn contrasts_keep_the_span_without_redundant_columns() {
    assert_eq!(names("y ~ 0 + sex + site"), ["sex[f]", "sex[m]", "site[b]", "site[c]"]);
    assert_eq!(names("y ~ 0 + x + x:sex"), ["x", "x:sex[m]"]);
    let both = ["site[a]:x", "site[b]:x", "site[c]:x", "site[a]:sex[m]", "site[b]:sex[m]", "site[c]:sex[m]"];
    assert_eq!(names("y ~ site:x + site + site:sex")[2..], both);
    assert_eq!(names("y ~ site:x + site:sex").len(), 9);
    assert_eq!(names("y ~ site:sex")[..2], ["site[a]:sex[f]", "site[b]:sex[f]"]);
}

#[test]
fn columns_come_in_the_order_of_the_formula_with_the_response_first() {
    let design = compiled("log(y) ~ I(z * w) + sex:x + site + w", "").unwrap();
    let numeric: Vec<&str> = design.numeric_columns().iter().map(|c| c.name.as_str()).collect();
    let categorical: Vec<&str> = design.categorical_columns().iter().map(|c| c.name.as_str()).collect();
    assert_eq!(numeric, ["y", "z", "w", "x"]);
    assert_eq!(categorical, ["site", "sex"]);
    assert_eq!(design.response().name, "log(y)");
    assert_eq!((design.response().lower, design.response().upper), (0.0, libm::log(9.0)));
    assert_eq!(design.output_columns(), design.features().len() + 1);
    assert!(design.intercept());
}

#[test]
fn the_intercept_alone_is_a_design() {
    let design = compiled("y ~ 1", "").unwrap();
    assert!(design.features().is_empty() && design.intercept());
    assert!(!compiled("y ~ 0 + x", "").unwrap().intercept());
}

#[test]
fn bounds_of_a_derived_term_tighten_it_wherever_it_stands() {
    let more = "['log(w)']\nlower = 0\nupper = 1\n['log(y)']\nlower = -9\nupper = 2\n['x:z']\nlower = -5\nupper = 5\n";
    let design = compiled("log(y) ~ log( w ) + log(w):z + z:x", more).unwrap();
    let found: Vec<_> = design.features().iter().map(|f| (f.name.as_str(), f.lower, f.upper)).collect();
    let expected = [("log(w)", 0.0, 1.0), ("log(w):z", -2.0, 3.0), ("z:x", -5.0, 5.0)];
    assert_eq!(found, expected);
    assert_eq!((design.response().lower, design.response().upper), (0.0, 2.0));
}
