//! All methods, in several settings: one picture of small panels, one table.

use organza_infer::Method;

use super::picture::curves;
use super::report::{MASS, MOST_DEPENDENT, band};
use super::{Calibration, Outcome, Report, Request, points};
use crate::StudyError;
use crate::Watch;
use crate::plot::{Axis, Grid, Mark, Series, Tile};

/// Records, epsilons and parties of the settings.
const RECORDS: [usize; 3] = [20, 200, 2000];
const EPSILONS: [f64; 2] = [0.1, 1.0];
const PARTIES: [usize; 2] = [1, 5];
/// Methods with latent records are asked for so many records in all, at most.
const MOST_LATENT: usize = 20;
/// Range of the vertical axis, in heights of the band.
const HEIGHTS: f64 = 1.5;

/// One cell: the study and what it found; none where the method would be too slow.
#[derive(Debug, Clone)]
pub struct Cell {
    /// What was asked for.
    pub request: Request,
    /// What was found.
    pub found: Option<(Calibration, Outcome)>,
}

/// Methods by settings.
#[derive(Debug, Clone)]
pub struct Matrix {
    methods: Vec<Method>,
    cells: Vec<Cell>,
}

impl Matrix {
    /// Runs all cells; `like` gives what is common to them: features, delta, replicates, draws, seed.
    pub fn run(methods: &[Method], like: &Request, watch: &Watch<'_>) -> Result<Self, StudyError> {
        let requests: Vec<Request> = methods.iter().flat_map(|method| settings(*method, like)).collect();
        // All of them are checked before the first one runs.
        let studies = requests
            .iter()
            .cloned()
            .map(|request| if is_slow(&request) { Ok(None) } else { Calibration::new(request).map(Some) });
        let studies = studies.collect::<Result<Vec<Option<Calibration>>, _>>()?;
        let total = studies.iter().flatten().count() * like.replicates;
        let (mut finished, mut cells) = (0, Vec::new());
        for (request, study) in requests.into_iter().zip(studies) {
            let progress = |done: usize, _: usize| watch.progress(finished + done, total);
            let inner = Watch { progress: Some(&progress), ..*watch };
            let found = match study {
                None => None,
                Some(study) => {
                    let outcome = study.run(&inner)?;
                    finished += like.replicates;
                    Some((study, outcome))
                }
            };
            cells.push(Cell { request, found });
        }
        Ok(Self { methods: methods.to_vec(), cells })
    }

    /// The methods that have a posterior.
    pub fn methods() -> Vec<Method> {
        Method::ALL.into_iter().filter(|method| *method != Method::AdaSsp).collect()
    }

    /// The reports of all finished cells, against the band that holds calibrated ranks of all cells together with probability 0.95.
    pub fn reports(&self) -> Vec<Report> {
        let Some(band) = self.band() else { return Vec::new() };
        self.finished().map(|(study, outcome)| Report::against(&band, study, outcome)).collect()
    }

    fn finished(&self) -> impl Iterator<Item = &(Calibration, Outcome)> {
        self.cells.iter().filter_map(|cell| cell.found.as_ref())
    }

    fn band(&self) -> Option<super::Band> {
        let distributions = self.finished().map(|(_, outcome)| outcome.ranks.names().len()).sum();
        self.finished().next().map(|(_, outcome)| band(outcome, distributions))
    }

    /// A row for every parameter of every cell.
    pub fn to_csv(&self) -> String {
        let mut text = "method,sampler,data,records,parties,epsilon,delta,replicates,draws,seed,parameter,p_value,largest_deviation,outside,\
                        coverage_50,coverage_80,coverage_95,dependent\n"
            .to_string();
        for report in self.reports() {
            let Report {
                method,
                sampler,
                data,
                records,
                parties,
                epsilon,
                delta,
                replicates,
                draws,
                seed,
                ..
            } = &report;
            let front = format!(
                "{method},{sampler},\"{data}\",{records},{parties},{epsilon},{delta},{replicates},{draws},{seed}"
            );
            for row in &report.rows {
                let [half, most, nearly] = row.coverage;
                text += &format!(
                    "{front},{},{:.4e},{:.4},{},{half:.4},{most:.4},{nearly:.4},{:.4}\n",
                    row.parameter, row.p_value, row.largest_deviation, row.outside, report.dependent
                );
            }
        }
        text
    }

    /// Differences of all parameters' distributions from the uniform one, one small panel for each cell.
    pub fn to_svg(&self) -> String {
        let band = self.band();
        let tile = |cell: &Cell| match (&cell.found, &band) {
            (Some((_, outcome)), Some(band)) => Tile::Plot(overlaid(band, outcome)),
            _ => Tile::Words("too slow".into()),
        };
        let columns = self.cells.iter().take(self.cells.len() / self.methods.len().max(1));
        let column = |cell: &Cell| {
            let parties = if cell.request.parties == 1 {
                "1 party".into()
            } else {
                format!("{} parties", cell.request.parties)
            };
            vec![parties, format!("n = {}", cell.request.records), format!("ε = {}", cell.request.loss.0)]
        };
        let (replicates, draws) =
            self.cells.first().map_or((0, 0), |cell| (cell.request.replicates, cell.request.draws));
        let subtitle = vec![
            format!(
                "Each method on the model that it assumes; {replicates} simulated studies for each panel; one line for each parameter: how far the"
            ),
            format!(
                "ranks of the truth among {draws} draws are from uniform. Grey: where all lines of all panels stay with probability {MASS} if all are"
            ),
            "calibrated. Orange: a line that leaves it. Dashed: chains of draws that depend on each other, whose ranks say less.".into(),
        ];
        let edges = band.iter().flat_map(|band| band.edge(true)).map(|(_, height)| height);
        let reach = (HEIGHTS * edges.fold(0.0, f64::max)).clamp(0.01, 1.0);
        let grid = Grid {
            title: "Calibration of all methods".into(),
            subtitle,
            rows: self.methods.iter().map(ToString::to_string).collect(),
            columns: columns.map(column).collect(),
            tiles: self.cells.iter().map(tile).collect(),
            x: Axis::linear("rank over draws").between(0.0, 1.0),
            y: Axis::linear("ECDF - uniform").between(-reach, reach),
        };
        grid.to_svg()
    }
}

/// One band below the lines of all parameters.
fn overlaid(band: &super::Band, outcome: &Outcome) -> Vec<Series> {
    let points = points(outcome.ranks.draws());
    let mut all = Vec::new();
    for place in 0..outcome.ranks.names().len() {
        let below = outcome.ranks.below(place, points);
        all.extend(curves(band, &below, ["", ""]).into_iter().skip(usize::from(place > 0)));
    }
    if outcome.dependent() > MOST_DEPENDENT {
        all.iter_mut().skip(1).for_each(|line| line.mark = Mark::Rule);
    }
    all
}

/// The settings of one method, in the order of the columns.
fn settings(method: Method, like: &Request) -> Vec<Request> {
    let mut all = Vec::new();
    for parties in PARTIES {
        for records in RECORDS {
            for epsilon in EPSILONS {
                let loss = (epsilon, like.loss.1);
                all.push(Request {
                    method,
                    sampler: None,
                    data: None,
                    records,
                    parties,
                    loss,
                    ..like.clone()
                });
            }
        }
    }
    all
}

fn is_slow(request: &Request) -> bool {
    let latent = matches!(request.method, Method::Individual | Method::Augmentation);
    latent && request.records * request.parties > MOST_LATENT
}
