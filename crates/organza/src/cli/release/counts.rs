//! `organza release --counts`: noisy contingency tables.

use organza_curator::counts::{CountPlan, CountRequest, parse_tables};
use organza_curator::ledger::Preview;
use organza_release::{CountFamily, Family, LevelColumn};
use serde_json::{Value, json};

use super::ReleaseArguments;
use super::plan::explain_preview;
use super::report::Loss;
use crate::cli::failure::{Failure, Status};
use crate::cli::terminal::short;

/// Plans the tables, and releases them unless only the plan is wanted.
pub fn run(arguments: &ReleaseArguments, tables: &str) -> Result<Status, Failure> {
    let (bounds, delta) = (arguments.public_bounds()?, arguments.delta.unwrap_or(0.0));
    let mut request = CountRequest::new(parse_tables(tables)?, bounds, arguments.epsilon, delta);
    request.family = arguments.mechanism.map_or(request.family, Family::from);
    request.neighbours = arguments.neighbours.into();
    request.count_records = arguments.count_records;
    let plan = CountPlan::new(&request)?;
    if !arguments.dry_run {
        return arguments.carry_out(&plan, &Loss::of(plan.privacy()));
    }
    arguments.show(&plan, as_json, explain)
}

/// The plan for machines.
fn as_json(plan: &CountPlan, preview: Option<&Preview>) -> Value {
    json!({
        "columns": plan.columns(),
        "tables": plan.tables(),
        "cells": plan.cells(),
        "norm": plan.privacy().norm,
        "neighbours": plan.privacy().neighbours,
        "sensitivity": plan.sensitivity().value,
        "sensitivity_is_exact": plan.sensitivity().tight,
        "noise": plan.noise(),
        "standard_deviation": plan.noise().variance().sqrt(),
        "privacy": plan.privacy(),
        "ledger": preview,
    })
}

/// The plan for a person.
fn explain(plan: &CountPlan, preview: Option<&Preview>) -> String {
    let privacy = plan.privacy();
    let tables = plan.tables().iter().map(|table| describe_table(table, plan.columns()));
    let text = format!(
        "counts       {}\nguarantee    ({}, {})-differential privacy, neighbours {:?}\n\
         sensitivity  {} ({:?}, exact)\nnoise        {} of scale {} on each of {} counts: error of a count about {}\n",
        tables.collect::<Vec<_>>().join("; "),
        short(privacy.epsilon),
        short(privacy.delta),
        privacy.neighbours,
        short(plan.sensitivity().value),
        privacy.norm,
        family_name(plan.noise().family),
        short(plan.noise().scale),
        plan.cells(),
        short(plan.noise().variance().sqrt()),
    );
    text + &preview.map_or(String::new(), explain_preview)
}

/// A table in a few words: its columns and how many cells they make.
pub fn describe_table(table: &[String], columns: &[LevelColumn]) -> String {
    if table.is_empty() {
        return "the number of records".to_string();
    }
    let levels = |name: &String| columns.iter().find(|column| column.name == *name);
    let cells: usize = table.iter().filter_map(levels).map(|column| column.levels.len()).product();
    format!("{} ({cells} cells)", table.join(" by "))
}

/// The family of the noise in words.
pub fn family_name(family: CountFamily) -> &'static str {
    match family {
        CountFamily::DiscreteLaplace => "discrete Laplace",
        CountFamily::DiscreteGaussian => "discrete Gaussian",
        CountFamily::Laplace => "Laplace",
        CountFamily::Gaussian => "Gaussian",
    }
}
