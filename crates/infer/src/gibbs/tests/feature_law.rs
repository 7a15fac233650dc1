//! Mean and covariance of the features given their sums, against the textbook's normal-inverse-Wishart.

use organza_mcmc::ChainRng;

use super::largest;
use crate::FeaturePrior;
use crate::gibbs::features::FeatureLaw;

const DRAWS: usize = 20_000;

/// z-scores of the means of all lists.
fn compare(lists: &[Vec<f64>], want: &[f64]) {
    for (list, expected) in lists.iter().zip(want) {
        let n = list.len() as f64;
        let mean = list.iter().sum::<f64>() / n;
        let variance = list.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n;
        let z = (mean - expected) / (variance / n).sqrt();
        assert!(z.abs() < largest(lists.len()), "{mean} against {expected}: z = {z}");
    }
}

/// Catches degrees of freedom that count the records twice, an inner product for an outer one (the bug of the published code), and
/// a mean that is drawn with the wrong number of records.
#[test]
fn draws_have_the_moments_of_the_posterior() {
    let records = 20.0;
    // Rows of (1, a, b, y): sums, then second moments; y is not read.
    let gram = [20.0, 4.0, -6.0, 9.9, 4.0, 7.0, 1.0, 9.9, -6.0, 1.0, 9.0, 9.9, 9.9, 9.9, 9.9, 9.9];
    let (scale, mean) = ([1.5, 0.3, 0.3, 0.8], [0.5, 0.1]);
    let prior = FeaturePrior::new(scale.to_vec(), 5.0, mean.to_vec(), 3.0).unwrap();
    let average = [0.2, -0.3];
    let place = |k: usize| (k / 2, k % 2);
    let posterior: Vec<f64> = (0..4)
        .map(|k| {
            let (i, j) = place(k);
            let scatter = gram[(i + 1) * 4 + j + 1] - records * average[i] * average[j];
            let apart = (average[i] - mean[i]) * (average[j] - mean[j]) * 3.0 * records / 23.0;
            (scale[k] + scatter + apart) / (25.0 - 3.0)
        })
        .collect();
    let centre = [0, 1].map(|k| (3.0 * mean[k] + records * average[k]) / 23.0);
    let want: Vec<f64> =
        posterior.iter().copied().chain(centre).chain(posterior.iter().map(|v| v / 23.0)).collect();
    let (mut law, mut rng) = (FeatureLaw::new(2), ChainRng::new(31, 0));
    let mut lists = vec![vec![]; 10];
    for _ in 0..DRAWS {
        law.draw(&mut rng, &prior, &gram, records).unwrap();
        let offset = [law.mean[0] - centre[0], law.mean[1] - centre[1]];
        let products = (0..4).map(|k| offset[place(k).0] * offset[place(k).1]);
        let values = law.covariance.iter().copied().chain(law.mean.iter().copied()).chain(products);
        lists.iter_mut().zip(values).for_each(|(list, value)| list.push(value));
    }
    compare(&lists, &want);
    // Without a constant there is no mean: IW(Lambda + S, kappa + n).
    let prior = FeaturePrior::new(scale.to_vec(), 5.0, vec![], 1.0).unwrap();
    let gram = [7.0, 1.0, 9.9, 1.0, 9.0, 9.9, 9.9, 9.9, 9.9];
    let (mut law, mut lists) = (FeatureLaw::new(2), vec![vec![]; 4]);
    for _ in 0..DRAWS {
        law.draw(&mut rng, &prior, &gram, records).unwrap();
        lists.iter_mut().zip(&law.covariance).for_each(|(list, value)| list.push(*value));
    }
    compare(&lists, &[8.5 / 22.0, 1.3 / 22.0, 1.3 / 22.0, 9.8 / 22.0]);
}
