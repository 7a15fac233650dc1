//! What a release costs: the stated privacy loss and what it is relative to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which tables count as neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Neighbours {
    /// One record is exchanged for another; the number of records is public.
    Substitute,
    /// One record is added or taken away; the number of records is confidential.
    AddRemove,
}

/// The norm in which the sensitivity is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Norm {
    /// Sum of absolute values, for Laplace noise.
    L1,
    /// Euclidean norm, for Gaussian noise.
    L2,
}

/// The stated privacy loss of a release.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PrivacyLoss {
    /// Which tables count as neighbours.
    pub neighbours: Neighbours,
    /// The release is (epsilon, delta)-differentially private.
    pub epsilon: f64,
    /// Zero for pure differential privacy.
    pub delta: f64,
    /// Norm of the sensitivity.
    pub norm: Norm,
    /// Largest change of the weighted statistic between neighbours.
    pub sensitivity: f64,
    /// Whether bounds are public knowledge or private releases of their own. False if they were read off the data, which
    /// voids the guarantee (experiments only). Older schemas call it `private_bounds`.
    #[serde(alias = "private_bounds")]
    pub public_bounds: bool,
}
