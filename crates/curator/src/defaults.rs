//! Defaults of a release: chosen by an experiment (`experiments/defaults`), with public knowledge only.
//!
//! A feature with bounds is taken to vary by about 0.3 of its half-width, an indicator of a level by all of it. With
//! `T^2 = 0.09 (d - b) + b` for `d` features of which `b` are indicators, records are shrunk to `r^2 = g^2 + T^2`, about
//! the norm of a typical record: beyond it a record only adds noise to everybody's.

/// Records are rounded to multiples of 2^-16: at a million records the rounding error is a thousandth of the noise.
pub const GRID_BITS: u32 = 16;

/// Squared standard deviation of a bounded feature, in units of its half-width, that the defaults are made for.
const TYPICAL_VARIANCE: f64 = 0.09;

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

#[cfg(test)]
mod tests {
    use super::*;

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
