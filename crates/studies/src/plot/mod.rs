//! Small pictures for pages and talks, as SVG: panels with lines, points, bars, histograms or areas, error bars, log scales, one legend; and
//! grids of many small panels.
//!
//! ```
//! use organza_studies::plot::{Axis, Figure, Mark, Panel, Series};
//! let line = Series::new("marginal", 0, Mark::Line, vec![(0.1, 0.5), (1.0, 0.05)]).with_errors(&[0.02, 0.001]);
//! let panel = Panel::new("d = 2", Axis::log("epsilon"), Axis::log("error"), vec![line]);
//! let picture = Figure::new("Error against epsilon", vec![panel]).to_svg();
//! assert!(picture.starts_with("<svg"));
//! ```

mod figure;
mod grid;
mod legend;
mod panel;
mod scale;
mod series;
mod svg;

pub use figure::Figure;
pub use grid::{Grid, Tile};
pub use panel::Panel;
pub use scale::Axis;
pub use series::{Mark, Point, Series};

/// Colours that people with any colour vision tell apart (Okabe and Ito 2008), on white.
pub(crate) const PALETTE: [&str; 8] =
    ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#4D4D4D", "#8C6BB1"];

/// Colour of a series.
pub(crate) fn colour(index: usize) -> &'static str {
    PALETTE[index % PALETTE.len()]
}

#[cfg(test)]
mod tests;
