//! What comes out of private chains.

use organza_curator::chains::kernels::ChainInfo;
use organza_curator::chains::{ChainMethod, ChainModel, ChainPlan, ChainSettings, mean_statistic};
use organza_curator::ledger::{Charge, ChargeOutcome};
use organza_mcmc::{Draws, Summary};
use organza_release::loss::Mechanism;
use organza_release::{BoxDomain, Column, Domain, Neighbours, Tool};
use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema, json_schema};
use serde::{Serialize, Serializer};

use crate::beside_table::Paid;

/// Clipped records above this share bias a chain.
const MOST_CLIPPED: f64 = 0.2;
/// Acceptance below this says that steps are too long for the noise.
const LEAST_ACCEPTANCE: f64 = 0.1;

/// Finished chains. As JSON it has the form of `schemas/sample-1.json`, which leaves the draws out.
pub struct ChainFit {
    /// Formula, bounds and names.
    pub domain: BoxDomain,
    /// How the chains ran.
    pub plan: ChainPlan,
    /// What they cost.
    pub charge: Charge,
    /// Records that were used.
    pub records: u64,
    /// Rows of the table.
    pub rows: u64,
    /// Draws and step statistics, in users' units.
    pub draws: Draws,
    /// The table of the draws.
    pub summary: Summary,
    /// The charge that was made; none if losses are kept elsewhere.
    pub paid: Option<Paid>,
}

impl ChainFit {
    /// The mean of a step statistic, NaN where the method has none.
    pub fn share(&self, statistic: &str) -> f64 {
        mean_statistic(&self.draws, statistic)
    }

    /// What a person should know, all being well.
    pub fn notes(&self) -> Vec<String> {
        let method = self.plan.request.method;
        let text = format!(
            "{method} has no acceptance test: its draws are approximate, and no diagnostic says how far off they are"
        );
        (!method.is_exact()).then_some(text).into_iter().collect()
    }

    /// Reasons not to trust the draws.
    pub fn warnings(&self) -> Vec<String> {
        let clipped = |what: &str, statistic: &str, setting: &str| {
            let share = self.share(statistic);
            let percent = 100.0 * share;
            (share > MOST_CLIPPED).then(|| {
                format!("about {percent:.0} percent of {what} were clipped, which biases the draws: use a larger value of {setting}")
            })
        };
        let accepted = self.share(ChainInfo::ACCEPTANCE);
        let rejected = (accepted < LEAST_ACCEPTANCE).then(|| {
            format!(
                "only {:.1} percent of proposals were accepted: use a smaller value of the setting `step_size`, or rehearse",
                100.0 * accepted
            )
        });
        let diagnostics = self.summary.warnings();
        let remedy = (!diagnostics.is_empty()).then(|| {
            "the budget is spent, so these chains cannot run longer: a larger budget, more records or fewer features give more \
             effective draws"
                .to_string()
        });
        [
            clipped("gradients", ChainInfo::CLIPPED_GRADIENTS, "the setting `gradient_clip`"),
            clipped("ratios", ChainInfo::CLIPPED_RATIOS, "the setting `ratio_clip`"),
            rejected,
        ]
        .into_iter()
        .flatten()
        .chain(diagnostics)
        .chain(remedy)
        .collect()
    }
}

/// What chains cost, as their report states it.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct ChainPrivacy {
    /// Which tables count as neighbours.
    neighbours: Option<Neighbours>,
    /// Privacy loss.
    epsilon: f64,
    /// Probability beyond it.
    delta: f64,
    /// What the ledger composes.
    mechanism: Mechanism,
}

impl From<&Charge> for ChainPrivacy {
    fn from(charge: &Charge) -> Self {
        Self {
            neighbours: charge.neighbours,
            epsilon: charge.claimed_epsilon,
            delta: charge.claimed_delta,
            mechanism: charge.mechanism,
        }
    }
}

/// Private chains, without their draws.
#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Organza private chains")]
struct Report<'a> {
    /// Name and version of the format.
    #[schemars(schema_with = "name")]
    schema: &'static str,
    /// What was sampled.
    model: ChainModel,
    /// The method that was used.
    method: ChainMethod,
    /// Records that were used.
    records: u64,
    /// Rows of the table.
    rows: u64,
    /// Everything that decided the run.
    settings: ChainSettings,
    /// What everything cost together.
    privacy: ChainPrivacy,
    /// Share of proposals that were accepted; null without an acceptance test.
    acceptance: Option<f64>,
    /// About this share of records' gradients was clipped; it carries noise.
    clipped_gradients: Option<f64>,
    /// About this share of records' ratios was clipped; it carries noise.
    clipped_ratios: Option<f64>,
    /// What a person should know.
    notes: Vec<String>,
    /// Reasons not to trust the draws.
    warnings: Vec<String>,
    /// The table of the draws.
    #[schemars(schema_with = "draws")]
    summary: &'a Summary,
    /// Columns, bounds and formula of a linear regression: with them predictions know the units.
    #[serde(skip_serializing_if = "Option::is_none")]
    domain: Option<Domain>,
    /// The charge that was made; null if losses are kept elsewhere.
    ledger: Option<&'a ChargeOutcome>,
    /// The program that wrote this.
    tool: Tool,
}

/// Name and version of the JSON of private chains.
const SCHEMA: &str = "organza/sample/1";

fn name(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "const": SCHEMA })
}

fn draws(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "$ref": "draws-1.json" })
}

/// The JSON Schema of private chains: `schemas/sample-1.json`.
pub fn sample_schema() -> Schema {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    settings.into_generator().into_root_schema_for::<Report<'static>>()
}

impl Serialize for ChainFit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let linear = self.plan.model == ChainModel::Linear;
        let known = |statistic| Some(self.share(statistic)).filter(|share| !share.is_nan());
        let report = Report {
            schema: SCHEMA,
            model: self.plan.model,
            method: self.plan.request.method,
            records: self.records,
            rows: self.rows,
            settings: self.plan.settings(),
            privacy: (&self.charge).into(),
            acceptance: known(ChainInfo::ACCEPTANCE),
            clipped_gradients: known(ChainInfo::CLIPPED_GRADIENTS),
            clipped_ratios: known(ChainInfo::CLIPPED_RATIOS),
            notes: self.notes(),
            warnings: self.warnings(),
            summary: &self.summary,
            domain: linear.then(|| Domain::Box(self.domain.clone())),
            ledger: self.paid.as_ref().map(|paid| &paid.outcome),
            tool: Tool { name: "organza".into(), version: env!("CARGO_PKG_VERSION").into() },
        };
        report.serialize(serializer)
    }
}

/// The settings beside the draws.
#[derive(Serialize)]
pub(crate) struct Settings<'a> {
    organza: &'static str,
    formula: &'a str,
    prior_sd: f64,
    rows: u64,
    sample: ChainSettings,
    bounds: &'a [Column],
}

impl<'a> Settings<'a> {
    pub fn new(fit: &'a ChainFit, prior_sd: f64) -> Self {
        Self {
            organza: env!("CARGO_PKG_VERSION"),
            formula: &fit.domain.formula,
            prior_sd,
            rows: fit.rows,
            sample: fit.plan.settings(),
            bounds: &fit.domain.columns,
        }
    }
}
