//! The `organza` command.

mod cli;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let arguments = cli::Arguments::parse();
    match cli::run(arguments) {
        Ok(status) => status.into(),
        Err(failure) => {
            anstream::eprintln!("{}", failure.describe());
            failure.status.into()
        }
    }
}
