//! Release files: read, claim, and inference by every method.

use organza_infer::{Method, MethodSpec, Model, ModelSpec, Releases, Sampler, ada_ssp, fit};
use organza_mcmc::Monitor;
use organza_release::{CountRelease, Document, RandomisedRelease, Release};

use crate::{PLAN, pick};

/// An honest release of a Gram matrix and one of fourth moments, behind their first bytes.
const COMPANIONS: [&[u8]; 2] =
    [include_bytes!("../corpus/release/honest-gram"), include_bytes!("../corpus/release/honest-fourth")];

/// Releases of sums; the first byte chooses a method, and whether an honest release joins.
pub fn release(bytes: &[u8]) -> bool {
    let Some((mut choice, mut releases)) = read::<Release>(bytes) else { return false };
    releases.iter().for_each(|release| drop(release.claim()));
    let (model, method) = pick(&mut choice, &ways());
    let companion = pick(&mut choice, &[None, Some(COMPANIONS[0]), Some(COMPANIONS[1])]);
    releases.extend(companion.into_iter().filter_map(read::<Release>).flat_map(|(_, honest)| honest));
    match method.method {
        Some(Method::AdaSsp) => ada_ssp(&releases).is_ok(),
        _ => fits(&method, &of_model(model), &releases),
    }
}

/// Releases of counts; the first byte chooses model and sampler.
pub fn counts(bytes: &[u8]) -> bool {
    let Some((mut choice, releases)) = read::<CountRelease>(bytes) else { return false };
    releases.iter().for_each(|release| drop(release.claim()));
    let model = pick(&mut choice, &[Model::Table, Model::NaiveBayes]);
    fits(&of_levels(choice), &of_model(Some(model)), &releases)
}

/// Randomised answers; the first byte chooses the sampler.
pub fn randomised(bytes: &[u8]) -> bool {
    let Some((choice, releases)) = read::<RandomisedRelease>(bytes) else { return false };
    releases.iter().for_each(|release| drop(release.claim()));
    fits(&of_levels(choice), &of_model(None), &releases)
}

/// Whether there is a posterior.
pub(crate) fn fits<'r>(method: &MethodSpec, model: &ModelSpec, releases: impl Into<Releases<'r>>) -> bool {
    let model = ModelSpec { allow_duplicates: true, ..model.clone() };
    fit(method, &model, releases, &PLAN, &Monitor::default()).is_ok()
}

fn of_model(model: Option<Model>) -> ModelSpec {
    ModelSpec { model, ..ModelSpec::default() }
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

/// All ways from sums to a posterior.
fn ways() -> Vec<(Option<Model>, MethodSpec)> {
    let spec = |method: Method| {
        let of =
            move |sampler: &Sampler| (None, MethodSpec { method: Some(method), sampler: Some(*sampler) });
        method.samplers().iter().map(of)
    };
    let logistic = |sampler| (Some(Model::Logistic), MethodSpec { method: None, sampler });
    let ridge = (None, MethodSpec { method: Some(Method::AdaSsp), sampler: None });
    let others = [(None, MethodSpec::default()), logistic(None), logistic(Some(Sampler::Plain)), ridge];
    Method::ALL.into_iter().flat_map(spec).chain(others).collect()
}

fn of_levels(mut choice: usize) -> MethodSpec {
    let words = ["", "exact", "gibbs", "metropolis", "nuts", "augmentation", "plain"];
    MethodSpec { method: None, sampler: pick(&mut choice, &words).parse().ok() }
}
