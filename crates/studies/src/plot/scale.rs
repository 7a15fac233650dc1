//! Axes: from values to places, and where to put ticks.

/// One axis of a panel.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// What it shows.
    pub label: String,
    /// Whether equal ratios have equal lengths.
    pub logarithmic: bool,
    /// From where to where; none fits the data.
    pub range: Option<[f64; 2]>,
    /// Names of the places 0, 1, 2, .. instead of numbers.
    pub categories: Vec<String>,
}

impl Axis {
    /// Equal differences have equal lengths.
    pub fn linear(label: &str) -> Self {
        Self { label: label.into(), logarithmic: false, range: None, categories: Vec::new() }
    }

    /// Equal ratios have equal lengths; values that are not positive are left out.
    pub fn log(label: &str) -> Self {
        Self { logarithmic: true, ..Self::linear(label) }
    }

    /// Names at the places 0, 1, 2, ..
    pub fn categories(label: &str, names: &[&str]) -> Self {
        let categories = names.iter().map(ToString::to_string).collect();
        Self { categories, ..Self::linear(label) }
    }

    /// The same from here to there.
    pub fn between(self, low: f64, high: f64) -> Self {
        Self { range: Some([low, high]), ..self }
    }
}

/// An axis fitted to data and to a length on the page.
#[derive(Debug, Clone)]
pub(super) struct Scale {
    logarithmic: bool,
    low: f64,
    high: f64,
    start: f64,
    end: f64,
}

impl Scale {
    /// An axis for these values, on the page from `start` to `end`.
    pub fn new(axis: &Axis, values: impl Iterator<Item = f64>, (start, end): (f64, f64)) -> Self {
        let usable = |value: &f64| value.is_finite() && (!axis.logarithmic || *value > 0.0);
        let (mut low, mut high) =
            values.filter(usable).fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
        if let Some([first, last]) = axis.range {
            (low, high) = (first, last);
        } else if !axis.categories.is_empty() {
            (low, high) = (-0.6, axis.categories.len() as f64 - 0.4);
        } else if !low.is_finite() {
            (low, high) = if axis.logarithmic { (0.1, 1.0) } else { (0.0, 1.0) };
        } else if axis.logarithmic {
            let room = ((high / low).log10() * 0.05).max(0.06);
            (low, high) = (low / 10_f64.powf(room), high * 10_f64.powf(room));
        } else {
            let room = if high > low { 0.05 * (high - low) } else { 0.5 * high.abs().max(1.0) };
            // An axis that begins near zero begins at zero.
            let first = if low >= 0.0 && low < 0.5 * high { 0.0 } else { low - room };
            (low, high) = (first, high + room);
        }
        Self { logarithmic: axis.logarithmic, low, high, start, end }
    }

    /// Place of a value; none if it cannot be shown. What lies beyond the axis is moved to its edge.
    pub fn place(&self, value: f64) -> Option<f64> {
        if value.is_nan() || (self.logarithmic && value <= 0.0) {
            return None;
        }
        let [value, low, high] = match self.logarithmic {
            true => [value.log10(), self.low.log10(), self.high.log10()],
            false => [value, self.low, self.high],
        };
        let share = ((value - low) / (high - low)).clamp(0.0, 1.0);
        Some(self.start + share * (self.end - self.start))
    }

    /// Whether equal ratios have equal lengths.
    pub fn is_logarithmic(&self) -> bool {
        self.logarithmic
    }

    /// Where bars stand.
    pub fn base(&self) -> f64 {
        if self.logarithmic { self.low } else { self.low.max(0.0).min(self.high) }
    }

    /// Values and labels of about five ticks.
    pub fn ticks(&self) -> Vec<(f64, String)> {
        let values = if self.logarithmic { self.log_ticks() } else { self.linear_ticks() };
        values.into_iter().map(|value| (value, tick_label(value))).collect()
    }

    fn linear_ticks(&self) -> Vec<f64> {
        let rough = (self.high - self.low) / 4.5;
        let unit = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * unit).into_iter().find(|step| *step >= rough);
        let step = step.unwrap_or(10.0 * unit);
        let first = (self.low / step - 1e-9).ceil() as i64;
        let last = (self.high / step + 1e-9).floor() as i64;
        // Rounded to the digits of the step: 0.1 + 0.2 is 0.3.
        (first..=last).map(|k| (k as f64 * step / unit).round() * unit).collect()
    }

    fn log_ticks(&self) -> Vec<f64> {
        let decades = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
        let span = (self.high / self.low).log10();
        let factors: &[f64] = if span < 1.0 {
            &[1.0, 2.0, 3.0, 5.0, 7.0]
        } else if span < 2.2 {
            &[1.0, 3.0]
        } else {
            &[1.0]
        };
        let every = if span > 6.0 { (span / 5.0).ceil() as i32 } else { 1 };
        decades
            .filter(|decade| decade.rem_euclid(every) == 0)
            .flat_map(|decade| factors.iter().map(move |factor| factor * 10_f64.powi(decade)))
            .filter(|value| (self.low * (1.0 - 1e-9)..=self.high * (1.0 + 1e-9)).contains(value))
            .collect()
    }
}

/// A short number; far from 1 a power of ten with a raised exponent.
fn tick_label(value: f64) -> String {
    let magnitude = if value == 0.0 { 0 } else { (value.abs().log10() + 1e-9).floor() as i32 };
    if !(-3..5).contains(&magnitude) {
        let mantissa = value / 10_f64.powi(magnitude);
        let raised: String = magnitude.to_string().chars().map(superscript).collect();
        let front =
            if (mantissa - 1.0).abs() < 1e-9 { String::new() } else { format!("{}·", plain(mantissa)) };
        return format!("{front}10{raised}");
    }
    plain(value)
}

fn plain(value: f64) -> String {
    let text = format!("{value:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.replace('-', "−") }
}

fn superscript(digit: char) -> char {
    match digit {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        digit => digit.to_digit(10).and_then(|value| char::from_u32(0x2070 + value)).unwrap_or(digit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis, values: &[f64]) -> Vec<String> {
        let scale = Scale::new(axis, values.iter().copied(), (0.0, 100.0));
        scale.ticks().into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(labels(&Axis::linear("x"), &[0.0, 1.0]), ["0", "0.5", "1"]);
        assert_eq!(labels(&Axis::linear("x"), &[-3.0, 3.0]), ["−2", "0", "2"]);
        assert_eq!(labels(&Axis::log("x"), &[0.1, 10.0]), ["0.1", "1", "10"]);
        assert_eq!(labels(&Axis::log("x"), &[1e-6, 1e-4]), ["10⁻⁶", "10⁻⁵", "10⁻⁴"]);
    }

    #[test]
    fn places_are_proportional() {
        let scale = Scale::new(&Axis::log("x").between(1.0, 100.0), [].into_iter(), (0.0, 50.0));
        assert_eq!(scale.place(10.0), Some(25.0));
        assert_eq!((scale.place(0.0), scale.place(1e9)), (None, Some(50.0)));
        // Downwards on the page.
        let scale = Scale::new(&Axis::linear("y").between(0.0, 4.0), [].into_iter(), (80.0, 0.0));
        assert_eq!((scale.place(1.0), scale.base()), (Some(60.0), 0.0));
    }
}
