//! What is drawn in a panel.

/// How the points of a series are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// Points joined by a line.
    Line,
    /// A thin line without points, for instance a diagonal or a published value.
    Rule,
    /// A line without points, for many of them.
    Curve,
    /// A pale area: the points go around it.
    Area,
    /// Points alone.
    Points,
    /// Bars from the base of the panel; several series stand side by side.
    Bars,
    /// A histogram: every point is the left edge of a bin and its height, the last one ends it.
    Histogram,
}

/// A point with an error bar of one standard error to each side, where it has one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// To the right.
    pub x: f64,
    /// Upwards.
    pub y: f64,
    /// Length of the error bar upwards; downwards it is as long on the page.
    pub error: f64,
}

/// Points with one name and one colour.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Name in the legend; series with the same name share an entry.
    pub name: String,
    /// Number of its colour and of the shape of its points.
    pub colour: usize,
    /// How it is shown.
    pub mark: Mark,
    /// Where.
    pub points: Vec<Point>,
}

impl Series {
    /// A series without error bars.
    pub fn new(name: &str, colour: usize, mark: Mark, points: Vec<(f64, f64)>) -> Self {
        let points = points.into_iter().map(|(x, y)| Point { x, y, error: 0.0 }).collect();
        Self { name: name.into(), colour, mark, points }
    }

    /// The same with error bars of these half lengths.
    pub fn with_errors(mut self, errors: &[f64]) -> Self {
        self.points.iter_mut().zip(errors).for_each(|(point, error)| point.error = *error);
        self
    }

    /// The same with points that share a place on a logarithmic axis set side by side, up to this factor apart, so that all are seen.
    pub fn scattered(mut self, factor: f64) -> Self {
        // Multiples of the golden section fill an interval evenly in any number.
        let place = |k: usize| (k as f64 * 0.618_033_988_749_895).fract() - 0.5;
        self.points.iter_mut().enumerate().for_each(|(k, point)| point.x *= factor.powf(place(k)));
        self
    }

    /// The area between two lines over the same places.
    pub fn band(name: &str, colour: usize, lower: &[(f64, f64)], upper: &[(f64, f64)]) -> Self {
        let around = lower.iter().chain(upper.iter().rev()).copied().collect();
        Self::new(name, colour, Mark::Area, around)
    }

    /// A histogram of values in so many bins of equal width over a range; heights are counts.
    pub fn histogram(
        name: &str,
        colour: usize,
        values: &[f64],
        (bins, [low, high]): (usize, [f64; 2]),
    ) -> Self {
        let width = (high - low) / bins as f64;
        let mut counts = vec![0.0; bins];
        for value in values.iter().filter(|value| (low..=high).contains(value)) {
            counts[(((value - low) / width) as usize).min(bins - 1)] += 1.0;
        }
        let edges = counts.into_iter().enumerate().map(|(bin, count)| (low + width * bin as f64, count));
        Self::new(name, colour, Mark::Histogram, edges.chain([(high, 0.0)]).collect())
    }
}
