//! Checks of the statistic: entries are complete, and the kind fits the domain, the neighbours and the noise.

use std::collections::BTreeSet;

use crate::check::{Checked, require};
use crate::domain::Domain;
use crate::noise::Family;
use crate::privacy::Neighbours;
use crate::release::Release;
use crate::statistic::{Layout, Statistic, fourth_moment_entries, gram_entries};

impl Release {
    /// Domain, privacy and records are taken to be valid.
    pub(crate) fn check_statistic(&self) -> Checked {
        match &self.statistic {
            Statistic::Gram { .. } => self.check_pairs()?,
            Statistic::AveragedGram { averaged, .. } => {
                self.check_averaged(*averaged)?;
                self.check_pairs()?;
            }
            Statistic::AdaSsp { .. } => {
                self.require_substitute("its sensitivity is known for exchanged records only")?;
                require(self.noise.family == Family::Gaussian, "noise.family", {
                    "must be \"gaussian\" for this statistic"
                })?;
                require(!self.statistic.has_response_square(&self.domain), "statistic.entries", {
                    "the squared response is no part of this statistic"
                })?;
                self.check_pairs()?;
            }
            Statistic::FourthMoments { entries } => self.check_fourth_moments(entries)?,
        }
        self.check_layout()
    }

    /// Every pair of coordinates once; only the squared response may be left out.
    fn check_pairs(&self) -> Checked {
        let dimension = self.domain.dimension();
        let mut seen = BTreeSet::new();
        for (position, &[row, column]) in self.statistic.entries().iter().enumerate() {
            let field = format!("statistic.entries[{position}]");
            let entry = format!("[{row}, {column}]");
            require(row < dimension && column < dimension, &field, {
                format!("{entry} is outside of a record with {dimension} coordinates")
            })?;
            let first_time = seen.insert([row.min(column), row.max(column)]);
            require(first_time, &field, format!("the symmetric entry {entry} is given twice"))?;
            require(row <= column, &field, format!("{entry} must be written [{column}, {row}]"))?;
        }
        let substitute = self.privacy.neighbours == Neighbours::Substitute;
        let with_square = self.statistic.has_response_square(&self.domain);
        let wanted = gram_entries(&self.domain, substitute, with_square);
        for [row, column] in &wanted {
            let missing = format!("[{row}, {column}] is missing; only the squared response may be left out");
            require(seen.contains(&[*row, *column]), "statistic.entries", missing)?;
        }
        // What is left over can only be the public number of records.
        require(seen.len() == wanted.len(), "statistic.entries", {
            "[0, 0] is the public number of records and must be left out"
        })
    }

    fn check_averaged(&self, averaged: u64) -> Checked {
        require(averaged >= 2, "statistic.averaged", format!("must be at least 2, found {averaged}"))?;
        self.require_substitute("adding a record would shift all later groups")?;
        require(!self.domain.intercept(), "domain.intercept", {
            "averaged records have none: their constant would be sqrt(averaged)"
        })?;
        require(self.records.is_some_and(|records| records >= averaged), "statistic.averaged", {
            format!("{averaged} is more than there are records, so there is no row")
        })
    }

    fn check_fourth_moments(&self, entries: &[[usize; 4]]) -> Checked {
        self.require_substitute("the number of records must be public")?;
        let features = self.domain.feature_count();
        require(features > 0, "domain.features", "are empty, so there are no moments")?;
        let plain = self.domain.intercept() && !self.domain.is_scaled();
        require(plain, "domain", "must be a box with an intercept and without record scaling")?;
        let wanted = fourth_moment_entries(features);
        for (position, (found, wanted)) in entries.iter().zip(&wanted).enumerate() {
            let field = format!("statistic.entries[{position}]");
            require(found == wanted, field, format!("must be {wanted:?}, found {found:?}"))?;
        }
        require(entries.len() == wanted.len(), "statistic.entries", {
            format!("must be all {} of {features} features, found {}", wanted.len(), entries.len())
        })
    }

    fn require_substitute(&self, reason: &str) -> Checked {
        let fits = self.privacy.neighbours == Neighbours::Substitute;
        require(fits, "privacy.neighbours", format!("must be \"substitute\" for this statistic: {reason}"))
    }

    fn check_layout(&self) -> Checked {
        let upper = self.statistic.layout() == Layout::Upper;
        require(upper || self.noise.family != Family::Laplace, "statistic.layout", {
            "must be \"upper\" for laplace noise"
        })?;
        let Domain::Box(domain) = &self.domain else { return Ok(()) };
        let plain = domain.intercept_weight == 1.0 && domain.response_weight == 1.0;
        require(plain || domain.record_scale.is_some() || !upper, "domain.intercept_weight", {
            "unscaled records in the upper layout have weights 1, and so must domain.response_weight"
        })
    }
}
