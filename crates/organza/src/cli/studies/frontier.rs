//! `organza frontier`: what an epsilon buys, before it is spent.

use clap::Args;
use organza_infer::Method;
use organza_studies::frontier::{Design, FILL, Frontier, Report};

use crate::cli::failure::{Failure, Status};
use crate::cli::studies::simulated::SimulatedArguments;
use crate::cli::terminal::{print_json, print_text, prose, say, short, table};
use organza::result_folder::Kind;

#[derive(Args, Debug)]
pub struct FrontierArguments {
    /// Records of each party
    #[arg(long, default_value_t = 3000)]
    records: usize,
    /// Number of features
    #[arg(long, default_value_t = 5)]
    features: usize,
    /// Number of parties
    #[arg(long, default_value_t = 1)]
    parties: usize,
    /// Share of the response's variance that the features explain
    #[arg(long, value_name = "SHARE", default_value_t = 0.5)]
    r_squared: f64,
    /// Standard deviation of a column as a share of the half-range of its bounds; bounds are as loose as that, and
    /// off-centre
    #[arg(long, value_name = "SHARE", default_value_t = FILL)]
    fill: f64,
    /// Losses to be tried, separated by commas
    #[arg(long, value_delimiter = ',', default_value = "0.1,0.3,1,3,10", value_name = "EPSILON,...")]
    epsilons: Vec<f64>,
    /// Failure probability of each release
    #[arg(long, default_value_t = 1e-6)]
    delta: f64,
    /// Method, or auto: `organza methods` explains them
    #[arg(long, default_value = "auto")]
    method: String,
    /// Mass of the intervals
    #[arg(long, default_value_t = 0.95)]
    level: f64,
    /// Simulated studies
    #[arg(long, default_value_t = 50)]
    replicates: usize,
    #[command(flatten)]
    common: SimulatedArguments,
}

const KIND: Kind = Kind { what: "a frontier", files: &["frontier.csv", "frontier.svg", "frontier.json"] };

pub fn run(arguments: &FrontierArguments) -> Result<Status, Failure> {
    let frontier = Frontier::new(arguments.design()?)?;
    let folder = arguments.common.folder(KIND)?;
    let outcome = arguments.common.watch("simulating", |watch| frontier.run(watch))?;
    let report = Report::new(&frontier, &outcome);
    if let Some(folder) = folder {
        folder.write("frontier.csv", &report.to_csv())?;
        folder.write("frontier.svg", &report.to_svg())?;
        folder.write("frontier.json", &(serde_json::to_string_pretty(&report)? + "\n"))?;
        folder.finish()?;
    }
    arguments.print(&report)?;
    Ok(Status::Fine)
}

impl FrontierArguments {
    fn design(&self) -> Result<Design, Failure> {
        let method = match self.method.as_str() {
            "auto" => None,
            word => Some(word.parse::<Method>().map_err(Failure::bad_input)?),
        };
        Ok(Design {
            records: self.records,
            features: self.features,
            parties: self.parties,
            r_squared: self.r_squared,
            fill: self.fill,
            epsilons: self.epsilons.clone(),
            delta: self.delta,
            method,
            level: self.level,
            replicates: self.replicates,
            seed: self.common.seed,
        })
    }

    fn print(&self, report: &Report) -> Result<(), Failure> {
        if self.common.json {
            return print_json(report);
        }
        let rows = report.points.iter().map(|point| {
            vec![
                point.epsilon.map_or("without privacy".to_string(), short),
                format!("{:.4}", point.width),
                format!("{:.2}", point.ratio),
                format!("{:.4}", point.rmse),
                format!("{:.1} ± {:.1}", 100.0 * point.coverage, 100.0 * point.coverage_error),
                format!("{:.3}", point.prediction),
            ]
        });
        let header =
            ["epsilon", "width", "over non-private", "error", "coverage in percent", "prediction error"];
        print_text(&table(&header, rows))?;
        print_text(&format!("{}\n", report.advice.join("\n")))?;
        print_text(&prose(&format!(
            "Assumed: the standard deviation of every column is {} of the half-range of its bounds, and means are off-centre; where columns \
             fill their bounds better, intervals are narrower (--fill).",
            short(report.fill)
        )))?;
        say(&format!("fitted by {}; {} simulated studies", report.method, report.replicates));
        self.common.say_where("table, picture and report");
        Ok(())
    }
}
