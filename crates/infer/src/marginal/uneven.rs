//! Sums with noise that is not isometric, entry by entry: Laplace noise, and layouts that treat entries differently.
//!
//! | symbol | meaning |
//! | --- | --- |
//! | a = (i, j) | an entry that was released |
//! | C | covariance of the entries: n (M_ik M_jl + M_il M_jk - 2 m_i m_j m_k m_l) + noise, m_i = M_0i with a constant and 0 without |
//! | v_a | the variance of the noise of an entry over its mean; a parameter where noise is Laplace |
//!
//! Laplace noise of scale b is normal with variance 2 b^2 E, E ~ Exp(1). Of a sum of J of them the variance is 2 b^2 times a Gamma(J) variable; where scales
//! differ, a gamma law with the same mean and variance. A gradient takes O(K^3) for K entries, hence [`MOST_UNEVEN`].

use organza_release::Family;

use super::parties::shares;
use crate::evidence::Party;
use crate::gibbs::entries;
use crate::linalg::{dot, factorise, invert_lower, log_determinant};

/// Coefficients beyond which a gradient takes too long: 300 entries.
pub(crate) const MOST_UNEVEN: usize = 23;

/// The weighted sum of parties, entry by entry, in units of plain records.
#[derive(Debug, Clone)]
pub(super) struct Uneven {
    /// Records of the sum; where that is not public, a guess.
    pub records: f64,
    /// Where it is not public: its place among those, and the most that it can be in units of the guess, if that is public.
    pub count: Option<(usize, Option<f64>)>,
    /// Whether the first coordinate is a constant.
    pub constant: bool,
    pub places: Vec<(usize, usize)>,
    pub values: Vec<f64>,
    /// Mean variance of the noise of every entry.
    pub variances: Vec<f64>,
    /// For every entry whose variance is a parameter, its place among those and the shape of its gamma law.
    pub mixing: Vec<Option<(usize, f64)>>,
}

impl Uneven {
    /// The sum of parties that have noise of one family and release the same entries; `public` says whether their numbers of records are.
    pub fn new(parties: &[&Party], constant: bool, public: bool) -> Self {
        let first = parties[0];
        let size = first.size();
        let laplace = first.noise.family == Family::Laplace;
        let plain = |party: &Party, values: &[f64], (i, j): (usize, usize)| {
            values[i * size + j] / (party.noise.weights[i] * party.noise.weights[j])
        };
        let variance = |party: &Party, place| {
            plain(party, &party.noise.scales, place).powi(2) * if laplace { 2.0 } else { 1.0 }
        };
        let guess = |party: &Party| {
            let (found, sd) = (plain(party, &party.gram, (0, 0)), variance(party, (0, 0)).sqrt());
            let most = party.records.unwrap_or(f64::INFINITY);
            party.records.filter(|_| public).unwrap_or_else(|| found.max(2.0 * sd).max(1.0).min(most))
        };
        let largest = |party: &Party| {
            (0..size).map(|k| variance(party, (k, k))).filter(|value| value.is_finite()).fold(0.0, f64::max)
        };
        let known: Vec<(f64, f64)> = parties.iter().map(|party| (guess(party), largest(party))).collect();
        let factors = shares(&known, 0.1);
        let total = |of: &dyn Fn(&Party) -> f64| -> f64 {
            parties.iter().zip(&factors).map(|(party, factor)| factor * of(party)).sum()
        };
        let square = |power: i32, of: &dyn Fn(&Party) -> f64| -> f64 {
            parties
                .iter()
                .zip(&factors)
                .map(|(party, factor)| (factor * factor * of(party)).powi(power))
                .sum()
        };
        let records = total(&guess);
        let mut places = entries(size, constant && public);
        places.retain(|(i, j)| first.noise.scales[i * size + j].is_finite());
        let mean = |place| square(1, &|party| variance(party, place));
        let shape = |place| mean(place).powi(2) / square(2, &|party| variance(party, place));
        Self {
            records,
            count: (!public).then(|| {
                let stated = parties.iter().all(|party| party.records.is_some());
                (0, stated.then(|| total(&|party| party.records.unwrap_or(0.0)) / records))
            }),
            constant,
            values: places.iter().map(|place| total(&|party| plain(party, &party.gram, *place))).collect(),
            variances: places.iter().map(|place| mean(*place)).collect(),
            mixing: places.iter().map(|p| (laplace && mean(*p) > 0.0).then(|| (0, shape(*p)))).collect(),
            places,
        }
    }

    /// The Gram matrix, row-major, and whether it has its last entry.
    pub fn gram(&self, size: usize) -> (Vec<f64>, bool) {
        let mut gram = vec![0.0; size * size];
        for ((i, j), value) in self.places.iter().zip(&self.values) {
            (gram[i * size + j], gram[j * size + i]) = (*value, *value);
        }
        (gram, self.places.last() == Some(&(size - 1, size - 1)))
    }
}

/// Memory of an evaluation.
#[derive(Debug, Clone)]
pub(super) struct UnevenSpace {
    covariance: Vec<f64>,
    inverse: Vec<f64>,
    residual: Vec<f64>,
    pull: Vec<f64>,
}

/// Where the gradients go, each added to: with respect to the second moments of a plain record (symmetric), the logarithms of counts and of variances.
pub(super) struct Slopes<'s> {
    pub moments: &'s mut [f64],
    pub counts: &'s mut [f64],
    pub variances: &'s mut [f64],
}

impl UnevenSpace {
    pub fn new(entries: usize) -> Self {
        let (square, line) = (vec![0.0; entries * entries], vec![0.0; entries]);
        Self { covariance: square.clone(), inverse: square, residual: line.clone(), pull: line }
    }

    /// Log density of the entries, up to a constant.
    pub fn evaluate(
        &mut self,
        sum: &Uneven,
        moments: &[f64],
        (counts, variances): (&[f64], &[f64]),
        slopes: Slopes,
    ) -> f64 {
        let (size, count) = (moments.len().isqrt(), sum.places.len());
        let records = sum.records * sum.count.map_or(1.0, |(place, _)| counts[place]);
        let noise = |a: usize| sum.variances[a] * sum.mixing[a].map_or(1.0, |(place, _)| variances[place]);
        let m = |i: usize, j: usize| moments[i * size + j];
        let mean = |i: usize| if sum.constant { moments[i] } else { 0.0 };
        let covariance = &mut self.covariance[..count * count];
        for (a, &(i, j)) in sum.places.iter().enumerate() {
            for (b, &(k, l)) in sum.places[..=a].iter().enumerate() {
                let products = m(i, k) * m(j, l) + m(i, l) * m(j, k);
                covariance[a * count + b] =
                    sum.records * (products - 2.0 * mean(i) * mean(j) * mean(k) * mean(l));
            }
            covariance[a * count + a] += noise(a);
            self.residual[a] = sum.values[a] - records * m(i, j);
        }
        if factorise(covariance, count).is_err() {
            return f64::NEG_INFINITY;
        }
        let log_determinant = log_determinant(covariance, count);
        let inverse = &mut self.inverse[..count * count];
        invert_lower(covariance, inverse, count);
        // u = C^-1 r.
        let (residual, pull) = (&self.residual[..count], &mut self.pull[..count]);
        pull.fill(0.0);
        let mut square = 0.0;
        for row in inverse.chunks_exact(count) {
            let along = dot(row, residual);
            square += along * along;
            pull.iter_mut().zip(row).for_each(|(sum, entry)| *sum += along * entry);
        }
        // C^-1 into the memory of the factor.
        precision(inverse, covariance, count);
        self.add_slopes(sum, records, moments, &noise, slopes);
        -0.5 * (log_determinant + square)
    }

    /// With W = uu' - C^-1: 1/2 <W, dC> + n <u, dM>.
    fn add_slopes(
        &self,
        sum: &Uneven,
        records: f64,
        moments: &[f64],
        noise: &dyn Fn(usize) -> f64,
        slopes: Slopes,
    ) {
        let (size, count) = (moments.len().isqrt(), sum.places.len());
        let Slopes { moments: to, counts, variances } = slopes;
        let mut add = |i: usize, j: usize, value: f64| {
            to[i * size + j] += 0.5 * value;
            to[j * size + i] += 0.5 * value;
        };
        let m = |i: usize, j: usize| moments[i * size + j];
        let mean = |i: usize| if sum.constant { moments[i] } else { 0.0 };
        let mut along = 0.0;
        for (a, &(i, j)) in sum.places.iter().enumerate() {
            add(i, j, records * self.pull[a]);
            along += records * self.pull[a] * m(i, j);
            for (b, &(k, l)) in sum.places[..=a].iter().enumerate() {
                let own = self.pull[a] * self.pull[b] - self.covariance[a * count + b];
                if let (true, Some((place, _))) = (a == b, sum.mixing[a]) {
                    variances[place] += 0.5 * own * noise(a);
                }
                // Every pair once, those beside the diagonal for two.
                let factor = sum.records * own * if a == b { 0.5 } else { 1.0 };
                add(i, k, factor * m(j, l));
                add(j, l, factor * m(i, k));
                add(i, l, factor * m(j, k));
                add(j, k, factor * m(i, l));
                if sum.constant {
                    let [p, q, r, s] = [mean(i), mean(j), mean(k), mean(l)];
                    add(0, i, -2.0 * factor * q * r * s);
                    add(0, j, -2.0 * factor * p * r * s);
                    add(0, k, -2.0 * factor * p * q * s);
                    add(0, l, -2.0 * factor * p * q * r);
                }
            }
        }
        if let Some((place, _)) = sum.count {
            counts[place] += along;
        }
    }
}

/// L^-T L^-1 from L^-1; the lower triangle.
fn precision(inverse: &[f64], to: &mut [f64], count: usize) {
    to.fill(0.0);
    for row in inverse.chunks_exact(count) {
        for (a, left) in row.iter().enumerate().filter(|(_, left)| **left != 0.0) {
            to[a * count..=a * count + a].iter_mut().zip(row).for_each(|(sum, right)| *sum += left * right);
        }
    }
}
