//! What is to be calibrated: plain data first, then a study that can be run.

use organza_infer::{Evidence, Method, Sampler};
use organza_release::{Family, Layout};

use super::{BINS, Data, Study};
use crate::StudyError;
use crate::generator;

/// What a person asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// Its sampler; none takes the first.
    pub sampler: Option<Sampler>,
    /// What releases are made of; none takes what the method assumes.
    pub data: Option<Data>,
    /// Records of each party.
    pub records: usize,
    /// Features of the regression.
    pub features: usize,
    /// Number of parties.
    pub parties: usize,
    /// Whether records carry a constant; `gibbs-noisy` always has one.
    pub intercept: bool,
    /// Family of the noise.
    pub family: Family,
    /// Loss of each release; delta is not read for Laplace noise.
    pub loss: (f64, f64),
    /// Simulated studies.
    pub replicates: usize,
    /// Draws among which the truth is ranked.
    pub draws: usize,
    /// Everything follows from this number.
    pub seed: u64,
}

impl Request {
    /// The method on its own model: 200 records of two features in one party at epsilon 1 and delta 1e-6.
    pub fn new(method: Method) -> Self {
        Self {
            method,
            sampler: None,
            data: None,
            records: 200,
            features: 2,
            parties: 1,
            intercept: false,
            family: Family::Gaussian,
            loss: (1.0, 1e-6),
            replicates: 200,
            draws: 99,
            seed: 1,
        }
    }

    fn check(&self) -> Result<(), StudyError> {
        if self.method == Method::AdaSsp {
            let reason = "ada-ssp is a point estimate: it has no posterior to calibrate";
            return Err(StudyError::setting("method", reason));
        }
        if let Some(sampler) = self.sampler.filter(|sampler| !self.method.samplers().contains(sampler)) {
            let known: Vec<&str> = self.method.samplers().iter().map(|sampler| sampler.word()).collect();
            let reason = format!("{} has no sampler {sampler}; it has {}", self.method, known.join(", "));
            return Err(StudyError::setting("sampler", reason));
        }
        StudyError::check_range("records", self.records, 1..=10_000_000)?;
        StudyError::check_range("features", self.features, 1..=100)?;
        StudyError::check_range("parties", self.parties, 1..=1000)?;
        StudyError::check_range("replicates", self.replicates, 20..=10_000)?;
        StudyError::check_positive("epsilon", self.loss.0)?;
        if self.family == Family::Gaussian && !(self.loss.1 > 0.0 && self.loss.1 < 1.0) {
            let reason = format!("must be between 0 and 1, found {}", self.loss.1);
            return Err(StudyError::setting("delta", reason));
        }
        if self.draws == 0 || !(self.draws + 1).is_multiple_of(BINS) || self.draws > 9999 {
            let reason = format!(
                "must be one less than a multiple of {BINS}, at most 9999, so that bins hold as many ranks each; found {}",
                self.draws
            );
            return Err(StudyError::setting("draws", reason));
        }
        Ok(())
    }
}

/// A study of one method that can be run.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    pub(super) request: Request,
    pub(super) sampler: Sampler,
    pub(super) data: Data,
    pub(super) study: Study,
}

impl Calibration {
    /// Checks the request, sets the noise, and asks whether the method accepts such releases.
    pub fn new(request: Request) -> Result<Self, StudyError> {
        request.check()?;
        let layout = if request.family == Family::Gaussian { Layout::Isometric } else { Layout::Upper };
        let study = Study {
            intercept: request.intercept || request.method == Method::GibbsNoisy,
            family: request.family,
            layout,
            ..Study::new(request.records as u64, request.parties, request.features)
        };
        let delta = if request.family == Family::Gaussian { request.loss.1 } else { 0.0 };
        let study = study
            .with_loss((request.loss.0, delta))
            .map_err(|error| StudyError::setting("epsilon", error))?;
        let data = request.data.unwrap_or(Data::of(request.method));
        let sampler = request.sampler.unwrap_or(request.method.samplers()[0]);
        let calibration = Self { request, sampler, data, study };
        calibration.check_releases()?;
        Ok(calibration)
    }

    /// Whether the method accepts releases like these; sums are enough to see it.
    fn check_releases(&self) -> Result<(), StudyError> {
        let method = self.request.method;
        if method == Method::GibbsNoisy {
            return match self.data {
                Data::FourthMoments => Ok(()),
                _ => Err(StudyError::setting("data", "gibbs-noisy needs fourth moments: leave it out")),
            };
        }
        let mut rng = generator(self.request.seed, 0);
        let truth = self.study.truth_for(method, &mut rng);
        let releases = self.study.releases(Data::Sums, &truth, &mut rng);
        let evidence = Evidence::new(&releases).map_err(|error| StudyError::setting("method", error))?;
        match method.lacks(&evidence) {
            None => Ok(()),
            Some(needs) => Err(StudyError::setting("method", format!("{method} needs {needs}"))),
        }
    }

    /// What was asked for.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// The sampler that draws.
    pub fn sampler(&self) -> Sampler {
        self.sampler
    }

    /// What the releases are made of.
    pub fn data(&self) -> Data {
        self.data
    }

    /// Names of the parameters that are ranked: coefficients, and the residual standard deviation where it is not fixed.
    pub fn parameters(&self) -> Vec<String> {
        let features = (1..=self.request.features).map(|number| format!("beta[x{number}]"));
        let intercept = self.study.intercept.then(|| "beta[intercept]".to_string());
        let sigma = (self.request.method != Method::Fast).then(|| "sigma".to_string());
        intercept.into_iter().chain(features).chain(sigma).collect()
    }

    /// Steps of warm-up, and steps for each ranked draw, with which a replicate begins; chains that mix badly are made longer.
    pub(super) fn steps(&self) -> (usize, usize) {
        match self.sampler {
            sampler if sampler.is_independent() => (0, 1),
            Sampler::Nuts => (300, 2),
            Sampler::Gibbs | Sampler::Dense => (500, 10),
            Sampler::Interweaving => (800, 15),
            _ => (1000, 20),
        }
    }

    /// What sets this study apart from others: seeds follow from it.
    pub(super) fn name(&self) -> String {
        let Request { method, records, features, parties, loss, .. } = &self.request;
        let (intercept, family) = (self.study.intercept, self.study.family);
        format!(
            "{method} {} {:?} n={records} d={features} J={parties} {family:?} {loss:?} {intercept}",
            self.sampler, self.data
        )
    }
}
