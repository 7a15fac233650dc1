//! The `organza-lab` command.

mod command;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use command::{Failure, reproduce, terminal};
use organza_lab::{defaults, methods};

/// The laboratory of Organza: papers, computed anew, and the experiments behind the defaults.
#[derive(Parser, Debug)]
#[command(name = "organza-lab", version, propagate_version = true, max_term_width = 110)]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand, Debug)]
enum Verb {
    /// Compute the tables and figures of papers anew, and compare
    Reproduce(reproduce::ReproduceArguments),
    /// Choose radius and weights of a release, and ask whether default fits are honest
    Defaults(defaults::DefaultsArguments),
    /// How honest and how fast is every method?
    Methods(methods::MethodsArguments),
}

fn main() -> ExitCode {
    let done = match Arguments::parse().verb {
        Verb::Reproduce(arguments) => reproduce::run(&arguments),
        Verb::Defaults(arguments) => {
            defaults::run(&arguments).map(|()| ExitCode::SUCCESS).map_err(Failure::bad_input)
        }
        Verb::Methods(arguments) => {
            methods::run(&arguments).map(|()| ExitCode::SUCCESS).map_err(Failure::failed)
        }
    };
    done.unwrap_or_else(|failure| {
        terminal::say(&format!("error: {}", failure.message));
        ExitCode::from(failure.code)
    })
}
