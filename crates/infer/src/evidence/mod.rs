//! What the releases say of one regression, party by party.
//!
//! Parties may differ in weights, noise and numbers of records; they must agree on columns and bounds.

mod agreement;
mod party;

use organza_release::{Domain, Parties, Release, Statistic};

use crate::InferError;
pub(crate) use party::{GramNoise, Isometry, Party};

/// The releases of one regression.
#[derive(Debug, Clone)]
pub struct Evidence {
    pub(crate) parties: Vec<Party>,
    /// Releases of fourth moments, which stand beside those of Gram matrices.
    pub(crate) fourths: Vec<Release>,
    domain: Domain,
}

/// Whether a release is of fourth moments, which say something of the features alone.
pub(crate) fn is_fourth(release: &Release) -> bool {
    matches!(release.statistic, Statistic::FourthMoments { .. })
}

/// How the features enter the models that describe their distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Features {
    /// Every coordinate of a record varies, a scaled constant included: x ~ N(0, Sigma).
    Centred,
    /// The first coordinate is the constant 1, the others have a mean: \[AYB23\] appendix B.2.
    Intercept,
}

impl Evidence {
    /// Checks that the releases describe one regression of disjoint parties and prepares them.
    pub fn new(releases: &[Release]) -> Result<Self, InferError> {
        Self::of(releases.iter(), false)
    }

    /// The same for releases of which several may come from one party, about disjoint sets of records.
    pub fn with_repeated_parties(releases: &[Release]) -> Result<Self, InferError> {
        Self::of(releases.iter(), true)
    }

    pub(crate) fn of<'r>(
        releases: impl Iterator<Item = &'r Release>,
        allow_duplicates: bool,
    ) -> Result<Self, InferError> {
        let (fourths, releases): (Vec<_>, Vec<_>) = releases.partition(|release| is_fourth(release));
        let first = *releases.first().ok_or(InferError::NoRelease)?;
        let (mut seen, mut parties) = (Parties::default(), Vec::<Party>::new());
        fourths.iter().try_for_each(|fourth| agreement::check_features(first, fourth))?;
        for release in releases {
            if !seen.admit(&release.party) && !allow_duplicates {
                return Err(InferError::Duplicate { party: release.party.clone() });
            }
            agreement::check(first, release)?;
            parties.push(Party::new(release, parties.last())?);
        }
        let fourths = fourths.into_iter().cloned().collect();
        Ok(Self { parties, fourths, domain: first.domain.clone() })
    }

    /// Number of coefficients, the intercept included.
    pub fn dimension(&self) -> usize {
        self.domain.dimension() - 1
    }

    /// Number of releases.
    pub fn parties(&self) -> usize {
        self.parties.len()
    }

    /// Public number of records of all parties together, if every release states its own.
    pub fn records(&self) -> Option<f64> {
        self.parties.iter().map(|party| party.records).sum()
    }

    /// The public domain, for names and units.
    pub fn domain(&self) -> &Domain {
        &self.domain
    }

    /// Whether the constant is a constant: unscaled records with an intercept.
    pub(crate) fn features(&self) -> Features {
        match self.domain.intercept() && !self.domain.is_scaled() {
            true => Features::Intercept,
            false => Features::Centred,
        }
    }
}
