//! Releases of one party about different records: batches of its table.

use std::collections::{HashMap, HashSet};

/// The name under which a party releases a batch of its table.
pub fn batch_name(party: &str, number: u64, rows: u64) -> String {
    format!("{party}, batch {number} of {rows} rows")
}

/// The party of a batch, its number and the rows of every batch; none if the name is not one of a batch.
fn batch_of(name: &str) -> Option<(&str, u64, u64)> {
    let (party, batch) = name.rsplit_once(", batch ")?;
    let (number, rows) = batch.strip_suffix(" rows")?.split_once(" of ")?;
    Some((party, number.parse().ok()?, rows.parse().ok()?))
}

/// Parties whose releases are combined. No record may count twice.
///
/// ```
/// use organza_release::{Parties, batch_name};
/// let names = [1, 2].map(|number| batch_name("north", number, 500));
/// let mut parties = Parties::default();
/// assert!(parties.admit(&names[0]) && parties.admit(&names[1]) && parties.admit("east"));
/// assert!(!parties.admit(&names[1]) && !parties.admit("north") && !parties.admit("east"));
/// ```
#[derive(Debug, Default)]
pub struct Parties<'p> {
    /// Rows of a party's batches and the numbers of those that were seen; no rows if all of its table was released at once.
    seen: HashMap<&'p str, (Option<u64>, HashSet<u64>)>,
}

impl<'p> Parties<'p> {
    /// Takes one more release, and says whether its records are new: the party is, or this is another batch of the same cut of
    /// its table.
    pub fn admit(&mut self, name: &'p str) -> bool {
        let (party, number, rows) =
            batch_of(name).map_or((name, 0, None), |(party, number, rows)| (party, number, Some(rows)));
        let known = self.seen.contains_key(party);
        let (cut, numbers) = self.seen.entry(party).or_insert_with(|| (rows, HashSet::new()));
        let same_cut = *cut == rows && (rows.is_some() || !known);
        numbers.insert(number) && same_cut
    }
}
