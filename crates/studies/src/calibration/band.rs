//! Where the empirical distribution of uniform ranks stays, at all points at once.
//!
//! The number of ranks below point i of K is binomial; given that at point i, the number at i + 1 adds a binomial number of those that are left, with
//! probability 1 / (K - i). So the probability of staying between bounds at all points is an exact sum (Säilynoja et al. 2022,
//! arXiv:2103.10522). All points get the same tail; it is as large as the wanted probability allows.

use crate::metrics::Binomial;

/// Most points at which distributions are compared.
const MOST_POINTS: usize = 50;

/// Bounds of the number of ranks below every point.
#[derive(Debug, Clone, PartialEq)]
pub struct Band {
    replicates: usize,
    bounds: Vec<[usize; 2]>,
    coverage: f64,
}

/// The points for replicates of so many draws: a divisor of the possible ranks, so that every point has as many on its left as it says.
pub fn points(draws: usize) -> usize {
    (1..=MOST_POINTS).rev().find(|points| (draws + 1).is_multiple_of(*points)).unwrap_or(1)
}

impl Band {
    /// The narrowest band that holds so many uniform ranks at all points with at least this probability.
    pub fn new(replicates: usize, points: usize, mass: f64) -> Self {
        let law = Binomial::up_to(replicates);
        let of = |tail: f64| {
            let range = |point: usize| law.range(replicates, point as f64 / points as f64, tail);
            let bounds: Vec<[usize; 2]> = (1..points).map(range).collect();
            let coverage = stays(&law, &bounds, replicates);
            Self { replicates, bounds, coverage }
        };
        // One point alone allows (1 - mass) / 2 on each side; so many points together allow at least that over their number.
        let (mut low, mut high) = (0.5 * (1.0 - mass) / points as f64, 0.5 * (1.0 - mass));
        let mut best = of(low);
        for _ in 0..20 {
            let middle = (low * high).sqrt();
            let band = of(middle);
            if band.coverage >= mass {
                (low, best) = (middle, band);
            } else {
                high = middle;
            }
        }
        best
    }

    /// Probability with which uniform ranks stay inside.
    pub fn coverage(&self) -> f64 {
        self.coverage
    }

    /// Whether numbers of ranks below all points are inside.
    pub fn holds(&self, below: &[usize]) -> bool {
        below.iter().zip(&self.bounds).all(|(count, [low, high])| (low..=high).contains(&count))
    }

    /// The largest absolute difference of the distribution of ranks from the uniform one, over all points.
    pub fn largest_deviation(&self, below: &[usize]) -> f64 {
        self.differences(below.iter().copied()).map(|(_, difference)| difference.abs()).fold(0.0, f64::max)
    }

    /// Points and differences of a distribution from the uniform one, with both ends.
    pub fn curve(&self, below: &[usize]) -> Vec<(f64, f64)> {
        let inner = self.differences(below.iter().copied());
        [(0.0, 0.0)].into_iter().chain(inner).chain([(1.0, 0.0)]).collect()
    }

    /// The lower or the upper edge in the same way.
    pub fn edge(&self, upper: bool) -> Vec<(f64, f64)> {
        let counts: Vec<usize> = self.bounds.iter().map(|bounds| bounds[usize::from(upper)]).collect();
        self.curve(&counts)
    }

    fn differences(&self, counts: impl Iterator<Item = usize>) -> impl Iterator<Item = (f64, f64)> {
        let (points, replicates) = (self.bounds.len() as f64 + 1.0, self.replicates as f64);
        (1..).zip(counts).map(move |(point, count)| {
            let place = f64::from(point) / points;
            (place, count as f64 / replicates - place)
        })
    }
}

/// Probability that uniform ranks keep all bounds.
fn stays(law: &Binomial, bounds: &[[usize; 2]], replicates: usize) -> f64 {
    let points = bounds.len() + 1;
    let (mut start, mut inside) = (0, vec![1.0]);
    for (point, [low, high]) in bounds.iter().copied().enumerate() {
        let p = 1.0 / (points - point) as f64;
        let mut next = vec![0.0; high + 1 - low];
        for (before, weight) in (start..).zip(&inside) {
            let first = low.max(before);
            for (count, sum) in (first..).zip(next.iter_mut().skip(first - low)) {
                *sum += weight * law.probability(count - before, replicates - before, p);
            }
        }
        (start, inside) = (low, next);
    }
    inside.iter().sum()
}

#[cfg(test)]
mod tests {
    use rand::rngs::ChaCha8Rng;
    use rand::{RngExt, SeedableRng};

    use super::super::Ranks;
    use super::*;

    /// One replicate and two points: the count is 0 or 1, and any band that holds both has probability 1.
    #[test]
    fn few_ranks_by_hand() {
        let band = Band::new(1, 2, 0.95);
        assert!(band.holds(&[0]) && band.holds(&[1]));
        assert!((band.coverage() - 1.0).abs() < 1e-12);
        // Four replicates, one inner point at 1/2: 1, 4, 6, 4, 1 of 16; 7/8 are held by 1 to 3.
        let law = Binomial::up_to(4);
        assert!((stays(&law, &[[1, 3]], 4) - 14.0 / 16.0).abs() < 1e-12);
        // Two ranks at the points 1/3 and 2/3: one below the first and none between is 2 * 1/3 * 1/3.
        assert!((stays(&Binomial::up_to(2), &[[1, 1], [1, 1]], 2) - 2.0 / 9.0).abs() < 1e-12);
    }

    #[test]
    fn points_divide_the_ranks() {
        assert_eq!([99, 199, 19, 9, 999, 29].map(points), [50, 50, 20, 10, 50, 30]);
    }

    /// The share of 4000 sets of uniform ranks that stay inside is what the recursion says, and that is near 95 percent; six
    /// standard errors. Catches bands that hold at each point alone, which uniform ranks leave far more often.
    #[test]
    fn bands_hold_uniform_ranks_as_often_as_they_say() {
        let mut rng = ChaCha8Rng::seed_from_u64(9);
        for (replicates, draws) in [(100, 99), (400, 199)] {
            let points = points(draws);
            let band = Band::new(replicates, points, 0.95);
            assert!((0.95..0.965).contains(&band.coverage()), "{}", band.coverage());
            let trials = 4000;
            let held = (0..trials).filter(|_| {
                let mut ranks = Ranks::new(&["a"], draws);
                for _ in 0..replicates {
                    let rank = rng.random_range(0..=draws);
                    let below = (0..draws).map(|k| if k < rank { 0.0 } else { 2.0 }).collect::<Vec<f64>>();
                    ranks.add(&[1.0], |_| &below);
                }
                band.holds(&ranks.below(0, points))
            });
            let share = held.count() as f64 / f64::from(trials);
            let error = (0.95 * 0.05 / f64::from(trials)).sqrt();
            assert!((share - band.coverage()).abs() < 6.0 * error, "{share} {}", band.coverage());
        }
    }

    #[test]
    fn deviations_by_hand() {
        let band = Band::new(10, 4, 0.95);
        // 5 of 10 ranks below 1/4, 6 below 1/2, 7 below 3/4.
        assert!((band.largest_deviation(&[5, 6, 7]) - 0.25).abs() < 1e-12);
        assert_eq!(band.curve(&[5, 6, 7]).len(), 5);
        assert!(!band.holds(&[10, 10, 10]) && band.holds(&[3, 5, 7]));
    }
}
