//! Every model keeps the same promises, with every sampler that it has. A model that is in the table is tested here.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

use organza_infer::{Fit, InferError, MethodSpec, Model, ModelSpec, Releases, Sampler, fit};
use organza_mcmc::{Monitor, Plan};
use organza_release::{CountRelease, Document, RandomisedRelease, Release};

/// Committed releases of each kind.
struct Files {
    sums: Vec<Release>,
    numbers: Vec<Release>,
    table: Vec<CountRelease>,
    tables: Vec<CountRelease>,
    overlap: Vec<CountRelease>,
    smoker: Vec<CountRelease>,
    classes: Vec<CountRelease>,
    answers: Vec<RandomisedRelease>,
}

fn read<D: Document>(name: &str) -> Vec<D> {
    let path = format!("{}/../crates/infer/tests/golden/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    D::read_many(&std::fs::read(&path).unwrap(), &path).unwrap()
}

impl Files {
    fn new() -> Self {
        Self {
            sums: read("ill"),
            numbers: read("age"),
            table: read("table"),
            tables: read("tables"),
            overlap: read("overlap"),
            smoker: read("smoker"),
            classes: read("by_smoker"),
            answers: read("answers"),
        }
    }

    /// Releases that a model may be about.
    fn of(&self, model: Model) -> Vec<Releases<'_>> {
        match model {
            Model::Linear => vec![(&self.sums).into()],
            Model::Logistic => vec![(&self.sums).into()],
            Model::Normal => vec![(&self.numbers).into()],
            Model::Proportion => vec![(&self.smoker).into()],
            Model::NaiveBayes => vec![(&self.classes).into()],
            _ => vec![
                (&self.table).into(),
                (&self.tables).into(),
                (&self.overlap).into(),
                (&self.answers).into(),
            ],
        }
    }
}

fn run(model: Model, sampler: Option<Sampler>, releases: Releases<'_>, seed: u64) -> Result<Fit, InferError> {
    let plan = Plan { chains: 2, warmup: 60, draws: 20, thin: 2, seed, threads: 1 };
    let spec = ModelSpec { model: Some(model), ..ModelSpec::default() };
    fit(&MethodSpec { method: None, sampler }, &spec, releases, &plan, &Monitor::default())
}

/// Same seed, same bits; chains and seeds differ; draws are finite and move; a sampler that a model does not have is a setting that is wrong.
#[test]
fn every_model_draws_with_the_samplers_that_it_has_and_names_the_others() {
    let files = Files::new();
    for model in Model::ALL {
        let mut drawing = 0;
        for releases in files.of(model) {
            let samplers = Sampler::ALL.into_iter().map(Some).chain([None]);
            for sampler in samplers {
                let label = format!("{model} {sampler:?} {releases:?}");
                let one = match run(model, sampler, releases, 5) {
                    Ok(one) => one,
                    Err(InferError::Setting { field: "sampler", .. }) if sampler.is_some() => continue,
                    Err(error) => panic!("{label}: {error}"),
                };
                drawing += 1;
                assert_eq!(one.model, model);
                assert!(sampler.is_none_or(|asked| asked == one.sampler), "{label}");
                let (two, other) = (run(model, sampler, releases, 5), run(model, sampler, releases, 6));
                assert_eq!(one.draws, two.unwrap().draws, "{label}");
                assert_ne!(one.draws.values(), other.unwrap().draws.values(), "{label}");
                assert_ne!(one.draws.draw(0, 19), one.draws.draw(1, 19), "{label}");
                assert!(one.draws.values().iter().all(|value| value.is_finite()), "{label}");
                let moves = (0..19).filter(|k| one.draws.draw(0, *k) != one.draws.draw(0, k + 1)).count();
                assert!(moves > 9, "{label}: it moves {moves} of 19 times");
            }
        }
        assert!(drawing >= 2, "{model} has no sampler");
    }
}

/// The model follows from releases that allow only one, and is refused by name where they do not allow it.
#[test]
fn releases_choose_their_model_or_refuse_it() {
    let files = Files::new();
    let plain = |releases: Releases<'_>| releases.model(None).unwrap();
    for model in [Model::Linear, Model::Normal, Model::Proportion, Model::Table] {
        assert!(files.of(model).into_iter().all(|releases| plain(releases) == model), "{model}");
    }
    for model in Model::ALL {
        for other in Model::ALL {
            for releases in files.of(model) {
                let allowed = match releases {
                    Releases::Sums(_) => {
                        !other.is_of_levels() && (other != Model::Normal || model == Model::Normal)
                    }
                    Releases::Counts(_) => {
                        other.is_of_levels() && (other != Model::Proportion || model == Model::Proportion)
                    }
                    Releases::Randomised(_) => other == Model::Table,
                };
                match releases.model(Some(other)) {
                    Ok(found) => assert!(allowed && found == other, "{other} of {model}"),
                    Err(InferError::Setting { field: "model", .. }) => {
                        assert!(!allowed, "{other} of {model}")
                    }
                    Err(error) => panic!("{other} of {model}: {error}"),
                }
            }
        }
    }
}
