//! Defaults of a release: chosen by an experiment (`lab/defaults`), with public knowledge only.
//!
//! A feature with bounds is taken to vary by about 0.3 of its half-width, an indicator of a level by all of it. With
//! `T^2 = 0.09 (d - b) + b` for `d` features of which `b` are indicators, records are shrunk to `r^2 = g^2 + T^2`, about
//! the norm of a typical record: beyond it a record only adds noise to everybody's.
//!
//! Shrunk records make a weighted regression, another one than least squares where the truth is no line. Where records
//! are many there is no need for it: the radius grows as far as noise stays small beside sampling error, up to the
//! longest record.

/// Records are rounded to multiples of 2^-16: at a million records the rounding error is a thousandth of the noise.
pub const GRID_BITS: u32 = 16;

/// Squared standard deviation of a bounded feature, in units of its half-width, that the defaults are made for.
const TYPICAL_VARIANCE: f64 = 0.09;

/// Variance of the residuals, in units of the half-width of the response's bounds, that the defaults are made for.
const RESIDUAL_VARIANCE: f64 = 0.05;

/// How much noise a larger radius may bring: its variance in a slope over the sampling variance of that slope.
pub const NOISE_SHARE: f64 = 0.05;

/// Radii between the smallest and the longest are multiples of this, so that machines that round differently agree on
/// them.
const RADIUS_STEP: f64 = 1.0 / 1024.0;

/// Radius and weights of scaled records.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scaling {
    /// Radius `r` to which records are shrunk.
    pub radius: f64,
    /// Weight `g` of the constant.
    pub intercept_weight: f64,
    /// Weight `eta` of the response.
    pub response_weight: f64,
}

/// The default scaling for so many features, of which some are indicators of levels; none without features, where
/// there is nothing to shrink.
pub fn scaling(features: usize, indicators: usize, intercept: bool) -> Option<Scaling> {
    let bounded = features.checked_sub(indicators)? as f64;
    let typical = TYPICAL_VARIANCE * bounded + indicators as f64;
    if typical == 0.0 {
        return None;
    }
    let radius = if intercept { (1.5 * typical).sqrt() } else { typical.sqrt() };
    Some(Scaling { radius, intercept_weight: (0.5 * typical).sqrt(), response_weight: radius })
}

/// The noise scale of a release at which the noise in a typical slope has this share of its sampling variance: noise of
/// scale s has s^2 / (eta n v)^2 of it, sampling sigma^2 / (n v).
pub fn noise_allowed(records: u64, response_weight: f64, share: f64) -> f64 {
    response_weight * (share * records as f64 * TYPICAL_VARIANCE * RESIDUAL_VARIANCE).sqrt()
}

/// The number that a count of records plans with: rounded down to a power of two, so that parties of similar size share
/// a radius.
pub fn planned_records(records: u64) -> Option<u64> {
    records.checked_ilog2().map(|power| 1 << power)
}

/// The largest radius that fits, from `smallest` if none does, up to the `longest` record's; what is below a fitting
/// radius fits.
pub fn grown((smallest, longest): (f64, f64), fits: impl Fn(f64) -> bool) -> f64 {
    if longest <= smallest || !fits(smallest) {
        return smallest;
    }
    if fits(longest) {
        return longest;
    }
    let (mut low, mut high) = (smallest, longest);
    while high - low > 0.01 * RADIUS_STEP {
        let middle = 0.5 * (low + high);
        if fits(middle) { low = middle } else { high = middle }
    }
    ((low / RADIUS_STEP).floor() * RADIUS_STEP).max(smallest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_radius_grows_as_far_as_it_fits() {
        let to = |most: f64| grown((0.5, 2.0), |radius| radius <= most);
        assert_eq!([0.1, 0.5, 2.0, 9.0].map(to), [0.5, 0.5, 2.0, 2.0]);
        assert_eq!(to(1.25003), 1.25);
        assert_eq!(grown((0.5, 0.4), |_| true), 0.5);
    }

    #[test]
    fn the_radius_is_the_norm_of_a_typical_record() {
        let scaling = scaling(5, 2, true).unwrap();
        let typical: f64 = 3.0 * 0.09 + 2.0;
        let norm = (scaling.intercept_weight.powi(2) + typical).sqrt();
        assert!((scaling.radius - norm).abs() < 1e-12);
        assert_eq!(super::scaling(0, 0, true), None);
        assert_eq!(super::scaling(4, 0, false).unwrap().radius, 0.6);
    }
}
