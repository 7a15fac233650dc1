//! Panels on a page.

use super::legend;
use super::panel::{Frame, Panel};
use super::svg::{Anchor, Drawing, Font};

/// A picture of panels with a common legend.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Above everything.
    pub title: String,
    /// In smaller letters below it.
    pub subtitle: String,
    /// Left to right, top to bottom.
    pub panels: Vec<Panel>,
    /// Panels of a row.
    pub columns: usize,
}

const PANEL: (f64, f64) = (310.0, 250.0);
const MARGIN: f64 = 14.0;
const TITLE: Font = Font { size: 16.0, bold: true, colour: "#1A1A1A" };
const SUBTITLE: Font = Font { size: 12.0, bold: false, colour: "#555555" };

impl Figure {
    /// Panels in rows of three.
    pub fn new(title: &str, panels: Vec<Panel>) -> Self {
        let columns = panels.len().clamp(1, 3);
        Self { title: title.into(), subtitle: String::new(), panels, columns }
    }

    /// The same with words below the title.
    pub fn with_subtitle(self, subtitle: &str) -> Self {
        Self { subtitle: subtitle.into(), ..self }
    }

    /// The same with so many panels in a row.
    pub fn in_columns(self, columns: usize) -> Self {
        Self { columns: columns.max(1), ..self }
    }

    /// The picture.
    pub fn to_svg(&self) -> String {
        let mut drawing = Drawing::default();
        let rows = self.panels.len().div_ceil(self.columns);
        let width = (self.columns as f64 * PANEL.0).max(560.0) + 2.0 * MARGIN;
        let mut y = 30.0;
        drawing.text((MARGIN, y), &self.title, Anchor::Start, TITLE);
        if !self.subtitle.is_empty() {
            y += 20.0;
            drawing.text((MARGIN, y), &self.subtitle, Anchor::Start, SUBTITLE);
        }
        y += 14.0;
        for (index, panel) in self.panels.iter().enumerate() {
            let (row, column) = (index / self.columns, index % self.columns);
            let (left, top) = (MARGIN + column as f64 * PANEL.0, y + row as f64 * PANEL.1);
            panel.draw(&mut drawing, Frame { left, top, width: PANEL.0, height: PANEL.1 });
        }
        y += rows as f64 * PANEL.1 + 16.0;
        let entries = legend::entries(self.panels.iter().flat_map(|panel| &panel.series));
        for line in legend::lines(&entries, width - 2.0 * MARGIN - 40.0) {
            for (x, series) in line {
                legend::draw(&mut drawing, (MARGIN + 40.0 + x, y), series);
            }
            y += legend::LINE;
        }
        drawing.finish((width, y + 4.0))
    }
}
