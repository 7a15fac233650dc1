//! Texts that nobody writes: they are refused in a moment, and never by a panic.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;

/// Reads a formula and, if that goes well, compiles it; the error if there is one. Neither may take long.
fn refused(text: &str) -> Option<String> {
    let begin = Instant::now();
    let error = match text.parse::<Formula>() {
        Ok(formula) => {
            let mut bounds = String::new();
            for column in formula.columns() {
                bounds += &format!("{column} = {{ lower = 0, upper = 1 }}\n");
            }
            let bounds = Bounds::from_toml(&bounds, "b").unwrap();
            Design::compile(&formula, &bounds).err().map(|error| error.to_string())
        }
        Err(error) => Some(error.to_string()),
    };
    let taken = begin.elapsed();
    assert!(taken < Duration::from_secs(5), "{taken:?} for {}...", text.chars().take(60).collect::<String>());
    error
}

fn names(count: usize, between: &str) -> String {
    (0..count).map(|k| format!("v{k}")).collect::<Vec<_>>().join(between)
}

#[test]
fn hostile_formulas_are_refused_quickly() {
    let expects = |text: String, part: &str| {
        let error = refused(&text).expect(part);
        assert!(error.contains(part) && error.len() < 1000, "{part}: {error:.200}");
    };
    expects(format!("y ~ {}", "(".repeat(1_000_000)), "nested deeper");
    expects(format!("y ~ I({}", "-".repeat(1_000_000)), "nested deeper");
    expects(format!("y ~ {}x", "log(".repeat(200_000)), "nested deeper");
    expects(format!("y ~ {}", names(30, "*")), "terms");
    expects(format!("y ~ {}", names(100_000, ":")), "more than 64 factors");
    expects(format!("y ~ ({})^1000", names(100, "+")), "terms");
    expects(format!("y ~ ({})^2", names(12, "*")), "pairs of terms");
    expects(format!("y ~ {}", vec!["(a+b+c+d+e)^5"; 20_000].join(":")), "pairs of terms");
    expects(format!("y ~ {}", names(100_000, "+")), "terms");
    // Odd, but possible: terms that are not there are taken away.
    assert_eq!(refused(&format!("y ~ {} - b{}", names(9_000, "+"), " - b".repeat(200_000))), None);
    expects("x".repeat(2 << 20), "bytes at most");
}

/// Interactions of levels multiply.
#[test]
fn hostile_levels_are_refused_quickly() {
    let levels = |count: usize, length: usize| {
        (0..count).map(|k| format!("'{k}{}'", "l".repeat(length))).collect::<Vec<_>>().join(",")
    };
    let compile = |columns: usize, levels: &str, formula: &str| {
        let begin = Instant::now();
        let text: String = (0..columns).map(|k| format!("v{k} = {{ levels = [{levels}] }}\n")).collect();
        let bounds = Bounds::from_toml(&(text + "y = { lower = 0, upper = 1 }"), "b").unwrap();
        let error = Design::compile(&formula.parse().unwrap(), &bounds).unwrap_err().to_string();
        assert!(begin.elapsed() < Duration::from_secs(10), "{:?} for {formula:.40}", begin.elapsed());
        assert!(error.contains("features"), "{error}");
    };
    compile(4, &levels(1000, 0), "y ~ v0:v1:v2:v3");
    compile(2, &levels(90, 40_000), "y ~ v0:v1");
    compile(17, &levels(2, 0), &format!("y ~ {}", names(17, ":")));
    // Most terms that a formula can have, all of levels.
    compile(9, &levels(12, 0), &format!("y ~ {}", names(9, "*")));
}

fn pieces() -> impl Strategy<Value = String> {
    let pieces = [
        "a", "b", "y", "~", "+", "-", "*", ":", "^", "(", ")", "I(", "log(", "1", "0", "2", "1e308", "`",
        "\\", ".", " ", "**", "/", ",", "\u{0}", "\u{202e}", "1e", "=", "|",
    ];
    proptest::collection::vec(proptest::sample::select(pieces.to_vec()), 0..40)
        .prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(seeded(2000))]

    #[test]
    fn no_text_makes_the_parsers_panic(any in any::<String>(), pieces in pieces()) {
        for text in [any.clone(), format!("y ~ {any}"), pieces.clone(), format!("y~{pieces}")] {
            let _ = text.parse::<Formula>().map(|formula| formula.to_string());
            let _ = text.parse::<super::super::Term>();
            let _ = Bounds::default().set_flag(&text);
            let _ = Bounds::from_toml(&text, "b");
        }
    }
}
