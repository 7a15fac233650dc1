//! Steps and gradients work in memory that was there before.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod normal_features;

use allocation_counter::measure;
use normal_features::{ball, boxed, noisy_gram, release};
use organza_infer::augmentation::{
    Augmented, GramMechanism, Interweaving, LinearModel, LogisticModel, NaiveBayesRecords, Plain,
    SignedResponse, TableMechanism,
};
use organza_infer::methods::{
    FixedGramMetropolis, FixedGramModel, IndividualDensity, NormalX, NormalXDensity, NormalXMetropolis,
};
use organza_infer::tables::{
    CellWalk, CollapsedGibbs, CountModel, ExactCounts, IndependentCounts, OverlappingTables, RecordsPrior,
    TableEvidence, TablePrior,
};
use organza_infer::{Evidence, Prior};
use organza_mcmc::{ChainRng, Gradient, Kernel};
use organza_release::testing::{counts, level_column};
use organza_release::{CountFamily, CountNoise, Domain, Layout, Release};

/// Three parties.
fn releases(domain: &Domain) -> Vec<Release> {
    let mut rng = ChainRng::new(41, 0);
    (0..3)
        .map(|number| {
            let gram = noisy_gram(&mut rng, domain, 50, 0.5);
            release(&format!("p{number}"), domain.clone(), Layout::Isometric, &gram, (50, 0.5))
        })
        .collect()
}

/// Allocations of a hundred steps of warm-up, after its first.
fn allocations<T, K: Kernel<T>>(kernel: K, target: &T) -> u64 {
    allocations_after(1, kernel, target)
}

/// The same after so many: windows find their size.
fn allocations_after<T, K: Kernel<T>>(steps: usize, mut kernel: K, target: &T) -> u64 {
    let mut rng = ChainRng::new(42, 0);
    let mut state = kernel.init(target, &mut rng).unwrap();
    (0..steps).for_each(|_| drop(kernel.step(target, &mut state, &mut rng).unwrap()));
    let info = measure(|| {
        for _ in 0..100 {
            let info = kernel.step(target, &mut state, &mut rng).unwrap();
            kernel.adapt(&state, &info);
        }
    });
    info.count_total
}

/// Seen to catch: a vector collected in a step.
#[test]
fn nothing_is_allocated_after_the_start() {
    // The counter counts.
    assert_eq!(measure(|| drop(std::hint::black_box(vec![1.0; 3]))).count_total, 1);
    for domain in [ball(3, 0.9), boxed(3, None, (0.7, 0.8))] {
        let (releases, prior) = (releases(&domain), Prior::weak(domain.dimension() - 1));
        let evidence = Evidence::new(&releases).unwrap();
        let parties = releases.iter().map(|release| GramMechanism::of(release).unwrap()).collect();
        let latent = Augmented { model: LinearModel::of(&evidence, &prior).unwrap(), parties };
        assert_eq!(allocations(Plain, &latent), 0, "plain");
        assert_eq!(allocations(Interweaving::new(&latent), &latent), 0, "interweaving");
        let parties = releases.iter().map(|release| SignedResponse::of(release).unwrap()).collect();
        let signed = Augmented { model: LogisticModel::of(&evidence, &prior).unwrap(), parties };
        assert_eq!(allocations(Plain, &signed), 0, "plain, logistic");
        assert_eq!(allocations(Interweaving::new(&signed), &signed), 0, "interweaving, logistic");
        let fixed = FixedGramModel::new(&evidence, &prior).unwrap();
        assert_eq!(allocations(FixedGramMetropolis::default(), &fixed), 0, "fixed-gram");
        let model = NormalX::new(&evidence, &prior).unwrap();
        assert_eq!(allocations(NormalXMetropolis::new(&model), &model), 0, "normal-x");
        quiet_density("normal-x", &NormalXDensity::new(model));
        quiet_density("individual", &IndividualDensity::new(&evidence, &prior).unwrap());
    }
}

/// Seen to catch: the places of an exchange in a vector of its own.
#[test]
fn tables_allocate_nothing_after_the_start() {
    let columns = [level_column("a", 3), level_column("b", 3)];
    let noise = CountNoise { family: CountFamily::DiscreteGaussian, scale: 2.0 };
    let release = counts("party", &columns, &[&["a", "b"], &["b"]], &[3.0; 12], (noise, Some(30)));
    let model = NaiveBayesRecords::new(&release.columns, "a", 1.0).unwrap();
    let target = Augmented { model, parties: vec![TableMechanism::of(&release).unwrap()] };
    assert_eq!(allocations(Plain, &target), 0);
}

/// Nothing is allocated for a density, a gradient or a draw after the first.
fn quiet_density(name: &str, density: &impl Gradient) {
    let (mut rng, mut point) = (ChainRng::new(43, 0), vec![0.0; density.dim()]);
    density.start(&mut rng, &mut point);
    let (mut gradient, mut outputs) = (point.clone(), vec![0.0; density.outputs()]);
    density.log_density(&point);
    let info = measure(|| {
        density.log_density(&point);
        density.log_density_and_gradient(&point, &mut gradient);
        density.write_outputs(&point, &mut rng, &mut outputs);
    });
    assert_eq!(info.count_total, 0, "{name}");
    assert!(gradient.iter().chain(&outputs).all(|value| value.is_finite()));
}

/// Seen to catch: a vector collected in a step.
#[test]
fn counts_allocate_nothing_after_the_start() {
    let columns = [level_column("a", 2), level_column("b", 3)];
    let shown = || (CountNoise { family: CountFamily::Laplace, scale: 4.0 }, Some(40));
    let table = |party: &str| {
        counts(
            party,
            &columns,
            &[&["a", "b"], &["b"]],
            &[9.0, 8.0, 3.0, 5.0, 6.0, 7.0, 14.0, 14.0, 10.0],
            shown(),
        )
    };
    let evidence = TableEvidence::new(&[table("one"), table("two")], false).unwrap();
    let (prior, records) = (TablePrior::default(), RecordsPrior::default());
    let model = CountModel::table(&evidence, &prior, &records).unwrap();
    assert_eq!(allocations_after(50, CollapsedGibbs, &model), 0, "gibbs");
    let cells = OverlappingTables::new(&evidence, &prior, &records).unwrap();
    assert_eq!(allocations_after(50, CellWalk::default(), &cells), 0, "metropolis");
    let evidence = TableEvidence::new(&[table("one")], false).unwrap();
    let model = CountModel::table(&evidence, &prior, &records).unwrap();
    assert_eq!(allocations_after(50, IndependentCounts, &ExactCounts::new(model).unwrap()), 0, "exact");
}
