//! Ranks of the truth among posterior draws: uniform if the posterior is right (Talts et al. 2018, arXiv:1804.06788).

use crate::metrics::chi_square_tail;

/// Ranks of the truth of several parameters over many replicates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ranks {
    names: Vec<String>,
    draws: usize,
    ranks: Vec<Vec<usize>>,
}

/// Ranks are put into so many bins; their number divides that of the possible ranks.
pub const BINS: usize = 10;
/// Twice as many where they would not be thin.
const MOST_BINS: usize = 20;

impl Ranks {
    /// An empty record for these parameters; every replicate will have this many draws.
    pub fn new(names: &[impl ToString], draws: usize) -> Self {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let ranks = vec![Vec::new(); names.len()];
        Self { names, draws, ranks }
    }

    /// Adds a replicate: for every parameter the truth and the draws.
    pub fn add<'d>(&mut self, truth: &[f64], mut draws_of: impl FnMut(usize) -> &'d [f64]) {
        for (place, (value, ranks)) in truth.iter().zip(&mut self.ranks).enumerate() {
            let draws = draws_of(place);
            assert_eq!(draws.len(), self.draws, "every replicate has as many draws");
            ranks.push(draws.iter().filter(|draw| *draw < value).count());
        }
    }

    /// Joins the replicates of two runs.
    pub fn join(mut self, other: Self) -> Self {
        self.ranks.iter_mut().zip(other.ranks).for_each(|(all, more)| all.extend(more));
        self
    }

    /// Names of the parameters.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Draws of each replicate: ranks go from 0 to this.
    pub fn draws(&self) -> usize {
        self.draws
    }

    /// Number of replicates.
    pub fn replicates(&self) -> usize {
        self.ranks.first().map_or(0, Vec::len)
    }

    /// The ranks of one parameter, replicate by replicate.
    pub fn of(&self, parameter: usize) -> &[usize] {
        &self.ranks[parameter]
    }

    /// Bins of the histogram: 20 where each then expects at least 20 ranks, else 10.
    pub fn bins(&self) -> usize {
        let many = self.replicates() >= 20 * MOST_BINS && (self.draws + 1).is_multiple_of(MOST_BINS);
        if many { MOST_BINS } else { BINS }
    }

    /// The histogram of one parameter.
    pub fn histogram(&self, parameter: usize) -> Vec<usize> {
        self.counts(parameter, self.bins())
    }

    fn counts(&self, parameter: usize, bins: usize) -> Vec<usize> {
        let mut counts = vec![0; bins];
        self.ranks[parameter].iter().for_each(|rank| counts[rank * bins / (self.draws + 1)] += 1);
        counts
    }

    /// How many ranks lie below each of the points i / points of all possible ranks, i = 1 .. points - 1.
    pub fn below(&self, parameter: usize, points: usize) -> Vec<usize> {
        let counts = self.counts(parameter, points);
        let sums = counts.iter().scan(0, |sum, count| {
            *sum += count;
            Some(*sum)
        });
        sums.take(points - 1).collect()
    }

    /// For every parameter the p-value of Pearson's test of uniform ranks.
    pub fn p_values(&self) -> Vec<(String, f64)> {
        let (bins, replicates) = (self.bins(), self.replicates() as f64);
        let expected = replicates / bins as f64;
        let p_value = |parameter: usize| {
            let squares = self.counts(parameter, bins).into_iter();
            let statistic: f64 =
                squares.map(|count| (count as f64 - expected) * (count as f64 - expected) / expected).sum();
            chi_square_tail(statistic, bins as f64 - 1.0)
        };
        self.names.iter().cloned().zip((0..self.names.len()).map(p_value)).collect()
    }

    /// How often central intervals of this mass hold the truth, for every parameter. Where an end of the interval falls within a rank, that rank
    /// counts in part: uniform ranks give the mass itself.
    pub fn coverage(&self, mass: f64) -> Vec<(String, f64)> {
        let tail = 0.5 * (1.0 - mass) * (self.draws + 1) as f64;
        let inside = |rank: &usize| {
            let nearest = (*rank).min(self.draws - rank) as f64;
            (nearest + 1.0 - tail).clamp(0.0, 1.0)
        };
        let share = |ranks: &Vec<usize>| ranks.iter().map(inside).sum::<f64>() / ranks.len() as f64;
        self.names.iter().cloned().zip(self.ranks.iter().map(share)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(ranks: Vec<usize>) -> Ranks {
        Ranks { names: vec!["a".into()], draws: 99, ranks: vec![ranks] }
    }

    fn p_of(ranks: Vec<usize>) -> f64 {
        of(ranks).p_values()[0].1
    }

    #[test]
    fn uniform_ranks_pass_and_skewed_or_narrow_ones_fail() {
        assert!(p_of((0..1000).map(|k| k % 100).collect()) > 0.99);
        assert!(p_of((0..1000).map(|k| (k % 100) * (k % 100) / 99).collect()) < 1e-6);
        // Over-confident intervals put the truth at the ends.
        assert!(p_of((0..1000).map(|k| if k % 100 < 50 { k % 20 } else { 99 - k % 20 }).collect()) < 1e-6);
    }

    /// Catches intervals that are off by a rank: of 100 ranks 95 cannot be in the middle, two count half.
    #[test]
    fn coverage_counts_the_middle() {
        for mass in [0.5, 0.8, 0.9, 0.95] {
            let found = of((0..100).collect()).coverage(mass)[0].1;
            assert!((found - mass).abs() < 1e-12, "{mass}: {found}");
        }
        assert_eq!(of(vec![0, 99]).coverage(0.95)[0].1, 0.0);
        assert!((of(vec![2, 97]).coverage(0.95)[0].1 - 0.5).abs() < 1e-12);
        assert_eq!(of(vec![3, 96]).coverage(0.95)[0].1, 1.0);
    }

    #[test]
    fn counts_by_hand() {
        let ranks = of(vec![0, 9, 10, 55, 99]);
        assert_eq!(ranks.histogram(0), [2, 1, 0, 0, 0, 1, 0, 0, 0, 1]);
        assert_eq!(ranks.below(0, 5), [3, 3, 4, 4]);
        // A draw that equals the truth is not below it.
        let mut ranks = Ranks::new(&["a"], 3);
        ranks.add(&[1.0], |_| &[0.5, 1.0, 2.0]);
        assert_eq!(ranks.of(0), [1]);
    }
}
