//! Simulation-based calibration: if parameters are drawn from the prior, data from the model and draws from the posterior, the
//! rank of the truth among the draws is uniform (Talts et al. 2018, arXiv:1804.06788).

use statrs::distribution::{ChiSquared, ContinuousCDF};

/// Ranks of the truth of several parameters over many replicates.
#[derive(Debug, Clone)]
pub struct Ranks {
    names: Vec<String>,
    draws: usize,
    ranks: Vec<Vec<usize>>,
}

/// Bins of the histogram of ranks.
const BINS: usize = 10;

impl Ranks {
    /// An empty record for these parameters; every replicate will have this many draws.
    pub fn new(names: &[&str], draws: usize) -> Self {
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

    /// Number of parameters.
    pub fn parameters(&self) -> usize {
        self.names.len()
    }

    /// For every parameter the p-value of Pearson's test of uniform ranks.
    pub fn p_values(&self) -> Vec<(String, f64)> {
        let p_value = |ranks: &Vec<usize>| {
            let expected = ranks.len() as f64 / BINS as f64;
            let mut counts = [0.0; BINS];
            // draws + 1 possible ranks; the number of bins divides it.
            ranks.iter().for_each(|rank| counts[rank * BINS / (self.draws + 1)] += 1.0);
            let statistic: f64 = counts.iter().map(|count| (count - expected).powi(2) / expected).sum();
            ChiSquared::new(BINS as f64 - 1.0).map_or(f64::NAN, |law| law.sf(statistic))
        };
        self.names.iter().cloned().zip(self.ranks.iter().map(p_value)).collect()
    }

    /// How often central intervals of this mass hold the truth, for every parameter.
    pub fn coverage(&self, mass: f64) -> Vec<(String, f64)> {
        let tail = 0.5 * (1.0 - mass) * (self.draws + 1) as f64;
        let inside = |rank: &&usize| (**rank as f64) >= tail && (self.draws - **rank) as f64 >= tail;
        let share = |ranks: &Vec<usize>| ranks.iter().filter(inside).count() as f64 / ranks.len() as f64;
        self.names.iter().cloned().zip(self.ranks.iter().map(share)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn p_of(ranks: Vec<usize>) -> f64 {
        Ranks { names: vec!["a".into()], draws: 99, ranks: vec![ranks] }.p_values()[0].1
    }

    #[test]
    fn uniform_ranks_pass_and_skewed_or_narrow_ones_fail() {
        assert!(p_of((0..1000).map(|k| k % 100).collect()) > 0.99);
        assert!(p_of((0..1000).map(|k| (k % 100) * (k % 100) / 99).collect()) < 1e-6);
        // Over-confident intervals put the truth at the ends.
        assert!(p_of((0..1000).map(|k| if k % 100 < 50 { k % 20 } else { 99 - k % 20 }).collect()) < 1e-6);
    }

    #[test]
    fn coverage_counts_the_middle() {
        let ranks = Ranks { names: vec!["a".into()], draws: 99, ranks: vec![(0..100).collect()] };
        assert!((ranks.coverage(0.9)[0].1 - 0.9).abs() < 1e-12);
    }
}
