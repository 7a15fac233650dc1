//! The front: which sampler is chosen, and what errors say.

use organza_infer::tables::TableSpec;
use organza_infer::{InferError, MethodSpec, Model, ModelSpec, Sampler, fit};
use organza_mcmc::{Monitor, Plan};
use organza_release::{CountFamily, CountRelease};

use crate::support::*;

const SHORT: Plan = Plan { chains: 2, warmup: 50, draws: 200, thin: 1, seed: 1, threads: 1 };

fn two_tables(party: &str, tables: &[&[&str]], records: Option<u64>) -> CountRelease {
    let columns = [column("a", 2), column("b", 2), column("c", 2)];
    let size: usize = tables.iter().map(|table| 1 << table.len()).sum();
    let values = vec![4.0; size];
    release(party, &columns, tables, &values, (noise(CountFamily::Laplace, 1.0), records))
}

fn error(spec: &ModelSpec, releases: &[CountRelease]) -> InferError {
    fit(&MethodSpec::default(), spec, releases, &SHORT, &Monitor::default()).unwrap_err()
}

/// Catches a chain that runs where independent draws are possible, and the other way round.
#[test]
fn the_sampler_follows_from_the_releases() {
    let spec = ModelSpec::default();
    let naive = ModelSpec { model: Some(Model::NaiveBayes), ..ModelSpec::default() };
    let chain = two_tables("one", &[&["a", "b", "c"], &["b"], &["c", "b"]], Some(30));
    let overlap = two_tables("one", &[&["a", "b"], &["b", "c"]], Some(16));
    let twice = [two_tables("one", &[&["a", "b"]], Some(16)), two_tables("two", &[&["b"]], None)];
    let cases = [
        (&spec, vec![chain], Sampler::Exact, 8),
        (&spec, vec![overlap.clone()], Sampler::Metropolis, 8),
        (&naive, vec![overlap], Sampler::Exact, 2 + 8),
        (&spec, twice.to_vec(), Sampler::Gibbs, 4 + 1),
    ];
    for (spec, releases, sampler, values) in cases {
        let fit = fit(&MethodSpec::default(), spec, &releases, &SHORT, &Monitor::default()).unwrap();
        assert_eq!((fit.sampler, fit.summary.parameters.len()), (sampler, values), "{:?}", fit.reason);
        assert!(fit.draws.names()[0].starts_with("p["));
        let unknown = releases.iter().any(|release| release.records.is_none());
        assert_eq!(fit.notes.len(), usize::from(unknown));
        assert_eq!(fit.draws.names().last().is_some_and(|name| name == "records[two]"), unknown);
    }
}

/// Every error names the party and the field.
#[test]
fn errors_name_the_place() {
    let good = two_tables("one", &[&["a", "b"]], Some(16));
    let spec = ModelSpec::default();
    let mut other = CountRelease { party: "two".into(), ..good.clone() };
    other.columns[1].levels.push("2".into());
    let mut short = good.clone();
    short.value.pop();
    let mut infinite = good.clone();
    infinite.value[2] = f64::NAN;
    let mut unnamed = good.clone();
    unnamed.tables[0][0] = "z".into();
    let mut scale = good.clone();
    scale.noise.scale = 0.0;
    let cases: [(Vec<CountRelease>, &[&str]); 7] = [
        (vec![], &["at least one"]),
        (vec![good.clone(), good.clone()], &["one", "twice"]),
        (vec![good.clone(), other], &["two", "columns", "\"b\""]),
        (vec![short], &["one", "value", "3 counts"]),
        (vec![infinite], &["one", "value[2]"]),
        (vec![unnamed], &["one", "tables[0]", "\"z\""]),
        (vec![scale], &["one", "noise.scale"]),
    ];
    for (releases, words) in cases {
        let text = error(&spec, &releases).to_string();
        assert!(words.iter().all(|word| text.contains(word)), "{text}");
    }
    let mut prior = spec.clone();
    prior.tables.prior.cells.insert("a=7".into(), 1.0);
    assert!(error(&prior, std::slice::from_ref(&good)).to_string().contains("prior: cells names \"a=7\""));
    prior.tables.prior.cells.clear();
    prior.tables.prior.concentration = Some(-1.0);
    assert!(
        error(&prior, std::slice::from_ref(&good)).to_string().contains("concentration must be positive")
    );
    let naive = ModelSpec { model: Some(Model::NaiveBayes), ..spec };
    assert!(error(&naive, &[good]).to_string().contains("name the class"));
    assert!(TableSpec::from_toml("[records]\nuniform = 3").unwrap_err().to_string().contains("uniform"));
}
