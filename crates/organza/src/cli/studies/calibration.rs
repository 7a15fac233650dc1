//! `organza calibration`: are the intervals of a method honest on the model that it assumes?

use clap::{Args, ValueEnum};
use organza_infer::{Method, Sampler};
use organza_studies::calibration::{Calibration, Data, Matrix, Outcome, Report, Request, picture};

use crate::cli::failure::{Failure, Status};
use crate::cli::release::choices::Mechanism;
use crate::cli::studies::simulated::SimulatedArguments;
use crate::cli::terminal::{print_json, print_text, say, short, table, warn};
use organza::result_folder::Kind;

/// What the releases are made of.
#[derive(ValueEnum, Debug, Clone, Copy)]
enum DataName {
    /// What the method assumes: for instance sums without noise in X'X for fixed-gram
    Own,
    /// Normal records with noise on every sum, whatever the method assumes
    Records,
}

#[derive(Args, Debug)]
pub struct CalibrationArguments {
    /// Method; `organza methods` explains them. With --matrix several, separated by commas; all of them without it
    #[arg(long, value_delimiter = ',', required_unless_present = "matrix")]
    method: Vec<Method>,
    /// Sampler of the method
    #[arg(long, conflicts_with = "matrix")]
    sampler: Option<Sampler>,
    /// What the releases are made of
    #[arg(long, default_value = "own", conflicts_with = "matrix")]
    data: DataName,
    /// Records of each party
    #[arg(long, default_value_t = 200, conflicts_with = "matrix")]
    records: usize,
    /// Number of features
    #[arg(long, default_value_t = 2)]
    features: usize,
    /// Number of parties
    #[arg(long, default_value_t = 1, conflicts_with = "matrix")]
    parties: usize,
    /// Records carry a constant (for gibbs-noisy they always do)
    #[arg(long, conflicts_with = "matrix")]
    intercept: bool,
    /// Family of the noise
    #[arg(long, visible_alias = "noise", default_value = "gaussian", conflicts_with = "matrix")]
    mechanism: Mechanism,
    /// Privacy loss of each release
    #[arg(long, default_value_t = 1.0, conflicts_with = "matrix")]
    epsilon: f64,
    /// Failure probability of each release; not read for Laplace noise
    #[arg(long, default_value_t = 1e-6)]
    delta: f64,
    /// Simulated studies
    #[arg(long, default_value_t = 200)]
    replicates: usize,
    /// Draws among which the truth is ranked, one less than a multiple of ten; chains are thinned until they are nearly independent
    #[arg(long, default_value_t = 99)]
    draws: usize,
    /// All methods in several settings (n = 20, 200, 2000; epsilon = 0.1, 1; one and five parties): one picture, one table
    #[arg(long, requires = "output")]
    matrix: bool,
    #[command(flatten)]
    common: SimulatedArguments,
}

const KIND: Kind =
    Kind { what: "a calibration", files: &["calibration.csv", "calibration.svg", "calibration.json"] };

pub fn run(arguments: &CalibrationArguments) -> Result<Status, Failure> {
    if arguments.matrix { arguments.run_matrix() } else { arguments.run_one() }
}

impl CalibrationArguments {
    fn request(&self, method: Method) -> Request {
        Request {
            sampler: self.sampler,
            data: match self.data {
                DataName::Own => None,
                DataName::Records => Some(Data::Records),
            },
            records: self.records,
            features: self.features,
            parties: self.parties,
            intercept: self.intercept,
            family: self.mechanism.into(),
            loss: (self.epsilon, self.delta),
            replicates: self.replicates,
            draws: self.draws,
            seed: self.common.seed,
            ..Request::new(method)
        }
    }

    fn run_one(&self) -> Result<Status, Failure> {
        let &[method] = &self.method[..] else {
            return Err(Failure::bad_input("--method: give one method, or several with --matrix"));
        };
        let calibration = Calibration::new(self.request(method))?;
        let folder = self.common.folder(KIND)?;
        let outcome = self.common.watch("calibrating", |watch| calibration.run(watch))?;
        let report = Report::new(&calibration, &outcome);
        if let Some(folder) = folder {
            folder.write("calibration.csv", &outcome.to_csv())?;
            folder.write("calibration.svg", &picture(&calibration, &outcome))?;
            folder.write("calibration.json", &(serde_json::to_string_pretty(&report)? + "\n"))?;
            folder.finish()?;
        }
        self.print(&report, &outcome)?;
        Ok(if report.calibrated { Status::Fine } else { Status::CheckFailed })
    }

    fn print(&self, report: &Report, outcome: &Outcome) -> Result<(), Failure> {
        if self.common.json {
            return print_json(report);
        }
        let percent = |share: &f64| format!("{:.1}", 100.0 * share);
        let rows = report.rows.iter().map(|row| {
            let front = [row.parameter.clone(), short(row.p_value), format!("{:.3}", row.largest_deviation)];
            let outside = if row.outside { "YES" } else { "no" };
            front.into_iter().chain([outside.to_string()]).chain(row.coverage.iter().map(percent)).collect()
        });
        let header = ["", "p-value", "largest deviation", "outside the band", "50 % cover", "80 %", "95 %"];
        print_text(&table(&header, rows))?;
        print_text(&format!("{}\n", report.verdict()))?;
        report.warning().iter().for_each(|warning| warn(warning));
        say(&format!(
            "{} replicates of {}; {} draws each",
            outcome.ranks.replicates(),
            report.data,
            report.draws
        ));
        self.common.say_where("ranks, picture and report");
        Ok(())
    }

    fn run_matrix(&self) -> Result<Status, Failure> {
        let methods = if self.method.is_empty() { Matrix::methods() } else { self.method.clone() };
        let folder = self.common.folder(KIND)?;
        let like = self.request(methods[0]);
        let matrix = self.common.watch("calibrating", |watch| Matrix::run(&methods, &like, watch))?;
        let reports = matrix.reports();
        if let Some(folder) = folder {
            folder.write("calibration.csv", &matrix.to_csv())?;
            folder.write("calibration.svg", &matrix.to_svg())?;
            folder.write("calibration.json", &(serde_json::to_string_pretty(&reports)? + "\n"))?;
            folder.finish()?;
        }
        if self.common.json {
            print_json(&reports)?;
        } else {
            print_text(&table(&["", "settings", "outside the band", "largest deviation"], rows(&reports)))?;
            self.common.say_where("table, picture and reports");
        }
        let fine = reports.iter().all(|report| report.calibrated);
        Ok(if fine { Status::Fine } else { Status::CheckFailed })
    }
}

/// One row for each method of a matrix.
fn rows(reports: &[Report]) -> Vec<Vec<String>> {
    let mut methods: Vec<&str> = reports.iter().map(|report| report.method.as_str()).collect();
    methods.dedup();
    let row = |method: &str| {
        let own: Vec<&Report> = reports.iter().filter(|report| report.method == method).collect();
        let outside = own.iter().filter(|report| !report.calibrated).count();
        let deviations = own.iter().flat_map(|report| &report.rows).map(|row| row.largest_deviation);
        let largest = deviations.fold(0.0, f64::max);
        vec![method.to_string(), own.len().to_string(), outside.to_string(), format!("{largest:.3}")]
    };
    methods.into_iter().map(row).collect()
}
