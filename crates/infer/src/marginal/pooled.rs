//! The second moments of a record by the weighted average of all parties, and how noisy that is.

use super::parties::{Block, Group, ResponseSquare};

/// An average over parties, in plain units.
#[derive(Debug, Clone)]
pub(super) struct Pooled {
    /// Records whose plain average would vary as much by sampling.
    pub records: f64,
    /// Second moments, row-major; the last is 0 if no party released it.
    pub moments: Vec<f64>,
    /// Standard deviations s_k of the noise on the diagonal; beside it the variance is s_k s_l / 2.
    pub noise: Vec<f64>,
    /// The same of the response's square; infinite if no party released it.
    pub response_noise: f64,
}

/// Sums over parties on the way to an average.
struct Sums {
    share: f64,
    sampling: f64,
    moments: Vec<f64>,
    noise: Vec<f64>,
    response_share: f64,
    response_noise: f64,
}

impl Pooled {
    /// A party counts by its records over one plus the variance of its noise over that of sampling, for records of this
    /// typical size (the mean square of a coordinate).
    pub fn new(groups: &[Group], size: usize, typical: f64) -> Self {
        let (moments, noise) = (vec![0.0; size * size], vec![0.0; size]);
        let mut sums =
            Sums { share: 0.0, sampling: 0.0, moments, noise, response_share: 0.0, response_noise: 0.0 };
        for group in groups {
            group.blocks.iter().for_each(|block| sums.add(group, block, typical));
        }
        let safe = |sum: f64| if sum > 0.0 { sum } else { 1.0 };
        let Sums { share, sampling, mut moments, mut noise, response_share, response_noise } = sums;
        moments.iter_mut().take(size * size - 1).for_each(|value| *value /= safe(share));
        moments[size * size - 1] /= safe(response_share);
        noise.iter_mut().for_each(|value| *value = value.sqrt() / safe(share));
        let response_noise =
            if response_share > 0.0 { response_noise.sqrt() / response_share } else { f64::INFINITY };
        Self { records: share * share / safe(sampling), moments, noise, response_noise }
    }
}

impl Sums {
    fn add(&mut self, group: &Group, block: &Block, typical: f64) {
        let (weights, size) = (&group.weights, group.weights.len());
        let (share, count) = (share(group, block, typical), block.grams.len() as f64);
        let per_record = share / block.records;
        self.share += share * count;
        self.sampling += count * share * per_record;
        for gram in &block.grams {
            for (k, sum) in self.moments.iter_mut().take(size * size - 1).enumerate() {
                *sum += per_record * gram[k] / (weights[k / size] * weights[k % size]);
            }
        }
        for (sum, weight) in self.noise.iter_mut().zip(weights) {
            *sum += count * block.variance * (per_record / (weight * weight)).powi(2);
        }
        let own = match block.response {
            ResponseSquare::Missing => return,
            ResponseSquare::Isometric => block.variance,
            ResponseSquare::Own(variance) => variance,
        };
        let factor = per_record / (weights[size - 1] * weights[size - 1]);
        let squares: f64 = block.grams.iter().map(|gram| gram[size * size - 1]).sum();
        self.response_share += share * count;
        self.moments[size * size - 1] += factor * squares;
        self.response_noise += count * own * factor * factor;
    }
}

fn share(group: &Group, block: &Block, typical: f64) -> f64 {
    let size = group.weights.len() as f64;
    let weight = group.weights.iter().map(|weight| weight * weight).sum::<f64>() / size;
    let sampling = block.records * (weight * typical).powi(2);
    block.records / (1.0 + block.variance / sampling)
}
