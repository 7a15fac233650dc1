//! Choices of `organza release` as a person spells them.

use clap::ValueEnum;
use organza_curator::mechanism::StatisticKind;
use organza_curator::randomised::Per;
use organza_release::{Family, Layout, Missing, Neighbours};

#[derive(ValueEnum, Debug, Clone, Copy, PartialEq)]
pub enum Mechanism {
    Gaussian,
    Laplace,
}

#[derive(ValueEnum, Debug, Clone, Copy)]
pub enum StatisticName {
    /// Sums of products of two columns
    Gram,
    /// X'X, X'y and the smallest eigenvalue of X'X, for the point estimate adaSSP
    AdaSsp,
    /// Sums of products of four columns, beside a release of the Gram matrix
    FourthMoments,
}

#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum SensitivityName {
    /// The largest change between neighbours
    Exact,
    /// The ranges of all entries added up, which is more: p^2 + 4p + 3 for p features
    Ranges,
}

#[derive(ValueEnum, Debug, Clone, Copy)]
pub enum LayoutName {
    Isometric,
    Upper,
}

#[derive(ValueEnum, Debug, Clone, Copy)]
pub enum NeighboursName {
    Substitute,
    AddRemove,
}

#[derive(ValueEnum, Debug, Clone, Copy)]
pub enum PerName {
    /// One answer about all columns together
    Record,
    /// One answer about each column
    Column,
}

#[derive(ValueEnum, Debug, Clone, Copy)]
pub enum MissingName {
    /// Stop at the first one
    Error,
    /// Leave the record out; the release says so
    Drop,
    /// Put the middle of the bounds
    Midpoint,
}

impl From<Mechanism> for Family {
    fn from(name: Mechanism) -> Self {
        match name {
            Mechanism::Gaussian => Family::Gaussian,
            Mechanism::Laplace => Family::Laplace,
        }
    }
}

impl From<StatisticName> for StatisticKind {
    fn from(name: StatisticName) -> Self {
        match name {
            StatisticName::Gram => StatisticKind::Gram,
            StatisticName::AdaSsp => StatisticKind::AdaSsp,
            StatisticName::FourthMoments => StatisticKind::FourthMoments,
        }
    }
}

impl From<LayoutName> for Layout {
    fn from(name: LayoutName) -> Self {
        match name {
            LayoutName::Isometric => Layout::Isometric,
            LayoutName::Upper => Layout::Upper,
        }
    }
}

impl From<NeighboursName> for Neighbours {
    fn from(name: NeighboursName) -> Self {
        match name {
            NeighboursName::Substitute => Neighbours::Substitute,
            NeighboursName::AddRemove => Neighbours::AddRemove,
        }
    }
}

impl From<PerName> for Per {
    fn from(name: PerName) -> Self {
        match name {
            PerName::Record => Per::Record,
            PerName::Column => Per::Column,
        }
    }
}

impl From<MissingName> for Missing {
    fn from(name: MissingName) -> Self {
        match name {
            MissingName::Error => Missing::Refused,
            MissingName::Drop => Missing::Dropped,
            MissingName::Midpoint => Missing::Midpoint,
        }
    }
}
