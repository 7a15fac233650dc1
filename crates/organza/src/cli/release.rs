//! `organza release`: from a table to one file that is safe to publish.

use std::path::{Path, PathBuf};

use clap::Args;
use organza_curator::bounds::Bounds;
use organza_curator::formula::Formula;
use organza_curator::job::Job;
use organza_curator::ledger::{Account, Ledger, Preview};
use organza_curator::mechanism::{DomainChoice, Plan, RecordScale, Request};
use organza_curator::table::{Input, ReadOptions};
use organza_release::Layout;

use super::failure::{Failure, Status};
use super::release_choices::{LayoutName, Mechanism, MissingName, NeighboursName, StatisticName};
use super::terminal::{Bar, print_json, print_text, warn};
use super::{release_plan, release_report};

/// The arguments as a person gives them.
#[derive(Args, Debug)]
pub struct ReleaseArguments {
    /// The table: CSV (also gzipped) or Parquet; `-` reads CSV from standard input
    #[arg(value_name = "TABLE", required_unless_present = "dry_run")]
    table: Option<PathBuf>,
    /// The regression, for example "y ~ x1 + x2" (also: - 1, x1:x2, x1*x2, I(x^2), log(x))
    #[arg(long)]
    formula: String,
    /// TOML file with public bounds and levels: a table per column, `[x]` with lower and upper, `[site]` with levels
    #[arg(long, value_name = "FILE")]
    bounds: Option<PathBuf>,
    /// Bounds of a column, x=0:10, or its levels, site=a,b,c (wins over the file; may be repeated)
    #[arg(long, value_name = "COLUMN=PUBLIC")]
    bound: Vec<String>,
    /// Privacy loss
    #[arg(long, allow_negative_numbers = true)]
    epsilon: f64,
    /// Probability beyond epsilon, for Gaussian noise; choose it well below one over the number of records
    #[arg(long)]
    delta: Option<f64>,
    /// Family of the noise
    #[arg(long, value_enum, default_value_t = Mechanism::Gaussian)]
    mechanism: Mechanism,
    /// Layout of the noise over the matrix; the better one for the domain by default
    #[arg(long, value_enum)]
    layout: Option<LayoutName>,
    /// Which tables count as neighbours
    #[arg(long, value_enum, default_value_t = NeighboursName::Substitute)]
    neighbours: NeighboursName,
    /// Norm to which records are shrunk whole, in normalised units, or `none`; by default chosen by the number of
    /// features (Gaussian) or none (Laplace)
    #[arg(long, value_name = "RADIUS|none", allow_negative_numbers = true)]
    record_scale: Option<String>,
    /// Weight of the constant in a record
    #[arg(long, value_name = "WEIGHT")]
    intercept_weight: Option<f64>,
    /// Weight of the response in a record
    #[arg(long, value_name = "WEIGHT")]
    response_weight: Option<f64>,
    /// Leave the sum of squared responses out
    #[arg(long)]
    no_response_square: bool,
    /// What is computed from the records; each kind is a release of its own, with its own charge
    #[arg(long, value_enum, default_value_t = StatisticName::Gram)]
    statistic: StatisticName,
    /// Replace each run of this many rows by their sum over its square root before anything is computed (needs `- 1`)
    #[arg(long, value_name = "ROWS")]
    average: Option<u64>,
    /// Bound the norm of the features by this instead of each column (no intercept)
    #[arg(long, requires = "response_bound", conflicts_with_all = ["record_scale", "intercept_weight"])]
    radius: Option<f64>,
    /// Bound the absolute response by this; goes with --radius
    #[arg(long, requires = "radius")]
    response_bound: Option<f64>,
    /// What to do with missing values
    #[arg(long, value_enum, default_value_t = MissingName::Error)]
    missing: MissingName,
    /// The CSV file has no header; its columns are c1, c2, ...
    #[arg(long)]
    no_header: bool,
    /// Field separator of the CSV file
    #[arg(long, default_value_t = ',')]
    delimiter: char,
    /// Name of the data holder; the table's file name by default
    #[arg(long)]
    party: Option<String>,
    /// The release file
    #[arg(short, long, value_name = "FILE", required_unless_present = "dry_run")]
    output: Option<PathBuf>,
    /// Replace an existing release file
    #[arg(long)]
    force: bool,
    /// One release per batch of this many rows, as JSON lines in one file
    #[arg(long, value_name = "ROWS")]
    batch_records: Option<u64>,
    /// File that keeps the budget; TABLE.ledger by default
    #[arg(long, value_name = "FILE")]
    ledger: Option<PathBuf>,
    /// Do not charge any ledger (keep the budget yourself)
    #[arg(long, conflicts_with = "ledger")]
    no_ledger: bool,
    /// Name of the data set in the ledger; the table's file name by default
    #[arg(long)]
    dataset: Option<String>,
    /// Number of threads
    #[arg(long)]
    threads: Option<usize>,
    /// Read no data; print what would be published
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &ReleaseArguments) -> Result<Status, Failure> {
    let request = arguments.request()?;
    let plan = Plan::new(&request)?;
    if arguments.dry_run {
        return arguments.dry_run(&request, &plan);
    }
    let job = arguments.job()?;
    if job.ledger.is_none() {
        warn("no ledger is charged: keep track of the loss of this data set yourself");
    }
    let bar = Bar::new(arguments.json);
    let outcome = job.run(&plan, &bar);
    bar.finish();
    release_report::report(&job, &outcome?, arguments.json)
}

impl ReleaseArguments {
    fn request(&self) -> Result<Request, Failure> {
        let formula: Formula = self.formula.parse().map_err(Failure::bad_input)?;
        let mut request = Request::new(
            formula,
            read_bounds(self.bounds.as_deref(), &self.bound)?,
            self.epsilon,
            self.delta()?,
        );
        request.family = self.mechanism.into();
        request.layout = self.layout.map(Layout::from);
        request.neighbours = self.neighbours.into();
        request.response_square = !self.no_response_square;
        request.response_weight = self.response_weight;
        request.averaging = self.average;
        request.statistic = self.statistic.into();
        request.domain = match (self.radius, self.response_bound) {
            (Some(radius), Some(response_bound)) => DomainChoice::Ball { radius, response_bound },
            _ => DomainChoice::Box {
                record_scale: self.record_scale()?,
                intercept_weight: self.intercept_weight,
            },
        };
        Ok(request)
    }

    fn delta(&self) -> Result<f64, Failure> {
        match (self.delta, self.mechanism) {
            (Some(delta), _) => Ok(delta),
            (None, Mechanism::Laplace) => Ok(0.0),
            (None, Mechanism::Gaussian) => {
                Err(Failure::bad_input("--delta: Gaussian noise needs one, for example --delta 1e-6"))
            }
        }
    }

    fn record_scale(&self) -> Result<RecordScale, Failure> {
        match self.record_scale.as_deref() {
            None => Ok(RecordScale::Default),
            Some("none") => Ok(RecordScale::None),
            Some(text) => match text.parse() {
                Ok(radius) => Ok(RecordScale::Radius(radius)),
                Err(_) => {
                    Err(Failure::bad_input(format!("--record-scale: {text:?} is neither a number nor none")))
                }
            },
        }
    }

    fn input(&self) -> Option<Input> {
        self.table
            .as_ref()
            .map(|path| if path.as_os_str() == "-" { Input::Standard } else { Input::File(path.clone()) })
    }

    /// Name of the table without folders and without `.csv`, `.csv.gz` or `.parquet`.
    fn table_name(&self) -> Option<String> {
        let Some(Input::File(path)) = self.input() else { return None };
        let name = path.file_name()?.to_string_lossy().into_owned();
        Some(name.split('.').next().filter(|stem| !stem.is_empty()).unwrap_or(&name).to_string())
    }

    fn party(&self) -> Result<String, Failure> {
        let party = self.party.clone().or_else(|| self.table_name());
        party.ok_or_else(|| Failure::bad_input("--party: name the data holder when reading standard input"))
    }

    fn ledger(&self) -> Result<Option<(PathBuf, Account)>, Failure> {
        if self.no_ledger {
            return Ok(None);
        }
        let beside_table = match self.input() {
            Some(Input::File(path)) => {
                let mut name = path.into_os_string();
                name.push(".ledger");
                Some(PathBuf::from(name))
            }
            _ => None,
        };
        let unnamed = "--ledger and --dataset must be given when reading standard input (or --no-ledger)";
        let path = self.ledger.clone().or(beside_table).ok_or_else(|| Failure::bad_input(unnamed))?;
        let dataset = self.dataset.clone().or_else(|| self.table_name());
        let dataset = dataset.ok_or_else(|| Failure::bad_input(unnamed))?;
        Ok(Some((path, Account { dataset, party: self.party()? })))
    }

    fn job(&self) -> Result<Job, Failure> {
        let missing_argument = || Failure::bad_input("TABLE and --output are needed");
        let defaults = ReadOptions::default();
        let delimiter = u8::try_from(self.delimiter).map_err(|_| {
            Failure::bad_input(format!("--delimiter: {:?} is not a single byte", self.delimiter))
        })?;
        Ok(Job {
            input: self.input().ok_or_else(missing_argument)?,
            options: ReadOptions {
                header: !self.no_header,
                delimiter,
                missing: self.missing.into(),
                threads: self.threads.unwrap_or(defaults.threads).max(1),
            },
            party: self.party()?,
            output: self.output.clone().ok_or_else(missing_argument)?,
            overwrite: self.force,
            batch_rows: self.batch_records,
            ledger: self.ledger()?,
        })
    }

    fn dry_run(&self, request: &Request, plan: &Plan) -> Result<Status, Failure> {
        let preview = self.preview(plan)?;
        if self.json {
            print_json(&release_plan::as_json(plan, preview.as_ref()))?;
        } else {
            let other = other_layout(request, plan);
            print_text(&release_plan::explain(plan, other.as_ref(), preview.as_ref()))?;
        }
        Ok(Status::Fine)
    }

    /// What the ledger would hold afterwards; nothing if no table or ledger was named.
    fn preview(&self, plan: &Plan) -> Result<Option<Preview>, Failure> {
        if self.no_ledger || (self.table.is_none() && self.ledger.is_none()) {
            return Ok(None);
        }
        match self.ledger() {
            Ok(Some((path, account))) => {
                let charge = plan.charge(plan.description());
                let preview = match Ledger::open_read_only(&path)? {
                    Some(ledger) => ledger.preview(&account, &charge),
                    None => Preview::of_first(&charge),
                };
                Ok(Some(preview?))
            }
            _ => Ok(None),
        }
    }
}

/// Public bounds from a file, if any, and from flags, which win.
pub fn read_bounds(file: Option<&Path>, flags: &[String]) -> Result<Bounds, Failure> {
    let mut bounds = match file {
        None => Bounds::default(),
        Some(path) => {
            let name = path.display().to_string();
            let text = std::fs::read_to_string(path)
                .map_err(|error| Failure::bad_input(format!("{name}: {error}")))?;
            Bounds::from_toml(&text, &name).map_err(Failure::bad_input)?
        }
    };
    for flag in flags {
        bounds.set_flag(flag).map_err(Failure::bad_input)?;
    }
    Ok(bounds)
}

/// The same request with the other layout, where that is possible.
fn other_layout(request: &Request, plan: &Plan) -> Option<Plan> {
    let layout = match plan.statistic().layout() {
        Layout::Isometric => Layout::Upper,
        Layout::Upper => Layout::Isometric,
    };
    Plan::new(&Request { layout: Some(layout), ..request.clone() }).ok()
}
