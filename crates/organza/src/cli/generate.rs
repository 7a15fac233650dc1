//! The manual page and shell completions, generated from the same table as the help text.

use clap::{Args, Command, Subcommand};
use clap_complete::Shell;

use super::failure::{Failure, Status};
use super::terminal::print_data;

#[derive(Args, Debug)]
pub struct GenerateArguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Debug)]
enum What {
    /// The manual page of the command, or of one verb, in roff: `organza generate man release | man -l -`
    Man {
        /// A verb; without it the page of the command itself
        verb: Option<String>,
    },
    /// Completions for a shell: `organza generate completions bash > ~/.bash_completion.d/organza`
    Completions {
        /// The shell
        shell: Shell,
    },
}

pub fn run(arguments: &GenerateArguments, mut command: Command) -> Result<Status, Failure> {
    let mut text = Vec::new();
    match &arguments.what {
        What::Completions { shell } => clap_complete::generate(*shell, &mut command, "organza", &mut text),
        What::Man { verb } => {
            command.build();
            let page = match verb {
                None => command,
                Some(verb) => {
                    let unknown =
                        || Failure::bad_input(format!("there is no verb {verb:?}; see organza --help"));
                    command.find_subcommand(verb).cloned().ok_or_else(unknown)?
                }
            };
            clap_mangen::Man::new(page).render(&mut text).map_err(Failure::failed)?;
        }
    }
    print_data(&String::from_utf8_lossy(&text))?;
    Ok(Status::Fine)
}
