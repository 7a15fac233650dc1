//! Steps and gradients work in memory that was there before.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod normal_features;

use allocation_counter::measure;
use normal_features::{ball, boxed, noisy_gram, release};
use organza_infer::{
    Evidence, FixedGramMetropolis, FixedGramModel, IndividualDensity, NormalX, NormalXDensity,
    NormalXMetropolis, Prior,
};
use organza_mcmc::{ChainRng, Gradient, Kernel};
use organza_release::{Domain, Layout};

/// Three parties.
fn evidence(domain: &Domain) -> Evidence {
    let mut rng = ChainRng::new(41, 0);
    let releases: Vec<_> = (0..3)
        .map(|number| {
            let gram = noisy_gram(&mut rng, domain, 50, 0.5);
            release(&format!("p{number}"), domain.clone(), Layout::Isometric, &gram, (50, 0.5))
        })
        .collect();
    Evidence::new(&releases).unwrap()
}

/// Allocations of a hundred steps of warm-up, after its first.
fn allocations<T, K: Kernel<T>>(mut kernel: K, target: &T) -> u64 {
    let mut rng = ChainRng::new(42, 0);
    let mut state = kernel.init(target, &mut rng).unwrap();
    kernel.step(target, &mut state, &mut rng).unwrap();
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
        let (evidence, prior) = (evidence(&domain), Prior::weak(domain.dimension() - 1));
        let fixed = FixedGramModel::new(&evidence, &prior).unwrap();
        assert_eq!(allocations(FixedGramMetropolis::default(), &fixed), 0, "fixed-gram");
        let model = NormalX::new(&evidence, &prior).unwrap();
        assert_eq!(allocations(NormalXMetropolis::new(&model), &model), 0, "normal-x");
        quiet_density("normal-x", &NormalXDensity::new(model));
        quiet_density("individual", &IndividualDensity::new(&evidence, &prior).unwrap());
    }
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
