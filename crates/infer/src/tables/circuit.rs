//! The exact law of all counts of one party: sums from the cells up to the root, draws from the root down to the cells.
//!
//! **Target.** The counts of all groups given the party's noisy counts, the probabilities integrated out; with other parties, given
//! their counts, which add to the concentrations. **Exactness.** Exact but for windows, and their error is bounded: the posterior mass
//! outside of all windows is below 1e-12. A cell leaves out at most (n + 1) e^-drop of its peak; a sum of independent counts with masses
//! T and T' that have lost D and D' has lost at most T D' + T' D + D D'; a product at most what `lost_in_product` says, times the largest
//! value of the group's own factor; cuts of running sums are added. So D of the root bounds the mass of all tables outside of the
//! windows, and D / T the posterior mass. Where that exceeds 1e-12, because noisy counts contradict each other, the windows are widened
//! and everything is summed again; windows that hold all counts lose nothing. **Cost.** The sum of the products of window lengths once;
//! O(cells times window) for a draw.

use organza_mcmc::ChainRng;

use super::leaf::Leaf;
use super::noise::Observation;
use super::records::Records;
use super::shape::Shape;
use super::weights::{Weights, draw_part, log_add};

/// The noisy counts of one party.
#[derive(Debug, Clone)]
pub(super) struct PartyCounts {
    pub name: String,
    pub records: Records,
    /// For every group of the shape.
    pub observations: Vec<Vec<Observation>>,
}

/// Sums over everything below each group.
#[derive(Debug, Clone)]
pub(super) struct Circuit {
    /// Weights of the count of every group, with everything below it summed out.
    messages: Vec<Weights>,
    /// For every split the weights of the sum of its first two, three, .. children.
    prefixes: Vec<Vec<Weights>>,
    drop: f64,
    /// Multiplications that are left.
    left: f64,
}

/// The windows of the first try.
const DROP: f64 = 60.0;
/// Logarithm of the posterior mass that windows may leave out: 1e-12.
const ALLOWED_LOSS: f64 = -27.7;
/// More multiplications than this, of all sums of one party together, take longer than some seconds.
const LARGEST_COST: f64 = 1e10;
/// Most possible counts of one group.
const MOST_COUNTS: usize = 10_000_000;

impl Circuit {
    pub fn new(shape: &Shape) -> Self {
        let prefixes = shape.splits().iter().map(|split| vec![Weights::default(); split.children.len() - 1]);
        Self {
            messages: vec![Weights::default(); shape.groups().len()],
            prefixes: prefixes.collect(),
            drop: DROP,
            left: LARGEST_COST,
        }
    }

    /// Sums everything; `others` are the counts of the other parties. The error says what is too large.
    pub fn prepare(&mut self, shape: &Shape, party: &PartyCounts, others: &[usize]) -> Result<(), String> {
        self.left = LARGEST_COST;
        loop {
            self.sum_up(shape, party, others)?;
            let root = &self.messages[0];
            let excess = root.log_lost - root.log_total() - ALLOWED_LOSS;
            if excess <= 0.0 || root.log_lost == f64::NEG_INFINITY && !root.log.is_empty() {
                return Ok(());
            }
            if self.drop > 1e305 {
                return Err(format!("{}: no count of records explains the noisy counts", party.name));
            }
            // What is lost shrinks like e^-drop; where windows do not meet at all nothing is known but that they are too narrow.
            let more = if excess.is_finite() { excess + 20.0 } else { self.drop };
            // A step of nothing but rounding would be tried for ever.
            self.drop += more.clamp((self.drop / 1024.0).max(20.0), self.drop);
        }
    }

    fn sum_up(&mut self, shape: &Shape, party: &PartyCounts, others: &[usize]) -> Result<(), String> {
        let most = party.records.range().1;
        for group in (0..shape.groups().len()).rev() {
            if shape.groups()[group].splits.is_empty() {
                let factor = shape.groups()[group].concentration + others[group] as f64;
                let leaf = Leaf { shape: factor, observations: &party.observations[group] };
                leaf.fill(most, self.drop, MOST_COUNTS, &mut self.messages[group])
                    .map_err(|cost| format!("{}: {cost}", party.name))?;
                continue;
            }
            for split in &shape.groups()[group].splits {
                let allowed = if group == 0 { party.records.range() } else { (0, most) };
                self.sum_children(shape, *split, allowed)
                    .map_err(|cost| format!("{}: {cost}", party.name))?;
            }
            let mut message = std::mem::take(&mut self.messages[group]);
            self.multiply_splits(shape, (group, party), others, &mut message);
            self.messages[group] = message;
        }
        Ok(())
    }

    /// Convolves the children of a split, for sums that can still become an allowed total.
    fn sum_children(&mut self, shape: &Shape, split: usize, allowed: (usize, usize)) -> Result<(), String> {
        let children = &self.messages[shape.splits()[split].children.clone()];
        let (mut low, mut high) = children[1..]
            .iter()
            .fold((0, 0), |(low, high), child| (low + child.first, high + child.last().unwrap_or(0)));
        for (place, child) in children.iter().enumerate().skip(1) {
            low -= child.first;
            high -= child.last().unwrap_or(0);
            let (before, after) = self.prefixes[split].split_at_mut(place - 1);
            let rest = before.last().unwrap_or(&children[0]);
            let range = (allowed.0.saturating_sub(high), allowed.1.saturating_sub(low));
            after[0].convolve(rest, child, range, self.drop, &mut self.left).ok_or_else(|| {
                format!(
                    "value: noisy counts leave {} and {} possible counts to be combined, which takes more than {LARGEST_COST:e} \
                     multiplications in all; the noise is too wide for exact sums: try the sampler metropolis (table) or plain (naive-bayes)",
                    rest.log.len(),
                    child.log.len()
                )
            })?;
        }
        Ok(())
    }

    /// The weights of a split's total.
    fn output(&self, shape: &Shape, split: usize) -> &Weights {
        self.prefixes[split].last().unwrap_or(&self.messages[shape.splits()[split].children.start])
    }

    /// The message of a group: the product of its splits, its own share of the Dirichlet-multinomial laws, and its noisy counts.
    fn multiply_splits(
        &self,
        shape: &Shape,
        (group, party): (usize, &PartyCounts),
        others: &[usize],
        out: &mut Weights,
    ) {
        let splits = &shape.groups()[group].splits;
        let factor = Factor::new(shape, group, others[group]);
        let outputs = || splits.iter().map(|split| self.output(shape, *split));
        let first = outputs().map(|weights| weights.first).max().unwrap_or(0);
        let end = outputs().map(|weights| weights.first + weights.log.len()).min().unwrap_or(0);
        out.first = first;
        out.log.clear();
        let mut relative = 0.0;
        for count in first..end {
            let m = count as f64;
            let noise: f64 = party.observations[group].iter().map(|seen| seen.log_kernel(m)).sum();
            let records = if group == 0 { party.records.log_mass(count) } else { 0.0 };
            let below: f64 = outputs().map(|weights| weights.log[count - weights.first]).sum();
            out.log.push(relative + noise + records + below);
            relative += factor.log_step(m);
        }
        let range = if group == 0 { party.records.range() } else { (0, party.records.range().1) };
        out.log_lost = factor.largest(range) + lost_in_product(outputs());
        let peaks: f64 = outputs().map(|weights| weights.peak).sum();
        out.settle(factor.log(first as f64) + peaks, self.drop);
    }

    /// Draws the counts of all groups.
    pub fn draw(&self, shape: &Shape, rng: &mut ChainRng, counts: &mut [usize]) {
        counts[0] = self.messages[0].draw(rng);
        for (split, prefixes) in shape.splits().iter().zip(&self.prefixes) {
            let children = &self.messages[split.children.clone()];
            let mut left = counts[split.group];
            for place in (1..children.len()).rev() {
                let rest = if place == 1 { &children[0] } else { &prefixes[place - 2] };
                let count = draw_part(rng, (&children[place], rest), &prefixes[place - 1], left);
                counts[split.children.start + place] = count;
                left -= count;
            }
            counts[split.children.start] = left;
        }
    }
}

/// Bound of the mass that a product of weights loses: if all factors but one are at most their peak M_k, and that one loses the mass
/// D_k, the loss is at most the sum over k of D_k times the product of the other M.
fn lost_in_product<'w>(factors: impl Iterator<Item = &'w Weights>) -> f64 {
    let (mut largest, mut lost) = (0.0, f64::NEG_INFINITY);
    for factor in factors {
        let top = log_add(factor.peak, factor.log_lost);
        lost = log_add(lost + top, factor.log_lost + largest);
        largest += top;
    }
    lost
}

/// The share of a group in the Dirichlet-multinomial laws: of the split that made it, and of those that divide it.
///
/// Gamma(m + a) / m! for the first (nothing for the root), m! / Gamma(m + A) for each of the others.
struct Factor<'f> {
    shape: &'f Shape,
    splits: &'f [usize],
    /// a with the counts of other parties; 1 for the root, whose term is then 1.
    own: f64,
    others: f64,
}

impl<'f> Factor<'f> {
    fn new(shape: &'f Shape, group: usize, others: usize) -> Self {
        let others = others as f64;
        let own = if group == 0 { 1.0 } else { shape.groups()[group].concentration + others };
        Self { shape, splits: &shape.groups()[group].splits, own, others }
    }

    fn totals(&self) -> impl Iterator<Item = f64> {
        self.splits.iter().map(|split| self.shape.splits()[*split].concentration + self.others)
    }

    fn log(&self, m: f64) -> f64 {
        let own = libm::lgamma(m + self.own) - libm::lgamma(m + 1.0);
        own + self.totals().map(|total| libm::lgamma(m + 1.0) - libm::lgamma(m + total)).sum::<f64>()
    }

    /// ln of the ratio of its values at m + 1 and m.
    fn log_step(&self, m: f64) -> f64 {
        let own = libm::log1p((self.own - 1.0) / (m + 1.0));
        own - self.totals().map(|total| libm::log1p((total - 1.0) / (m + 1.0))).sum::<f64>()
    }

    /// A bound from above in a range of counts: the first total with the group's own term, and each further total with the
    /// factorial, make monotone functions, so each is largest at an end.
    fn largest(&self, range: (usize, usize)) -> f64 {
        let (low, high) = (range.0 as f64, range.1 as f64);
        let at_end = |up: f64, down: f64| {
            let value = |m: f64| libm::lgamma(m + up) - libm::lgamma(m + down);
            value(low).max(value(high))
        };
        let ups = std::iter::once(self.own).chain(std::iter::repeat(1.0));
        ups.zip(self.totals()).map(|(up, down)| at_end(up, down)).sum()
    }
}
