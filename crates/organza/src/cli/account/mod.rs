//! `organza account`: calibration and conversion of privacy losses.

pub mod compose;
pub mod subsampled;

use clap::{Args, Subcommand};
use organza_release::loss;
use serde_json::{Map, Value, json};

use self::compose::{ComposeArguments, compose};
use self::subsampled::{SubsampledArguments, subsampled_gaussian};
use super::failure::{Failure, Status};
use super::terminal::{print_json, print_text};

#[derive(Args, Debug)]
pub struct AccountArguments {
    #[command(subcommand)]
    what: What,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand, Debug)]
enum What {
    /// Gaussian noise: give two of epsilon, delta and sigma, get the third (exact, Balle and Wang 2018)
    Gaussian {
        #[arg(long)]
        epsilon: Option<f64>,
        #[arg(long)]
        delta: Option<f64>,
        /// Standard deviation of the noise
        #[arg(long)]
        sigma: Option<f64>,
        /// L2 sensitivity of the statistic
        #[arg(long, default_value_t = 1.0)]
        sensitivity: f64,
    },
    /// Laplace noise: give epsilon or scale, get the other
    Laplace {
        #[arg(long)]
        epsilon: Option<f64>,
        /// Mean absolute deviation of the noise
        #[arg(long)]
        scale: Option<f64>,
        /// L1 sensitivity of the statistic
        #[arg(long, default_value_t = 1.0)]
        sensitivity: f64,
    },
    /// Zero-concentrated loss: give two of rho, epsilon and delta, get the third
    Zcdp {
        #[arg(long)]
        rho: Option<f64>,
        #[arg(long)]
        epsilon: Option<f64>,
        #[arg(long)]
        delta: Option<f64>,
    },
    /// Gaussian noise on Poisson samples, many steps: give epsilon or delta, get bounds of the other
    SubsampledGaussian(SubsampledArguments),
    /// Several mechanisms on the same records
    Compose(ComposeArguments),
}

pub fn run(arguments: &AccountArguments) -> Result<Status, Failure> {
    let answer = match &arguments.what {
        What::Gaussian { epsilon, delta, sigma, sensitivity } => {
            gaussian(*epsilon, *delta, *sigma, *sensitivity)?
        }
        What::Laplace { epsilon, scale, sensitivity } => laplace(*epsilon, *scale, *sensitivity)?,
        What::Zcdp { rho, epsilon, delta } => zcdp(*rho, *epsilon, *delta)?,
        What::SubsampledGaussian(arguments) => subsampled_gaussian(arguments)?,
        What::Compose(arguments) => compose(arguments)?,
    };
    if arguments.json {
        print_json(&answer)?;
    } else {
        let lines: Vec<String> = answer.iter().map(|(name, value)| format!("{name} = {value}\n")).collect();
        print_text(&lines.concat())?;
    }
    Ok(Status::Fine)
}

fn gaussian(
    epsilon: Option<f64>,
    delta: Option<f64>,
    sigma: Option<f64>,
    sensitivity: f64,
) -> Result<Map<String, Value>, Failure> {
    let mu = |sigma: f64| -> Result<f64, Failure> {
        // The scale of a loss of one is as good a check of both as any.
        loss::laplace_epsilon(sigma, sensitivity).map_err(|_| {
            Failure::bad_input(format!(
                "--sigma {sigma} and --sensitivity {sensitivity} must be positive and finite"
            ))
        })
    };
    match (epsilon, delta, sigma) {
        (Some(epsilon), Some(delta), None) => {
            Ok(one("sigma", loss::gaussian_scale(epsilon, delta, sensitivity)?))
        }
        (None, Some(delta), Some(sigma)) => Ok(one("epsilon", loss::gaussian_epsilon(delta, mu(sigma)?)?)),
        (Some(epsilon), None, Some(sigma)) => Ok(one("delta", loss::gaussian_delta(epsilon, mu(sigma)?)?)),
        _ => Err(Failure::bad_input("give exactly two of --epsilon, --delta and --sigma")),
    }
}

fn laplace(
    epsilon: Option<f64>,
    scale: Option<f64>,
    sensitivity: f64,
) -> Result<Map<String, Value>, Failure> {
    match (epsilon, scale) {
        (Some(epsilon), None) => Ok(one("scale", loss::laplace_scale(epsilon, sensitivity)?)),
        (None, Some(scale)) => Ok(one("epsilon", loss::laplace_epsilon(scale, sensitivity)?)),
        _ => Err(Failure::bad_input("give exactly one of --epsilon and --scale")),
    }
}

fn zcdp(rho: Option<f64>, epsilon: Option<f64>, delta: Option<f64>) -> Result<Map<String, Value>, Failure> {
    match (rho, epsilon, delta) {
        (Some(rho), None, Some(delta)) => Ok(one("epsilon", loss::zcdp_epsilon(rho, delta)?)),
        (Some(rho), Some(epsilon), None) => Ok(one("delta", loss::zcdp_delta(rho, epsilon)?)),
        (None, Some(epsilon), Some(delta)) => Ok(one("rho", loss::zcdp_rho(epsilon, delta)?)),
        _ => Err(Failure::bad_input("give exactly two of --rho, --epsilon and --delta")),
    }
}

fn one(name: &str, value: f64) -> Map<String, Value> {
    Map::from_iter([(name.to_string(), json!(value))])
}
