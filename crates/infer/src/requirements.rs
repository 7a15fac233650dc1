//! What each method needs of the releases, in one place: the dispatcher, `auto` and error messages all ask here.

use organza_release::Family;

use crate::augmentation::MOST_LATENT;
use crate::evidence::{Evidence, Party};
use crate::individual::MOST_RECORDS;
use crate::marginal::MOST_UNEVEN;
use crate::{InferError, Method};

/// Something that a release may lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Need {
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
}

fn needs(method: Method) -> &'static [Need] {
    use Need::{
        Counted, FewRecords, Gaussian, Isometric, OnePopulation, Records, RecordsForEveryCoefficient,
        RecordsInMemory, RecordsThemselves, ResponseSquare, UnscaledIntercept,
    };
    match method {
        Method::Fast | Method::FixedGram => &[Gaussian],
        Method::NormalX => &[Gaussian, Records, OnePopulation, RecordsForEveryCoefficient],
        Method::Marginal => &[Isometric, Counted, OnePopulation],
        Method::Individual => &[Records, RecordsThemselves, FewRecords],
        Method::GibbsUpdate | Method::GibbsPrior => &[Records, ResponseSquare, OnePopulation],
        Method::GibbsNoisy => &[Records, ResponseSquare, OnePopulation, UnscaledIntercept],
        Method::Augmentation => &[Records, RecordsThemselves, RecordsInMemory],
        Method::Naive => &[Records, ResponseSquare],
        // Another kind of release, checked where it is read.
        Method::AdaSsp => &[],
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
            Need::FewRecords => evidence.records().is_some_and(|records| records <= MOST_RECORDS),
            Need::RecordsInMemory => {
                evidence.records().is_some_and(|records| records * (coefficients + 1.0) <= MOST_LATENT)
            }
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
        }
    }
}

/// The error for the first thing that a release lacks.
pub(crate) fn check(method: Method, evidence: &Evidence) -> Result<(), InferError> {
    match missing(method, evidence) {
        None => Ok(()),
        Some((party, need)) => Err(InferError::Unsupported {
            party: party.name.clone(),
            method: method.word().into(),
            needs: need.text().into(),
            methods: accepted(evidence).iter().map(ToString::to_string).collect(),
        }),
    }
}

/// Adds the methods that accept the releases to an error of a method that does not.
pub(crate) fn with_alternatives(error: InferError, evidence: &Evidence) -> InferError {
    match error {
        InferError::Unsupported { party, method, needs, methods } if methods.is_empty() => {
            let methods = accepted(evidence).iter().map(ToString::to_string).collect();
            InferError::Unsupported { party, method, needs, methods }
        }
        other => other,
    }
}

fn missing(method: Method, evidence: &Evidence) -> Option<(&Party, Need)> {
    let first = evidence.parties.first()?;
    evidence.parties.iter().find_map(|party| {
        let unmet = needs(method).iter().find(|need| !need.is_met(party, first, evidence))?;
        Some((party, *unmet))
    })
}

/// The methods that accept releases of Gram matrices like these.
pub(crate) fn accepted(evidence: &Evidence) -> Vec<Method> {
    let other_release = |method: &Method| matches!(method, Method::AdaSsp | Method::GibbsNoisy);
    Method::ALL
        .into_iter()
        .filter(|method| !other_release(method) && missing(*method, evidence).is_none())
        .collect()
}

impl Method {
    /// What the releases lack for this method, in words; none if they have all that it needs.
    pub fn lacks(self, evidence: &Evidence) -> Option<String> {
        match self {
            Method::AdaSsp => Some("the kind ada-ssp".into()),
            Method::GibbsNoisy if missing(self, evidence).is_none() => Some("fourth moments".into()),
            _ => missing(self, evidence).map(|(party, need)| format!("{} ({})", need.text(), party.name)),
        }
    }
}
