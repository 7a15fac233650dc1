//! The columns of our designs against those of formulaic and R, by name and by weighted sum.
//!
//! Golden files: `tests/golden/formula.csv` by `tools/formulaic_terms.py`, `tests/golden/formula_r.csv` by
//! `tools/r_terms.R`; their first lines say with which versions and when.

#![allow(clippy::unwrap_used)] // the exemption of clippy.toml covers test functions only

use organza_curator::bounds::Bounds;
use organza_curator::formula::{BlockColumns, Design, Formula, Workspace};

const BOUNDS: &str = "
y = { lower = 1, upper = 20 }
x1 = { lower = 0.5, upper = 8 }
x2 = { lower = 1, upper = 9 }
x3 = { lower = -3, upper = 3 }
'body mass' = { lower = 40, upper = 80 }
site = { levels = ['a', 'b', 'c'] }
sex = { levels = ['f', 'm'] }
arm = { levels = ['p', 'q'] }
";
const ROWS: usize = 24;

/// The table of `frame` in `tools/formulaic_terms.py`.
fn numeric(column: &str) -> Vec<f64> {
    let value: fn(usize) -> f64 = match column {
        "y" => |i| 3.0 + (i * i % 11) as f64,
        "x1" => |i| 1.0 + i as f64 / 4.0,
        "x2" => |i| 2.0 + (5 * i % 7) as f64,
        "x3" => |i| -2.0 + (3 * i % 5) as f64,
        "body mass" => |i| 50.0 + (7 * i % 13) as f64,
        _ => panic!("unknown column {column}"),
    };
    (0..ROWS).map(value).collect()
}

fn codes(column: &str) -> Vec<u32> {
    let code: fn(u32) -> u32 = match column {
        "site" => |i| i % 3,
        "sex" => |i| i / 3 % 2,
        "arm" => |i| i / 6 % 2,
        _ => panic!("unknown column {column}"),
    };
    (0..ROWS as u32).map(code).collect()
}

/// What a formula comes to: ours, or that of another program.
#[derive(Debug, Clone)]
struct Columns {
    response: String,
    intercept: bool,
    features: Vec<(String, f64)>,
}

fn ours(formula: &str) -> Columns {
    let bounds = Bounds::from_toml(BOUNDS, "bounds.toml").unwrap();
    let design = Design::compile(&formula.parse::<Formula>().unwrap(), &bounds).unwrap();
    let numeric: Vec<Vec<f64>> =
        design.numeric_columns().iter().map(|column| numeric(&column.name)).collect();
    let codes: Vec<Vec<u32>> =
        design.categorical_columns().iter().map(|column| codes(&column.name)).collect();
    let numeric: Vec<&[f64]> = numeric.iter().map(Vec::as_slice).collect();
    let categorical: Vec<&[u32]> = codes.iter().map(Vec::as_slice).collect();
    let mut out = vec![Vec::new(); design.output_columns()];
    let block = BlockColumns { numeric: &numeric, categorical: &categorical };
    design.evaluate(&block, &mut Workspace::default(), &mut out).unwrap();
    let sum =
        |column: &Vec<f64>| column.iter().zip(1..).map(|(value, weight)| value * f64::from(weight)).sum();
    let names = design.features().iter().map(|feature| feature.name.clone());
    let features = names.zip(out.iter().map(sum)).collect();
    Columns { response: design.response().name.clone(), intercept: design.intercept(), features }
}

/// Formula and columns of each line; a formula that the program refused has none.
fn golden(text: &str) -> Vec<(&str, Option<Columns>)> {
    text.lines().skip(2).map(golden_line).collect()
}

fn golden_line(line: &str) -> (&str, Option<Columns>) {
    let [formula, response, intercept, names, sums] = line.split(',').collect::<Vec<_>>()[..] else {
        panic!("five fields expected: {line}");
    };
    if response == "refused" {
        return (formula, None);
    }
    let list = |text: &str| text.split(" | ").filter(|part| !part.is_empty()).map(str::to_owned).collect();
    let (names, sums): (Vec<String>, Vec<String>) = (list(names), list(sums));
    let features = names.into_iter().zip(sums.iter().map(|sum| sum.parse().unwrap())).collect();
    (formula, Some(Columns { response: response.to_owned(), intercept: intercept == "true", features }))
}

fn same(left: &Columns, right: &Columns) -> bool {
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-13 * a.abs().max(1.0);
    let mut pairs = left.features.iter().zip(&right.features);
    left.response == right.response
        && left.intercept == right.intercept
        && left.features.len() == right.features.len()
        && pairs.all(|((name, sum), (other, other_sum))| name == other && close(*sum, *other_sum))
}

/// R writes the factors of a term in the order of the variables in the formula, we as they were written.
fn without_order(mut columns: Columns) -> Columns {
    for (name, _) in &mut columns.features {
        let mut parts: Vec<&str> = name.split(':').collect();
        parts.sort_unstable();
        *name = parts.join(":");
    }
    columns.features.sort_by(|(left, _), (right, _)| left.cmp(right));
    columns
}

/// Formulaic splits a term whose margins are not in the model, so that the rank is full; R and we do not.
const SPLIT_BY_FORMULAIC: [&str; 3] = ["y ~ site:sex", "y ~ site:sex + site:arm", "y ~ x1:site + site:sex"];

/// R forgets that a margin must have the same numeric factors: one redundant column, one missing column.
const WRONG_RANK_IN_R: [&str; 2] = ["y ~ 0 + x1 + x1:site", "y ~ x1:site + site:sex"];

#[test]
fn columns_are_those_of_formulaic() {
    let rows = golden(include_str!("golden/formula.csv"));
    assert!(rows.len() > 70);
    for (formula, expected) in rows {
        let Some(expected) = expected else { continue };
        let found = ours(formula);
        let agree = same(&found, &expected);
        assert_eq!(agree, !SPLIT_BY_FORMULAIC.contains(&formula), "{formula}\n{found:?}\n{expected:?}");
    }
}

#[test]
fn columns_are_those_of_r() {
    let rows = golden(include_str!("golden/formula_r.csv"));
    assert!(rows.len() > 70);
    for (formula, expected) in rows {
        let (found, expected) = (without_order(ours(formula)), without_order(expected.unwrap()));
        let agree = same(&found, &expected);
        assert_eq!(agree, !WRONG_RANK_IN_R.contains(&formula), "{formula}\n{found:?}\n{expected:?}");
    }
}
