//! Release files: read, claim, and inference by every method.

use organza_infer::tables::{TableModel, TableSpec, fit_counts, fit_randomised};
use organza_infer::{Method, MethodSpec, ModelSpec, Sampler, ada_ssp, fit, fit_logistic};
use organza_mcmc::Monitor;
use organza_release::{CountRelease, Document, RandomisedRelease, Release};

use crate::{PLAN, pick};

/// An honest release of a Gram matrix and one of fourth moments, behind their first bytes.
const COMPANIONS: [&[u8]; 2] =
    [include_bytes!("../corpus/release/honest-gram"), include_bytes!("../corpus/release/honest-fourth")];

/// What is done with releases of sums.
#[derive(Clone, Copy)]
enum Way {
    Fit(MethodSpec),
    Logistic(Option<Sampler>),
    AdaSsp,
}

/// Releases of sums; the first byte chooses a method, and whether an honest release joins.
pub fn release(bytes: &[u8]) -> bool {
    let Some((mut choice, mut releases)) = read::<Release>(bytes) else { return false };
    releases.iter().for_each(|release| drop(release.claim()));
    let way = pick(&mut choice, &ways());
    let companion = pick(&mut choice, &[None, Some(COMPANIONS[0]), Some(COMPANIONS[1])]);
    releases.extend(companion.into_iter().filter_map(read::<Release>).flat_map(|(_, honest)| honest));
    let (model, monitor) = (ModelSpec { allow_duplicates: true, ..ModelSpec::default() }, Monitor::default());
    match way {
        Way::Fit(spec) => fit(&spec, &model, &releases, &PLAN, &monitor).is_ok(),
        Way::Logistic(sampler) => fit_logistic(sampler, &model, &releases, &PLAN, &monitor).is_ok(),
        Way::AdaSsp => ada_ssp(&releases).is_ok(),
    }
}

/// Releases of counts; the first byte chooses model and sampler.
pub fn counts(bytes: &[u8]) -> bool {
    let Some((mut choice, releases)) = read::<CountRelease>(bytes) else { return false };
    releases.iter().for_each(|release| drop(release.claim()));
    let model = pick(&mut choice, &[TableModel::Table, TableModel::NaiveBayes]);
    fit_counts(&table_spec(model, choice), &releases, &PLAN, &Monitor::default()).is_ok()
}

/// Randomised answers; the first byte chooses the sampler.
pub fn randomised(bytes: &[u8]) -> bool {
    let Some((choice, releases)) = read::<RandomisedRelease>(bytes) else { return false };
    releases.iter().for_each(|release| drop(release.claim()));
    fit_randomised(&table_spec(TableModel::Table, choice), &releases, &PLAN, &Monitor::default()).is_ok()
}

/// The first byte, and the valid releases behind it: written again they are the same.
pub(crate) fn read<D: Document>(bytes: &[u8]) -> Option<(usize, Vec<D>)> {
    let (choice, file) = bytes.split_first()?;
    let releases = D::read_many(file, "file").ok()?;
    for release in &releases {
        let text = release.to_json().expect("what is valid can be written");
        let again = D::read_one(text.as_bytes(), "again").and_then(|release| release.to_json());
        assert_eq!(again.expect("what was written can be read"), text);
    }
    Some((usize::from(*choice), releases))
}

fn ways() -> Vec<Way> {
    let spec = |method: Method| {
        let of = move |sampler: &Sampler| MethodSpec { method: Some(method), sampler: Some(*sampler) };
        method.samplers().iter().map(of)
    };
    let fits = Method::ALL.into_iter().flat_map(spec).chain([MethodSpec::default()]);
    let others = [Way::Logistic(None), Way::Logistic(Some(Sampler::Plain)), Way::AdaSsp];
    fits.map(Way::Fit).chain(others).collect()
}

fn table_spec(model: TableModel, mut choice: usize) -> TableSpec {
    let words = ["", "exact", "gibbs", "metropolis", "nuts", "augmentation", "plain"];
    let sampler = pick(&mut choice, &words).parse().ok();
    TableSpec { model, sampler, allow_duplicates: true, ..TableSpec::default() }
}
