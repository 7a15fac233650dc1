//! The one judge of what each method needs of the releases: the dispatcher, `auto`, error messages and the methods
//! themselves ask here.
//!
//! Methods prepare themselves from [`Accepted`] evidence, which only this file makes, so none of them checks a release
//! again.

use std::ops::Deref;

use organza_release::{Domain, Family, Release};

use crate::augmentation::MOST_LATENT;
use crate::evidence::{Evidence, Features, Party};
use crate::individual::MOST_RECORDS;
use crate::marginal::MOST_UNEVEN;
use crate::{InferError, Method};

/// Evidence that has all that a method needs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Accepted<'e>(&'e Evidence);

impl Deref for Accepted<'_> {
    type Target = Evidence;

    fn deref(&self) -> &Evidence {
        self.0
    }
}

impl<'e> Accepted<'e> {
    /// The parties that have records, with their public numbers: a party without says nothing.
    pub fn counted(self) -> impl Iterator<Item = (&'e Party, f64)> {
        let parties = self.0.parties.iter();
        parties.filter_map(|party| Some((party, party.records.filter(|records| *records > 0.0)?)))
    }
}

/// Something that a release may lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// Gaussian noise.
    Gaussian,
    /// In the isometric layout, or with so few coefficients that any noise will do.
    Isometric,
    Records,
    /// A number of records that is public, or counted with noise by the constant.
    Counted,
    ResponseSquare,
    /// Records of all parties come from one population: they are scaled alike.
    OnePopulation,
    RecordsForEveryCoefficient,
    UnscaledIntercept,
    /// Every record is a row of the Gram matrix.
    RecordsThemselves,
    /// Every record is a latent variable.
    FewRecords,
    /// Every record is in memory.
    RecordsInMemory,
    /// Something that varies beside the constant.
    Feature,
    /// X'X is not known exactly, but for the number of records.
    NoisyFeatures,
    /// Every party has released those too.
    FourthMoments,
    /// A released eigenvalue, which decides the strength of a ridge.
    Ridge,
    /// Weighted matrices of all parties can be added.
    SameWeights,
}

fn needs(method: Method) -> &'static [Need] {
    use Need::{
        Counted, Feature, FewRecords, FourthMoments, Gaussian, Isometric, NoisyFeatures, OnePopulation,
        Records, RecordsForEveryCoefficient, RecordsInMemory, RecordsThemselves, ResponseSquare, Ridge,
        SameWeights, UnscaledIntercept,
    };
    match method {
        Method::Fast | Method::FixedGram => &[Gaussian],
        Method::NormalX => {
            &[Gaussian, Records, OnePopulation, Feature, RecordsForEveryCoefficient, NoisyFeatures]
        }
        Method::Marginal => &[Isometric, Counted, OnePopulation],
        Method::Individual => &[Records, RecordsThemselves, FewRecords],
        Method::GibbsUpdate | Method::GibbsPrior => &[Records, ResponseSquare, OnePopulation],
        Method::GibbsNoisy => {
            &[Records, ResponseSquare, OnePopulation, UnscaledIntercept, Feature, FourthMoments]
        }
        Method::Augmentation => &[Records, RecordsThemselves, RecordsInMemory],
        Method::Naive => &[Records, ResponseSquare],
        Method::AdaSsp => &[Ridge, SameWeights],
    }
}

impl Need {
    fn is_met(self, party: &Party, first: &Party, evidence: &Evidence) -> bool {
        let coefficients = evidence.dimension() as f64;
        match self {
            Need::Gaussian => party.noise.family == Family::Gaussian,
            Need::Isometric => evidence.dimension() <= MOST_UNEVEN || party.noise.isometry().is_some(),
            Need::Records => party.records.is_some(),
            Need::Counted => party.records.is_some() || evidence.domain().intercept(),
            Need::ResponseSquare => party.noise.has_response_square(),
            Need::OnePopulation => {
                let constant = |party: &Party| party.noise.record_scale.map(|_| party.noise.weights[0]);
                let intercept = evidence.domain().intercept();
                party.noise.record_scale == first.noise.record_scale
                    && party.noise.averaged == first.noise.averaged
                    && (!intercept || constant(party) == constant(first))
            }
            Need::RecordsForEveryCoefficient => party.records.is_some_and(|n| n >= coefficients),
            Need::UnscaledIntercept => evidence.domain().intercept() && !evidence.domain().is_scaled(),
            Need::RecordsThemselves => party.noise.averaged == 1,
            // Of all parties together, so asked once.
            Need::FewRecords | Need::RecordsInMemory if !std::ptr::eq(party, first) => true,
            Need::FewRecords => evidence.records().is_some_and(|records| records <= MOST_RECORDS),
            Need::RecordsInMemory => {
                evidence.records().is_some_and(|records| records * (coefficients + 1.0) <= MOST_LATENT)
            }
            Need::Feature => evidence.dimension() > usize::from(evidence.features() == Features::Intercept),
            Need::NoisyFeatures => {
                let constant = usize::from(evidence.features() == Features::Intercept);
                let (size, full) = (evidence.dimension(), party.size());
                (constant..size * size).all(|k| party.noise.scales[k / size * full + k % size] > 0.0)
            }
            Need::FourthMoments => evidence.fourths.iter().any(|release| release.party == party.name),
            Need::Ridge => party.ridge.is_some(),
            Need::SameWeights => party.noise.weights == first.noise.weights,
        }
    }

    fn text(self) -> &'static str {
        match self {
            Need::Gaussian => "gaussian noise, the release has laplace",
            Need::Isometric => "gaussian noise in the isometric layout, or at most 23 coefficients",
            Need::Counted | Need::Records => "a public number of records (neighbours that substitute)",
            Need::ResponseSquare => "y'y, which the release leaves out",
            Need::OnePopulation => "records that are scaled and averaged as those of the other parties",
            Need::RecordsForEveryCoefficient => "at least as many records as coefficients",
            Need::UnscaledIntercept => "unscaled records with an intercept",
            Need::RecordsThemselves => "records that are not averaged",
            Need::FewRecords => "at most 20,000 records in all: every one is a latent variable",
            Need::RecordsInMemory => {
                "at most 20,000,000 numbers in all latent records (records times columns): every chain holds them"
            }
            Need::Feature => "a feature besides the constant",
            Need::NoisyFeatures => "noise on every entry of X'X (without noise take fixed-gram)",
            Need::FourthMoments => "a release of fourth moments too (statistic fourth-moments)",
            Need::Ridge => "a release of kind ada-ssp",
            Need::SameWeights => "the same weights of intercept and response from every party",
        }
    }
}

/// The evidence as this method may use it; the error names the first thing that a release lacks.
pub(crate) fn accept(method: Method, evidence: &Evidence) -> Result<Accepted<'_>, InferError> {
    accept_without(method, evidence, None)
}

/// The same where the caller brings one of the needs.
pub(crate) fn accept_without(
    method: Method,
    evidence: &Evidence,
    brought: Option<Need>,
) -> Result<Accepted<'_>, InferError> {
    match missing(method, evidence).find(|(_, need)| Some(*need) != brought) {
        None => Ok(Accepted(evidence)),
        Some((party, need)) => Err(InferError::Unsupported {
            party: party.name.clone(),
            method: method.word().into(),
            needs: need.text().into(),
            methods: accepted(evidence).iter().map(ToString::to_string).collect(),
        }),
    }
}

/// What the parties lack, party by party.
fn missing(method: Method, evidence: &Evidence) -> impl Iterator<Item = (&Party, Need)> {
    let first = evidence.parties.first();
    evidence.parties.iter().zip(first.into_iter().cycle()).flat_map(move |(party, first)| {
        let unmet = needs(method).iter().filter(move |need| !need.is_met(party, first, evidence));
        unmet.map(move |need| (party, *need))
    })
}

/// The methods that accept these releases.
pub(crate) fn accepted(evidence: &Evidence) -> Vec<Method> {
    Method::ALL.into_iter().filter(|method| missing(*method, evidence).next().is_none()).collect()
}

/// The entries of a release of sums over records, and the number of records, for models of every record.
pub(crate) fn sums_of_records(release: &Release) -> Result<(&[[usize; 2]], usize), InferError> {
    let entries = release.statistic.entries();
    let need = if entries.is_empty() || release.statistic.averaged() != 1 {
        Need::RecordsThemselves
    } else if let Some(records) = release.records {
        return Ok((entries, records as usize));
    } else {
        Need::Records
    };
    Err(InferError::unsupported(&release.party, Method::Augmentation.word(), need.text()))
}

/// Refuses a response that cannot be one of its two bounds in log odds.
pub(crate) fn two_valued(release: &Release) -> Result<(), InferError> {
    let two_valued = match &release.domain {
        Domain::Box(domain) => domain.response.upper == 1.0 && [0.0, -1.0].contains(&domain.response.lower),
        Domain::Ball(domain) => domain.response_bound == 1.0,
    };
    if two_valued {
        return Ok(());
    }
    let needs = "a response with the values 0 and 1 and the bounds [0, 1] (or -1 and 1): recode it before the release";
    Err(InferError::unsupported(&release.party, "logistic regression", needs))
}

impl Method {
    /// What the releases lack for this method, in words; none if they have all that it needs.
    pub fn lacks(self, evidence: &Evidence) -> Option<String> {
        missing(self, evidence).next().map(|(party, need)| format!("{} ({})", need.text(), party.name))
    }
}
