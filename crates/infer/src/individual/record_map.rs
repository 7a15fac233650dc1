//! From a latent record to the one that was counted, and slopes back.
//!
//! In normalised units the curator cuts every coordinate of a box to \[-1, 1\] and then shrinks (1, u, v) whole by
//! c = min(1, r/|(g, u)|) where records are scaled; in a ball it shrinks (u, v) by c = min(1, 1/|u|) and then cuts v. Its grid of
//! 2^-16 or finer is ignored. Records are columns: all first coordinates, all second ones, and so on.

/// How a party maps its records.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct RecordMap {
    /// Weight g of the constant, if there is one.
    constant: Option<f64>,
    /// r, if records are scaled.
    radius: Option<f64>,
    /// Whether features and response are cut before scaling (a box) or the response alone after it (a ball).
    cut_first: bool,
}

/// Records before and after the map and the slopes with respect to them; each a set of columns of `length` numbers.
pub(super) struct Columns<'c> {
    pub length: usize,
    /// Varying coordinates before the map.
    pub latent: &'c [f64],
    /// All coordinates after it, the constant included.
    pub mapped: &'c mut [f64],
    /// c of every record.
    pub factors: &'c mut [f64],
    /// Slopes with respect to the mapped coordinates, then those with respect to the latent ones.
    pub slopes: &'c mut [f64],
}

impl RecordMap {
    pub fn of_box(constant: Option<f64>, radius: Option<f64>) -> Self {
        Self { constant, radius, cut_first: true }
    }

    pub fn of_ball() -> Self {
        Self { constant: None, radius: Some(1.0), cut_first: false }
    }

    /// Maps the records.
    pub fn apply(&self, columns: &mut Columns<'_>) {
        let n = columns.length;
        let skip = if self.constant.is_some() { n } else { 0 };
        let limit = if self.cut_first { 1.0 } else { f64::INFINITY };
        columns.mapped[..skip].fill(1.0);
        for (to, from) in columns.mapped[skip..].iter_mut().zip(columns.latent) {
            *to = from.clamp(-limit, limit);
        }
        let Some(radius) = self.radius else { return };
        let response = columns.mapped.len() - n;
        columns.factors.fill(self.constant.map_or(0.0, |weight| weight * weight));
        for feature in columns.mapped[skip..response].chunks_exact(n) {
            columns.factors.iter_mut().zip(feature).for_each(|(sum, value)| *sum += value * value);
        }
        columns.factors.iter_mut().for_each(|value| *value = (radius / value.sqrt()).min(1.0));
        for column in columns.mapped.chunks_exact_mut(n) {
            column.iter_mut().zip(&*columns.factors).for_each(|(value, factor)| *value *= factor);
        }
        if !self.cut_first {
            columns.mapped[response..].iter_mut().for_each(|value| *value = value.clamp(-1.0, 1.0));
        }
    }

    /// Turns slopes with respect to the mapped records into slopes with respect to the latent ones, in place; those of the
    /// constant mean nothing afterwards.
    pub fn pull_back(&self, columns: &mut Columns<'_>) {
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
