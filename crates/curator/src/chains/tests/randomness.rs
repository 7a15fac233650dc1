//! What the operating system's randomness does: noise of the size that was paid for, samples of the rate that was paid for.

use organza_release::Neighbours;
use pulp::Arch;
use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;

use super::super::models::GaussianMean;
use super::super::sampling::{draw_sample, rehearse_sample, threshold};
use super::*;

/// Catches noise that is too small by a tenth, and a sum that is not there. Three comparisons at 7 standard errors
/// fail by chance less than once in 10^10 runs.
#[test]
fn private_answers_are_the_clipped_sum_plus_noise_of_the_declared_size() {
    let model = GaussianMean::new(&[1.0], 1e6).unwrap();
    let records = Records::from_columns(&[vec![0.5, 4.0, -1.0]]).unwrap();
    let settings =
        StepQueries { gradient: gradient(4000, 2.0, 300.0), ratio: None, count_weight: 0.1, dimension: 1 };
    let budget = Budget { epsilon: 5.0, delta: 1e-6, neighbours: Neighbours::Substitute };
    let oracle = PrivateOracle::new(model, records, &Allowance::of(settings, 1, budget).unwrap()).unwrap();
    let mut permit = oracle.permit().unwrap();
    let (mut sum, mut square, mut share) = (0.0, 0.0, 0.0);
    for _ in 0..4000 {
        let mut found = [0.0];
        share += permit.gradient(&[0.0], &mut ChainRng::new(0, 0), &mut found).unwrap() / 4000.0;
        let noise = (found[0] - (0.5 + 2.0 - 1.0)) / 600.0;
        sum += noise;
        square += noise * noise;
    }
    assert!((sum / 4000f64.sqrt()).abs() < 7.0, "mean {}", sum / 4000.0);
    assert!(((square - 4000.0) / 8000f64.sqrt()).abs() < 7.0, "variance {}", square / 4000.0);
    // One of three is clipped; the noise of a share is 300 clip bounds over the weight and the records.
    let error = 300.0 / 0.1 / 3.0 / 4000f64.sqrt();
    assert!((share - 1.0 / 3.0).abs() < 7.0 * error, "share {share} +- {error}");
    assert!(permit.gradient(&[0.0], &mut ChainRng::new(0, 0), &mut [0.0]).is_err(), "a question too many");
    assert_eq!(oracle.permit().err(), Some(organza_mcmc::Stop::BudgetExhausted));
}

#[test]
fn samples_of_both_kinds_have_the_rate() {
    let mut rng = ChaCha20Rng::seed_from_u64(4);
    let mut chosen = Vec::new();
    // One in 256 has no lower bytes, so that ties decide nothing; the others need them.
    for rate in [1.0 / 256.0, 0.01, 0.3, 0.999, 1e-4] {
        let (rows, times) = (10_000u32, 60);
        let mut counts = vec![0.0; 100];
        let (mut total, mut pairs) = (0.0, 0.0);
        for time in 0..times {
            if time % 2 == 0 {
                draw_sample(rows, threshold(rate), &mut rng, &mut chosen);
            } else {
                rehearse_sample(Arch::new(), (rows, rate), &mut rng, &mut chosen);
            }
            assert!(chosen.windows(2).all(|pair| pair[0] < pair[1]) && chosen.iter().all(|row| *row < rows));
            total += chosen.len() as f64;
            pairs += chosen.windows(2).filter(|pair| pair[1] == pair[0] + 1).count() as f64;
            chosen.iter().for_each(|row| counts[(*row / 100) as usize] += 1.0);
        }
        let expected = f64::from(rows) * f64::from(times) * rate;
        let z = (total - expected) / (expected * (1.0 - rate)).sqrt();
        assert!(z.abs() < 5.0, "rate {rate}: {total}, not {expected}");
        // Neighbours are chosen independently; one pair shares a record with the next.
        let both = expected * rate;
        let z = (pairs - both) / (both * (1.0 - rate) * (1.0 + 3.0 * rate)).sqrt();
        assert!(z.abs() < 5.0, "rate {rate}: {pairs} pairs, not {both}");
        // Every stretch of the table alike: 99 degrees of freedom and more, 1e-6 at about 179.
        let each = expected / 100.0;
        let chi_square: f64 = counts.iter().map(|count| (count - each).powi(2) / (each * (1.0 - rate))).sum();
        assert!(chi_square < 185.0, "rate {rate}: {chi_square}");
    }
    draw_sample(1000, threshold(0.0), &mut rng, &mut chosen);
    assert!(chosen.is_empty());
}
