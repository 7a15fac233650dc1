//! `organza inspect`: is a release valid, what does it hold, and does its guarantee follow from its noise?

pub mod counts;
pub mod randomised;

use std::path::{Path, PathBuf};

use clap::Args;
use organza_curator::policy::{LARGEST_EPSILON, largest_delta};
use organza_release::{
    BoxDomain, Claim, Column, CountRelease, Document, Domain, Kind, Missing, Neighbours, PrivacyLoss,
    RandomisedRelease, Release, kind_of, printable,
};
use serde_json::{Value, json};

use super::failure::{Failure, Status};
use super::terminal::{print_data, short, table};

#[derive(Args, Debug)]
pub struct InspectArguments {
    /// Release files; a file may hold many releases
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// One release, explained to a person and to machines.
pub struct Inspected {
    /// For a person.
    pub text: String,
    /// For machines.
    pub json: Value,
    /// Whether its guarantee follows from its noise.
    pub holds: bool,
}

pub fn run(arguments: &InspectArguments) -> Result<Status, Failure> {
    let mut printed = Printed { json: arguments.json, releases: 0, sound: true };
    let end = arguments.files.iter().try_for_each(|path| inspect_file(path, &mut printed));
    match end {
        Err(End::Failed(failure)) => return Err(failure),
        Ok(()) if arguments.json => print_data("\n]\n").map(drop)?,
        _ => {}
    }
    Ok(if printed.sound { Status::Fine } else { Status::CheckFailed })
}

/// What was printed so far.
struct Printed {
    json: bool,
    releases: usize,
    sound: bool,
}

/// Why not all releases are printed.
enum End {
    /// Nobody reads on.
    Unread,
    Failed(Failure),
}

impl<F: Into<Failure>> From<F> for End {
    fn from(failure: F) -> Self {
        End::Failed(failure.into())
    }
}

impl Printed {
    fn add(&mut self, release: &Inspected) -> Result<(), End> {
        self.sound &= release.holds;
        self.releases += 1;
        let going_on = if self.json {
            let before = if self.releases == 1 { "[\n  " } else { ",\n  " };
            let text = serde_json::to_string_pretty(&release.json)?;
            print_data(&format!("{before}{}", text.replace('\n', "\n  ")))?
        } else {
            print_data(&release.text)?
        };
        if going_on { Ok(()) } else { Err(End::Unread) }
    }
}

/// Explains all releases of a file, whatever their kind, one after the other.
fn inspect_file(path: &Path, printed: &mut Printed) -> Result<(), End> {
    let name = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|error| Failure::bad_input(format!("{name}: {error}")))?;
    match kind_of(&bytes) {
        Some(Kind::Counts) => {
            CountRelease::read_each(&bytes, &name, |release| printed.add(&counts::inspect(path, &release)?))
        }
        Some(Kind::Randomised) => RandomisedRelease::read_each(&bytes, &name, |release| {
            printed.add(&randomised::inspect(path, &release))
        }),
        Some(Kind::Sums) | None => Release::read_each(&bytes, &name, |release: Release| {
            let claim = release.claim()?;
            let (text, json) = (explain(path, &release, &claim), as_json(path, &release, &claim));
            printed.add(&Inspected { text, json, holds: claim.holds })
        }),
    }
}

fn as_json(path: &Path, release: &Release, claim: &Claim) -> Value {
    json!({
        "file": path.display().to_string(),
        "party": release.party,
        "records": release.records,
        "formula": release.domain.formula(),
        "domain": release.domain,
        "statistic": release.statistic,
        "entries": entry_names(release),
        "value": release.value,
        "noise": release.noise,
        "privacy": release.privacy,
        "claim": claim_json(claim),
    })
}

/// The recomputed guarantee for machines.
pub fn claim_json(claim: &Claim) -> Value {
    json!({
        "holds": claim.holds,
        "sensitivity": claim.sensitivity.value,
        "tight": claim.sensitivity.tight,
        "scale": claim.scale,
        "epsilon": claim.epsilon,
        "delta": claim.delta,
    })
}

/// Names of the released entries, for example `x1*y`.
fn entry_names(release: &Release) -> Vec<String> {
    super::release::plan::entry_names(&release.domain, &release.statistic)
}

fn explain(path: &Path, release: &Release, claim: &Claim) -> String {
    let privacy = &release.privacy;
    let relation = describe_relation(privacy.neighbours);
    let records = release.records.map_or("confidential".to_string(), |records| records.to_string());
    let verdict = verdict(claim, privacy, release.records);
    let noise = super::release::plan::noise_table(
        &release.domain,
        &release.statistic,
        &release.noise,
        Some(&release.value),
    );
    format!(
        "{path}\n  party      {party}, {records} records, written {created} by {tool} {version}\n  \
         model      {formula}\n  statistic  {statistic}\n  domain     {domain}\n  missing    {missing}\n  \
         guarantee  ({epsilon}, {delta})-differential privacy when {relation}\n             {verdict}\n  \
         noise      {family:?}, {norm:?} sensitivity {sensitivity} {tight}, weighted scale {scale}\n{noise}",
        path = printable(&path.display().to_string()),
        party = release.party,
        created = release.created,
        tool = release.tool.name,
        version = release.tool.version,
        formula = release.domain.formula(),
        statistic = super::release::plan::describe_statistic(&release.statistic),
        domain = describe_domain(&release.domain),
        missing = describe_missing(release.missing),
        epsilon = short(privacy.epsilon),
        delta = short(privacy.delta),
        family = release.noise.family,
        norm = privacy.norm,
        sensitivity = short(privacy.sensitivity),
        tight = if claim.sensitivity.tight { "(exact)" } else { "(upper bound)" },
        scale = short(claim.scale),
    )
}

/// Whether the guarantee follows, in words, and what it is worth.
pub fn verdict(claim: &Claim, privacy: &PrivacyLoss, records: Option<u64>) -> String {
    if !privacy.public_bounds {
        return "VOID: the bounds were read off the data".to_string();
    }
    let verdict = if claim.holds {
        "follows from the noise".to_string()
    } else {
        format!(
            "DOES NOT FOLLOW: the noise pays for epsilon {}, delta {}",
            short(claim.epsilon),
            short(claim.delta)
        )
    };
    format!("{verdict}\n             {}", worth((claim.epsilon, claim.delta), privacy.neighbours, records))
}

/// What a loss is worth, in words: the best that a guess between two equally likely tables can become.
pub fn worth((epsilon, delta): (f64, f64), neighbours: Neighbours, records: Option<u64>) -> String {
    let question = match neighbours {
        Neighbours::Substitute => "between two answers of a person",
        Neighbours::AddRemove => "whether a person is in the table",
    };
    let odds = (-epsilon).exp();
    let right = 100.0 * (1.0 + delta * odds) / (1.0 + odds);
    let right = if right > 99.95 {
        "almost certainly".to_string()
    } else {
        format!("in at most {right:.1}% of cases")
    };
    let weak = if epsilon > LARGEST_EPSILON || delta > largest_delta(records) {
        ": THIS HARDLY PROTECTS ANYBODY"
    } else {
        ""
    };
    format!("whoever wavers {question} is right afterwards {right}{weak}")
}

/// What neighbours are, in words.
pub fn describe_relation(neighbours: Neighbours) -> &'static str {
    match neighbours {
        Neighbours::Substitute => "one record is exchanged for another",
        Neighbours::AddRemove => "one record is added or taken away",
    }
}

/// What was done with missing values, in words.
pub fn describe_missing(missing: Missing) -> &'static str {
    match missing {
        Missing::Refused => "none: a missing value would have stopped the release",
        Missing::Dropped => {
            "incomplete records were dropped; which records are complete is treated as public"
        }
        Missing::Midpoint => "missing values were replaced by the middle of the bounds",
    }
}

fn describe_domain(domain: &Domain) -> String {
    let columns: Vec<String> = domain.columns().iter().map(describe_column).collect();
    let columns = columns.join(", ");
    match domain {
        Domain::Box(domain) => match domain.record_scale {
            Some(radius) => format!("{columns}\n  records    {}", describe_scale(domain, radius)),
            None => columns,
        },
        Domain::Ball(domain) => {
            format!("|x| <= {}, |{}| <= {}", domain.radius, domain.response, domain.response_bound)
        }
    }
}

/// What scaling did to records, in words.
fn describe_scale(domain: &BoxDomain, radius: f64) -> String {
    let radius = short(radius);
    if domain.shrinks_nothing() {
        return format!(
            "none was shrunk: no record is longer than the radius {radius}, and all count the same"
        );
    }
    let constant = if domain.intercept { "(g, u)" } else { "u" };
    let g =
        if domain.intercept { format!(", g = {}", short(domain.intercept_weight)) } else { String::new() };
    format!(
        "shrunk whole to norm {radius}: a record counts c^2, c = min(1, {radius}/|{constant}|) with normalised features u{g}, so \
         this is a weighted regression, in which long records count less"
    )
}

fn describe_column(column: &Column) -> String {
    match column {
        Column::Numeric { name, lower, upper } => format!("{name} in [{lower}, {upper}]"),
        Column::Categorical { name, levels } => format!("{name} in {{{}}}", levels.join(", ")),
    }
}

/// One line per release, for lists.
pub fn overview(releases: &[(String, Release)]) -> String {
    let rows = releases.iter().map(|(file, release)| {
        vec![
            printable(file).into(),
            release.party.clone(),
            release.records.map_or("?".into(), |records| records.to_string()),
            short(release.privacy.epsilon),
            short(release.privacy.delta),
            short(release.privacy.sensitivity),
            release.value.len().to_string(),
        ]
    });
    table(&["file", "party", "records", "epsilon", "delta", "sensitivity", "numbers"], rows)
}
