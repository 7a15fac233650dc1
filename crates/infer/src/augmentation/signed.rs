//! Gram matrices of records whose response has two values.

use organza_release::Release;

use super::{GramMechanism, RecordAdditive};
use crate::{InferError, judge};

/// A released Gram matrix of a response that is one of its two bounds. Latent records are (u, t): features in normalised units and a latent
/// utility, the response is +1 where t > 0, else -1.
///
/// Bounds [0, 1] and [-1, 1] are accepted. Nothing in a release tells whether a response really has but two values: values in between
/// make the model wrong.
#[derive(Debug, Clone, PartialEq)]
pub struct SignedResponse {
    gram: GramMechanism,
}

impl SignedResponse {
    /// The mechanism of a release; an error names what it lacks.
    pub fn of(release: &Release) -> Result<Self, InferError> {
        judge::two_valued(release)?;
        Ok(Self { gram: GramMechanism::of(release)? })
    }
}

impl RecordAdditive for SignedResponse {
    fn party(&self) -> &str {
        self.gram.party()
    }

    fn records(&self) -> usize {
        self.gram.records()
    }

    fn size(&self) -> usize {
        self.gram.size()
    }

    #[inline]
    fn contribution(&self, record: &[f64], out: &mut [f64]) {
        if let Some((utility, features)) = record.split_last() {
            let response = if *utility > 0.0 { 1.0 } else { -1.0 };
            self.gram.contribution_of(features, response, out);
        }
    }

    #[inline]
    fn log_density(&self, sum: &[f64]) -> f64 {
        self.gram.log_density(sum)
    }

    fn epsilon(&self) -> Option<f64> {
        self.gram.epsilon()
    }
}
