//! One legend for all panels.

use super::colour;
use super::panel::AREA;
use super::series::{Mark, Series};
use super::svg::{Anchor, Drawing, Font};

const FONT: Font = Font { size: 12.0, bold: false, colour: "#333333" };
/// Height of a line of the legend.
pub(super) const LINE: f64 = 20.0;

/// Entries in order of first appearance; series without a name have none.
pub(super) fn entries<'s>(series: impl Iterator<Item = &'s Series>) -> Vec<&'s Series> {
    let mut found: Vec<&Series> = Vec::new();
    for each in series {
        if !each.name.is_empty() && found.iter().all(|known| known.name != each.name) {
            found.push(each);
        }
    }
    found
}

/// Entries put into lines of at most this width, with their places from the left.
pub(super) fn lines<'s>(entries: &[&'s Series], width: f64) -> Vec<Vec<(f64, &'s Series)>> {
    let (mut lines, mut at) = (vec![Vec::new()], 0.0);
    for entry in entries {
        let needs = 48.0 + 6.6 * entry.name.chars().count() as f64;
        if at > 0.0 && at + needs > width {
            lines.push(Vec::new());
            at = 0.0;
        }
        if let Some(line) = lines.last_mut() {
            line.push((at, *entry));
        }
        at += needs;
    }
    lines
}

/// Draws one entry.
pub(super) fn draw(drawing: &mut Drawing, (x, y): (f64, f64), series: &Series) {
    let ink = colour(series.colour);
    match series.mark {
        Mark::Line | Mark::Curve => drawing.path(&[(x, y), (x + 22.0, y)], (ink, 1.8), false),
        Mark::Rule => drawing.path(&[(x, y), (x + 22.0, y)], (ink, 1.4), true),
        Mark::Bars | Mark::Histogram => drawing.rectangle((x + 5.0, y - 5.5), (12.0, 11.0), (ink, 0.9)),
        Mark::Area => drawing.rectangle((x, y - 5.5), (22.0, 11.0), (ink, AREA)),
        Mark::Points => {}
    }
    if matches!(series.mark, Mark::Line | Mark::Points) {
        drawing.point((x + 11.0, y), series.colour);
    }
    drawing.text((x + 28.0, y + 4.2), &series.name, Anchor::Start, FONT);
}
