//! What a ledger recognises records by: a keyed fingerprint of the columns that were read.
//!
//! A column's fingerprint is the sum, modulo 2^128, of keyed hashes (SipHash-1-3 with 128 bits) of its values, numbers as doubles and
//! levels as text. So it survives copying, renaming, another order of rows or columns, and another file format; it does not survive a
//! changed cell. The key is random and stays in the ledger: without it a fingerprint says nothing, with it two tables can be compared,
//! so a ledger is as private as its tables.
//!
//! A column with few distinct values may be equal in two tables by chance, so only columns with 20 distinct values, or with 4 and 500
//! records, are remembered. A table that has no other columns is recognised by its name alone.

use std::collections::HashSet;

use siphasher::sip128::{Hash128, SipHasher13};

use crate::CuratorError;
use crate::formula::{BlockColumns, CategoricalColumn};

/// Distinct values that tell a column apart, whatever the number of records.
const MANY_VALUES: usize = 20;
/// Distinct values that tell a column of many records apart.
const SOME_VALUES: usize = 4;
/// What many records are.
const MANY_RECORDS: u64 = 500;

/// The key of a ledger's fingerprints.
#[derive(Clone, PartialEq, Eq)]
pub struct FingerprintKey([u8; 16]);

/// A key is not shown.
impl std::fmt::Debug for FingerprintKey {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("FingerprintKey")
    }
}

impl FingerprintKey {
    /// A new key from the operating system.
    pub(crate) fn random() -> Result<Self, CuratorError> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(|error| CuratorError::Entropy(error.to_string()))?;
        Ok(Self(bytes))
    }

    pub(crate) fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    pub(crate) fn bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// The keyed hash of some bytes.
    pub(crate) fn hash(&self, bytes: &[u8]) -> u128 {
        let Hash128 { h1, h2 } = SipHasher13::new_with_key(&self.0).hash(bytes);
        (u128::from(h1) << 64) | u128::from(h2)
    }
}

/// The remembered columns of some records. Empty if nobody asked for it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fingerprint {
    pub(crate) key: Option<FingerprintKey>,
    pub(crate) columns: Vec<u128>,
}

/// A fingerprint that grows block by block; one per thread.
pub(crate) struct Fingerprinting<'a> {
    key: Option<&'a FingerprintKey>,
    /// Hashes of the levels of each column.
    levels: Vec<Vec<u128>>,
    columns: Vec<Column>,
    records: u64,
}

#[derive(Debug, Clone, Default)]
struct Column {
    sum: u128,
    values: HashSet<u128>,
}

impl Column {
    fn add(&mut self, hash: u128) {
        self.sum = self.sum.wrapping_add(hash);
        if self.values.len() < MANY_VALUES {
            self.values.insert(hash);
        }
    }

    fn is_telling(&self, records: u64) -> bool {
        let values = self.values.len();
        values >= MANY_VALUES || (values >= SOME_VALUES && records >= MANY_RECORDS)
    }
}

impl<'a> Fingerprinting<'a> {
    /// Of so many columns of numbers and these columns of levels; without a key nothing is computed.
    pub(crate) fn new(
        key: Option<&'a FingerprintKey>,
        numeric: usize,
        categorical: &[CategoricalColumn],
    ) -> Self {
        let hashes = |column: &CategoricalColumn| {
            let hash =
                |level: &String| key.map_or(0, |key| key.hash(&[b"level ", level.as_bytes()].concat()));
            column.levels.iter().map(hash).collect()
        };
        let columns = if key.is_some() { numeric + categorical.len() } else { 0 };
        Self {
            key,
            levels: categorical.iter().map(hashes).collect(),
            columns: vec![Column::default(); columns],
            records: 0,
        }
    }

    /// Adds the records of a block.
    pub(crate) fn add(&mut self, block: &BlockColumns<'_>) {
        let Some(key) = self.key else { return };
        let (numeric, categorical) = self.columns.split_at_mut(block.numeric.len());
        for (column, values) in numeric.iter_mut().zip(block.numeric) {
            // Adding 0 makes -0 a 0.
            values.iter().for_each(|value| column.add(key.hash(&(value + 0.0).to_bits().to_le_bytes())));
        }
        for ((column, codes), levels) in categorical.iter_mut().zip(block.categorical).zip(&self.levels) {
            codes.iter().for_each(|code| column.add(levels[*code as usize]));
        }
        let first = block.numeric.first().map(|column| column.len());
        self.records += first.or(block.categorical.first().map(|column| column.len())).unwrap_or(0) as u64;
    }

    /// The fingerprint of all records that the threads have seen.
    pub(crate) fn finish(parts: Vec<Self>) -> Fingerprint {
        let records = parts.iter().map(|part| part.records).sum::<u64>();
        let key = parts.first().and_then(|part| part.key).cloned();
        let joined = parts.into_iter().map(|part| part.columns).reduce(|mut joined, more| {
            for (column, more) in joined.iter_mut().zip(more) {
                column.sum = column.sum.wrapping_add(more.sum);
                column.values.extend(more.values);
            }
            joined
        });
        let telling = joined.into_iter().flatten().filter(|column| column.is_telling(records));
        let mut columns: Vec<u128> = telling.map(|column| column.sum).collect();
        columns.sort_unstable();
        columns.dedup();
        Fingerprint { key, columns }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(key: &FingerprintKey, blocks: &[Vec<&[f64]>]) -> Fingerprint {
        let part = |numeric: &Vec<&[f64]>| {
            let mut part = Fingerprinting::new(Some(key), numeric.len(), &[]);
            part.add(&BlockColumns { numeric, categorical: &[] });
            part
        };
        Fingerprinting::finish(blocks.iter().map(part).collect())
    }

    #[test]
    fn orders_and_threads_do_not_matter_and_cells_do() {
        let key = FingerprintKey::random().unwrap();
        let values: Vec<f64> = (0..40).map(f64::from).collect();
        let squares: Vec<f64> = values.iter().map(|value| value * value).collect();
        let whole = of(&key, &[vec![&values, &squares]]);
        assert_eq!(whole.columns.len(), 2);
        assert_eq!(of(&key, &[vec![&squares[..7], &values[..7]], vec![&squares[7..], &values[7..]]]), whole);
        let reversed: Vec<f64> = values.iter().rev().copied().collect();
        assert_eq!(of(&key, &[vec![&reversed, &squares]]), whole);
        let mut changed = values.clone();
        changed[3] += 1e-9;
        let other = of(&key, &[vec![&changed, &squares]]);
        assert_eq!(other.columns.iter().filter(|column| whole.columns.contains(column)).count(), 1);
        let another_key = FingerprintKey::random().unwrap();
        assert!(
            of(&another_key, &[vec![&values]]).columns.iter().all(|column| !whole.columns.contains(column))
        );
    }

    #[test]
    fn columns_that_may_be_equal_by_chance_are_not_remembered() {
        let key = FingerprintKey::random().unwrap();
        let binary: Vec<f64> = (0..1000).map(|row| f64::from(row % 2)).collect();
        let five: Vec<f64> = (0..1000).map(|row| f64::from(row % 5)).collect();
        assert_eq!(of(&key, &[vec![&binary, &five]]).columns.len(), 1);
        assert_eq!(of(&key, &[vec![&binary[..100], &five[..100]]]).columns.len(), 0);
    }
}
