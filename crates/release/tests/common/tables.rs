//! Valid releases of counts and of randomised answers.

use organza_release::*;

pub fn columns() -> Vec<LevelColumn> {
    let column = |name: &str, levels: &[&str]| LevelColumn {
        name: name.into(),
        levels: levels.iter().map(|level| level.to_string()).collect(),
    };
    vec![column("site", &["a", "b", "c"]), column("ill", &["no", "yes"]), column("sex", &["f", "m"])]
}

fn names(table: &[&str]) -> Vec<String> {
    table.iter().map(|name| name.to_string()).collect()
}

/// Two tables of three columns: 6 and 4 counts, discrete Laplace noise that pays for epsilon = 1.
pub fn counts() -> CountRelease {
    CountRelease {
        schema: COUNTS_SCHEMA.into(),
        party: "north".into(),
        created: "2026-01-31T12:00:00Z".into(),
        records: Some(250),
        missing: Missing::Refused,
        columns: columns(),
        tables: vec![names(&["site", "ill"]), names(&["sex", "ill"])],
        value: (0..10).map(|cell| f64::from(3 * cell - 2)).collect(),
        noise: CountNoise { family: CountFamily::DiscreteLaplace, scale: 4.0 },
        privacy: PrivacyLoss {
            neighbours: Neighbours::Substitute,
            epsilon: 1.0,
            delta: 0.0,
            norm: Norm::L1,
            sensitivity: 4.0,
            public_bounds: true,
        },
        tool: Tool { name: "organza".into(), version: "0.1.0".into() },
    }
}

/// The same, and the number of records, which is confidential.
pub fn confidential() -> CountRelease {
    let mut release = counts();
    (release.records, release.privacy.neighbours) = (None, Neighbours::AddRemove);
    release.tables.push(vec![]);
    release.value.push(251.0);
    (release.noise.scale, release.privacy.sensitivity) = (3.0, 3.0);
    release
}

/// Discrete Gaussian noise on the first; scale 8.5 pays for (1, 1e-6).
pub fn gaussian() -> CountRelease {
    let mut release = counts();
    release.noise = CountNoise { family: CountFamily::DiscreteGaussian, scale: 8.5 };
    (release.privacy.norm, release.privacy.delta, release.privacy.sensitivity) = (Norm::L2, 1e-6, 2.0);
    release
}

/// Five records, one answer for two columns and one for the third.
pub fn randomised() -> RandomisedRelease {
    RandomisedRelease {
        schema: RANDOMISED_SCHEMA.into(),
        party: "north".into(),
        created: "2026-01-31T12:00:00Z".into(),
        records: 5,
        missing: Missing::Dropped,
        columns: columns(),
        answers: vec![
            Answer { columns: names(&["site", "ill"]), truth: 0.5, value: vec![0, 5, 3, 2, 0] },
            Answer { columns: names(&["sex"]), truth: 0.75, value: vec![1, 0, 0, 1, 1] },
        ],
        neighbours: Neighbours::Substitute,
        epsilon: 5f64.ln() + 3f64.ln(),
        tool: Tool { name: "organza".into(), version: "0.1.0".into() },
    }
}
