//! From releases to a posterior. This crate cannot name a table: it does not depend on the curator.
//!
//! [`fit()`] does it all: it chooses a [`Model`] and a [`Method`], checks that the releases have what they need, runs the
//! chains and gives a [`Fit`] with draws in users' units. The parts are public too: releases become [`Evidence`]; a
//! [`Prior`] completes the model; [`methods`] has every method as a target with its kernel, [`tables`] the models of levels.
//! [`augmentation`] puts latent records behind releases: models and mechanisms of one's own join by implementing
//! [`Generative`] and [`RecordAdditive`] (`examples/own_model.rs`).

mod ada_ssp;
mod adaptation;
pub mod augmentation;
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
pub mod linalg;
mod marginal;
mod method;
mod naive;
mod noise_level;
mod normal_x;
mod pooled;
mod predict;
pub mod prior;
mod random;
pub mod tables;

pub use ada_ssp::{Estimate, ada_ssp};
pub use error::InferError;
pub use evidence::Evidence;
pub use fit::{Choice, Fit, MethodSpec, Model, ModelSpec, Releases, fit, fit_schema, log_odds_map};
pub use method::{Description, Method, Sampler};
pub use predict::{Prediction, Predictor};
pub use prior::{FeaturePrior, Prior, PriorFile};

pub(crate) use augmentation::*;
pub(crate) use methods::*;

/// The methods for linear models, each as a target with its kernel.
pub mod methods {
    pub use crate::fast::Fast;
    pub use crate::fixed_gram::{FixedGram, FixedGramMetropolis, FixedGramModel, Quadrature};
    pub use crate::gaussian::Gaussian;
    pub use crate::gibbs::{FourthMoments, Gibbs, GibbsInfo, GibbsSampler, GibbsState, Moments};
    pub use crate::individual::IndividualDensity;
    pub use crate::marginal::MarginalDensity;
    pub use crate::naive::Naive;
    pub use crate::normal_x::{NormalX, NormalXDensity, NormalXMetropolis};
}

/// The example of the guide is compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/add-a-model.md")]
struct AddAModel;
