//! The two grids, and which of their cells are in use.

/// Values below 2^LEAST are near zero; those from 2^MOST on are in the last cell.
const LEAST: i32 = -20;
const MOST: i32 = 40;
/// Cells of one sign.
const OCTAVES: usize = (MOST - LEAST) as usize;
/// Probability that noise on empty cells passes for records, in one search.
const MISTAKE: f64 = 1e-3;
/// A power of two is in use from this many scales of noise on: one more by mistake doubles the range.
const LEAST_OF_SCALES: f64 = 2.0;
/// The least and the largest number of cells of the linear grid.
const FEWEST: f64 = 16.0;
const MOST_CELLS: f64 = 256.0;

/// Cells of the first grid.
pub(super) const SCALES: usize = 2 * OCTAVES + 1;

/// The cell of a value on the first grid.
pub(super) fn scale_cell(value: f64) -> usize {
    let size = value.abs();
    if size < libm::exp2(f64::from(LEAST)) {
        return OCTAVES;
    }
    let octave = (libm::ilogb(size).clamp(LEAST, MOST - 1) - LEAST) as usize;
    if value < 0.0 { OCTAVES - 1 - octave } else { OCTAVES + 1 + octave }
}

/// The lower edge of a cell of the first grid; of the one after the last, the upper edge of the last.
fn scale_edge(cell: usize) -> f64 {
    let power = |octaves: usize| libm::exp2(f64::from(LEAST + octaves as i32));
    if cell > OCTAVES { power(cell - OCTAVES - 1) } else { -power(OCTAVES - cell) }
}

/// The range of the cells in use on the first grid, with one more on either side.
pub(super) fn first_range(noisy: &[f64], scale: f64) -> Option<(f64, f64)> {
    let (first, last) = in_use(noisy, scale, LEAST_OF_SCALES * scale)?;
    Some((scale_edge(first.saturating_sub(1)), scale_edge((last + 2).min(SCALES))))
}

/// Cells of the linear grid: a quarter of them, filled evenly, hold eight times the drift each.
pub(super) fn linear_cells(records: f64, scale: f64) -> usize {
    let wanted = (0.5 * records / drift(scale)).clamp(FEWEST, MOST_CELLS);
    1 << libm::ilogb(wanted).max(0)
}

/// The cell of a value on a linear grid.
pub(super) fn linear_cell(value: f64, (lower, upper): (f64, f64), cells: usize) -> usize {
    let place = (value - lower) / (upper - lower) * cells as f64;
    (place.max(0.0) as usize).min(cells - 1)
}

/// The range of the cells in use on a linear grid, rounded outwards to few digits.
pub(super) fn second_range(noisy: &[f64], scale: f64, (lower, upper): (f64, f64)) -> Option<(f64, f64)> {
    let (first, last) = in_use(noisy, scale, f64::NEG_INFINITY)?;
    let width = (upper - lower) / noisy.len() as f64;
    Some(rounded(lower + first as f64 * width, lower + (last + 1) as f64 * width))
}

fn drift(scale: f64) -> f64 {
    1.5 * scale * libm::log(1.8)
}

/// The number of records that stand out, if they are together.
pub(super) fn threshold(scale: f64, cells: usize) -> f64 {
    1.5 * scale * libm::log(cells as f64 / MISTAKE)
}

/// The first and the last cell in use; none if noise hides all of them. At the ends of the range cells hold more than `least`.
fn in_use(noisy: &[f64], scale: f64, least: f64) -> Option<(usize, usize)> {
    let backwards: Vec<f64> = noisy.iter().rev().copied().collect();
    let first = begin(noisy, scale, least)?;
    let last = noisy.len() - 1 - begin(&backwards, scale, least)?;
    (first <= last).then_some((first, last))
}

/// Where the range begins, seen from the first cell.
fn begin(noisy: &[f64], scale: f64, least: f64) -> Option<usize> {
    let (drift, threshold) = (drift(scale), threshold(scale, noisy.len()));
    let (mut sum, mut start) = (0.0, 0);
    for (index, count) in noisy.iter().enumerate() {
        sum += count - drift;
        if sum <= 0.0 {
            (sum, start) = (0.0, index + 1);
        } else if sum > threshold {
            let small = noisy[start..index].iter().rposition(|count| *count <= least);
            return Some(small.map_or(start, |small| start + small + 1));
        }
    }
    None
}

/// Outwards to a power of ten that is at most a hundredth of the width.
fn rounded(lower: f64, upper: f64) -> (f64, f64) {
    let digits = (2.0 - libm::log10(upper - lower)).ceil();
    let power = libm::pow(10.0, digits.abs());
    let round = |value: f64, whole: fn(f64) -> f64| {
        if digits >= 0.0 { whole(value * power) / power } else { whole(value / power) * power }
    };
    (round(lower, f64::floor), round(upper, f64::ceil))
}

#[cfg(test)]
mod tests {
    use super::*;

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

    /// Catches a range that begins at the bulk instead of where it rises out of the noise, and noise that passes for records.
    #[test]
    fn the_range_begins_where_counts_rise() {
        let counts = [0.0, -3.0, 2.0, 4.0, 9.0, 40.0, 90.0, 30.0, 8.0, 1.0, 0.0, -2.0];
        let all = f64::NEG_INFINITY;
        assert_eq!(in_use(&counts, 2.0, all), Some((2, 8)));
        assert_eq!(in_use(&counts, 2.0, 4.0), Some((4, 8)));
        assert_eq!(in_use(&[0.0; 12], 2.0, all), None);
        assert_eq!(in_use(&counts, 100.0, all), None);
    }

    #[test]
    fn bounds_are_rounded_outwards_to_few_digits() {
        assert_eq!(rounded(1983.77, 2032.0), (1983.7, 2032.0));
        assert_eq!(rounded(-0.012345, 0.5), (-0.013, 0.5));
        assert_eq!(rounded(123_456.0, 987_654.0), (123_000.0, 988_000.0));
    }
}
