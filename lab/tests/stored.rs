//! The results in the repository and the verdicts beside them.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

use std::collections::BTreeSet;

use organza_lab::experiments;
use organza_lab::reproduce::{Provenance, Settings, check, folder_of, stored};

/// Catches a report that was changed without writing its verdicts anew, and two comparisons with one name, which take each other's verdict.
#[test]
fn verdicts_follow_from_results() {
    let mut found = 0;
    for experiment in experiments() {
        for variant in experiment.variants() {
            let settings = Settings {
                variant: *variant,
                replicates: experiment.replicates(*variant),
                shard: None,
                seed: 1,
                folder: folder_of(&*experiment),
                provenance: Provenance::default(),
            };
            let results = stored(&*experiment, &settings).unwrap();
            let name = format!("{} --as {}", experiment.key(), variant.word());
            if results.rows().is_empty() {
                eprintln!("SKIPPED {name}: no results are kept");
                continue;
            }
            found += 1;
            assert_eq!(check(&*experiment, &settings, &results).unwrap(), [], "{name}");
            let lines = experiment.report(*variant, &results).lines;
            let places: BTreeSet<&String> = lines.iter().map(|line| &line.place).collect();
            assert_eq!(places.len(), lines.len(), "{name}");
        }
    }
    assert!(found > 20, "{found}");
}
