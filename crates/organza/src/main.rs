//! The `organza` command.

mod cli;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let arguments = match cli::Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(told) => {
            // Help that nobody could be shown is a failure; a message about wrong usage has its exit code already.
            let shown = told.print().is_ok_and(|()| std::io::Write::flush(&mut std::io::stdout()).is_ok());
            return ExitCode::from(if shown || told.use_stderr() { told.exit_code() as u8 } else { 1 });
        }
    };
    match cli::run(arguments) {
        Ok(status) => status.into(),
        Err(failure) => {
            cli::terminal::say(&failure.describe());
            failure.status.into()
        }
    }
}
