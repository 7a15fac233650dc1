//! `organza release --randomised-response`: every record's own randomised answers.

use organza_curator::ledger::Preview;
use organza_curator::randomised::{Question, RandomisedPlan, RandomisedRequest};
use organza_release::Neighbours;
use serde_json::{Value, json};

use super::ReleaseArguments;
use super::plan::explain_preview;
use super::report::Loss;
use crate::cli::failure::{Failure, Status};
use crate::cli::terminal::short;

/// Plans the answers, and releases them unless only the plan is wanted.
pub fn run(arguments: &ReleaseArguments, columns: &str) -> Result<Status, Failure> {
    if Neighbours::from(arguments.neighbours) == Neighbours::AddRemove {
        let reason = "there is one answer for every record, so their number is public: use substitute";
        return Err(Failure::bad_input(format!("--neighbours: {reason}")));
    }
    let bounds = arguments.public_bounds()?;
    let request = RandomisedRequest::new(columns, arguments.per.into(), bounds, arguments.epsilon)?;
    let plan = RandomisedPlan::new(&request)?;
    let epsilon = plan.epsilon();
    if !arguments.dry_run {
        let stated = json!({ "neighbours": Neighbours::Substitute, "epsilon": epsilon, "delta": 0.0 });
        return arguments.carry_out(&plan, &Loss { epsilon, delta: 0.0, stated, confidential: false });
    }
    arguments.show(&plan, as_json, explain)
}

/// The plan for machines.
fn as_json(plan: &RandomisedPlan, preview: Option<&Preview>) -> Value {
    let question = |question: &Question| {
        json!({
            "columns": question.columns,
            "choices": question.choices,
            "truth": question.truth,
            "error_per_root_record": error_per_root_record(question.truth, question.choices),
        })
    };
    json!({
        "columns": plan.columns(),
        "answers": plan.questions().iter().map(question).collect::<Vec<_>>(),
        "neighbours": Neighbours::Substitute,
        "epsilon": plan.epsilon(),
        "ledger": preview,
    })
}

/// The plan for a person.
fn explain(plan: &RandomisedPlan, preview: Option<&Preview>) -> String {
    let mut text =
        format!("guarantee    {}-differential privacy for every record on its own\n", short(plan.epsilon()));
    for question in plan.questions() {
        text += &format!(
            "answers      {}: one of {}, true with probability {}; the count of a rare answer is known to about {} times \
             the square root of the number of records\n",
            question.columns.join(" by "),
            question.choices,
            short(question.truth),
            short(error_per_root_record(question.truth, question.choices)),
        );
    }
    text + &preview.map_or(String::new(), explain_preview)
}

/// Standard error of the count of a rare answer over the square root of the number of records: its published count is binomial
/// with the probability q of any wrong answer, and is stretched by 1 / (truth - q).
pub fn error_per_root_record(truth: f64, choices: usize) -> f64 {
    let wrong = (1.0 - truth) / (choices as f64 - 1.0);
    (wrong * (1.0 - wrong)).sqrt() / (truth - wrong).abs()
}
