//! Rank histograms and differences of distributions, parameter by parameter.

use super::report::band;
use super::{Band, Calibration, Outcome, points};
use crate::metrics::Binomial;
use crate::plot::{Axis, Figure, Mark, Panel, Series};

/// Colours: ranks, their band, and what leaves it.
const FINE: usize = 0;
const WARNING: usize = 1;
const GREY: usize = 6;
/// Each bin alone is inside its range this often.
const BIN_MASS: f64 = 0.99;

/// One row of two panels for each parameter.
pub fn picture(calibration: &Calibration, outcome: &Outcome) -> String {
    let request = calibration.request();
    let parameters = outcome.ranks.names().len();
    let band = band(outcome, parameters);
    let panels =
        (0..parameters).flat_map(|place| [histogram(outcome, place), difference(&band, outcome, place)]);
    let parties = if request.parties == 1 { "party" } else { "parties" };
    let subtitle = format!(
        "{} studies of {} {parties} with n = {}, epsilon {}; {}",
        request.replicates,
        request.parties,
        request.records,
        request.loss.0,
        calibration.data().description()
    );
    Figure::new(&format!("Calibration of {}", request.method), panels.collect())
        .in_columns(2)
        .with_subtitle(&subtitle)
        .to_svg()
}

fn histogram(outcome: &Outcome, place: usize) -> Panel {
    let ranks = &outcome.ranks;
    let (counts, possible) = (ranks.histogram(place), ranks.draws() as f64 + 1.0);
    let (bins, replicates) = (counts.len(), ranks.replicates());
    let law = Binomial::up_to(replicates);
    let [low, high] = law.range(replicates, 1.0 / bins as f64, 0.5 * (1.0 - BIN_MASS));
    let flat = |count: usize| [(0.0, count as f64), (possible, count as f64)];
    let edges =
        counts.iter().enumerate().map(|(bin, count)| (bin as f64 * possible / bins as f64, *count as f64));
    let bars = Series::new("ranks", FINE, Mark::Histogram, edges.chain([(possible, 0.0)]).collect());
    let range = Series::band("99 percent of the counts of one bin", GREY, &flat(low), &flat(high));
    let tallest = counts.iter().copied().max().unwrap_or(0).max(high) as f64;
    let y = Axis::linear("replicates").between(0.0, 1.08 * tallest);
    let x = Axis::linear("rank of the truth").between(0.0, possible);
    Panel::new(&ranks.names()[place], x, y, vec![range, bars])
}

fn difference(band: &Band, outcome: &Outcome, place: usize) -> Panel {
    let ranks = &outcome.ranks;
    let below = ranks.below(place, points(ranks.draws()));
    let series = curves(band, &below, ["ranks inside the band", "ranks outside"]);
    let x = Axis::linear("rank over draws").between(0.0, 1.0);
    let edge = band.edge(true).into_iter().map(|(_, height)| height).fold(0.0, f64::max);
    let reach = 1.15 * band.largest_deviation(&below).max(edge);
    Panel::new(&ranks.names()[place], x, Axis::linear("ECDF - uniform").between(-reach, reach), series)
}

/// The band and a distribution, in the colour of a warning if it leaves it.
pub(super) fn curves(band: &Band, below: &[usize], names: [&str; 2]) -> Vec<Series> {
    let (name, colour) = if band.holds(below) { (names[0], FINE) } else { (names[1], WARNING) };
    let area = Series::band("simultaneous band", GREY, &band.edge(false), &band.edge(true));
    vec![area, Series::new(name, colour, Mark::Curve, band.curve(below))]
}
