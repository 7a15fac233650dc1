//! Verbs of the command: arguments, words and terminals. What is done is the library's.
//!
//! | files | what is in them |
//! | --- | --- |
//! | `release/`, `bounds`, `beside_table`, `read_arguments` | beside the table: releases, bounds, who holds it and who pays |
//! | `sample/`, `non_private` | beside the table: private chains, and the comparison that stays there |
//! | `inspect/`, `fit/`, `sources`, `methods`, `predict` | from releases to posteriors and predictions |
//! | `account/`, `ledger` | privacy losses and budgets |
//! | `studies/`, `demo` | simulated tables: calibration, what an epsilon buys, the whole story |
//! | `failure`, `flags`, `terminal`, `generate` | exit codes, flags for fields, what a terminal shows, manuals |

mod account;
mod beside_table;
mod bounds;
mod demo;
mod failure;
mod fit;
mod flags;
mod generate;
mod inspect;
mod ledger;
mod methods;
mod non_private;
mod predict;
mod read_arguments;
mod release;
mod sample;
mod sources;
mod studies;
pub mod terminal;

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
    /// A file of bounds: to fill in by hand, found privately, or common to several parties
    ///
    /// A release needs bounds of its columns that are public. Where they are known, `--template` writes a file to fill in. Where they are not,
    /// `--columns` finds them with noise, for a part of the budget; `--combine` joins the files of several parties.
    Bounds(Box<bounds::BoundsArguments>),
    /// Turn a table into one file that is safe to publish
    Release(Box<release::ReleaseArguments>),
    /// Validate releases and explain what they hold and guarantee
    Inspect(inspect::InspectArguments),
    /// Combine releases into a posterior
    ///
    /// Models: linear, normal (`y ~ 1`) and logistic from releases of sums; proportion and table from releases of counts or randomised answers;
    /// naive-bayes from counts. Without --model it is the plainest that the releases allow.
    Fit(Box<fit::FitArguments>),
    /// Private chains beside the table, for models of which no statistic suffices
    Sample(Box<sample::SampleArguments>),
    /// Predict new records with a fit
    Predict(predict::PredictArguments),
    /// Explain the methods, and which of them given releases allow
    Methods(methods::MethodsArguments),
    /// Calibrate noise and compose privacy losses
    Account(account::AccountArguments),
    /// Show and set privacy budgets
    Ledger(ledger::LedgerArguments),
    /// What a table says without privacy, for comparison beside it; never publish this
    NonPrivate(non_private::NonPrivateArguments),
    /// Is a method calibrated? Ranks of the truth among its draws, over simulated studies
    ///
    /// Simulates studies with a truth from the prior, makes their releases, fits them, and ranks the truth among the draws. If the posterior is
    /// right, ranks are uniform. Exit code 3 says that ranks leave the band. The noise is seeded: such releases protect nobody, and the
    /// records are nobody's.
    Calibration(studies::calibration::CalibrationArguments),
    /// What an epsilon buys: interval widths and errors of a design, simulated before anything is spent
    ///
    /// Simulates tables of a design, makes their releases by the default mechanism at several losses, fits them, and shows how wide intervals
    /// are and how large errors. Widths and errors are standardised: standard deviations of the response for one of the feature.
    ///
    /// The design is given in numbers on purpose, never as a table: what private data say must not steer a public choice. Take records,
    /// features and R^2 from public knowledge or from the literature.
    Frontier(studies::frontier::FrontierArguments),
    /// Write tables of simulated parties with a known truth
    Simulate(studies::simulate::SimulateArguments),
    /// Print the manual page or shell completions
    Generate(generate::GenerateArguments),
}

/// Runs one verb.
pub fn run(arguments: Arguments) -> Result<Status, Failure> {
    match arguments.verb {
        Verb::Demo(arguments) => demo::run(&arguments),
        Verb::Bounds(arguments) => bounds::run(&arguments),
        Verb::Release(arguments) => release::run(&arguments),
        Verb::Inspect(arguments) => inspect::run(&arguments),
        Verb::Fit(arguments) => fit::run(&arguments),
        Verb::Sample(arguments) => sample::run(&arguments),
        Verb::Predict(arguments) => predict::run(&arguments),
        Verb::Methods(arguments) => methods::run(&arguments),
        Verb::Account(arguments) => account::run(&arguments),
        Verb::Ledger(arguments) => ledger::run(&arguments),
        Verb::NonPrivate(arguments) => non_private::run(&arguments),
        Verb::Calibration(arguments) => studies::calibration::run(&arguments),
        Verb::Frontier(arguments) => studies::frontier::run(&arguments),
        Verb::Simulate(arguments) => studies::simulate::run(&arguments),
        Verb::Generate(arguments) => generate::run(&arguments, Arguments::command()),
    }
}
