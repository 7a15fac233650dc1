//! Are the ranks uniform? A row for every parameter, and a verdict.

use serde::Serialize;

use super::{Band, Calibration, Outcome, points};

/// What is said of one parameter.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// The parameter.
    pub parameter: String,
    /// Of Pearson's test of uniform ranks.
    pub p_value: f64,
    /// Largest difference of the distribution of ranks from the uniform one.
    pub largest_deviation: f64,
    /// Whether that distribution leaves the band.
    pub outside: bool,
    /// How often central intervals of 50, 80 and 95 percent hold the truth.
    pub coverage: [f64; 3],
}

/// What a calibration found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// The method.
    pub method: String,
    /// The sampler.
    pub sampler: String,
    /// What the releases were made of.
    pub data: String,
    /// Records of each party.
    pub records: usize,
    /// Features.
    pub features: usize,
    /// Parties.
    pub parties: usize,
    /// Loss of each release.
    pub epsilon: f64,
    /// Its delta.
    pub delta: f64,
    /// Simulated studies.
    pub replicates: usize,
    /// Draws among which the truth was ranked.
    pub draws: usize,
    /// The seed.
    pub seed: u64,
    /// Probability with which calibrated ranks of all parameters stay inside the band, at least.
    pub mass: f64,
    /// One row for each parameter.
    pub rows: Vec<Row>,
    /// Whether no parameter leaves the band.
    pub calibrated: bool,
    /// Share of the replicates whose draws were not nearly independent.
    pub dependent: f64,
}

/// Masses of the intervals whose coverage is reported.
pub const MASSES: [f64; 3] = [0.5, 0.8, 0.95];
/// Calibrated ranks of all parameters of one study stay inside the band this often.
pub(super) const MASS: f64 = 0.95;
/// Draws with less than this share of their number as effective size are called dependent.
const DEPENDENT: f64 = 0.5;
/// More such replicates than this share are worth a warning.
pub(super) const MOST_DEPENDENT: f64 = 0.05;

/// The band for each of so many distributions, such that all of them stay inside with probability 0.95 (Bonferroni).
pub(super) fn band(outcome: &Outcome, distributions: usize) -> Band {
    let ranks = &outcome.ranks;
    Band::new(ranks.replicates(), points(ranks.draws()), 1.0 - (1.0 - MASS) / distributions as f64)
}

impl Report {
    /// The report of a finished study, against the band of its parameters.
    pub fn new(calibration: &Calibration, outcome: &Outcome) -> Self {
        Self::against(&band(outcome, outcome.ranks.names().len()), calibration, outcome)
    }

    /// The report against a given band.
    pub fn against(band: &Band, calibration: &Calibration, outcome: &Outcome) -> Self {
        let (request, ranks) = (calibration.request(), &outcome.ranks);
        let points = points(ranks.draws());
        let coverages = MASSES.map(|mass| ranks.coverage(mass));
        let row = |(place, (parameter, p_value)): (usize, (String, f64))| {
            let below = ranks.below(place, points);
            Row {
                parameter,
                p_value,
                largest_deviation: band.largest_deviation(&below),
                outside: !band.holds(&below),
                coverage: [0, 1, 2].map(|mass| coverages[mass][place].1),
            }
        };
        let rows: Vec<Row> = ranks.p_values().into_iter().enumerate().map(row).collect();
        Self {
            method: request.method.to_string(),
            sampler: calibration.sampler().to_string(),
            data: calibration.data().description().into(),
            records: request.records,
            features: request.features,
            parties: request.parties,
            epsilon: request.loss.0,
            delta: calibration.study.loss.1,
            replicates: ranks.replicates(),
            draws: ranks.draws(),
            seed: request.seed,
            mass: MASS,
            calibrated: rows.iter().all(|row| !row.outside),
            rows,
            dependent: outcome.dependent(),
        }
    }

    /// One sentence.
    pub fn verdict(&self) -> String {
        let bad: Vec<&Row> = self.rows.iter().filter(|row| row.outside).collect();
        let Some(worst) = bad.iter().max_by(|a, b| a.largest_deviation.total_cmp(&b.largest_deviation))
        else {
            return format!(
                "{} is calibrated here: no parameter leaves the band that holds calibrated ranks of all of them with probability {}",
                self.method, self.mass
            );
        };
        let names: Vec<&str> = bad.iter().map(|row| row.parameter.as_str()).collect();
        let [_, _, wide] = worst.coverage;
        let how = match wide {
            wide if wide < 0.92 => "intervals are too narrow",
            wide if wide > 0.98 => "intervals are too wide",
            _ => "the centre or the shape is off",
        };
        format!(
            "{} is not calibrated here: ranks of {} leave the band; {how}: 95 percent intervals of {} hold the truth in {:.0} of 100 studies",
            self.method,
            names.join(", "),
            worst.parameter,
            100.0 * wide
        )
    }

    /// The sentence about draws that depend on each other, if there are many.
    pub fn warning(&self) -> Option<String> {
        let percent = 100.0 * self.dependent;
        (self.dependent > MOST_DEPENDENT).then(|| {
            format!(
                "in {percent:.0} percent of the replicates draws depend on each other although chains were made {} times as long: \
                 ranks are then uneven even if the posterior is right",
                super::run::LONGEST
            )
        })
    }
}

impl Outcome {
    /// Share of the replicates whose draws were not nearly independent.
    pub fn dependent(&self) -> f64 {
        let count = self.independence.iter().filter(|share| **share < DEPENDENT).count();
        count as f64 / self.independence.len() as f64
    }

    /// All ranks as CSV.
    pub fn to_csv(&self) -> String {
        let mut text = "replicate,parameter,rank,draws\n".to_string();
        let ranks = &self.ranks;
        for replicate in 0..ranks.replicates() {
            for (place, name) in ranks.names().iter().enumerate() {
                let rank = ranks.of(place)[replicate];
                text += &format!("{},{name},{rank},{}\n", replicate + 1, ranks.draws());
            }
        }
        text
    }
}
