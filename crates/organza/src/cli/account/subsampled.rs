//! `organza account subsampled-gaussian`: bounds of the loss of many noisy sums over samples of the records.

use clap::{Args, ValueEnum};
use organza_release::Neighbours;
use organza_release::loss::LossError;
use organza_release::loss::pld::{SubsampledGaussian, compose};
use serde_json::{Map, Value, json};

use crate::cli::failure::Failure;

#[derive(Args, Debug)]
pub struct SubsampledArguments {
    /// Standard deviation of the noise over the norm bound of one record's term
    #[arg(long)]
    sigma: f64,
    /// Probability with which each record is in a sample
    #[arg(long)]
    rate: f64,
    /// Number of steps
    #[arg(long)]
    steps: u64,
    #[arg(long)]
    epsilon: Option<f64>,
    #[arg(long)]
    delta: Option<f64>,
    /// Which tables are neighbours
    #[arg(long, value_enum, default_value_t = Relation::AddRemove)]
    neighbours: Relation,
}

#[derive(ValueEnum, Debug, Clone, Copy)]
pub enum Relation {
    /// One record more or less
    AddRemove,
    /// One record exchanged
    Substitute,
}

impl From<Relation> for Neighbours {
    fn from(relation: Relation) -> Self {
        match relation {
            Relation::AddRemove => Self::AddRemove,
            Relation::Substitute => Self::Substitute,
        }
    }
}

pub fn subsampled_gaussian(arguments: &SubsampledArguments) -> Result<Map<String, Value>, Failure> {
    let relation = arguments.neighbours.into();
    let step = SubsampledGaussian { sigma: arguments.sigma, rate: arguments.rate, relation };
    let composed = || compose(&[(step.into(), arguments.steps)]).map_err(named);
    let (name, found) = match (arguments.epsilon, arguments.delta) {
        (None, Some(delta)) => ("epsilon", composed()?.epsilon(delta).map_err(named)?),
        (Some(epsilon), None) => ("delta", composed()?.delta(epsilon).map_err(named)?),
        _ => return Err(Failure::bad_input("give exactly one of --epsilon and --delta")),
    };
    Ok(Map::from_iter([
        (format!("{name}_lower"), json!(found.lower)),
        (format!("{name}_upper"), json!(found.upper)),
    ]))
}

/// The arguments of the arithmetic have the names of the flags.
fn named(error: LossError) -> Failure {
    match error {
        LossError::Argument { .. } => Failure::bad_input(format!("--{error}")),
        other => Failure::from(other),
    }
}
