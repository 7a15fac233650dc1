//! Releases of randomised answers: strict reading and claims.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

#[path = "common/tables.rs"]
#[allow(dead_code, reason = "each test uses some of it")]
mod tables;

use organza_release::*;
use serde_json::{Value, json};
use tables::randomised;

#[test]
fn each_damage_names_its_field() {
    let cases = vec![
        ("/schema", json!("organza/counts/2"), "schema: must be \"organza/randomised/1\""),
        ("/records", json!(0), "records: must be at least 1"),
        ("/records", json!(null), "records: invalid type"),
        ("/records", json!(6), "answers[0].value: has 5 answers for 6 records"),
        ("/missing", json!("midpoint"), "missing: must be refused or dropped"),
        ("/columns/2/levels", json!(["f", "f"]), "columns[2].levels: \"f\" is given twice"),
        ("/answers", json!([]), "answers: must hold at least one"),
        ("/answers/1/columns", json!([]), "answers[1].columns: must name a column"),
        ("/answers/1/columns", json!(["age"]), "answers[1].columns[0]: \"age\" is not among"),
        ("/answers/1/columns", json!(["ill"]), "answers[1].columns: \"ill\" is in an earlier answer"),
        ("/answers/1/truth", json!(1), "answers[1].truth: must be between 0 and 1"),
        ("/answers/1/truth", json!(0), "answers[1].truth: must be between 0 and 1"),
        ("/answers/0/value/1", json!(6), "answers[0].value[1]: must be below 6"),
        ("/answers/0/value/1", json!(-1), "answers[0].value[1]: invalid value"),
        ("/neighbours", json!("add-remove"), "neighbours: must be \"substitute\""),
        ("/epsilon", json!(0), "epsilon: must be positive"),
    ];
    let text = randomised().to_json().unwrap();
    assert_eq!(RandomisedRelease::read_one(text.as_bytes(), "f").unwrap(), randomised());
    assert_eq!(kind_of(text.as_bytes()), Some(Kind::Randomised));
    for (pointer, damage, expected) in cases {
        let mut value: Value = serde_json::from_str(&text).unwrap();
        *value.pointer_mut(pointer).expect(pointer) = damage;
        let message =
            RandomisedRelease::read_one(value.to_string().as_bytes(), "f").expect_err(pointer).to_string();
        assert!(message.starts_with(&format!("f: {expected}")), "{pointer}: {message}");
    }
    let mut unused = randomised();
    unused.answers.pop();
    assert_eq!(unused.validate().unwrap_err().to_string(), "columns[2]: is in no answer");
}

/// The largest log ratio of probabilities over all answers and all pairs of true answers, by enumeration.
#[test]
fn the_epsilon_of_an_answer_is_that_of_all_pairs() {
    for (truth, choices) in [(0.5, 2), (0.75, 2), (0.1, 2), (0.5, 6), (0.9, 6), (0.05, 6), (1.0 / 6.0, 6)] {
        let probability = |answer: usize, exact: usize| {
            if answer == exact { truth } else { (1.0 - truth) / (choices as f64 - 1.0) }
        };
        let mut worst = 0f64;
        for answer in 0..choices {
            for first in 0..choices {
                for second in 0..choices {
                    worst = worst.max(f64::ln(probability(answer, first) / probability(answer, second)));
                }
            }
        }
        let found = randomised_epsilon(truth, choices);
        assert!((found - worst).abs() < 1e-12, "{truth} of {choices}: {found} {worst}");
    }
}

#[test]
fn answers_add_up_and_a_smaller_claim_does_not_hold() {
    let mut release = randomised();
    let claim = release.claim();
    assert_eq!(release.choices(&release.answers[0]), 6);
    assert!(claim.holds && (claim.epsilon - release.epsilon).abs() < 1e-12, "{claim:?}");
    release.epsilon *= 0.999;
    assert!(!release.claim().holds);
}
