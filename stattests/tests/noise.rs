//! The noise that is drawn has the probabilities that the proofs assume.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

use organza_curator::mechanism::NoiseRng;
use organza_release::Family;
use organza_stattests::FRESH_ALPHA;
use organza_stattests::goodness::chi_square_p_value;

const SCALES: [u128; 5] = [1, 2, 7, 25, 60];
const DRAWS: usize = 40_000;

fn draw(family: Family, steps: u128) -> Vec<i128> {
    let mut noise = NoiseRng::from_operating_system();
    (0..DRAWS).map(|_| noise.draw(family, steps).unwrap()).collect()
}

/// Would have caught a big-number bug that once biased a proven sampler; seen to fail for a scale one part in ten off.
#[test]
fn discrete_gaussian_matches_its_probabilities() {
    for steps in SCALES {
        let scale = steps as f64;
        let p = chi_square_p_value(&draw(Family::Gaussian, steps), |k| gaussian(k, scale), 6 * steps as i128);
        assert!(p > FRESH_ALPHA / SCALES.len() as f64, "scale {steps}: p = {p}");
    }
}

#[test]
fn discrete_laplace_matches_its_probabilities() {
    for steps in SCALES {
        let scale = steps as f64;
        let p = chi_square_p_value(&draw(Family::Laplace, steps), |k| laplace(k, scale), 12 * steps as i128);
        assert!(p > FRESH_ALPHA / SCALES.len() as f64, "scale {steps}: p = {p}");
    }
}

/// The test can fail: the same draws against a scale ten percent off.
#[test]
fn a_scale_ten_percent_off_is_caught() {
    let draws = draw(Family::Gaussian, 25);
    assert!(chi_square_p_value(&draws, |k| gaussian(k, 27.5), 150) < FRESH_ALPHA);
    let draws = draw(Family::Laplace, 25);
    assert!(chi_square_p_value(&draws, |k| laplace(k, 27.5), 300) < FRESH_ALPHA);
}

/// At the scales of real releases the lattice is far finer: the first two moments are compared instead.
#[test]
fn moments_at_the_scale_of_a_release() {
    let steps = 1u128 << 36;
    for (family, variance, kurtosis) in [(Family::Gaussian, 1.0, 3.0), (Family::Laplace, 2.0, 6.0)] {
        let draws: Vec<f64> = draw(family, steps).iter().map(|draw| *draw as f64 / steps as f64).collect();
        let count = draws.len() as f64;
        let mean = draws.iter().sum::<f64>() / count;
        let second = draws.iter().map(|draw| draw * draw).sum::<f64>() / count;
        // Six and a half standard errors: alpha = 8e-11 each.
        assert!(mean.abs() < 6.5 * (variance / count).sqrt(), "{family:?}: mean {mean}");
        let error = variance * ((kurtosis - 1.0) / count).sqrt();
        assert!((second - variance).abs() < 6.5 * error, "{family:?}: second moment {second}");
    }
}

fn gaussian(k: i128, scale: f64) -> f64 {
    (-0.5 * (k as f64 / scale).powi(2)).exp()
}

fn laplace(k: i128, scale: f64) -> f64 {
    (-(k.abs() as f64) / scale).exp()
}
