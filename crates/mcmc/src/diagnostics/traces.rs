//! Draws of one number from several chains of equal length.

/// Draws of one number: chains of equal length, chain by chain.
#[derive(Debug, Clone, PartialEq)]
pub struct Traces {
    chains: usize,
    draws: usize,
    values: Vec<f64>,
}

impl Traces {
    /// Takes chains. If they differ in length, this is the largest rectangle: the longest chains, all cut to
    /// the shortest of them, as many of them as keep the most draws.
    pub fn new<C: AsRef<[f64]>>(chains: &[C]) -> Self {
        let (_, draws) = rectangle(chains.iter().map(|chain| chain.as_ref().len()));
        let kept = chains.iter().map(AsRef::as_ref).filter(|chain| draws > 0 && chain.len() >= draws);
        let values: Vec<f64> = kept.flat_map(|chain| &chain[..draws]).copied().collect();
        Self { chains: values.len().checked_div(draws).unwrap_or(0), draws, values }
    }

    /// Number of chains.
    pub fn chains(&self) -> usize {
        self.chains
    }

    /// Draws of each chain.
    pub fn draws(&self) -> usize {
        self.draws
    }

    /// All values, chain by chain.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The chains one by one.
    pub fn iter(&self) -> impl Iterator<Item = &[f64]> {
        self.values.chunks_exact(self.draws.max(1))
    }

    /// The same chains with each value replaced.
    pub fn map(&self, function: impl Fn(f64) -> f64) -> Self {
        self.with_values(self.values.iter().map(|value| function(*value)).collect())
    }

    /// Other values in the same arrangement.
    pub(super) fn with_values(&self, values: Vec<f64>) -> Self {
        Self { chains: self.chains, draws: self.draws, values }
    }

    /// Whether diagnostics exist: at least four finite draws in each chain.
    pub(super) fn is_usable(&self) -> bool {
        self.chains > 0 && self.draws >= 4 && self.values.iter().all(|value| value.is_finite())
    }

    /// Whether all values are equal.
    pub(super) fn is_constant(&self) -> bool {
        self.values.windows(2).all(|pair| pair[0] == pair[1])
    }

    /// Mean of all values.
    pub(crate) fn mean(&self) -> f64 {
        mean(&self.values)
    }

    /// Standard deviation of all values, with S - 1 in the denominator.
    pub(crate) fn sd(&self) -> f64 {
        variance(&self.values).sqrt()
    }
}

/// Chains and draws of the largest rectangle in chains of these lengths.
pub(crate) fn rectangle(lengths: impl Iterator<Item = usize>) -> (usize, usize) {
    let mut lengths: Vec<usize> = lengths.filter(|length| *length > 0).collect();
    lengths.sort_unstable_by(|one, other| other.cmp(one));
    let sizes = lengths.into_iter().enumerate().map(|(before, length)| (before + 1, length));
    // The last of equal sizes, with more chains: they say more about agreement.
    sizes.max_by_key(|(chains, draws)| chains * draws).unwrap_or((0, 0))
}

/// Halves of chains as chains of their own; the middle draw of an odd number is left out.
pub fn split(traces: &Traces) -> Traces {
    let half = traces.draws / 2;
    let halves = |chain: &[f64]| [chain[..half].to_vec(), chain[chain.len() - half..].to_vec()];
    let values = traces.iter().flat_map(halves).flatten().collect();
    Traces { chains: 2 * traces.chains, draws: half, values }
}

/// The mean, around the first value: exact for values that are all equal. NaN if there are none.
pub(super) fn mean(values: &[f64]) -> f64 {
    let Some(first) = values.first() else { return f64::NAN };
    first + values.iter().map(|value| value - first).sum::<f64>() / values.len() as f64
}

/// The variance with n - 1 in the denominator; NaN for fewer than two values.
pub(super) fn variance(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return f64::NAN;
    }
    let centre = mean(values);
    values.iter().map(|value| (value - centre).powi(2)).sum::<f64>() / (values.len() - 1) as f64
}
