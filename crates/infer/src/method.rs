//! The methods: one word each, the same in code, command line and files.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::InferError;

/// A way from releases to a posterior.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Method {
    /// Closed form, residual variance and X'X fixed.
    Fast,
    /// X'X fixed, residual variance unknown.
    FixedGram,
    /// Normal features, X'X latent.
    NormalX,
    /// Marginal likelihood of the noisy Gram matrix.
    Marginal,
    /// Latent records.
    Individual,
    /// Latent sums, moments of the features updated.
    GibbsUpdate,
    /// Latent sums, moments of the features from the prior.
    GibbsPrior,
    /// Latent sums, moments of the features from a release of fourth moments.
    GibbsNoisy,
    /// Latent records.
    Augmentation,
    /// Takes noisy sums for true ones.
    Naive,
    /// A ridge estimate.
    AdaSsp,
}

/// How a method draws.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Sampler {
    /// Independent draws from a closed form.
    ClosedForm,
    /// Independent draws, the residual variance by quadrature.
    Quadrature,
    /// The papers' Metropolis-Hastings chains.
    Metropolis,
    /// The No-U-Turn sampler.
    Nuts,
    /// Full conditionals, in O(d^3) where the noise allows it.
    Gibbs,
    /// Full conditionals through dense matrices of all entries, the papers' O(d^6).
    Dense,
    /// Latent records one by one, then parameters with all records in tow.
    Interweaving,
    /// Latent records one by one, the paper's chain.
    Plain,
    /// Independent draws, counts of one party's levels summed out.
    Exact,
    /// Latent counts given probabilities and probabilities given counts, for randomised answers.
    Augmentation,
    /// No draws.
    Point,
}

/// What a person should know of a method.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Description {
    /// Its name in the papers.
    pub paper: &'static str,
    /// What it computes.
    pub target: &'static str,
    /// What it assumes or ignores.
    pub assumes: &'static str,
    /// What the releases must have.
    pub needs: &'static str,
}

impl Method {
    /// All methods, in the order in which they are explained.
    pub const ALL: [Method; 11] = [
        Method::Marginal,
        Method::FixedGram,
        Method::Fast,
        Method::NormalX,
        Method::Individual,
        Method::GibbsUpdate,
        Method::GibbsPrior,
        Method::GibbsNoisy,
        Method::Augmentation,
        Method::Naive,
        Method::AdaSsp,
    ];

    /// Its one word.
    pub fn word(self) -> &'static str {
        match self {
            Method::Fast => "fast",
            Method::FixedGram => "fixed-gram",
            Method::NormalX => "normal-x",
            Method::Marginal => "marginal",
            Method::Individual => "individual",
            Method::GibbsUpdate => "gibbs-update",
            Method::GibbsPrior => "gibbs-prior",
            Method::GibbsNoisy => "gibbs-noisy",
            Method::Augmentation => "augmentation",
            Method::Naive => "naive",
            Method::AdaSsp => "ada-ssp",
        }
    }

    /// Its samplers; the first is the default.
    pub fn samplers(self) -> &'static [Sampler] {
        match self {
            Method::Fast => &[Sampler::ClosedForm],
            Method::FixedGram => &[Sampler::Quadrature, Sampler::Metropolis],
            Method::NormalX => &[Sampler::Nuts, Sampler::Metropolis],
            Method::Marginal | Method::Individual => &[Sampler::Nuts],
            Method::GibbsUpdate => &[Sampler::Gibbs, Sampler::Dense],
            Method::GibbsPrior | Method::GibbsNoisy => &[Sampler::Dense],
            Method::Augmentation => &[Sampler::Interweaving, Sampler::Plain],
            Method::Naive => &[Sampler::Quadrature],
            Method::AdaSsp => &[Sampler::Point],
        }
    }

    /// What a person should know.
    pub fn description(self) -> Description {
        let gaussian = "gaussian noise";
        let sums = "y'y and a public number of records";
        let (paper, target, assumes, needs) = match self {
            Method::Fast => (
                "Bayes-fixedS-fast [AYB23]",
                "coefficients in closed form",
                "the noisy X'X is the true one, the residual variance is known",
                gaussian,
            ),
            Method::FixedGram => (
                "MCMC-fixedS [AYB23]",
                "coefficients and residual variance",
                "the noisy X'X is the true one",
                gaussian,
            ),
            Method::NormalX => (
                "MCMC-normalX [AYB23]",
                "coefficients, residual variance, X'X of every party",
                "features are normal; y'y is not used",
                "gaussian noise and a public number of records, not fewer than coefficients",
            ),
            Method::Marginal => (
                "none has it",
                "coefficients, residual variance, covariance of the features; latent sums integrated out",
                "sums are normal with the moments of normal records",
                "isometric gaussian noise, or at most 23 coefficients; a public number of records, or an intercept",
            ),
            Method::Individual => (
                "MCMC-Ind [BS19]",
                "coefficients, residual variance, covariance of the features, every record",
                "plain records are normal; exact for few records too, and knows that records were cut and scaled",
                "a public number of records, at most 20,000 in all",
            ),
            Method::GibbsUpdate => (
                "Gibbs-SS-Update [BS19], MCMC-B&S [AYB23]",
                "coefficients, residual variance, covariance of the features, latent sums",
                "sums are normal with the moments of normal records (its conditionals belong to slightly different models)",
                sums,
            ),
            Method::GibbsPrior => (
                "Gibbs-SS-Prior [BS19]",
                "coefficients, residual variance, latent sums",
                "the features have the moments of the prior",
                sums,
            ),
            Method::GibbsNoisy => (
                "Gibbs-SS-Noisy [BS19]",
                "coefficients, residual variance, latent sums",
                "noisy fourth moments are the true ones",
                "y'y, a public number of records, unscaled records and a release of fourth moments for every party",
            ),
            Method::Augmentation => (
                "Algorithm 1 [JAGR22]",
                "coefficients, residual variance, mean and covariance of the features, every latent record",
                "features and residuals are normal before they are clamped; exact for any number of records, in time that grows with it",
                "a public number of records, none averaged",
            ),
            Method::Naive => (
                "Naive [BS19]",
                "coefficients and residual variance",
                "there is no noise: a baseline, its intervals are not honest",
                sums,
            ),
            Method::AdaSsp => (
                "adaSSP [AYB23]",
                "a ridge estimate of the coefficients",
                "nothing, and says nothing of uncertainty: a point estimate",
                "a release of kind ada-ssp from every party",
            ),
        };
        Description { paper, target, assumes, needs }
    }
}

impl Sampler {
    /// All samplers.
    pub const ALL: [Sampler; 11] = [
        Sampler::ClosedForm,
        Sampler::Quadrature,
        Sampler::Metropolis,
        Sampler::Nuts,
        Sampler::Gibbs,
        Sampler::Dense,
        Sampler::Interweaving,
        Sampler::Plain,
        Sampler::Exact,
        Sampler::Augmentation,
        Sampler::Point,
    ];

    /// Its one word.
    pub fn word(self) -> &'static str {
        match self {
            Sampler::ClosedForm => "closed-form",
            Sampler::Quadrature => "quadrature",
            Sampler::Metropolis => "metropolis",
            Sampler::Nuts => "nuts",
            Sampler::Gibbs => "gibbs",
            Sampler::Dense => "dense",
            Sampler::Interweaving => "interweaving",
            Sampler::Plain => "plain",
            Sampler::Exact => "exact",
            Sampler::Augmentation => "augmentation",
            Sampler::Point => "point",
        }
    }

    /// Whether draws are independent, so that no warm-up is needed.
    pub fn is_independent(self) -> bool {
        matches!(self, Sampler::ClosedForm | Sampler::Quadrature | Sampler::Exact)
    }
}

impl fmt::Display for Method {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.word())
    }
}

impl fmt::Display for Sampler {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.word())
    }
}

impl FromStr for Method {
    type Err = InferError;

    fn from_str(text: &str) -> Result<Self, InferError> {
        find("method", text, Method::ALL.iter().copied(), Method::word)
    }
}

impl FromStr for Sampler {
    type Err = InferError;

    fn from_str(text: &str) -> Result<Self, InferError> {
        find("sampler", text, Sampler::ALL.iter().copied(), Sampler::word)
    }
}

/// The item of this word, or an error that lists all words.
pub(crate) fn find<T: Copy>(
    field: &'static str,
    text: &str,
    all: impl Iterator<Item = T> + Clone,
    word: impl Fn(T) -> &'static str,
) -> Result<T, InferError> {
    all.clone().find(|item| word(*item) == text).ok_or_else(|| {
        let known: Vec<&str> = all.map(word).collect();
        InferError::Setting {
            field,
            reason: format!("{text:?} is not known; there are {}", known.join(", ")),
        }
    })
}
