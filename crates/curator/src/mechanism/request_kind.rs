//! Which kinds of statistics go with which domains, neighbours and noise, and why not with others.

use organza_release::{Family, Layout, Neighbours};

use super::request::{DomainChoice, RecordScale, Request, StatisticKind};
use crate::CuratorError;
use crate::gram::MAXIMUM_AVERAGED;

impl Request {
    pub(super) fn check_kind(&self) -> Result<(), CuratorError> {
        if let Some(averaged) = self.averaging {
            self.check_averaging(averaged)?;
        }
        match self.statistic {
            StatisticKind::Gram => Ok(()),
            StatisticKind::AdaSsp => refuse("statistic", self.against_ada_ssp()),
            StatisticKind::FourthMoments => refuse("statistic", self.against_fourth_moments()),
        }
    }

    fn check_averaging(&self, averaged: u64) -> Result<(), CuratorError> {
        if !(2..=MAXIMUM_AVERAGED).contains(&averaged) {
            let reason = format!("must be between 2 and {MAXIMUM_AVERAGED} records, found {averaged}");
            return Err(CuratorError::setting("averaging", reason));
        }
        let reason = if self.neighbours == Neighbours::AddRemove {
            Some("adding a record would shift all later groups: use the setting `neighbours = substitute`")
        } else if self.formula.intercept() {
            Some(
                "the constant of an averaged record would be the square root of their number, which no model \
                 expects: centre the columns and add `- 1` to the formula",
            )
        } else {
            None
        };
        refuse("averaging", reason)
    }

    fn against_ada_ssp(&self) -> Option<&'static str> {
        if self.family != Family::Gaussian {
            Some("ada-ssp is for Gaussian noise")
        } else if self.neighbours == Neighbours::AddRemove {
            Some(
                "the sensitivities of ada-ssp are those of exchanged records: use the setting `neighbours = substitute`",
            )
        } else if self.averaging.is_some() {
            Some("ada-ssp takes the records themselves: leave the setting `averaging` out")
        } else if self.layout == Some(Layout::Upper) {
            Some("ada-ssp has the isometric layout only")
        } else {
            None
        }
    }

    fn against_fourth_moments(&self) -> Option<&'static str> {
        let DomainChoice::Box { record_scale, intercept_weight } = self.domain else {
            return Some("fourth moments need bounds for every column: leave the setting `radius` out");
        };
        if self.neighbours == Neighbours::AddRemove {
            Some(
                "fourth moments need the public number of records: use the setting `neighbours = substitute`",
            )
        } else if !self.formula.intercept() {
            Some("fourth moments are those of a constant and the features: keep the intercept")
        } else if self.averaging.is_some() || matches!(record_scale, RecordScale::Radius(_)) {
            Some(
                "fourth moments are those of plain records: leave the setting `averaging` and the setting `record_scale` out",
            )
        } else if intercept_weight.or(self.response_weight).is_some() || self.layout.is_some() {
            Some("fourth moments have neither weights nor a layout to choose")
        } else {
            None
        }
    }
}

fn refuse(field: &'static str, reason: Option<&'static str>) -> Result<(), CuratorError> {
    reason.map_or(Ok(()), |reason| Err(CuratorError::setting(field, reason)))
}
