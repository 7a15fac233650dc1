//! Releases of noisy counts, checked and with names resolved.

use std::collections::HashSet;

use organza_release::{CountRelease, LevelColumn, Parties};

use super::crossing::Crossing;
use super::noise::Observation;
use super::records::{Records, RecordsPrior};
use crate::InferError;

/// Noisy contingency tables of one or more parties about the same columns.
#[derive(Debug, Clone)]
pub struct TableEvidence {
    pub(super) columns: Vec<LevelColumn>,
    pub(super) parties: Vec<PartyTables>,
}

/// What one party has released.
#[derive(Debug, Clone)]
pub(super) struct PartyTables {
    pub name: String,
    pub records: Option<u64>,
    pub tables: Vec<NoisyTable>,
}

/// One noisy table; without columns it is the number of records.
#[derive(Debug, Clone)]
pub(super) struct NoisyTable {
    pub crossing: Crossing,
    pub counts: Vec<Observation>,
}

/// More cells than this are a mistake.
pub(super) const LARGEST_TABLE: usize = 10_000_000;

impl TableEvidence {
    /// Checks the releases. A party that appears twice is refused unless its releases are about different records.
    pub fn new(releases: &[CountRelease], allow_duplicates: bool) -> Result<Self, InferError> {
        let first = releases.first().ok_or(InferError::NoRelease)?;
        check_columns(&first.party, &first.columns)?;
        let mut seen = Parties::default();
        for release in releases {
            if !seen.admit(&release.party) && !allow_duplicates {
                return Err(InferError::Duplicate { party: release.party.clone() });
            }
            same_columns((&first.party, &first.columns), (&release.party, &release.columns))?;
        }
        let parties = releases.iter().map(PartyTables::new).collect::<Result<_, _>>()?;
        Ok(Self { columns: first.columns.clone(), parties })
    }

    /// Number of parties.
    pub fn parties(&self) -> usize {
        self.parties.len()
    }

    /// All records, where their number is public.
    pub fn records(&self) -> Option<u64> {
        self.parties.iter().map(|party| party.records).sum()
    }
}

/// Columns with different names, each with at least two different levels.
pub(super) fn check_columns(party: &str, columns: &[LevelColumn]) -> Result<(), InferError> {
    let wrong = |place: usize, reason: String| {
        Err(InferError::counts(party, format!("columns[{place}] {:?}", columns[place].name), reason))
    };
    for (place, column) in columns.iter().enumerate() {
        if columns[..place].iter().any(|other| other.name == column.name) {
            return wrong(place, "has the name of an earlier column".into());
        }
        if column.levels.len() < 2 {
            return wrong(place, format!("needs at least two levels, found {}", column.levels.len()));
        }
        if column.levels.iter().collect::<HashSet<_>>().len() < column.levels.len() {
            return wrong(place, "has a level twice".into());
        }
    }
    match columns.is_empty() {
        true => Err(InferError::counts(party, "columns", "is empty: name at least one column")),
        false => Ok(()),
    }
}

/// Refuses parties with different columns or levels.
pub(super) fn same_columns(
    first: (&str, &[LevelColumn]),
    second: (&str, &[LevelColumn]),
) -> Result<(), InferError> {
    let disagreement = |field, expected: String, found: String| {
        Err(InferError::Disagreement {
            first: first.0.into(),
            second: second.0.into(),
            field,
            expected,
            found,
        })
    };
    let names = |columns: &[LevelColumn]| {
        columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>().join(", ")
    };
    if names(first.1) != names(second.1) {
        return disagreement("columns", names(first.1), names(second.1));
    }
    for (one, other) in first.1.iter().zip(second.1) {
        if one.levels != other.levels {
            let levels =
                |column: &LevelColumn| format!("levels of {:?}: {}", column.name, column.levels.join(", "));
            return disagreement("columns", levels(one), levels(other));
        }
    }
    Ok(())
}

/// Indices of columns that are named; the error says which one is not there.
pub(super) fn find_columns(
    place: (&str, &str),
    names: &[String],
    columns: &[LevelColumn],
) -> Result<Vec<usize>, InferError> {
    let mut found = Vec::new();
    for name in names {
        let index = columns.iter().position(|column| column.name == *name).ok_or_else(|| {
            InferError::counts(place.0, place.1, format!("names {name:?}, which is not in columns"))
        })?;
        if found.contains(&index) {
            return Err(InferError::counts(place.0, place.1, format!("names {name:?} twice")));
        }
        found.push(index);
    }
    Ok(found)
}

impl PartyTables {
    fn new(release: &CountRelease) -> Result<Self, InferError> {
        let party = release.party.as_str();
        let scale = release.noise.scale;
        if !(scale.is_finite() && scale > 0.0) {
            let reason = format!("must be positive and finite, found {scale}");
            return Err(InferError::counts(party, "noise.scale", reason));
        }
        if let Some(place) = release.value.iter().position(|value| !value.is_finite()) {
            return Err(InferError::counts(party, format!("value[{place}]"), "is not finite"));
        }
        let (mut tables, mut start) = (Vec::new(), 0_usize);
        for (place, names) in release.tables.iter().enumerate() {
            let field = format!("tables[{place}]");
            let columns = find_columns((party, &field), names, &release.columns)?;
            let crossing = Crossing::new(columns, &release.columns);
            let size = crossing.size().filter(|size| *size <= LARGEST_TABLE);
            let size = size.ok_or_else(|| InferError::counts(party, &field, "has too many cells"))?;
            let values = release.value.get(start..start + size).ok_or_else(|| {
                let reason = format!("has {} counts, too few for {field}", release.value.len());
                InferError::counts(party, "value", reason)
            })?;
            let counts = values.iter().map(|value| Observation::new(*value, &release.noise)).collect();
            tables.push(NoisyTable { crossing, counts });
            start += size;
        }
        if start != release.value.len() {
            let reason = format!("has {} counts, but the tables have {start} cells", release.value.len());
            return Err(InferError::counts(party, "value", reason));
        }
        if tables.is_empty() {
            return Err(InferError::counts(party, "tables", "is empty: there is nothing to learn from"));
        }
        Ok(Self { name: release.party.clone(), records: release.records, tables })
    }

    /// The number of records: public, or with a prior.
    pub fn build_records(&self, prior: &RecordsPrior) -> Result<Records, InferError> {
        match self.records {
            Some(records) => usize::try_from(records)
                .map(Records::Known)
                .map_err(|_| InferError::counts(&self.name, "records", "is too large")),
            None => prior.build(self.reach()),
        }
    }

    /// More records than the noisy counts could mean: 60 scales above every count, in the table that allows most.
    fn reach(&self) -> usize {
        let sum = |table: &NoisyTable| -> f64 {
            table.counts.iter().map(|count| count.value.max(0.0) + 60.0 * count.scale).sum()
        };
        self.tables.iter().map(sum).fold(1.0, f64::max) as usize
    }
}
