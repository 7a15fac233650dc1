//! The record map: from a record in users' units to w = c (1, u, v), what a party adds up, and slopes back.
//!
//! Public bounds normalise a record to (u, v). In a box every coordinate is cut to \[-1, 1\], then (1, u, v) is shrunk whole by
//! c = min(1, r/|(g, u)|) where records are scaled; in a ball (u, v) is shrunk by c = min(1, 1/|u|), then v is cut. A data holder
//! computes the same in integers, on a grid of 2^-16 or finer, which is ignored here.

use crate::domain::{Domain, Interval};

impl Domain {
    /// Features and response in normalised units, (u, v), neither cut nor shrunk.
    pub fn normalise(&self, record: &[f64]) -> Vec<f64> {
        match self {
            Domain::Box(domain) => {
                let terms = domain.features.iter().chain([&domain.response]);
                let unit = |(term, x): (&Interval, &f64)| (x - term.centre()) / term.half_width();
                terms.zip(record).map(unit).collect()
            }
            Domain::Ball(domain) => {
                let mut units = vec![domain.radius; domain.features.len()];
                units.push(domain.response_bound);
                record.iter().zip(units).map(|(x, unit)| x / unit).collect()
            }
        }
    }
}

/// How a party maps its normalised records.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RecordMap {
    /// Weight g of the constant, if there is one.
    constant: Option<f64>,
    /// r, if records are scaled.
    radius: Option<f64>,
    /// Whether features and response are cut before scaling (a box) or the response alone after it (a ball).
    cut_first: bool,
}

/// Records before and after the map and the slopes with respect to them. Each is a set of columns of `length` numbers: all
/// first coordinates, all second ones, and so on.
pub struct RecordColumns<'c> {
    /// Number of records.
    pub length: usize,
    /// (u, v) before the map.
    pub latent: &'c [f64],
    /// w after it: the constant, if there is one, the features, the response.
    pub mapped: &'c mut [f64],
    /// c of every record, where records are scaled.
    pub factors: &'c mut [f64],
    /// Slopes with respect to the mapped coordinates, then those with respect to the latent ones.
    pub slopes: &'c mut [f64],
}

impl RecordMap {
    /// The map of a release's domain.
    pub fn of(domain: &Domain) -> Self {
        match domain {
            Domain::Box(domain) => {
                Self::of_box(domain.intercept.then_some(domain.intercept_weight), domain.record_scale)
            }
            Domain::Ball(_) => Self::of_ball(),
        }
    }

    /// A box with this weight g of the constant, if there is one, and this radius r, if records are scaled.
    pub fn of_box(constant: Option<f64>, radius: Option<f64>) -> Self {
        Self { constant, radius, cut_first: true }
    }

    /// A ball.
    pub fn of_ball() -> Self {
        Self { constant: None, radius: Some(1.0), cut_first: false }
    }

    /// Whether c may be below 1.
    pub fn is_scaled(&self) -> bool {
        self.radius.is_some()
    }

    /// w = c (1, u, v) of one record; the constant, which is c, is written whether or not the domain has one. `NaN` is cut to
    /// the lower bound.
    #[inline]
    pub fn apply(&self, features: &[f64], response: f64, out: &mut [f64]) {
        let (limit, last) = (self.limit(), features.len() + 1);
        out[0] = 1.0;
        out[1..].iter_mut().zip(features).for_each(|(value, raw)| *value = cut(*raw, limit));
        out[last] = cut(response, limit);
        let Some(radius) = self.radius else { return };
        let square = self.constant_square() + out[1..last].iter().map(|value| value * value).sum::<f64>();
        let factor = factor(radius, square);
        if factor < 1.0 {
            out.iter_mut().for_each(|value| *value *= factor);
        }
        out[last] = cut(out[last], 1.0);
    }

    #[inline]
    fn limit(&self) -> f64 {
        if self.cut_first { 1.0 } else { f64::INFINITY }
    }

    #[inline]
    fn constant_square(&self) -> f64 {
        self.constant.map_or(0.0, |weight| weight * weight)
    }

    /// Maps many records. `NaN` stays what it is, so that a sampler sees it.
    pub fn apply_columns(&self, columns: &mut RecordColumns<'_>) {
        let n = columns.length;
        let skip = if self.constant.is_some() { n } else { 0 };
        let limit = self.limit();
        columns.mapped[..skip].fill(1.0);
        for (to, from) in columns.mapped[skip..].iter_mut().zip(columns.latent) {
            *to = from.clamp(-limit, limit);
        }
        let Some(radius) = self.radius else { return };
        let response = columns.mapped.len() - n;
        columns.factors.fill(self.constant_square());
        for feature in columns.mapped[skip..response].chunks_exact(n) {
            columns.factors.iter_mut().zip(feature).for_each(|(sum, value)| *sum += value * value);
        }
        columns.factors.iter_mut().for_each(|value| *value = factor(radius, *value));
        for column in columns.mapped.chunks_exact_mut(n) {
            column.iter_mut().zip(&*columns.factors).for_each(|(value, factor)| *value *= factor);
        }
        if !self.cut_first {
            columns.mapped[response..].iter_mut().for_each(|value| *value = value.clamp(-1.0, 1.0));
        }
    }

    /// Turns slopes with respect to the mapped records into slopes with respect to the latent ones, in place; those of the
    /// constant mean nothing afterwards.
    pub fn pull_back(&self, columns: &mut RecordColumns<'_>) {
        let n = columns.length;
        let skip = if self.constant.is_some() { n } else { 0 };
        let response = columns.mapped.len() - n;
        if !self.cut_first {
            mask(&mut columns.slopes[response..], &columns.mapped[response..]);
        }
        if let Some(radius) = self.radius {
            let per_square = 1.0 / (radius * radius);
            for record in 0..n {
                let factor = columns.factors[record];
                let places = (record..columns.mapped.len()).step_by(n);
                let mut along = 0.0;
                for place in places.clone() {
                    along += columns.slopes[place] * columns.mapped[place];
                    columns.slopes[place] *= factor;
                }
                if factor < 1.0 {
                    // dc/du = -c u/|(g, u)|^2, and w = c u, |(g, u)| = r/c.
                    let radial = along * factor * per_square;
                    for place in places.filter(|place| (skip..response).contains(place)) {
                        columns.slopes[place] -= columns.mapped[place] * radial;
                    }
                }
            }
        }
        if self.cut_first {
            mask(&mut columns.slopes[skip..], columns.latent);
        }
    }
}

/// No slope where the value is cut.
fn mask(slopes: &mut [f64], values: &[f64]) {
    for (slope, value) in slopes.iter_mut().zip(values) {
        *slope = if value.abs() < 1.0 { *slope } else { 0.0 };
    }
}

/// c = min(1, r/|(g, u)|).
#[inline]
fn factor(radius: f64, square: f64) -> f64 {
    (radius / square.sqrt()).min(1.0)
}

/// `x` cut to `[-limit, limit]`; `NaN` becomes `-limit`.
#[inline]
fn cut(x: f64, limit: f64) -> f64 {
    let above = if x > -limit { x } else { -limit };
    if above < limit { above } else { limit }
}
