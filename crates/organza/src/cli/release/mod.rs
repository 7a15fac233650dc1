//! `organza release`: from a table to one file that is safe to publish.

pub mod check;
pub mod choices;
pub mod counts;
pub mod job;
pub mod plan;
pub mod randomised;
pub mod report;

use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args};
use organza_curator::bounds::Bounds;
use organza_curator::formula::Formula;
use organza_curator::mechanism::{DomainChoice, Plan, RecordScale, Request};
use organza_release::{Family, Layout, did_you_mean};
use organza_studies::frontier::{FILL, expected};

use self::choices::{LayoutName, Mechanism, NeighboursName, PerName, SensitivityName, StatisticName};
use self::report::Loss;
use super::beside_table::BesideTable;
use super::failure::{Failure, Status};
use super::terminal::{print_json, print_text, prose, say, warn};

/// The arguments as a person gives them.
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("what").required(true).args(["formula", "counts", "randomised_response"]))]
pub struct ReleaseArguments {
    /// The table: CSV (also gzipped) or Parquet; `-` reads CSV from standard input
    #[arg(value_name = "TABLE", required_unless_present = "dry_run")]
    pub(super) table: Option<PathBuf>,
    /// The regression, for example "y ~ x1 + x2" (also: - 1, x1:x2, x1*x2, I(x^2), log(x))
    #[arg(long)]
    formula: Option<String>,
    /// Contingency tables in place of a regression: columns by commas, tables by semicolons, "site, ill; sex"
    #[arg(long, value_name = "TABLES", conflicts_with_all = REGRESSION_ONLY)]
    pub(super) counts: Option<String>,
    /// Release the number of records too, as one more table (needs --neighbours add-remove)
    #[arg(long, conflicts_with_all = ["formula", "randomised_response"])]
    pub(super) count_records: bool,
    /// Every record's own answers about these columns, each replaced at random: "site, ill"
    #[arg(long, value_name = "COLUMNS", conflicts_with_all = REGRESSION_ONLY)]
    #[arg(conflicts_with_all = ["mechanism", "delta"])]
    pub(super) randomised_response: Option<String>,
    /// Whether a randomised answer is about all columns together or about one; epsilon is then shared equally
    #[arg(long, value_enum, conflicts_with_all = ["formula", "counts"], default_value_t = PerName::Record)]
    pub(super) per: PerName,
    /// TOML file with public bounds and levels: a table per column, `[x]` with lower and upper, `[site]` with levels
    #[arg(long, value_name = "FILE")]
    bounds: Option<PathBuf>,
    /// Bounds of a column, x=0:10, or its levels, site=a,b,c (wins over the file; may be repeated)
    #[arg(long, value_name = "COLUMN=PUBLIC")]
    bound: Vec<String>,
    /// Privacy loss
    #[arg(long, allow_negative_numbers = true)]
    pub(super) epsilon: f64,
    /// Probability beyond epsilon, for Gaussian noise; choose it well below one over the number of records
    #[arg(long)]
    pub(super) delta: Option<f64>,
    /// Family of the noise; Gaussian by default, but Laplace on counts without a delta
    #[arg(long, value_enum, visible_alias = "noise")]
    pub(super) mechanism: Option<Mechanism>,
    /// Layout of the noise over the matrix; the better one for the domain by default
    #[arg(long, value_enum)]
    layout: Option<LayoutName>,
    /// Which tables count as neighbours
    #[arg(long, value_enum, default_value_t = NeighboursName::Substitute)]
    pub(super) neighbours: NeighboursName,
    /// Norm to which records are shrunk whole, in normalised units, or `none`; by default chosen by the numbers of
    /// features and records (Gaussian) or none (Laplace)
    #[arg(long, value_name = "RADIUS|none", allow_negative_numbers = true)]
    record_scale: Option<String>,
    /// Number of records that the default radius is made for, known beforehand; parties who give the same share a
    /// radius. By default a file's records are counted where their number is public, and rounded down to a power of two
    #[arg(long, value_name = "NUMBER")]
    records: Option<u64>,
    /// Standard deviation of a column as a share of the half-range of its bounds, which a dry run with --records
    /// assumes; 0.15 by default
    #[arg(long, value_name = "SHARE", requires_all = ["dry_run", "records"])]
    fill: Option<f64>,
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
    /// The sensitivity that sets the noise: the exact one, or the papers' sum of the entries' ranges (Laplace, unscaled records)
    #[arg(long, value_enum, default_value_t = SensitivityName::Exact)]
    sensitivity: SensitivityName,
    /// Bound the norm of the features by this instead of each column (no intercept)
    #[arg(long, requires = "response_bound", conflicts_with_all = ["record_scale", "intercept_weight"])]
    radius: Option<f64>,
    /// Bound the absolute response by this; goes with --radius
    #[arg(long, requires = "radius")]
    response_bound: Option<f64>,
    #[command(flatten)]
    pub(super) beside: BesideTable,
    /// The release file
    #[arg(short, long, value_name = "FILE", required_unless_present_any = ["dry_run", "check"])]
    pub(super) output: Option<PathBuf>,
    /// Replace an existing release file
    #[arg(long)]
    pub(super) force: bool,
    /// One release per batch of this many rows, as JSON lines in one file
    #[arg(long, value_name = "ROWS")]
    pub(super) batch_records: Option<u64>,
    /// Number of threads
    #[arg(long, value_parser = super::read_arguments::threads)]
    pub(super) threads: Option<usize>,
    /// Print what would be published; of the table nothing but the header is read
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Show, on this terminal only, how much of the table is clamped and shrunk: private, never to be passed on; nothing is
    /// charged or written
    #[arg(long, conflicts_with_all = ["output", "json", "dry_run", "batch_records", "ledger", "counts", "randomised_response"])]
    pub(super) check: bool,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Options that say something about regressions only.
const REGRESSION_ONLY: [&str; 12] = [
    "layout",
    "record_scale",
    "records",
    "fill",
    "intercept_weight",
    "response_weight",
    "no_response_square",
    "statistic",
    "average",
    "sensitivity",
    "radius",
    "response_bound",
];

pub fn run(arguments: &ReleaseArguments) -> Result<Status, Failure> {
    match (&arguments.formula, &arguments.counts, &arguments.randomised_response) {
        (Some(formula), ..) => release_sums(arguments, formula),
        (_, Some(tables), _) => counts::run(arguments, tables),
        (.., Some(columns)) => randomised::run(arguments, columns),
        _ => Err(Failure::bad_input("--formula, --counts or --randomised-response is needed")),
    }
}

fn release_sums(arguments: &ReleaseArguments, formula: &str) -> Result<Status, Failure> {
    let request = arguments.request(formula)?;
    let plan = arguments.plan(&request)?;
    if arguments.dry_run {
        return arguments.dry_run(&request, &plan);
    }
    if arguments.check {
        return check::run(arguments, &plan);
    }
    arguments.carry_out(&plan, &Loss::of(plan.privacy()))
}

impl ReleaseArguments {
    fn request(&self, formula: &str) -> Result<Request, Failure> {
        let formula: Formula = formula.parse().map_err(Failure::bad_input)?;
        self.warn_of_strangers(&formula)?;
        let mut request =
            Request::new(formula, self.public_bounds()?, self.epsilon, self.delta.unwrap_or(0.0));
        request.family = self.mechanism.map_or(request.family, Family::from);
        request.layout = self.layout.map(Layout::from);
        request.neighbours = self.neighbours.into();
        request.response_square = !self.no_response_square;
        request.response_weight = self.response_weight;
        request.averaging = self.average;
        request.sensitivity_by_ranges = self.sensitivity == SensitivityName::Ranges;
        request.statistic = self.statistic.into();
        request.records = self.records.or(self.batch_records.filter(|rows| *rows > 0));
        request.domain = match (self.radius, self.response_bound) {
            (Some(radius), Some(response_bound)) => DomainChoice::Ball { radius, response_bound },
            _ => DomainChoice::Box {
                record_scale: self.record_scale()?,
                intercept_weight: self.intercept_weight,
            },
        };
        Ok(request)
    }

    /// A flag about a column that the formula does not have is a slip; a file may be about many formulas.
    fn warn_of_strangers(&self, formula: &Formula) -> Result<(), Failure> {
        let known = formula.columns();
        for flag in &self.bound {
            for (name, _) in read_bounds(None, std::slice::from_ref(flag))?.columns() {
                if !known.contains(&name) {
                    let near = did_you_mean(name, &known);
                    warn(&format!("--bound {flag}: the formula has no column `{name}`{near}"));
                }
            }
        }
        Ok(())
    }

    /// What the file and the flags say of the columns.
    pub(super) fn public_bounds(&self) -> Result<Bounds, Failure> {
        read_bounds(self.bounds.as_deref(), &self.bound)
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

    fn dry_run(&self, request: &Request, plan: &Plan) -> Result<Status, Failure> {
        self.check_columns(plan)?;
        let preview = self.preview(&plan.charge(plan.description()))?;
        let fill = self.fill.unwrap_or(FILL);
        if self.records.is_some() && plan.design().features().len() > 10 {
            say("simulating how wide intervals will be: with so many features it takes a minute or more");
        }
        let expected = self.records.map(|records| expected(request, records, fill)).transpose()?.flatten();
        if self.json {
            print_json(&plan::as_json(plan, preview.as_ref(), expected.as_ref()))?;
        } else {
            let other = other_layout(request, plan);
            print_text(&plan::explain(plan, other.as_ref(), preview.as_ref()))?;
            if let Some(expected) = &expected {
                print_text(&plan::explain_expected(expected))?;
            } else if request.wants_records() {
                print_text(&prose(FEW_RECORDS))?;
            }
        }
        Ok(Status::Fine)
    }
}

const FEW_RECORDS: &str = "The radius is that of few records: a release of many may have a larger one, which shrinks fewer records and needs more \
                           noise. Give --records to see it, and how wide intervals will be.";

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
