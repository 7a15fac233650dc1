//! `organza methods`: what there is to choose from, and what given releases allow.

use std::path::PathBuf;

use clap::Args;
use organza_curator::chains::ChainMethod;
use organza_infer::{Evidence, Method};
use serde_json::{Value, json};

use super::failure::{Failure, Status};
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
            let sources = Sources::read(&paths)?;
            Some(Evidence::with_repeated_parties(sources.sums()?).map_err(Failure::bad_input)?)
        }
    };
    let lacks = |method: Method| evidence.as_ref().map(|evidence| method.lacks(evidence));
    if arguments.json {
        let values = Method::ALL.into_iter().map(|method| as_json(method, lacks(method)));
        print_json(&values.chain(ChainMethod::ALL.map(chain_json)).collect::<Vec<Value>>())?;
        return Ok(Status::Fine);
    }
    let text = Method::ALL.into_iter().map(|method| paragraph(method, lacks(method)));
    let chains = ChainMethod::ALL.into_iter().map(chain_paragraph);
    print_text(&text.chain(chains).collect::<Vec<String>>().join("\n"))?;
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

/// What private chains need: no release will do.
const BESIDE_TABLE: &str = "the table itself: `organza sample` runs it beside the data";

fn chain_paragraph(method: ChainMethod) -> String {
    let (computes, assumes) = method.description();
    format!(
        "\u{1b}[1m{method}\u{1b}[0m  (in the papers: {} [RKH21])\n  computes {computes}\n  assumes  {assumes}\n  needs    {BESIDE_TABLE}\n",
        method.word().to_uppercase()
    )
}

fn chain_json(method: ChainMethod) -> Value {
    let (computes, assumes) = method.description();
    let paper = format!("{} [RKH21]", method.word().to_uppercase());
    json!({ "method": method, "samplers": [], "paper": paper, "computes": computes, "assumes": assumes, "needs": BESIDE_TABLE })
}
