//! One panel: grid, axes, series.

use super::colour;
use super::scale::{Axis, Scale};
use super::series::{Mark, Point, Series};
use super::svg::{Anchor, Drawing, Font};

/// Axes with series in them.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// Above it.
    pub title: String,
    /// To the right.
    pub x: Axis,
    /// Upwards.
    pub y: Axis,
    /// What is drawn, the last on top.
    pub series: Vec<Series>,
}

const INK: &str = "#333333";
const GRID: &str = "#E6E6E6";
const SMALL: Font = Font { size: 10.5, bold: false, colour: INK };
const LABEL: Font = Font { size: 11.5, bold: false, colour: INK };
const TITLE: Font = Font { size: 12.5, bold: true, colour: INK };

/// Opacity of areas.
pub(super) const AREA: f64 = 0.18;

/// Room around the axes: left, right, top, bottom.
const ROOM: [f64; 4] = [58.0, 12.0, 26.0, 44.0];

/// Where a panel stands on the page.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
}

impl Panel {
    /// A panel.
    pub fn new(title: &str, x: Axis, y: Axis, series: Vec<Series>) -> Self {
        Self { title: title.into(), x, y, series }
    }

    pub(super) fn draw(&self, drawing: &mut Drawing, frame: Frame) {
        let [left, right, top, bottom] = ROOM;
        let (x0, x1) = (frame.left + left, frame.left + frame.width - right);
        let (y0, y1) = (frame.top + frame.height - bottom, frame.top + top);
        let points = || self.series.iter().flat_map(|series| &series.points);
        let x = Scale::new(&self.x, points().map(|point| point.x), (x0, x1));
        let ends = |point: &Point| ends(point, self.y.logarithmic);
        let y = Scale::new(&self.y, points().flat_map(ends), (y0, y1));
        self.grid(drawing, (&x, &y), ([x0, x1], [y0, y1]));
        drawing.text((x0, frame.top + 14.0), &self.title, Anchor::Start, TITLE);
        drawing.text((0.5 * (x0 + x1), y0 + 36.0), &self.x.label, Anchor::Middle, LABEL);
        drawing.upright_text((frame.left + 14.0, 0.5 * (y0 + y1)), &self.y.label, LABEL);
        let bars: Vec<usize> =
            (0..self.series.len()).filter(|k| self.series[*k].mark == Mark::Bars).collect();
        for (index, series) in self.series.iter().enumerate() {
            let slot = bars.iter().position(|k| *k == index).map(|place| (place, bars.len()));
            Brush { series, x: &x, y: &y }.draw(drawing, slot);
        }
    }

    fn grid(&self, drawing: &mut Drawing, (x, y): (&Scale, &Scale), (xs, ys): ([f64; 2], [f64; 2])) {
        for (value, label) in y.ticks() {
            let Some(place) = y.place(value) else { continue };
            drawing.line((xs[0], place), (xs[1], place), (GRID, 1.0));
            drawing.text((xs[0] - 6.0, place + 3.6), &label, Anchor::End, SMALL);
        }
        let named = self.x.categories.iter().enumerate().map(|(k, name)| (k as f64, name.clone()));
        let ticks = if self.x.categories.is_empty() { x.ticks() } else { named.collect() };
        for (value, label) in ticks {
            let Some(place) = x.place(value) else { continue };
            if self.x.categories.is_empty() {
                drawing.line((place, ys[0]), (place, ys[1]), (GRID, 1.0));
            }
            drawing.text((place, ys[0] + 16.0), &label, Anchor::Middle, SMALL);
        }
        drawing.line((xs[0], ys[0]), (xs[1], ys[0]), (INK, 1.0));
        drawing.line((xs[0], ys[0]), (xs[0], ys[1]), (INK, 1.0));
    }
}

/// Ends of the error bar. On a logarithmic axis both sides have the same length: the same factor down as up.
fn ends(point: &Point, logarithmic: bool) -> [f64; 2] {
    let high = point.y + point.error;
    [if logarithmic { point.y * point.y / high } else { point.y - point.error }, high]
}

/// A series and the axes to draw it on.
pub(super) struct Brush<'b> {
    pub series: &'b Series,
    pub x: &'b Scale,
    pub y: &'b Scale,
}

impl Brush<'_> {
    /// `slot` is the place of bars among the series of bars.
    pub fn draw(&self, drawing: &mut Drawing, slot: Option<(usize, usize)>) {
        let ink = colour(self.series.colour);
        let line: Vec<(f64, f64)> = self.series.points.iter().filter_map(|point| self.place(point)).collect();
        match self.series.mark {
            Mark::Rule => drawing.path(&line, (ink, 1.4), true),
            Mark::Curve => drawing.path(&line, (ink, 1.6), false),
            Mark::Area => drawing.area(&line, (ink, AREA)),
            Mark::Histogram => self.histogram(drawing),
            Mark::Bars => self.bars(drawing, slot.unwrap_or((0, 1))),
            Mark::Line | Mark::Points => {
                if self.series.mark == Mark::Line {
                    drawing.path(&line, (ink, 1.8), false);
                }
                for point in &self.series.points {
                    self.error_bar(drawing, point, 0.0);
                }
                line.iter().for_each(|place| drawing.point(*place, self.series.colour));
            }
        }
    }

    fn place(&self, point: &Point) -> Option<(f64, f64)> {
        Some((self.x.place(point.x)?, self.y.place(point.y)?))
    }

    fn error_bar(&self, drawing: &mut Drawing, point: &Point, shift: f64) {
        let Some((x, _)) = self.place(point).filter(|_| point.error > 0.0) else { return };
        let [low, high] = ends(point, self.y.is_logarithmic()).map(|end| self.y.place(end));
        if let (Some(low), Some(high)) = (low, high) {
            let ink = if shift == 0.0 { colour(self.series.colour) } else { INK };
            drawing.line((x + shift, low), (x + shift, high), (ink, 1.2));
        }
    }

    fn bars(&self, drawing: &mut Drawing, (place, count): (usize, usize)) {
        let Some(base) = self.y.place(self.y.base()) else { return };
        let unit = match (self.x.place(0.0), self.x.place(1.0)) {
            (Some(zero), Some(one)) => one - zero,
            _ => return,
        };
        let width = 0.8 * unit / count as f64;
        for point in &self.series.points {
            let Some((x, y)) = self.place(point) else { continue };
            let shift = (place as f64 - 0.5 * (count as f64 - 1.0)) * width;
            let left = x + shift - 0.46 * width;
            let (top, height) = (y.min(base), (base - y).abs());
            drawing.rectangle((left, top), (0.92 * width, height), (colour(self.series.colour), 0.9));
            // A bar in the middle still has its error in ink, not in its own colour.
            self.error_bar(drawing, point, if shift == 0.0 { 1e-3 } else { shift });
        }
    }

    fn histogram(&self, drawing: &mut Drawing) {
        let Some(base) = self.y.place(self.y.base()) else { return };
        for pair in self.series.points.windows(2) {
            let (Some((x, y)), Some(end)) = (self.place(&pair[0]), self.x.place(pair[1].x)) else { continue };
            drawing.rectangle((x + 0.5, y), (end - x - 1.0, base - y), (colour(self.series.colour), 0.75));
        }
    }
}
