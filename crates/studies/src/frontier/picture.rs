//! Width, error and coverage against epsilon.

use super::report::{Point, Report};
use crate::plot::{Axis, Figure, Mark, Panel, Series};

const PRIVATE: usize = 0;
const BARE: usize = 6;

impl Report {
    /// Three panels: width and error with logarithmic axes and bands from the tenth to the ninetieth percentile, and coverage.
    pub fn to_svg(&self) -> String {
        let epsilon = || Axis::log("epsilon");
        let width = self.curve(&|point| (point.width, point.width_range));
        let error = self.curve(&|point| (point.rmse, point.rmse_range));
        let panels = vec![
            Panel::new("Width of intervals", epsilon(), Axis::log("standardised width"), width),
            Panel::new("Error of slopes", epsilon(), Axis::log("standardised error"), error),
            Panel::new(
                "Coverage",
                epsilon(),
                Axis::linear("share that holds the truth").between(0.0, 1.0),
                self.coverage(),
            ),
        ];
        let parties =
            if self.parties == 1 { "party".to_string() } else { format!("each of {} parties", self.parties) };
        let subtitle = format!(
            "{} records in {parties}, {} features, R² = {}, delta = {:e}; default mechanism, fitted by {}; {} simulated studies",
            self.records, self.features, self.r_squared, self.delta, self.method, self.replicates
        );
        Figure::new("What epsilon buys", panels).with_subtitle(&subtitle).to_svg()
    }

    /// Points with an epsilon, and the one without privacy.
    fn split(&self) -> (Vec<(f64, &Point)>, Option<&Point>) {
        let private = self.points.iter().filter_map(|point| Some((point.epsilon?, point))).collect();
        (private, self.points.iter().find(|point| point.epsilon.is_none()))
    }

    fn curve(&self, of: &dyn Fn(&Point) -> (f64, [f64; 2])) -> Vec<Series> {
        let (private, bare) = self.split();
        let line = |measure: &dyn Fn(&Point) -> f64| {
            private.iter().map(|(epsilon, point)| (*epsilon, measure(point))).collect::<Vec<_>>()
        };
        let (low, high) = (line(&|point| of(point).1[0]), line(&|point| of(point).1[1]));
        let mut series = vec![
            Series::band("10 to 90 percent of the studies", PRIVATE, &low, &high),
            Series::new("with privacy", PRIVATE, Mark::Line, line(&|point| of(point).0)),
        ];
        series.extend(bare.map(|point| flat("without privacy", BARE, of(point).0, &private)));
        series
    }

    fn coverage(&self) -> Vec<Series> {
        let (private, _) = self.split();
        let points = private.iter().map(|(epsilon, point)| (*epsilon, point.coverage)).collect();
        let errors: Vec<f64> = private.iter().map(|(_, point)| point.coverage_error).collect();
        let line = Series::new("with privacy", PRIVATE, Mark::Line, points).with_errors(&errors);
        vec![flat("nominal", 2, self.level, &private), line]
    }
}

/// A horizontal line over all losses.
fn flat(name: &str, colour: usize, height: f64, private: &[(f64, &Point)]) -> Series {
    let ends = [private.first(), private.last()].into_iter().flatten();
    Series::new(name, colour, Mark::Rule, ends.map(|(epsilon, _)| (*epsilon, height)).collect())
}
