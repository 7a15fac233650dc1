//! `organza methods`: what there is to choose from, and what given releases allow.

use std::path::PathBuf;

use clap::Args;
use organza_infer::{Evidence, Method};
use serde_json::{Value, json};

use super::failure::{Failure, Status};
use super::inspect;
use super::sources::Sources;
use super::terminal::{print_json, print_text};

#[derive(Args, Debug)]
pub struct MethodsArguments {
    /// Releases to be fitted: says of every method whether it accepts them
    #[arg(value_name = "RELEASE")]
    releases: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &MethodsArguments) -> Result<Status, Failure> {
    let paths: Vec<String> = arguments.releases.iter().map(|path| path.display().to_string()).collect();
    let evidence = match paths.is_empty() {
        true => None,
        false => {
            let sources = Sources::read(&paths, inspect::read)?;
            Some(Evidence::with_repeated_parties(&sources.releases).map_err(Failure::bad_input)?)
        }
    };
    let lacks = |method: Method| evidence.as_ref().map(|evidence| method.lacks(evidence));
    if arguments.json {
        let values: Vec<Value> =
            Method::ALL.into_iter().map(|method| as_json(method, lacks(method))).collect();
        print_json(&values)?;
        return Ok(Status::Fine);
    }
    let text: Vec<String> = Method::ALL.into_iter().map(|method| paragraph(method, lacks(method))).collect();
    print_text(&text.join("\n"))?;
    Ok(Status::Fine)
}

fn paragraph(method: Method, lacks: Option<Option<String>>) -> String {
    let about = method.description();
    let verdict = match lacks {
        None => String::new(),
        Some(None) => "\n  these releases have all that it needs".into(),
        Some(Some(needs)) => format!("\n  these releases lack {needs}"),
    };
    format!(
        "\u{1b}[1m{method}\u{1b}[0m  ({}; in the papers: {})\n  computes {}\n  assumes  {}\n  needs    {}{verdict}\n",
        samplers(method).join(", "),
        about.paper,
        about.target,
        about.assumes,
        about.needs
    )
}

fn samplers(method: Method) -> Vec<&'static str> {
    method.samplers().iter().map(|sampler| sampler.word()).collect()
}

fn as_json(method: Method, lacks: Option<Option<String>>) -> Value {
    let about = method.description();
    let mut value = json!({
        "method": method,
        "samplers": samplers(method),
        "paper": about.paper,
        "computes": about.target,
        "assumes": about.assumes,
        "needs": about.needs,
    });
    if let Some(lacks) = lacks {
        value["accepted"] = json!(lacks.is_none());
        value["lacks"] = json!(lacks);
    }
    value
}
