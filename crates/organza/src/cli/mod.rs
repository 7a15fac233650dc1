//! Verbs of the command: plain validated arguments first, then built objects.

mod account;
mod compose;
mod demo;
mod failure;
mod generate;
mod inspect;
mod ledger;
mod release;
mod release_plan;
mod release_report;
mod simulate;
mod simulation;
mod terminal;

use clap::{CommandFactory, Parser, Subcommand};

use failure::{Failure, Status};

/// Bayesian inference under differential privacy.
///
/// Data holders publish noisy statistics of their tables; analysts combine them.
#[derive(Parser, Debug)]
#[command(name = "organza", version, propagate_version = true, max_term_width = 110)]
pub struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand, Debug)]
enum Verb {
    /// Three simulated hospitals publish releases, an analyst combines them: the whole story in one command
    Demo(demo::DemoArguments),
    /// Turn a table into one file that is safe to publish
    Release(Box<release::ReleaseArguments>),
    /// Validate releases and explain what they hold and guarantee
    Inspect(inspect::InspectArguments),
    /// Calibrate noise and compose privacy losses
    Account(account::AccountArguments),
    /// Show and set privacy budgets
    Ledger(ledger::LedgerArguments),
    /// Write tables of simulated parties with a known truth
    Simulate(simulate::SimulateArguments),
    /// Print the manual page or shell completions
    Generate(generate::GenerateArguments),
}

/// Runs one verb.
pub fn run(arguments: Arguments) -> Result<Status, Failure> {
    match arguments.verb {
        Verb::Demo(arguments) => demo::run(&arguments),
        Verb::Release(arguments) => release::run(&arguments),
        Verb::Inspect(arguments) => inspect::run(&arguments),
        Verb::Account(arguments) => account::run(&arguments),
        Verb::Ledger(arguments) => ledger::run(&arguments),
        Verb::Simulate(arguments) => simulate::run(&arguments),
        Verb::Generate(arguments) => generate::run(&arguments, Arguments::command()),
    }
}
