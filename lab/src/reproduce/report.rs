//! What results say beside what was published.

use std::fmt;

use serde::Serialize;

use crate::metrics::Estimate;
use organza_studies::plot::Figure;

/// What a paper states.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Published {
    /// A number.
    Number(f64),
    /// An interval.
    Interval([f64; 2]),
    /// A statement, or nothing.
    Text(String),
}

impl fmt::Display for Published {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Published::Number(value) => write!(formatter, "{}", number(*value)),
            Published::Interval([low, high]) => write!(formatter, "{} to {}", number(*low), number(*high)),
            Published::Text(text) => write!(formatter, "{text}"),
        }
    }
}

/// How ours compares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The same within error.
    Agrees,
    /// Better than published, beyond error.
    Better,
    /// Worse than published, beyond error.
    Worse,
    /// Another number, for a reason.
    Differs(String),
}

impl Verdict {
    /// For a figure that is better when it is smaller: agrees within three standard errors, those of both sides and of the rounding of
    /// the published number together.
    pub fn of_error(published: f64, published_error: f64, ours: Estimate) -> Self {
        let error = libm::hypot(published_error, ours.standard_error);
        match ours.value - published {
            distance if distance.abs() <= 3.0 * error => Verdict::Agrees,
            distance if distance < 0.0 => Verdict::Better,
            _ => Verdict::Worse,
        }
    }

    /// For a statement: agrees if it holds, else differs for this reason.
    pub fn of_statement(holds: bool, reason: impl Into<String>) -> Self {
        if holds { Verdict::Agrees } else { Verdict::Differs(reason.into()) }
    }

    /// The same, but a difference has this reason.
    pub fn because(self, reason: &str) -> Self {
        match self {
            Verdict::Worse | Verdict::Better => Verdict::Differs(format!("{}, {reason}", self.word())),
            other => other,
        }
    }

    /// `agrees`, `better`, `worse` or `differs`.
    pub fn word(&self) -> &'static str {
        match self {
            Verdict::Agrees => "agrees",
            Verdict::Better => "better",
            Verdict::Worse => "worse",
            Verdict::Differs(_) => "differs",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Differs(reason) => write!(formatter, "differs: {reason}"),
            other => formatter.write_str(other.word()),
        }
    }
}

impl Serialize for Verdict {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// One comparison.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Line {
    /// Place in the paper and quantity, for instance "Table 1, PowerPlant, J = 5, adaSSP"; unique in its report.
    pub place: String,
    /// What the paper states there.
    pub published: Published,
    /// What we found.
    pub ours: f64,
    /// Standard error of ours over replicates.
    pub standard_error: f64,
    /// How they compare.
    pub verdict: Verdict,
}

impl Line {
    /// A comparison; semicolons and bars have no place in a table.
    pub fn new(place: impl Into<String>, published: Published, ours: Estimate, verdict: Verdict) -> Self {
        let place = place.into().replace(['|', ';'], "/");
        Self { place, published, ours: ours.value, standard_error: ours.standard_error, verdict }
    }

    /// The cells of a table.
    pub fn cells(&self) -> [String; 5] {
        let error = if self.standard_error > 0.0 { two_digits(self.standard_error) } else { "0".to_string() };
        [self.place.clone(), self.published.to_string(), number(self.ours), error, self.verdict.to_string()]
    }
}

/// A table of numbers without a published counterpart.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Table {
    /// What it shows.
    pub title: String,
    /// Names of its columns.
    pub head: Vec<String>,
    /// Its rows.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// The table as Markdown.
    pub fn to_markdown(&self) -> String {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let rule = line(&vec!["---".to_string(); self.head.len()]);
        let rows: String = self.rows.iter().map(|row| line(row)).collect();
        format!("{}:\n\n{}{rule}{rows}\n", self.title, line(&self.head))
    }
}

/// All comparisons of an experiment, a picture and words.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Report {
    /// The comparisons.
    pub lines: Vec<Line>,
    /// The picture.
    #[serde(skip)]
    pub figure: Option<Figure>,
    /// Further tables, for numbers that were not published.
    pub tables: Vec<Table>,
    /// What a reader should know, one paragraph each.
    pub notes: Vec<String>,
}

/// Three digits that count.
pub fn number(value: f64) -> String {
    digits(value, 3)
}

fn two_digits(value: f64) -> String {
    digits(value, 2)
}

fn digits(value: f64, count: i32) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let magnitude = value.abs().log10().floor() as i32;
    match magnitude {
        -4..5 => format!("{value:.*}", (count - 1 - magnitude).max(0) as usize),
        _ => format!("{value:.*e}", (count - 1).max(0) as usize),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_look_at_both_errors() {
        let ours = |value: f64| Estimate { value, standard_error: 0.03 };
        assert_eq!(Verdict::of_error(1.0, 0.04, ours(1.149)), Verdict::Agrees);
        assert_eq!(Verdict::of_error(1.0, 0.04, ours(1.151)), Verdict::Worse);
        assert_eq!(Verdict::of_error(1.0, 0.04, ours(0.849)), Verdict::Better);
        let reason = Verdict::of_error(1.0, 0.0, ours(2.0)).because("noise");
        assert_eq!(reason.to_string(), "differs: worse, noise");
        assert_eq!(Verdict::Agrees.because("noise"), Verdict::Agrees);
    }

    #[test]
    fn numbers_are_short() {
        let shown: Vec<String> = [0.01286, 1.0, 123_456.0, 2.92e-5, 0.0].map(number).into();
        assert_eq!(shown, ["0.0129", "1.00", "1.23e5", "2.92e-5", "0"]);
    }
}
