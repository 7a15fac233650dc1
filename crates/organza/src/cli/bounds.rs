//! `organza bounds`: a file of bounds to fill in, private bounds, and the common bounds of several parties.

use std::path::{Path, PathBuf};

use clap::Args;
use organza_curator::bounds::Bounds;
use organza_curator::output::PendingFile;
use organza_curator::private_bounds::{
    BoundsPlan, BoundsRequest, PrivateBounds, combine, share_of, template,
};
use organza_release::{CountFamily, Neighbours};
use serde_json::json;

use super::beside_table::{BesideTable, NO_LEDGER};
use super::failure::{Failure, Status};
use super::release::choices::NeighboursName;
use super::release::plan::explain_preview;
use super::release::read_bounds;
use super::release::report::{Loss, report};
use super::terminal::{Bar, print_data, print_json, print_text, say, short, table, warn};

#[derive(Args, Debug)]
pub struct BoundsArguments {
    /// The table: CSV (also gzipped) or Parquet; `-` reads CSV from standard input
    #[arg(value_name = "TABLE", required_unless_present = "combine")]
    table: Option<PathBuf>,
    /// Write a file to fill in by hand: the names of the columns and no value
    #[arg(long, conflicts_with_all = ["columns", "epsilon", "combine"])]
    template: bool,
    /// Columns of numbers whose bounds are found with noise: a,b,c
    #[arg(long, value_name = "NAMES", requires = "epsilon", required_unless_present_any = ["template", "combine"])]
    columns: Option<String>,
    /// Privacy loss of all these bounds together, or of bounds and release with --share
    #[arg(long, allow_negative_numbers = true)]
    epsilon: Option<f64>,
    /// Its delta; 0 takes Laplace noise, more takes Gaussian noise, which costs less beside a Gaussian release
    #[arg(long, default_value_t = 0.0, allow_negative_numbers = true)]
    delta: f64,
    /// Spend this share: a Gaussian release of the rest of epsilon and the whole delta still fits. 0.1 is a good choice
    #[arg(long, allow_negative_numbers = true, conflicts_with_all = ["template", "combine"])]
    share: Option<f64>,
    /// Which tables count as neighbours
    #[arg(long, value_enum, default_value_t = NeighboursName::Substitute)]
    neighbours: NeighboursName,
    /// Join the files of several parties: the smallest lower and the largest upper bound of every column
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["table", "columns", "epsilon"])]
    combine: Vec<PathBuf>,
    #[command(flatten)]
    beside: BesideTable,
    /// The file of bounds; a template and common bounds are printed without it
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace an existing file
    #[arg(long)]
    force: bool,
    /// Read nothing; print the noise and the cost
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &BoundsArguments) -> Result<Status, Failure> {
    if arguments.template {
        let beside = arguments.beside.on(arguments.table.as_deref())?;
        return arguments.write(&template(&beside.input, &beside.options)?);
    }
    if !arguments.combine.is_empty() {
        return arguments.write(&common(&arguments.combine)?);
    }
    let plan = arguments.plan()?;
    if arguments.dry_run {
        return arguments.explain(&plan);
    }
    arguments.carry_out(&plan)
}

/// Common bounds and where they come from.
fn common(files: &[PathBuf]) -> Result<String, Failure> {
    let read = |path: &PathBuf| Ok((path.display().to_string(), read_bounds(Some(path), &[])?));
    let parties = files.iter().map(read).collect::<Result<Vec<(String, Bounds)>, Failure>>()?;
    let names: Vec<&str> = parties.iter().map(|(name, _)| name.as_str()).collect();
    let bounds = combine(&parties)?;
    Ok(format!(
        "# Common bounds: the smallest lower and the largest upper bound in {}.\n\n{}",
        names.join(", "),
        bounds.to_toml()
    ))
}

impl BoundsArguments {
    /// To the file, whole or not at all, or to the screen.
    fn write(&self, text: &str) -> Result<Status, Failure> {
        match &self.output {
            None => print_data(text).map(drop)?,
            Some(path) => {
                let mut file = PendingFile::create(path, self.force)?;
                file.write(text)?;
                file.finish()?;
                say(&format!("bounds are in {}", path.display()));
            }
        }
        Ok(Status::Fine)
    }

    fn plan(&self) -> Result<BoundsPlan, Failure> {
        let columns = self.columns.as_deref().unwrap_or_default();
        let columns = columns.split(',').map(|name| name.trim().to_string()).collect::<Vec<_>>();
        if columns.iter().any(String::is_empty) {
            return Err(Failure::bad_input("--columns: a name is missing; write a,b,c"));
        }
        let whole = self.epsilon.ok_or_else(|| Failure::bad_input("--epsilon is needed"))?;
        let epsilon = match self.share {
            Some(_) if self.delta <= 0.0 => {
                return Err(Failure::bad_input("--share: give the delta of the whole with --delta"));
            }
            Some(share) => share_of((whole, self.delta), share)?,
            None => whole,
        };
        let neighbours = self.neighbours.into();
        Ok(BoundsPlan::new(&BoundsRequest { columns, epsilon, delta: self.delta, neighbours })?)
    }

    fn explain(&self, plan: &BoundsPlan) -> Result<Status, Failure> {
        let (first, second) = plan.scales();
        let preview = self.beside.preview(self.table.as_deref(), &plan.charge())?;
        let (epsilon, delta, visible) = (plan.request().epsilon, plan.request().delta, plan.visible());
        if self.json {
            let scales = [first, second];
            print_json(&json!({
                "columns": plan.request().columns, "epsilon": epsilon, "delta": delta, "family": plan.family(), "scales": scales,
                "visible": visible, "ledger": preview,
            }))?;
            return Ok(Status::Fine);
        }
        let family = match plan.family() {
            CountFamily::DiscreteGaussian => "Gaussian",
            _ => "Laplace",
        };
        let text = format!(
            "columns      {}\nguarantee    ({}, {})-differential privacy, neighbours {:?}\nnoise        discrete {family} of scale {} on \
             counts of powers of two, and of {} on those of a linear grid inside\nvisible      about {visible:.0} records of a column \
             together; what is rarer may be clamped\n",
            plan.request().columns.join(", "),
            short(epsilon),
            short(delta),
            plan.request().neighbours,
            short(first),
            short(second),
        );
        print_text(&(text + &preview.as_ref().map_or(String::new(), explain_preview)))?;
        Ok(Status::Fine)
    }

    fn carry_out(&self, plan: &BoundsPlan) -> Result<Status, Failure> {
        let output: &Path =
            self.output.as_deref().ok_or_else(|| Failure::bad_input("--output: name a file"))?;
        let job = self.beside.job(self.table.as_deref(), output, self.force)?;
        if job.ledger.is_none() {
            warn(NO_LEDGER);
        }
        let bar = Bar::new(self.json);
        let outcome = job.run(plan, &bar);
        bar.finish();
        let outcome = outcome?;
        let found: &PrivateBounds = &outcome.release;
        let loss = Loss {
            epsilon: found.epsilon,
            delta: found.delta,
            stated: json!(found),
            confidential: found.neighbours == Neighbours::AddRemove,
        };
        if !self.json {
            let number = |value: Option<f64>| value.map_or("hidden by noise".to_string(), short);
            let rows = found.columns.iter().map(|column| {
                let (lower, upper) = column.range.unzip();
                vec![column.name.clone(), number(lower), number(upper)]
            });
            print_text(&table(&["column", "lower", "upper"], rows))?;
        }
        report(&job, &outcome, &loss, self.json)?;
        let hidden = found.hidden();
        if hidden.is_empty() {
            return Ok(Status::Fine);
        }
        warn(&format!(
            "noise hides {}: fill in public bounds in {}, or spend more on fewer columns",
            hidden.join(", "),
            output.display()
        ));
        Ok(Status::CheckFailed)
    }
}
