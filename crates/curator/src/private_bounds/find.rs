//! The two grids, and the range that noisy counts on them show. The constants were chosen on random tables, see
//! `lab/defaults`.

use organza_release::{CountFamily, CountNoise};

/// Values below 2^LEAST are near zero; those from 2^MOST on are in the last cell.
const LEAST: i32 = -20;
const MOST: i32 = 40;
/// Cells of equal width in each power of two.
const PARTS: usize = 4;
/// Cells of one sign.
const SIDE: usize = (MOST - LEAST) as usize * PARTS;
/// Probability that noise on empty cells passes for records, in one search.
const MISTAKE: f64 = 1e-3;
/// The first range is wider than the cells that stand out by this many times their range on either side: tails do not
/// stand out.
const MARGIN: f64 = 1.0;
/// The least and the largest number of cells of the linear grid, and records for each in units of the noise.
const FEWEST: f64 = 32.0;
const MOST_CELLS: f64 = 256.0;
const RECORDS_OF_NOISE: f64 = 1.0 / 0.35;
/// What is cut off at either end: this share of the records, or so many standard deviations of the noise if that is
/// more.
const SHARE_CUT: f64 = 0.002;
const NOISE_CUT: f64 = 2.0;

/// Cells of the first grid.
pub(super) const SCALES: usize = 2 * SIDE + 1;

/// The cell of a value on the first grid.
pub(super) fn scale_cell(value: f64) -> usize {
    let size = value.abs();
    if size < libm::exp2(f64::from(LEAST)) {
        return SIDE;
    }
    let octave = libm::ilogb(size).clamp(LEAST, MOST - 1);
    let part = (libm::scalbn(size, -octave) - 1.0) * PARTS as f64;
    let cell = (octave - LEAST) as usize * PARTS + (part as usize).min(PARTS - 1);
    if value < 0.0 { SIDE - 1 - cell } else { SIDE + 1 + cell }
}

/// The lower edge of a cell of the first grid; of the one after the last, the upper edge of the last.
fn scale_edge(cell: usize) -> f64 {
    let edge = |cells: usize| {
        let part = 1.0 + (cells % PARTS) as f64 / PARTS as f64;
        libm::scalbn(part, LEAST + (cells / PARTS) as i32)
    };
    if cell > SIDE { edge(cell - SIDE - 1) } else { -edge(SIDE - cell) }
}

/// What the first round shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct FirstRange {
    /// The cells that stand out, with a margin on either side.
    pub range: (f64, f64),
    /// About so many records are in these cells.
    pub records: f64,
}

/// The range of the cells that stand out on the first grid, with a margin.
pub(super) fn first_range(noisy: &[f64], noise: &CountNoise) -> Option<FirstRange> {
    let (negative, positive) = (&noisy[..SIDE], &noisy[SIDE + 1..]);
    let octaves = |cells: &[f64], start: usize| {
        let one = |(k, octave): (usize, &[f64])| standing_out(octave, start + k * PARTS, noise);
        cells.chunks(PARTS).enumerate().map(one).reduce(joined).flatten()
    };
    let (first, end) = [octaves(negative, 0), standing_out(&noisy[SIDE..=SIDE], SIDE, noise)]
        .into_iter()
        .fold(octaves(positive, SIDE + 1), joined)?;
    let (lower, upper) = (scale_edge(first), scale_edge(end));
    let margin = MARGIN * (upper - lower);
    Some(FirstRange { range: (lower - margin, upper + margin), records: noisy[first..end].iter().sum() })
}

/// From the first cell that stands out to behind the last; cells that do not are taken together, two and two.
fn standing_out(counts: &[f64], start: usize, noise: &CountNoise) -> Option<(usize, usize)> {
    let (left, right) = counts.split_at(counts.len() / 2);
    let halves = if left.is_empty() {
        None
    } else {
        joined(standing_out(left, start, noise), standing_out(right, start + left.len(), noise))
    };
    let stands_out = counts.iter().sum::<f64>() > visible(noise, counts.len());
    halves.or_else(|| stands_out.then_some((start, start + counts.len())))
}

fn joined(one: Option<(usize, usize)>, other: Option<(usize, usize)>) -> Option<(usize, usize)> {
    match (one, other) {
        (Some(one), Some(other)) => Some((one.0.min(other.0), one.1.max(other.1))),
        (one, other) => one.or(other),
    }
}

/// The number of records that stand out in so many cells of the first grid.
fn visible(noise: &CountNoise, cells: usize) -> f64 {
    let odds = libm::log(2.0 * SCALES as f64 / MISTAKE);
    // Chernoff's bound on the sum of the noise of all cells.
    match noise.family {
        CountFamily::DiscreteGaussian | CountFamily::Gaussian => {
            noise.scale * (2.0 * odds * cells as f64).sqrt()
        }
        CountFamily::DiscreteLaplace | CountFamily::Laplace => {
            let bound = |theta: f64| (odds - cells as f64 * libm::log1p(-theta * theta)) / theta;
            noise.scale * (1..20).map(|k| bound(0.05 * f64::from(k))).fold(f64::INFINITY, f64::min)
        }
    }
}

/// The number of records that stand out, if they are in one power of two.
pub(super) fn visible_octave(noise: &CountNoise) -> f64 {
    visible(noise, PARTS)
}

/// Cells of the linear grid: a power of two.
pub(super) fn linear_cells(records: f64, noise: &CountNoise) -> usize {
    let wanted = records / (RECORDS_OF_NOISE * deviation(noise));
    1 << libm::ilogb(wanted.clamp(FEWEST, MOST_CELLS))
}

/// The cell of a value on a linear grid.
pub(super) fn linear_cell(value: f64, (lower, upper): (f64, f64), cells: usize) -> usize {
    let place = (value - lower) / (upper - lower) * cells as f64;
    (place.max(0.0) as usize).min(cells - 1)
}

/// The bounds that the linear grid shows: round numbers near the places beyond which there are few records.
pub(super) fn second_range(
    noisy: &[f64],
    noise: &CountNoise,
    records: f64,
    (lower, upper): (f64, f64),
) -> Option<(f64, f64)> {
    let few = (SHARE_CUT * records).max(NOISE_CUT * deviation(noise));
    let backwards: Vec<f64> = noisy.iter().rev().copied().collect();
    let (first, last) = (cut(noisy, noise, few)?, cut(&backwards, noise, few)?);
    let width = (upper - lower) / noisy.len() as f64;
    let (least, most) = (lower + first.floor() * width, upper - last.floor() * width);
    let (low, high) = (lower + first * width, upper - last * width);
    let (low, high) = if low < high { (low, high) } else { (least, most) };
    // A lower bound is an upper one seen in a mirror.
    (low < high).then(|| (-roundest(-low, -least), roundest(high, most)))
}

/// Standard deviation of the noise of a count, nearly.
fn deviation(noise: &CountNoise) -> f64 {
    match noise.family {
        CountFamily::DiscreteGaussian | CountFamily::Gaussian => noise.scale,
        CountFamily::DiscreteLaplace | CountFamily::Laplace => noise.scale * std::f64::consts::SQRT_2,
    }
}

/// Drift and threshold of Page's test: E e^(theta (noise - drift)) is 1 at most.
fn page(noise: &CountNoise, cells: usize) -> (f64, f64) {
    let odds = libm::log(cells as f64 / MISTAKE);
    let (drift, unit) = match noise.family {
        CountFamily::DiscreteGaussian | CountFamily::Gaussian => (1.0, 0.5),
        CountFamily::DiscreteLaplace | CountFamily::Laplace => (1.5 * libm::log(1.8), 1.5),
    };
    (drift * noise.scale, unit * noise.scale * odds)
}

/// The place, in cells from the first one, before which there are few records; none if noise hides all of them.
fn cut(noisy: &[f64], noise: &CountNoise, few: f64) -> Option<f64> {
    let start = begin(noisy, noise)?;
    let mut sum = 0.0;
    for (index, count) in noisy.iter().enumerate().skip(start) {
        if sum + count > few {
            return Some(index as f64 + (few - sum) / count);
        }
        sum = (sum + count).max(0.0);
    }
    None
}

/// The cell in which counts begin to rise out of the noise, seen from the first one.
fn begin(noisy: &[f64], noise: &CountNoise) -> Option<usize> {
    let (drift, threshold) = page(noise, noisy.len());
    let (mut sum, mut start) = (0.0, 0);
    for (index, count) in noisy.iter().enumerate() {
        sum += count - drift;
        if sum <= 0.0 {
            (sum, start) = (0.0, index + 1);
        } else if sum > threshold {
            return Some(start);
        }
    }
    None
}

/// The number of fewest decimals from `least` to `most`; the least of them.
fn roundest(least: f64, most: f64) -> f64 {
    if least <= 0.0 && most >= 0.0 {
        return 0.0;
    }
    let digits = -libm::log10(least.abs().max(most.abs())).ceil() as i32;
    let round = |digits: i32| {
        let power = libm::pow(10.0, f64::from(digits.abs()));
        if digits >= 0 { (least * power).ceil() / power } else { (least / power).ceil() * power }
    };
    (digits..digits + 16).map(round).find(|value| (least..=most).contains(value)).unwrap_or(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gaussian(scale: f64) -> CountNoise {
        CountNoise { family: CountFamily::DiscreteGaussian, scale }
    }

    #[test]
    fn every_value_is_in_its_cell() {
        for value in [0.0, 1e-7, -1e-7, 1.0, 1.5, -1.0, -1.99, 2.0, 1990.0, -0.3, 1e11, -1e11] {
            let cell = scale_cell(value);
            let (lower, upper) = (scale_edge(cell), scale_edge(cell + 1));
            assert!(lower <= value && value <= upper && lower < upper, "{value}: {lower} {upper}");
        }
        assert_eq!((scale_cell(1e300), scale_cell(-1e300)), (SCALES - 1, 0));
        assert_eq!(linear_cell(5.0, (0.0, 10.0), 4), 2);
        assert_eq!((linear_cell(-1.0, (0.0, 10.0), 4), linear_cell(11.0, (0.0, 10.0), 4)), (0, 3));
    }

    /// Catches records that are seen only where they fill a single cell, and noise that passes for records.
    #[test]
    fn cells_stand_out_together() {
        let noise = gaussian(10.0);
        let (one, four) = (visible(&noise, 1), visible(&noise, 4));
        assert!(four == 2.0 * one, "{one} {four}");
        assert_eq!(standing_out(&[0.0, one + 1.0, 9.0, 0.0], 8, &noise), Some((9, 10)));
        assert_eq!(standing_out(&[four / 4.0 + 1.0; 4], 8, &noise), Some((8, 12)));
        assert_eq!(standing_out(&[four / 4.0 - 1.0; 4], 8, &noise), None);
    }

    /// Catches a range that begins at the bulk instead of where it rises out of the noise, and one that reaches for
    /// single records.
    #[test]
    fn the_range_is_cut_where_few_records_are_left() {
        let counts = [0.0, -3.0, 2.0, 4.0, 9.0, 40.0, 90.0, 30.0, 8.0, 1.0, 0.0, -2.0];
        assert_eq!(begin(&counts, &gaussian(2.0)), Some(3));
        assert_eq!(cut(&counts, &gaussian(2.0), 4.0 + 4.5), Some(4.5));
        assert_eq!(begin(&[0.0; 12], &gaussian(2.0)), None);
        assert_eq!(begin(&counts, &gaussian(100.0)), None);
    }

    #[test]
    fn bounds_are_round_numbers() {
        assert_eq!((roundest(8.95, 9.05), roundest(-8.05, -7.9)), (9.0, -8.0));
        assert_eq!((roundest(2018.7, 2022.0), roundest(98_700.0, 101_000.0)), (2020.0, 100_000.0));
        assert_eq!((roundest(0.2931, 0.3051), roundest(-0.1, 0.1), roundest(1.5, 1.5)), (0.3, 0.0, 1.5));
    }
}
