//! `organza ledger`: what was spent, and how much may be.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use organza_curator::ledger::{Account, AccountSummary, Ledger};
use serde_json::json;

use super::failure::{Failure, Status};
use super::terminal::{print_json, print_text, say, short, table};

#[derive(Args, Debug)]
pub struct LedgerArguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Debug)]
enum What {
    /// Show budgets and charges
    Show {
        /// The ledger
        ledger: PathBuf,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Set the total budget of a data set and party
    Budget {
        /// The ledger; made if it does not exist
        ledger: PathBuf,
        /// Name of the data set
        #[arg(long)]
        dataset: String,
        /// Name of the data holder
        #[arg(long)]
        party: String,
        /// Total epsilon of all releases
        #[arg(long)]
        epsilon: f64,
        /// Total delta of all releases
        #[arg(long, default_value_t = 0.0)]
        delta: f64,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

pub fn run(arguments: &LedgerArguments) -> Result<Status, Failure> {
    match &arguments.what {
        What::Show { ledger, json } => show(ledger, *json),
        What::Budget { ledger, dataset, party, epsilon, delta, json } => {
            let account = Account { dataset: dataset.clone(), party: party.clone() };
            Ledger::open(ledger)?.set_budget(&account, *epsilon, *delta)?;
            if *json {
                print_json(&json!({ "account": account, "epsilon": epsilon, "delta": delta }))?;
                return Ok(Status::Fine);
            }
            say(&format!("{dataset}, {party}: budget epsilon {}, delta {}", short(*epsilon), short(*delta)));
            Ok(Status::Fine)
        }
    }
}

fn show(path: &Path, as_json: bool) -> Result<Status, Failure> {
    let missing = || Failure::bad_input(format!("{}: there is no such ledger", path.display()));
    let ledger = Ledger::open_read_only(path)?.ok_or_else(missing)?;
    let accounts = ledger.accounts()?;
    if as_json {
        let mut values = Vec::new();
        for summary in &accounts {
            values.push(json!({ "summary": summary, "charges": ledger.charges(&summary.account)? }));
        }
        print_json(&values)?;
        return Ok(Status::Fine);
    }
    for summary in accounts {
        let AccountSummary { account, budget, spent, .. } = &summary;
        print_text(&format!("{account}: budget {budget}, spent {spent}\n"))?;
        let rows = ledger.charges(account)?.into_iter().map(|record| {
            let output = record.published.map_or("not published".to_string(), |published| published.output);
            vec![
                record.charged_at,
                short(record.charge.claimed_epsilon),
                short(record.charge.claimed_delta),
                record.charge.description,
                output,
            ]
        });
        print_text(&table(&["charged", "epsilon", "delta", "what", "output"], rows))?;
    }
    Ok(Status::Fine)
}
