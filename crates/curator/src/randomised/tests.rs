//! Plans of randomised answers with a known source.

use organza_release::Missing;

use super::publish::AnswerSource;
use super::{ExactAnswers, Per, RandomisedPlan, RandomisedRequest};
use crate::CuratorError;
use crate::bounds::Bounds;

/// Always the next answer after the true one.
struct Next;

impl AnswerSource for Next {
    fn answer(&mut self, _truth: f64, choices: u32, exact: u32) -> Result<u32, CuratorError> {
        Ok((exact + 1) % choices)
    }
}

fn plan(per: Per, epsilon: f64) -> Result<RandomisedPlan, CuratorError> {
    let mut bounds = Bounds::default();
    for flag in ["a=u,v,w", "b=no,yes", "x=0:1"] {
        bounds.set_flag(flag).unwrap();
    }
    RandomisedPlan::new(&RandomisedRequest::new("a, b", per, bounds, epsilon)?)
}

#[test]
fn claims_hold_and_nothing_is_wasted() {
    for epsilon in [0.1, 1.0, 4.0, 20.0] {
        for per in [Per::Record, Per::Column] {
            let plan = plan(per, epsilon).unwrap();
            let answers = vec![vec![0, 1]; plan.questions().len()];
            let exact = ExactAnswers { answers, records: 2 };
            let release = plan.publish_with(&exact, "p", Missing::Refused, &mut Next).unwrap();
            let claim = release.claim();
            assert!(claim.holds && claim.epsilon > 0.999_999 * epsilon, "{epsilon} {per:?}: {claim:?}");
            assert!(claim.epsilon <= epsilon, "{claim:?}");
            assert_eq!(release.answers[0].value, [1, 2]);
        }
    }
}

#[test]
fn one_answer_for_all_columns_or_one_for_each() {
    let together = plan(Per::Record, 1.0).unwrap();
    assert_eq!(together.questions()[0].choices, 6);
    assert_eq!(together.description(), "randomised answers about a by b");
    let apart = plan(Per::Column, 1.0).unwrap();
    assert_eq!(apart.questions().iter().map(|question| question.choices).collect::<Vec<_>>(), [3, 2]);
    assert!((apart.questions()[1].truth - 1.0 / (1.0 + f64::exp(-0.5))).abs() < 1e-12);
}

#[test]
fn requests_are_refused_where_they_have_no_meaning() {
    let bounds = || {
        let mut bounds = Bounds::default();
        bounds.set_flag("a=u,v").unwrap();
        bounds
    };
    let say = |columns: &str, epsilon: f64| {
        let request = RandomisedRequest::new(columns, Per::Column, bounds(), epsilon);
        request.and_then(|request| RandomisedPlan::new(&request)).unwrap_err().to_string()
    };
    assert!(
        say("a, b", 1.0).starts_with("the setting `randomised.columns`: column \"b\" has no public levels")
    );
    assert!(say("a, a", 1.0).contains("earlier table"));
    assert!(say("a,", 1.0).contains("a name is missing"));
    assert!(say("a", -1.0).starts_with("the setting `epsilon`"));
    assert!(say("a", 1e-17).contains("too small"));
}
