//! Weights of a count on a window of integers, their convolution, and draws from it.
//!
//! **Exactness.** Sums run over windows; what lies outside is below e^-drop of the peak of its own weights. Every operation carries an
//! upper bound of the mass that was left out, so at the end the bound of the whole is known and not hoped for. **Cost.** A convolution
//! of windows of u and v integers costs u v multiplications, more where logarithms are needed; a draw of a part given the sum costs at most the shorter window.

use organza_mcmc::ChainRng;
use rand::RngExt;

/// Sums of products of weights below this are computed again with logarithms: terms that underflowed could count there.
const SMALLEST_SUM: f64 = 1e-200;
/// What a term of a sum with logarithms costs, in multiplications.
const LOGARITHM: f64 = 30.0;

/// Weights of the counts first, first + 1, ...
#[derive(Debug, Clone, Default)]
pub(super) struct Weights {
    pub first: usize,
    /// Logarithm relative to the peak.
    pub log: Vec<f64>,
    /// Its exponential.
    pub linear: Vec<f64>,
    /// Logarithm of the largest weight.
    pub peak: f64,
    /// How far the peak of a convolution lies above the peaks of its two parts together. It is kept apart from `peak`, in which a
    /// large constant would round the digits away.
    pub rise: f64,
    /// Logarithm of an upper bound of the mass that was left out.
    pub log_lost: f64,
}

/// ln(exp(a) + exp(b)).
pub(super) fn log_add(a: f64, b: f64) -> f64 {
    let (large, small) = if a > b { (a, b) } else { (b, a) };
    if small == f64::NEG_INFINITY { large } else { large + libm::log1p(libm::exp(small - large)) }
}

impl Weights {
    /// The last count, if there is one.
    pub fn last(&self) -> Option<usize> {
        (!self.log.is_empty()).then(|| self.first + self.log.len() - 1)
    }

    /// Logarithm of the total mass.
    pub fn log_total(&self) -> f64 {
        match self.log.is_empty() {
            true => f64::NEG_INFINITY,
            false => self.peak + libm::log(self.linear.iter().sum::<f64>()),
        }
    }

    /// Makes logarithms relative to the peak, after cutting both ends below e^-drop of it; `log` holds logarithms relative to `base`.
    pub fn settle(&mut self, base: f64, drop: f64) {
        self.rise = self.log.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        self.peak = base + self.rise;
        if self.rise == f64::NEG_INFINITY {
            self.log.clear();
        }
        let least = self.rise - drop;
        let end = self.log.iter().rposition(|log| *log >= least).map_or(0, |last| last + 1);
        let start = self.log.iter().position(|log| *log >= least).unwrap_or(0);
        let cut = self.log.len() - (end - start);
        if cut > 0 {
            // Each of them is below the threshold.
            self.log_lost = log_add(self.log_lost, self.peak - drop + libm::log(cut as f64));
        }
        self.log.truncate(end);
        self.log.drain(..start);
        self.first += start;
        self.log.iter_mut().for_each(|log| *log -= self.rise);
        self.linear.clear();
        self.linear.extend(self.log.iter().map(|log| libm::exp(*log)));
    }

    /// The weights of a + b for counts in `allowed`, both ends included; other counts are not asked for, so they are not lost.
    ///
    /// What it costs is taken from `left`; nothing if that is not enough.
    #[must_use]
    pub fn convolve(
        &mut self,
        a: &Weights,
        b: &Weights,
        allowed: (usize, usize),
        drop: f64,
        left: &mut f64,
    ) -> Option<()> {
        *left -= a.log.len() as f64 * b.log.len() as f64;
        if *left < 0.0 {
            return None;
        }
        let (short, long) = if a.log.len() < b.log.len() { (a, b) } else { (b, a) };
        self.first = (a.first + b.first).max(allowed.0);
        self.log.clear();
        self.linear.clear();
        self.log_lost =
            log_add(log_add(a.log_total() + b.log_lost, b.log_total() + a.log_lost), a.log_lost + b.log_lost);
        if let (Some(one), Some(other)) = (a.last(), b.last()) {
            let last = (one + other).min(allowed.1);
            self.linear.resize((last + 1).saturating_sub(self.first), 0.0);
        }
        for (place, weight) in short.linear.iter().enumerate() {
            // The long window begins at this count of the sum.
            let begin = short.first + place + long.first;
            let (skip, start) = (self.first.saturating_sub(begin), begin.saturating_sub(self.first));
            if skip < long.linear.len() && start < self.linear.len() {
                let sums = self.linear[start..].iter_mut().zip(&long.linear[skip..]);
                sums.for_each(|(sum, other)| *sum += weight * other);
            }
        }
        let first = self.first;
        for (place, sum) in self.linear.iter().enumerate() {
            let log = if *sum > SMALLEST_SUM {
                libm::log(*sum)
            } else {
                *left -= LOGARITHM * overlap(short, long, first + place).len() as f64;
                if *left < 0.0 {
                    return None;
                }
                log_sum(short, long, first + place)
            };
            self.log.push(log);
        }
        self.settle(a.peak + b.peak, drop);
        Some(())
    }

    /// Draws a count.
    pub fn draw(&self, rng: &mut ChainRng) -> usize {
        let mut left = rng.random::<f64>() * self.linear.iter().sum::<f64>();
        let hit = self.linear.iter().position(|weight| {
            left -= weight;
            left < 0.0
        });
        self.first + hit.unwrap_or(self.linear.len() - 1)
    }
}

/// The counts of `part` for which `sum` minus the count is in the window of `rest`.
fn overlap(part: &Weights, rest: &Weights, sum: usize) -> std::ops::Range<usize> {
    let (Some(part_last), Some(rest_last)) = (part.last(), rest.last()) else { return 0..0 };
    if sum < rest.first {
        return 0..0;
    }
    part.first.max(sum.saturating_sub(rest_last))..(part_last.min(sum - rest.first) + 1)
}

/// Logarithm of the convolution at one sum, relative to both peaks.
fn log_sum(part: &Weights, rest: &Weights, sum: usize) -> f64 {
    let term = |count: usize| part.log[count - part.first] + rest.log[sum - count - rest.first];
    let largest = overlap(part, rest, sum).map(term).fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY {
        return largest;
    }
    largest + libm::log(overlap(part, rest, sum).map(|count| libm::exp(term(count) - largest)).sum::<f64>())
}

/// Draws the count of `part` given that it and `rest`, of which `both` is the convolution, have this sum.
pub(super) fn draw_part(
    rng: &mut ChainRng,
    (part, rest): (&Weights, &Weights),
    both: &Weights,
    sum: usize,
) -> usize {
    let log_total = both.log[sum - both.first] + both.rise;
    let (uniform, counts): (f64, _) = (rng.random(), overlap(part, rest, sum));
    let (start, end) = (counts.start, counts.end);
    let total = libm::exp(log_total);
    let hit = if total > SMALLEST_SUM {
        let ones = &part.linear[start - part.first..end - part.first];
        let others = &rest.linear[sum + 1 - end - rest.first..=sum - start - rest.first];
        scan(ones, others, uniform * total)
    } else {
        let mut left = uniform;
        counts.clone().position(|count| {
            let log = part.log[count - part.first] + rest.log[sum - count - rest.first];
            left -= libm::exp(log - log_total);
            left < 0.0
        })
    };
    // Rounding may leave a crumb at the end: it belongs to the last count that has weight.
    hit.map_or_else(|| last_possible(part, rest, sum), |place| start + place)
}

/// The first place where the running sum of the products of `ones` and the reverse of `others` exceeds a number.
fn scan(ones: &[f64], others: &[f64], mut left: f64) -> Option<usize> {
    // By blocks: sums inside of a block do not wait for each other.
    let blocks = ones.chunks_exact(8).zip(others.rchunks_exact(8));
    let mut start = 0;
    for (a, b) in blocks {
        let (low, high) = (a[0] * b[7] + a[1] * b[6], a[2] * b[5] + a[3] * b[4]);
        let (third, last) = (a[4] * b[3] + a[5] * b[2], a[6] * b[1] + a[7] * b[0]);
        let sum = (low + high) + (third + last);
        if left < sum {
            break;
        }
        left -= sum;
        start += 8;
    }
    let rest = others[..others.len() - start].iter().rev();
    let place = ones[start..].iter().zip(rest).position(|(one, other)| {
        left -= one * other;
        left < 0.0
    });
    place.map(|place| start + place)
}

fn last_possible(part: &Weights, rest: &Weights, sum: usize) -> usize {
    let log = |count: usize| part.log[count - part.first] + rest.log[sum - count - rest.first];
    overlap(part, rest, sum).max_by(|a, b| log(*a).total_cmp(&log(*b))).unwrap_or(part.first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weights(first: usize, logs: &[f64]) -> Weights {
        let mut weights =
            Weights { first, log: logs.to_vec(), log_lost: f64::NEG_INFINITY, ..Weights::default() };
        weights.settle(0.0, f64::INFINITY);
        weights
    }

    fn log_at(weights: &Weights, count: usize) -> f64 {
        weights.peak + weights.log[count - weights.first]
    }

    /// Catches an offset of one in a window, and sums that underflow: steep weights need the logarithms.
    #[test]
    fn a_convolution_is_the_sum_over_all_pairs() {
        for slope in [0.1, 3.0, 400.0] {
            let logs = |shift: f64| (0..7).map(|m| -slope * (f64::from(m) - shift).abs()).collect::<Vec<_>>();
            let (a, b) = (weights(3, &logs(0.3)), weights(1, &logs(5.9)[..4]));
            for allowed in [(0, 100), (6, 9), (8, 8)] {
                let mut sum = Weights::default();
                sum.convolve(&a, &b, allowed, f64::INFINITY, &mut 1e9).unwrap();
                for total in allowed.0.max(4)..=allowed.1.min(13) {
                    let mut expected = f64::NEG_INFINITY;
                    for one in 3..=9 {
                        if (1..=4).any(|other| one + other == total) {
                            expected = log_add(expected, log_at(&a, one) + log_at(&b, total - one));
                        }
                    }
                    let error = (log_at(&sum, total) - expected).abs();
                    assert!(error < 1e-12 * expected.abs().max(1.0), "{slope} {allowed:?} {total}: {error}");
                }
            }
        }
    }

    /// Catches a bound that forgets a part: the mass that windows leave out is never more than the bound says.
    #[test]
    fn the_bound_covers_what_was_cut() {
        let logs: Vec<f64> = (0..200).map(|m| -0.01 * (f64::from(m) - 90.0).powi(2)).collect();
        let full = weights(0, &logs);
        let mut cut = Weights { log: logs, log_lost: f64::NEG_INFINITY, ..Weights::default() };
        cut.settle(0.0, 8.0);
        let (mut all, mut some) = (Weights::default(), Weights::default());
        all.convolve(&full, &full, (0, 400), f64::INFINITY, &mut 1e9).unwrap();
        some.convolve(&cut, &cut, (0, 400), 9.0, &mut 1e9).unwrap();
        let lost = all.log_total().exp() - some.log_total().exp();
        assert!(lost > 0.0 && lost <= some.log_lost.exp(), "{lost} {}", some.log_lost.exp());
        assert!(some.log_lost.exp() < 0.2 * some.log_total().exp());
    }
}
