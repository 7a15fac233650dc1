//! A fit as JSON: what the command prints and keeps beside the draws.

use std::collections::BTreeMap;

use organza_mcmc::Summary;
use organza_release::{Domain, Tool};
use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema, json_schema};
use serde::{Serialize, Serializer};

use super::{Fit, Model};
use crate::{Method, Sampler};

/// A posterior, without its draws.
#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "An Organza fit")]
struct Report<'f> {
    /// Name and version of the format.
    #[schemars(schema_with = "name")]
    schema: &'static str,
    /// What was fitted.
    model: Model,
    /// The method that was used; null for probabilities of levels, whose samplers need no other word.
    method: Option<Method>,
    /// The sampler that was used.
    sampler: Sampler,
    /// Why the method or sampler was chosen; null if it was asked for.
    reason: Option<&'f str>,
    /// Number of releases.
    releases: usize,
    /// Public number of records of all parties.
    records: Option<f64>,
    /// Residual standard deviation in users' units if it is not a parameter.
    residual_sd: Option<f64>,
    /// By parameter, the share of the posterior variance that is due to privacy noise, where the method knows it.
    noise_share: BTreeMap<&'f str, f64>,
    /// What a person should know.
    notes: &'f [String],
    /// Reasons not to trust the draws.
    warnings: Vec<String>,
    /// The table of the draws.
    #[schemars(schema_with = "draws")]
    summary: &'f Summary,
    /// Columns, bounds and formula of a regression.
    domain: Option<&'f Domain>,
    /// The program that wrote this.
    tool: Tool,
}

/// Name and version of the JSON of a fit.
const SCHEMA: &str = "organza/fit/2";

fn name(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "const": SCHEMA })
}

fn draws(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "$ref": "draws-1.json" })
}

impl Serialize for Fit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let names = self.summary.parameters.iter().map(|row| row.name.as_str());
        let report = Report {
            schema: SCHEMA,
            model: self.model,
            method: self.method,
            sampler: self.sampler,
            reason: self.reason.as_deref(),
            releases: self.releases,
            records: self.records,
            residual_sd: self.residual_sd,
            noise_share: names.zip(self.noise_share.iter().copied()).collect(),
            notes: &self.notes,
            warnings: self.summary.warnings(),
            summary: &self.summary,
            domain: self.domain.as_ref(),
            tool: Tool { name: "organza".into(), version: env!("CARGO_PKG_VERSION").into() },
        };
        report.serialize(serializer)
    }
}

/// The JSON Schema of a fit: `schemas/fit-2.json`.
pub fn fit_schema() -> Schema {
    // What is written has all its fields, null among them.
    let settings = SchemaSettings::draft2020_12().for_serialize();
    settings.into_generator().into_root_schema_for::<Report<'static>>()
}
