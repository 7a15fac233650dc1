//! What is asked for, checked.

use organza_infer::Method;

use crate::StudyError;

/// A design, and what is to be tried on it.
#[derive(Debug, Clone, PartialEq)]
pub struct Design {
    /// Records of each party.
    pub records: usize,
    /// Number of features.
    pub features: usize,
    /// Number of parties.
    pub parties: usize,
    /// Share of the response's variance that features explain.
    pub r_squared: f64,
    /// Standard deviation of a column over the half-range of its bounds.
    pub fill: f64,
    /// Losses to be tried.
    pub epsilons: Vec<f64>,
    /// Failure probability of each release.
    pub delta: f64,
    /// The method; none lets the releases decide.
    pub method: Option<Method>,
    /// Mass of the intervals.
    pub level: f64,
    /// Simulated studies.
    pub replicates: usize,
    /// Everything follows from this number.
    pub seed: u64,
}

/// How much of its bounds a column fills unless somebody knows better: body mass index fills 0.09 of 0 to 100, age 0.2
/// to 0.3 of 0 to 100, and few columns more than 0.3.
pub const FILL: f64 = 0.15;

impl Default for Design {
    fn default() -> Self {
        Self {
            records: 3000,
            features: 5,
            parties: 1,
            r_squared: 0.5,
            fill: FILL,
            epsilons: vec![0.1, 0.3, 1.0, 3.0, 10.0],
            delta: 1e-6,
            method: None,
            level: 0.95,
            replicates: 50,
            seed: 1,
        }
    }
}

/// A design that can be tried.
#[derive(Debug, Clone, PartialEq)]
pub struct Frontier {
    pub(super) design: Design,
}

impl Frontier {
    /// Checks a design; losses are put in order.
    pub fn new(mut design: Design) -> Result<Self, StudyError> {
        StudyError::check_range("records", design.records, 2..=10_000_000)?;
        StudyError::check_range("features", design.features, 1..=100)?;
        StudyError::check_range("parties", design.parties, 1..=1000)?;
        StudyError::check_range("replicates", design.replicates, 2..=100_000)?;
        share("r_squared", design.r_squared)?;
        share("fill", design.fill)?;
        share("delta", design.delta)?;
        share("level", design.level)?;
        if design.epsilons.is_empty() {
            return Err(StudyError::setting("epsilons", "give at least one"));
        }
        design.epsilons.iter().try_for_each(|epsilon| StudyError::check_positive("epsilons", *epsilon))?;
        design.epsilons.sort_by(f64::total_cmp);
        design.epsilons.dedup();
        if design.method == Some(Method::AdaSsp) {
            return Err(StudyError::setting("method", "ada-ssp is a point estimate: it has no intervals"));
        }
        let frontier = Self { design };
        frontier.check_releases()?;
        Ok(frontier)
    }

    /// What was asked for.
    pub fn design(&self) -> &Design {
        &self.design
    }
}

pub(super) fn share(option: &'static str, value: f64) -> Result<(), StudyError> {
    if value > 0.0 && value < 1.0 {
        return Ok(());
    }
    Err(StudyError::setting(option, format!("must be between 0 and 1, found {value}")))
}
