//! What a site allows, whatever a person asks for.
//!
//! An administrator writes `/etc/organza/policy.toml`, which must belong to root and be writable by root alone; it binds
//! every release, private bounds and private chains, with and without a ledger. A second file that `ORGANZA_POLICY` names
//! can only forbid more. Everything is optional:
//!
//! ```toml
//! ledger = "/var/lib/organza/site.ledger"   # the only ledger: no other, and never none
//! neighbours = "substitute"
//! columns = ["age", "dose", "stay"]
//! statistics = ["gram", "counts", "bounds"]
//! budget_users = [0]                        # who may set budgets, by user number
//! [release]                                 # of one release
//! epsilon = 1
//! delta = 1e-6
//! [total]                                   # of a data set
//! epsilon = 4
//! delta = 1e-5
//! ```
//!
//! A policy binds this program. Who can read a table can compute whatever they like with another one.

use std::path::{Path, PathBuf};

use organza_release::{LevelColumn, Neighbours};
use serde::Deserialize;

use crate::CuratorError;
use crate::ledger::{Budget, Charge};

/// The file that binds everybody on this machine.
const SITE: &str = "/etc/organza/policy.toml";
/// The variable that names one more file.
const VARIABLE: &str = "ORGANZA_POLICY";

/// A guarantee above this epsilon says next to nothing about a record.
pub const LARGEST_EPSILON: f64 = 20.0;
/// The largest delta where the number of records is confidential.
const LARGEST_DELTA: f64 = 1e-3;

/// What is about to be computed from a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// The word of the statistic: `gram`, `averaged-gram`, `ada-ssp`, `fourth-moments`, `counts`, `randomised-response`,
    /// `bounds` or `chains`.
    pub statistic: &'static str,
    /// The columns that are read.
    pub columns: Vec<String>,
}

impl Subject {
    /// A statistic of columns of levels.
    pub(crate) fn of_levels(statistic: &'static str, columns: &[LevelColumn]) -> Self {
        Self { statistic, columns: columns.iter().map(|column| column.name.clone()).collect() }
    }
}

/// The rules of a site.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Policy {
    ledger: Option<PathBuf>,
    neighbours: Option<Neighbours>,
    columns: Option<Vec<String>>,
    statistics: Option<Vec<String>>,
    budget_users: Option<Vec<u32>>,
    release: Option<Budget>,
    total: Option<Budget>,
    #[serde(skip)]
    file: String,
}

impl Policy {
    /// All policies that bind this process; none if there is no file.
    pub fn of_site() -> Result<Vec<Self>, CuratorError> {
        let mut policies = Vec::new();
        let site = Path::new(SITE);
        if site.try_exists().map_err(|error| CuratorError::file(SITE, error))? {
            belongs_to_root(site)?;
            policies.push(Self::read(site)?);
        }
        if let Some(path) = std::env::var_os(VARIABLE) {
            policies.push(Self::read(Path::new(&path))?);
        }
        Ok(policies)
    }

    fn read(path: &Path) -> Result<Self, CuratorError> {
        let fail = |reason: String| CuratorError::file(path.display(), reason);
        let text = std::fs::read_to_string(path).map_err(|error| fail(error.to_string()))?;
        let policy: Self = toml::from_str(&text).map_err(|error| fail(error.to_string()))?;
        Ok(Self { file: path.display().to_string(), ..policy })
    }

    /// The total that no data set may exceed.
    pub fn total(&self) -> Option<Budget> {
        self.total
    }

    /// Refuses what the site does not allow to be released; `ledger` is the one that would be charged.
    pub fn check(
        &self,
        subject: &Subject,
        charge: &Charge,
        ledger: Option<&Path>,
    ) -> Result<(), CuratorError> {
        let (epsilon, delta) = (charge.claimed_epsilon, charge.claimed_delta);
        if let Some(most) = self.release.filter(|most| epsilon > most.epsilon || delta > most.delta) {
            let asked = Budget { epsilon, delta };
            return self.refuse(format!("one release may lose {most}, and this one would lose {asked}"));
        }
        let among = |allowed: &Option<Vec<String>>, name: &str| {
            allowed.as_ref().is_none_or(|allowed| allowed.iter().any(|one| one == name))
        };
        if !among(&self.statistics, subject.statistic) {
            return self.refuse(format!("the statistic `{}` is not allowed", subject.statistic));
        }
        if let Some(column) = subject.columns.iter().find(|column| !among(&self.columns, column)) {
            return self.refuse(format!("the column `{column}` may not be used"));
        }
        if self.neighbours.is_some_and(|neighbours| charge.neighbours != Some(neighbours)) {
            return self.refuse("losses must be for the neighbours that it names".to_string());
        }
        self.check_ledger(ledger)
    }

    /// Refuses to set a budget in `ledger` as this user.
    pub fn check_budget(&self, ledger: &Path) -> Result<(), CuratorError> {
        let user = rustix::process::getuid().as_raw();
        if self.budget_users.as_ref().is_some_and(|users| !users.contains(&user)) {
            return self.refuse(format!("user {user} may not set budgets"));
        }
        self.check_ledger(Some(ledger))
    }

    fn check_ledger(&self, ledger: Option<&Path>) -> Result<(), CuratorError> {
        let Some(only) = &self.ledger else { return Ok(()) };
        let same = |ledger: &Path| match (ledger.canonicalize(), only.canonicalize()) {
            (Ok(one), Ok(other)) => one == other,
            _ => ledger == only,
        };
        if ledger.is_some_and(same) {
            return Ok(());
        }
        self.refuse(format!("the ledger must be {}", only.display()))
    }

    fn refuse(&self, reason: String) -> Result<(), CuratorError> {
        Err(CuratorError::Policy { file: self.file.clone(), reason })
    }
}

#[cfg(unix)]
fn belongs_to_root(path: &Path) -> Result<(), CuratorError> {
    use std::os::unix::fs::MetadataExt;
    let metadata = std::fs::metadata(path).map_err(|error| CuratorError::file(path.display(), error))?;
    if metadata.uid() == 0 && metadata.mode() & 0o022 == 0 {
        return Ok(());
    }
    let reason = "a policy must belong to root and be writable by root alone";
    Err(CuratorError::file(path.display(), reason))
}

#[cfg(not(unix))]
fn belongs_to_root(_path: &Path) -> Result<(), CuratorError> {
    Ok(())
}

/// A larger delta could be met by publishing a whole record: one over the number of records, or a thousandth where that number
/// is confidential.
pub fn largest_delta(records: Option<u64>) -> f64 {
    records.map_or(LARGEST_DELTA, |records| 1.0 / records.max(1) as f64)
}

/// Refuses a guarantee that is hardly one: an epsilon above [`LARGEST_EPSILON`], or a delta above [`largest_delta`].
pub fn check_guarantee(charge: &Charge, records: u64) -> Result<(), CuratorError> {
    let (epsilon, delta) = (charge.claimed_epsilon, charge.claimed_delta);
    let most = largest_delta((charge.neighbours != Some(Neighbours::AddRemove)).then_some(records));
    let reason = if epsilon > LARGEST_EPSILON {
        format!(
            "epsilon = {epsilon} is above {LARGEST_EPSILON}: whoever thinks a person's answer as likely as not can be as good as sure of it afterwards"
        )
    } else if delta > most {
        format!("delta = {delta} is above {most:.1e}: publishing a whole record could satisfy it")
    } else {
        return Ok(());
    };
    Err(CuratorError::WeakGuarantee { reason })
}

#[cfg(test)]
mod tests {
    use super::*;
    use organza_release::loss::Mechanism;

    fn charge(epsilon: f64, delta: f64, neighbours: Neighbours) -> Charge {
        Charge {
            mechanism: Mechanism::Approximate { epsilon, delta },
            total_variation: 0.0,
            neighbours: Some(neighbours),
            claimed_epsilon: epsilon,
            claimed_delta: delta,
            description: String::new(),
        }
    }

    #[test]
    fn every_rule_refuses_what_it_says_and_nothing_else() {
        let text = "ledger = '/site'\nneighbours = 'substitute'\ncolumns = ['x', 'y']\nstatistics = ['gram']\n\
                    [release]\nepsilon = 1\ndelta = 1e-6";
        let policy = Policy { file: "policy.toml".into(), ..toml::from_str(text).unwrap() };
        let subject =
            |statistic, column: &str| Subject { statistic, columns: vec!["y".into(), column.into()] };
        let site = Some(Path::new("/site"));
        let fine = charge(1.0, 1e-6, Neighbours::Substitute);
        assert!(policy.check(&subject("gram", "x"), &fine, site).is_ok());
        let refused = [
            (subject("counts", "x"), fine.clone(), site, "`counts`"),
            (subject("gram", "z"), fine.clone(), site, "`z`"),
            (subject("gram", "x"), charge(1.1, 1e-6, Neighbours::Substitute), site, "epsilon = 1.1"),
            (subject("gram", "x"), charge(1.0, 2e-6, Neighbours::Substitute), site, "one release"),
            (subject("gram", "x"), charge(1.0, 1e-6, Neighbours::AddRemove), site, "neighbours"),
            (subject("gram", "x"), fine.clone(), None, "/site"),
            (subject("gram", "x"), fine, Some(Path::new("/other")), "/site"),
        ];
        for (subject, charge, ledger, text) in refused {
            let error = policy.check(&subject, &charge, ledger).unwrap_err().to_string();
            assert!(error.contains(text) && error.contains("policy.toml"), "{error}");
        }
        assert!(toml::from_str::<Policy>("epsilon = 1").is_err(), "unknown rules are refused");
    }

    #[test]
    fn weak_guarantees() {
        let weak =
            |epsilon, delta, neighbours| check_guarantee(&charge(epsilon, delta, neighbours), 1000).is_err();
        assert!(!weak(20.0, 1e-3, Neighbours::Substitute) && weak(20.1, 0.0, Neighbours::Substitute));
        assert!(weak(1.0, 1.01e-3, Neighbours::Substitute) && weak(1.0, 0.99, Neighbours::AddRemove));
    }
}
