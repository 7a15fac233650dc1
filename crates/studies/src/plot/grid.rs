//! Many small panels with common axes, in named rows and columns.

use super::panel::Brush;
use super::scale::{Axis, Scale};
use super::series::Series;
use super::svg::{Anchor, Drawing, Font};

/// One panel of a grid.
#[derive(Debug, Clone, PartialEq)]
pub enum Tile {
    /// What is drawn, the last on top.
    Plot(Vec<Series>),
    /// Words where there is nothing to draw.
    Words(String),
}

/// A picture of panels in rows and columns, all with the same axes.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    /// Above everything.
    pub title: String,
    /// In smaller letters below it, line by line.
    pub subtitle: Vec<String>,
    /// Names of the rows.
    pub rows: Vec<String>,
    /// Names of the columns, each in lines.
    pub columns: Vec<Vec<String>>,
    /// Row by row.
    pub tiles: Vec<Tile>,
    /// Common horizontal axis.
    pub x: Axis,
    /// Common vertical axis; it needs a range.
    pub y: Axis,
}

const INK: &str = "#333333";
const PALE: &str = "#BBBBBB";
const TITLE: Font = Font { size: 16.0, bold: true, colour: "#1A1A1A" };
const SUBTITLE: Font = Font { size: 12.0, bold: false, colour: "#555555" };
const NAME: Font = Font { size: 12.0, bold: false, colour: INK };
const SMALL: Font = Font { size: 9.5, bold: false, colour: "#777777" };
const MARGIN: f64 = 14.0;
/// Room for the names of rows and the numbers of the vertical axis.
const LEFT: f64 = 150.0;
const TILE: (f64, f64) = (84.0, 62.0);
const GAP: f64 = 8.0;

impl Grid {
    /// The picture.
    pub fn to_svg(&self) -> String {
        let mut drawing = Drawing::default();
        drawing.text((MARGIN, 30.0), &self.title, Anchor::Start, TITLE);
        let mut top = 50.0;
        for line in &self.subtitle {
            drawing.text((MARGIN, top), line, Anchor::Start, SUBTITLE);
            top += 17.0;
        }
        top += 8.0;
        for (column, lines) in self.columns.iter().enumerate() {
            for (line, words) in lines.iter().enumerate() {
                let place = (left(column) + 0.5 * TILE.0, top + 14.0 * line as f64);
                drawing.text(place, words, Anchor::Middle, NAME);
            }
        }
        top += 14.0 * self.columns.iter().map(Vec::len).max().unwrap_or(0) as f64;
        let below = |row: usize| top + row as f64 * (TILE.1 + GAP);
        for (row, name) in self.rows.iter().enumerate() {
            drawing.text((MARGIN, below(row) + 0.5 * TILE.1 + 4.0), name, Anchor::Start, NAME);
        }
        for (place, tile) in self.tiles.iter().enumerate() {
            let (row, column) = (place / self.columns.len().max(1), place % self.columns.len().max(1));
            self.tile(&mut drawing, tile, (left(column), below(row)), column == 0);
        }
        let (bottom, width) = (below(self.rows.len()), left(self.columns.len()) + MARGIN - GAP);
        let labels = format!("{} →, {} ↑", self.x.label, self.y.label);
        drawing.text((left(0), bottom + 8.0), &labels, Anchor::Start, SUBTITLE);
        drawing.finish((width.max(560.0), bottom + 22.0))
    }

    fn tile(&self, drawing: &mut Drawing, tile: &Tile, (x0, y1): (f64, f64), numbered: bool) {
        let (x1, y0) = (x0 + TILE.0, y1 + TILE.1);
        let series = match tile {
            Tile::Plot(series) => series,
            Tile::Words(words) => {
                let place = (0.5 * (x0 + x1), 0.5 * (y0 + y1) + 3.0);
                return drawing.text(place, words, Anchor::Middle, SMALL);
            }
        };
        let points = || series.iter().flat_map(|series| &series.points);
        let x = Scale::new(&self.x, points().map(|point| point.x), (x0, x1));
        let y = Scale::new(&self.y, points().map(|point| point.y), (y0, y1));
        for series in series {
            Brush { series, x: &x, y: &y }.draw(drawing, None);
        }
        drawing.path(&[(x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0)], (PALE, 0.8), false);
        if numbered {
            for (value, label) in y.ticks() {
                let Some(place) = y.place(value) else { continue };
                drawing.text((x0 - 5.0, place + 3.2), &label, Anchor::End, SMALL);
            }
        }
    }
}

/// Left edge of a column.
fn left(column: usize) -> f64 {
    MARGIN + LEFT + column as f64 * (TILE.0 + GAP)
}
