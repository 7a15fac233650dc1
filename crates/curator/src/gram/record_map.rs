//! From a record in the users' units to an integer vector of the domain.

use super::{GramError, RecordDomain};

/// Most coordinates of a record; the margin of the norm bound is proven up to here.
pub(super) const MAXIMUM_DIMENSION: usize = 2048;
/// Largest coordinate in grid steps: 512 squares of it still sum exactly in an `f64`.
pub(super) const MAXIMUM_REACH: f64 = 4_194_304.0;
/// Ball domain: features beyond this many grid steps are cut so that their squares cannot overflow.
const NORM_GUARD: f64 = f64::from_bits((1023 + 480) << 52);
/// `1 - 2^-40`: room for the rounding errors of the norm and of the scale.
const MARGIN: f64 = 1.0 - 1.0 / 1_099_511_627_776.0;

/// One column: `(x - centre) * factor` in grid steps, cut to `[-limit, limit]`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ColumnMap {
    pub(super) centre: f64,
    pub(super) factor: f64,
    pub(super) limit: f64,
}

impl ColumnMap {
    /// The coordinate in grid steps before scaling and rounding. Comparisons are written so that `NaN` becomes
    /// `-limit`: the bounds hold for every bit pattern, also when a caller forgot its rule for missing values.
    #[inline(always)]
    pub(super) fn coordinate(&self, x: f64) -> f64 {
        cut((x - self.centre) * self.factor, self.limit)
    }
}

/// `x` cut to `[-limit, limit]`; `NaN` becomes `-limit`. Two instructions, unlike `f64::clamp`, which keeps `NaN`.
#[inline(always)]
pub(super) fn cut(x: f64, limit: f64) -> f64 {
    let above = if x > -limit { x } else { -limit };
    if above < limit { above } else { limit }
}

/// Turns records into integer vectors `W = (X, Y)`: `X` is the intercept, if any, and the features, `Y` the response,
/// in steps of a grid of `2^-k`.
///
/// With `s = 2^k` and round-to-nearest `[.]` (ties to even):
///
/// - box: `u = (2x - a - b)/(b - a)` cut to `[-1, 1]`, `W = [s (g, u, eta v)]`;
/// - box with radius `r`: `c = min(1, r'/|(g, u)|)`, `W = [s c (g, u, eta v)]`;
/// - ball: `c = min(1, r'/|x/R|)`, `X = [s c x/R]` with `r = 1`, `Y = [s c eta y/B]` cut to `[-s eta, s eta]`.
///
/// # Bounds
///
/// For every input: `|W_j| <= s w_j` (`w_j` is 1, `g` or `eta`) on the box; `|X| <= s r` and `|Y| <= s eta` when
/// records are scaled. On the box this is plain: weights are grid points and both cutting and rounding are monotone.
/// For the norm, let `t` be the `q` coordinates of `(g, u)` or `x/R` in grid steps (as floating-point numbers),
/// `e = 2^-53`, and
///
/// `r' = (s r - sqrt(q)/2) (1 - 2^-40)`.
///
/// 1. The sum of squares has at most `q` roundings per term, a square root, a division and a product one each, so the
///    computed `z = fl(c t)` obeys `|z| <= |t| min(1, r'/|t|) (1 + (q/2 + 5) 2e) <= r' (1 + 2^-41)` as
///    `q <= 2048`; also when the computed `c` is 1, because then the computed `r'/|t|` was at least 1. (Squares that
///    underflow are harmless: `c < 1` needs `|t| > r' > 1/4`, and then they are below `e` relative to the sum.)
/// 2. Rounding moves each of the `q` coordinates by at most 1/2: `|X| <= |z| + sqrt(q)/2`.
/// 3. `(1 - 2^-40)(1 + 2^-41)` and the few roundings in `r'` itself leave `|z| <= s r - sqrt(q)/2`. So `|X| <= s r`.
///
/// The price is a radius that is smaller by `sqrt(q)/2` steps, a few parts in a million. Truncation towards zero would
/// obey the same bound without it, but shrinks *every* coordinate by half a step on average; that bias grows with the
/// number of records, while the privacy noise does not. Rounding to nearest has no such bias.
///
/// `|Y| <= s eta`: `eta s` is an integer, `c <= 1`, and cutting and rounding are monotone.
///
/// [`RecordMap::integer_record`] is the definition; the accumulator's fast path gives the same bits.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordMap {
    /// Features in order, then the response.
    pub(super) columns: Vec<ColumnMap>,
    /// The constant coordinate in grid steps.
    pub(super) intercept: Option<f64>,
    /// `r'` in grid steps when records are scaled.
    pub(super) radius: Option<f64>,
    /// Largest absolute response in grid steps.
    pub(super) response_limit: f64,
    grid_bits: u32,
}

impl RecordMap {
    /// A map for `domain` on a grid of `2^-grid_bits`. `response_weight` is `eta`; it and the intercept's weight must
    /// be grid points ([`RecordMap::grid_floor`] makes one).
    pub fn new(domain: &RecordDomain, response_weight: f64, grid_bits: u32) -> Result<Self, GramError> {
        let dimension = domain.dimension();
        if dimension > MAXIMUM_DIMENSION {
            return Err(GramError::TooManyCoordinates { dimension, limit: MAXIMUM_DIMENSION });
        }
        let grid = Grid { bits: grid_bits };
        let response_limit = grid.weight("response weight", response_weight)?;
        let (columns, intercept, radius) = match domain {
            RecordDomain::Box { features, response, intercept, radius } => {
                let mut columns = Vec::with_capacity(features.len() + 1);
                for (column, &bounds) in features.iter().enumerate() {
                    columns.push(bounded_column(column, bounds, grid.reach(1.0)?)?);
                }
                columns.push(bounded_column(features.len(), *response, response_limit)?);
                let intercept = intercept.map(|g| grid.weight("intercept weight", g)).transpose()?;
                let radius = radius.map(|r| grid.radius(r, dimension - 1)).transpose()?;
                (columns, intercept, radius)
            }
            RecordDomain::Ball { features, radius, response_bound } => {
                let feature = free_column("radius", *radius, grid.reach(1.0)?)?;
                let mut columns = vec![feature; *features];
                columns.push(free_column("response bound", *response_bound, response_limit)?);
                (columns, None, Some(grid.radius(1.0, *features)?))
            }
        };
        Ok(Self { columns, intercept, radius, response_limit, grid_bits })
    }

    /// The largest multiple of `2^-grid_bits` that is not above `weight`.
    pub fn grid_floor(weight: f64, grid_bits: u32) -> f64 {
        let steps = Grid { bits: grid_bits }.steps();
        (weight * steps).floor() / steps
    }

    /// Number of table columns: the features, then the response.
    pub fn columns(&self) -> usize {
        self.columns.len()
    }

    /// Number of coordinates of a record vector: the intercept if present, the features, the response.
    pub fn dimension(&self) -> usize {
        self.columns.len() + usize::from(self.intercept.is_some())
    }

    /// Bits `k` of the grid: coordinates are in steps of `2^-k`.
    pub fn grid_bits(&self) -> u32 {
        self.grid_bits
    }

    /// No coordinate of an integer record is larger than this, in grid steps.
    pub(super) fn reach(&self) -> f64 {
        let steps = Grid { bits: self.grid_bits }.steps();
        steps.max(self.response_limit).max(self.intercept.unwrap_or(0.0))
    }

    /// The factor c by which a record (features, then the response) is shrunk: 1 for those that are not.
    pub fn scale(&self, record: &[f64]) -> Result<f64, GramError> {
        Ok(self.coordinates(record)?.1)
    }

    /// The integer vector of one record (features, then the response): the definition that every faster path obeys.
    pub fn integer_record(&self, record: &[f64]) -> Result<Vec<i64>, GramError> {
        let (mut coordinates, scale) = self.coordinates(record)?;
        for coordinate in &mut coordinates {
            *coordinate *= scale;
        }
        let last = coordinates.len() - 1;
        coordinates[last] = cut(coordinates[last], self.response_limit);
        Ok(coordinates.iter().map(|coordinate| coordinate.round_ties_even() as i64).collect())
    }

    /// The coordinates in grid steps before scaling, and the scale.
    fn coordinates(&self, record: &[f64]) -> Result<(Vec<f64>, f64), GramError> {
        let expected = self.columns.len();
        if record.len() != expected {
            return Err(GramError::ColumnCount { expected, found: record.len() });
        }
        let mut coordinates: Vec<f64> = self.intercept.into_iter().collect();
        coordinates.extend(self.columns.iter().zip(record).map(|(column, &x)| column.coordinate(x)));
        let last = coordinates.len() - 1;
        let mut squared_norm = 0.0;
        for coordinate in &coordinates[..last] {
            squared_norm += coordinate * coordinate;
        }
        let scale = self.radius.map_or(1.0, |radius| record_scale(radius, squared_norm));
        Ok((coordinates, scale))
    }
}

/// `min(1, radius/|x|)` from `|x|^2`; 1 for the zero vector.
#[inline(always)]
pub(super) fn record_scale(radius: f64, squared_norm: f64) -> f64 {
    let scale = radius / squared_norm.sqrt();
    if scale < 1.0 { scale } else { 1.0 }
}

/// The grid of `2^-bits`; lengths become numbers of steps.
#[derive(Clone, Copy)]
struct Grid {
    bits: u32,
}

impl Grid {
    /// Steps in one unit. Absurd numbers of bits give an infinite or huge value, which `reach` refuses.
    fn steps(self) -> f64 {
        2f64.powi(self.bits.min(2000) as i32)
    }

    /// `length` in steps, if coordinates of that size are exact.
    fn reach(self, length: f64) -> Result<f64, GramError> {
        let reach = length * self.steps();
        if reach <= MAXIMUM_REACH {
            Ok(reach)
        } else {
            Err(GramError::GridTooFine { reach, limit: MAXIMUM_REACH })
        }
    }

    /// A positive weight that is a grid point, in steps.
    fn weight(self, parameter: &'static str, value: f64) -> Result<f64, GramError> {
        let reach = self.reach(positive(parameter, value)?)?;
        if reach.fract() == 0.0 {
            return Ok(reach);
        }
        Err(GramError::OffGrid { parameter, value, nearest: RecordMap::grid_floor(value, self.bits) })
    }

    /// `r'` of the type's documentation. At least half of the ball must be left.
    fn radius(self, radius: f64, coordinates: usize) -> Result<f64, GramError> {
        let full = positive("radius", radius)? * self.steps();
        let rounding = (coordinates as f64).sqrt() / 2.0;
        if full < 1.0 || full < 2.0 * rounding {
            return Err(GramError::RadiusTooSmall { radius, grid_bits: self.bits, coordinates });
        }
        Ok((full - rounding) * MARGIN)
    }
}

fn positive(parameter: &'static str, value: f64) -> Result<f64, GramError> {
    if value.is_finite() && value > 0.0 {
        Ok(value)
    } else {
        Err(GramError::NotPositive { parameter, value })
    }
}

/// Maps `[lower, upper]` onto `[-limit, limit]`. Halves are taken first so that no width overflows.
fn bounded_column(column: usize, (lower, upper): (f64, f64), limit: f64) -> Result<ColumnMap, GramError> {
    let half_width = upper / 2.0 - lower / 2.0;
    let factor = limit / half_width;
    if !(lower < upper && half_width.is_normal() && factor.is_normal()) {
        return Err(GramError::Bounds { column, lower, upper });
    }
    Ok(ColumnMap { centre: lower / 2.0 + upper / 2.0, factor, limit })
}

/// Maps `bound` onto `limit` without cutting there; the norm, or the cut after scaling, does that.
fn free_column(parameter: &'static str, bound: f64, limit: f64) -> Result<ColumnMap, GramError> {
    let factor = limit / positive(parameter, bound)?;
    if !factor.is_normal() {
        return Err(GramError::NotPositive { parameter, value: bound });
    }
    Ok(ColumnMap { centre: 0.0, factor, limit: NORM_GUARD })
}
