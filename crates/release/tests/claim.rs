//! The analyst's own check of a stated guarantee.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod common;

use organza_release::loss::{gaussian_scale, laplace_scale};
use organza_release::sensitivity::of_release;
use organza_release::{Family, Layout, Norm, Release, Statistic};

/// The same release with exactly the noise that its statement needs.
fn honest(mut release: Release) -> Release {
    let (neighbours, norm) = (release.privacy.neighbours, release.privacy.norm);
    let sensitivity = of_release(&release.domain, &release.statistic, neighbours, norm).value;
    let scale = match release.noise.family {
        // A part in a million for the lattice.
        Family::Gaussian => {
            gaussian_scale(release.privacy.epsilon, release.privacy.delta * (1.0 - 1e-6), sensitivity)
        }
        Family::Laplace => laplace_scale(release.privacy.epsilon, sensitivity),
    };
    let scale = scale.unwrap();
    let weights = release.statistic.weights(&release.domain);
    release.noise.scales = weights.iter().map(|weights| scale / weights.noise).collect();
    release.privacy.sensitivity = sensitivity;
    release
}

fn laplace(mut release: Release) -> Release {
    release.noise.family = Family::Laplace;
    release.privacy.norm = Norm::L1;
    release.privacy.delta = 0.0;
    if let Statistic::Gram { layout, .. } | Statistic::AveragedGram { layout, .. } = &mut release.statistic {
        *layout = Layout::Upper;
    }
    release
}

#[test]
fn enough_noise_holds_and_a_little_less_does_not() {
    let both = [common::scaled_box(), common::ball(), common::averaged(), common::fourth_moments()];
    let pure = both.clone().map(laplace);
    for release in both.into_iter().chain(pure).chain([common::ada_ssp()]) {
        let release = honest(release);
        release.validate().unwrap();
        let claim = release.claim().unwrap();
        assert!(claim.holds, "{claim:?}");
        assert!(
            claim.delta >= 0.99 * release.privacy.delta && claim.epsilon >= 0.99 * release.privacy.epsilon
        );
        for entry in 0..release.noise.scales.len() {
            let mut weaker = release.clone();
            weaker.noise.scales[entry] *= 0.999;
            assert!(!weaker.claim().unwrap().holds, "entry {entry} has too little noise");
        }
    }
}

#[test]
fn bounds_from_the_data_void_the_claim() {
    let mut release = honest(common::ball());
    release.privacy.public_bounds = false;
    assert!(!release.claim().unwrap().holds);
}

#[test]
fn a_coarse_lattice_is_refused() {
    let mut release = honest(common::ball());
    release.noise.lattice = -2;
    assert!(release.claim().unwrap_err().to_string().contains("lattice"));
}
