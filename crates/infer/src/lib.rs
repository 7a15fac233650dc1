//! From releases to a posterior. This crate cannot name a table: it does not depend on the curator.
//!
//! [`fit()`] does it all: it chooses a [`Model`] and a [`Method`], checks that the releases have what they need, runs the chains and gives a
//! [`Fit`] with draws in users' units. The parts are public too: releases become [`Evidence`]; a [`Prior`] completes the model;
//! [`Fast`] gives the posterior of the coefficients in closed form, [`FixedGram`] integrates the residual variance out by
//! quadrature. [`Augmented`] puts latent records behind releases: models and mechanisms of one's own join by implementing
//! [`Generative`] and [`RecordAdditive`] (`examples/own_model.rs`).

mod ada_ssp;
mod adaptation;
mod augmentation;
mod error;
mod evidence;
mod fast;
mod fit;
mod fixed_gram;
mod gaussian;
mod gibbs;
mod individual;
mod judge;
mod lent;
mod linalg;
mod marginal;
mod method;
mod naive;
mod noise_level;
mod normal_x;
mod pooled;
mod predict;
mod prior;
#[cfg(test)]
#[path = "../tests/support/published.rs"]
mod published;
mod random;
pub mod tables;

pub use ada_ssp::{Estimate, ada_ssp};
pub use augmentation::{
    AugmentationInfo, AugmentationState, Augmented, CategoricalParameters, Generative, GramMechanism,
    Interweave, Interweaving, InterweavingState, LinearModel, LinearParameters, LogisticModel,
    LogisticParameters, NaiveBayesRecords, PartySum, Plain, RecordAdditive, RecordDensity, Replacement,
    SaturatedRecords, SignedResponse, TableMechanism, table_mechanisms,
};
pub use error::InferError;
pub use evidence::Evidence;
pub use fast::Fast;
pub use fit::{Choice, Fit, MethodSpec, Model, ModelSpec, Releases, fit, fit_schema, log_odds_map};
pub use fixed_gram::{FixedGram, FixedGramMetropolis, FixedGramModel, Quadrature};
pub use gaussian::Gaussian;
pub use gibbs::{FourthMoments, Gibbs, GibbsInfo, GibbsSampler, GibbsState, Moments};
pub use individual::IndividualDensity;
pub use linalg::{Eigen, inverse, symmetric_eigen};
pub use marginal::MarginalDensity;
pub use method::{Description, Method, Sampler};
pub use naive::Naive;
pub use normal_x::{NormalX, NormalXDensity, NormalXMetropolis};
pub use predict::{Prediction, Predictor};
pub use prior::{CoefficientsPart, FeaturePrior, FeaturesPart, Prior, PriorFile, Scale, Units, VariancePart};

/// The example of the guide is compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/add-a-model.md")]
struct AddAModel;
