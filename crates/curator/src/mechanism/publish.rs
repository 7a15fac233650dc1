//! The moment of release: exact integers plus integer noise become published numbers.

use organza_release::{Missing, Neighbours, Release, SCHEMA};

use super::calibrate::exact_fineness;
use super::exact::Exact;
use super::noise_rng::{NoiseRng, NoiseSource};
use super::plan::Plan;
use crate::CuratorError;
use crate::publishable::{now, this_tool};

impl Plan {
    /// Draws the noise and makes the release. The loss must have been charged before.
    pub fn publish<'e>(
        &self,
        exact: impl Into<Exact<'e>>,
        party: &str,
        missing: Missing,
        noise: &mut NoiseRng,
    ) -> Result<Release, CuratorError> {
        self.publish_with(exact.into(), party, missing, noise)
    }

    pub(crate) fn publish_with(
        &self,
        exact: Exact<'_>,
        party: &str,
        missing: Missing,
        noise: &mut impl NoiseSource,
    ) -> Result<Release, CuratorError> {
        let public_count = self.privacy.neighbours == Neighbours::Substitute;
        let release = Release {
            schema: SCHEMA.to_string(),
            party: party.to_string(),
            created: now(),
            records: public_count.then_some(exact.records()),
            missing,
            domain: self.domain.clone(),
            statistic: self.statistic.clone(),
            value: self.noisy_values(&self.exact_integers(exact)?, noise)?,
            noise: self.calibrated.noise.clone(),
            privacy: self.privacy.clone(),
            tool: this_tool(),
        };
        release.validate()?;
        Ok(release)
    }

    fn noisy_values(&self, exact: &[i128], noise: &mut impl NoiseSource) -> Result<Vec<f64>, CuratorError> {
        let family = self.calibrated.noise.family;
        let fineness = -self.calibrated.noise.lattice;
        let unit = f64::exp2(-f64::from(fineness));
        let finer = 1i128 << (fineness - exact_fineness(&self.statistic));
        let weights = self.statistic.weights(&self.domain);
        let numbers = exact.iter().zip(&self.calibrated.steps).zip(weights);
        numbers
            .map(|((exact, &steps), weights)| {
                let drawn = noise.draw(family, steps)?;
                let exact = exact.checked_mul(finer);
                let noisy = exact.and_then(|exact| exact.checked_add(drawn)).ok_or_else(too_large)?;
                // From here on everything is post-processing of an integer.
                Ok(noisy as f64 * unit / weights.lattice)
            })
            .collect()
    }
}

fn too_large() -> CuratorError {
    CuratorError::setting(
        "epsilon",
        "the sums do not fit the fine lattice that so little noise needs; lower it",
    )
}
