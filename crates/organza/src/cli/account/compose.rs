//! `organza account compose`: several mechanisms on the same records.

use std::str::FromStr;

use clap::Args;
use organza_release::Neighbours;
use organza_release::loss::{Composition, Mechanism};
use serde_json::{Map, Value, json};

use super::subsampled::Relation;
use crate::cli::failure::Failure;

#[derive(Args, Debug)]
pub struct ComposeArguments {
    /// Mechanisms: gaussian:sigma=2, gaussian:sigma=3,sensitivity=1,times=10, laplace:scale=4,
    /// pure:epsilon=0.1, approximate:epsilon=0.5,delta=1e-7, discrete-gaussian:scale=5,moved=2 (noise on
    /// counts of which so many move by one), subsampled-gaussian:sigma=2,rate=0.01,times=1000
    #[arg(required = true, value_name = "MECHANISM")]
    mechanisms: Vec<Part>,
    /// Find epsilon at this delta
    #[arg(long)]
    delta: Option<f64>,
    /// Find delta at this epsilon
    #[arg(long)]
    epsilon: Option<f64>,
    /// Which tables are neighbours, for subsampled noise
    #[arg(long, value_enum, default_value_t = Relation::AddRemove)]
    neighbours: Relation,
}

/// A mechanism and how often it is used.
#[derive(Debug, Clone, Copy)]
struct Part {
    mechanism: Mechanism,
    times: u64,
}

pub fn compose(arguments: &ComposeArguments) -> Result<Map<String, Value>, Failure> {
    let mut total = Composition::default();
    for Part { mechanism, times } in &arguments.mechanisms {
        let mut mechanism = *mechanism;
        if let Mechanism::SubsampledGaussian { neighbours, .. } = &mut mechanism {
            *neighbours = arguments.neighbours.into();
        }
        total.push_times(mechanism, *times)?;
    }
    let (epsilon, delta, lower) = match (arguments.epsilon, arguments.delta) {
        (None, Some(delta)) => {
            let found = total.epsilon_bounds(delta)?;
            (found.upper, delta, ("epsilon_lower", found.lower))
        }
        (Some(epsilon), None) => {
            let found = total.delta_bounds(epsilon)?;
            (epsilon, found.upper, ("delta_lower", found.lower))
        }
        _ => return Err(Failure::bad_input("give exactly one of --epsilon and --delta")),
    };
    let pairs = [("epsilon", epsilon), ("delta", delta), lower];
    Ok(pairs.into_iter().map(|(name, value)| (name.to_string(), json!(value))).collect())
}

impl FromStr for Part {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (kind, settings) = text.split_once(':').ok_or("a mechanism looks like gaussian:sigma=2")?;
        let mut settings = Settings::parse(settings)?;
        let mechanism = match kind {
            "gaussian" => {
                Mechanism::Gaussian { mu: settings.take_or("sensitivity", 1.0)? / settings.take("sigma")? }
            }
            "laplace" => Mechanism::Laplace {
                epsilon: settings.take_or("sensitivity", 1.0)? / settings.take("scale")?,
            },
            "pure" => Mechanism::Pure { epsilon: settings.take("epsilon")? },
            "approximate" => {
                Mechanism::Approximate { epsilon: settings.take("epsilon")?, delta: settings.take("delta")? }
            }
            "discrete-gaussian" => Mechanism::DiscreteGaussian {
                scale: settings.take("scale")?,
                moved: whole("moved", settings.take_or("moved", 1.0)?)?,
            },
            "subsampled-gaussian" => Mechanism::SubsampledGaussian {
                sigma: settings.take("sigma")?,
                rate: settings.take("rate")?,
                steps: 1,
                neighbours: Neighbours::AddRemove, // replaced by --neighbours
            },
            other => {
                return Err(format!(
                    "{other:?} is not gaussian, laplace, pure, approximate, discrete-gaussian or subsampled-gaussian"
                ));
            }
        };
        let times = whole("times", settings.take_or("times", 1.0)?)?;
        match settings.pairs.first() {
            Some((name, _)) => Err(format!("{kind} has no setting {name:?}")),
            None => Ok(Part { mechanism, times }),
        }
    }
}

fn whole(name: &str, number: f64) -> Result<u64, String> {
    let usable = number >= 1.0 && number.fract() == 0.0 && number <= 1e15;
    if usable {
        Ok(number as u64)
    } else {
        Err(format!("{name} must be a whole number from 1 on, found {number}"))
    }
}

/// `name=number` pairs that have not been used yet.
struct Settings {
    pairs: Vec<(String, f64)>,
}

impl Settings {
    fn parse(text: &str) -> Result<Self, String> {
        let pair = |text: &str| {
            let (name, number) = text.split_once('=').ok_or(format!("{text:?} is not name=number"))?;
            let number: f64 = number.parse().map_err(|_| format!("{number:?} is not a number"))?;
            Ok((name.to_string(), number))
        };
        Ok(Self { pairs: text.split(',').map(pair).collect::<Result<_, String>>()? })
    }

    fn take_or(&mut self, name: &str, default: f64) -> Result<f64, String> {
        let number = match self.pairs.iter().position(|(found, _)| found == name) {
            Some(index) => self.pairs.remove(index).1,
            None => default,
        };
        let usable = number.is_finite() && number > 0.0;
        if usable { Ok(number) } else { Err(format!("{name} must be given, positive and finite")) }
    }

    fn take(&mut self, name: &str) -> Result<f64, String> {
        self.take_or(name, f64::NAN)
    }
}
