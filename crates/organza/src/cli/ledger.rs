//! `organza ledger`: what was spent, and how much may be.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use organza::beside_table::{LEDGER, usual_ledger};
use organza_curator::ledger::{Account, AccountSummary, Ledger};
use organza_curator::policy::Policy;
use organza_release::Neighbours;
use serde_json::json;

use super::failure::{Failure, Status};
use super::release::choices::NeighboursName;
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
        /// The ledger; by default ORGANZA_LEDGER, or organza.ledger in this folder
        ledger: Option<PathBuf>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Set the total budget of a data set
    Budget {
        /// The ledger, made if it does not exist; by default ORGANZA_LEDGER, or organza.ledger in this folder
        ledger: Option<PathBuf>,
        /// Name of the data set
        #[arg(long)]
        dataset: String,
        /// Total epsilon of all releases
        #[arg(long)]
        epsilon: f64,
        /// Total delta of all releases
        #[arg(long, default_value_t = 0.0)]
        delta: f64,
        /// Which tables count as neighbours; by default those of the first charge
        #[arg(long, value_enum)]
        neighbours: Option<NeighboursName>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

pub fn run(arguments: &LedgerArguments) -> Result<Status, Failure> {
    let named = |ledger: &Option<PathBuf>| {
        ledger.clone().or_else(|| usual_ledger(None)).unwrap_or_else(|| PathBuf::from(LEDGER))
    };
    match &arguments.what {
        What::Show { ledger, json } => show(&named(ledger), *json),
        What::Budget { ledger, dataset, epsilon, delta, neighbours, json } => {
            let (path, account) = (named(ledger), Account::new(dataset, "ledger"));
            let policies = Policy::of_site()?;
            policies.iter().try_for_each(|policy| policy.check_budget(&path))?;
            let mut ledger = Ledger::open(&path)?.within(policies.iter().filter_map(Policy::total));
            ledger.set_budget(&account, *epsilon, *delta, neighbours.map(Neighbours::from))?;
            let dataset = account.dataset();
            if *json {
                print_json(&json!({ "dataset": dataset, "epsilon": epsilon, "delta": delta }))?;
                return Ok(Status::Fine);
            }
            say(&format!("{dataset}: budget epsilon {}, delta {}", short(*epsilon), short(*delta)));
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
        let AccountSummary { account, budget, spent, neighbours, .. } = &summary;
        let between = match neighbours {
            Some(Neighbours::Substitute) => " (one record exchanged)",
            Some(Neighbours::AddRemove) => " (one record added or removed)",
            None => "",
        };
        print_text(&format!("{account}: budget {budget}, spent {spent}{between}\n"))?;
        let rows = ledger.charges(account)?.into_iter().map(|record| {
            let output = record.published.map_or("not published".to_string(), |published| published.output);
            vec![
                record.charged_at,
                record.party,
                short(record.charge.claimed_epsilon),
                short(record.charge.claimed_delta),
                record.charge.description,
                output,
            ]
        });
        print_text(&table(&["charged", "party", "epsilon", "delta", "what", "output"], rows))?;
    }
    Ok(Status::Fine)
}
