//! What a picture must hold.

use super::{Axis, Figure, Grid, Mark, Panel, Series, Tile};

fn count(text: &str, word: &str) -> usize {
    text.matches(word).count()
}

#[test]
fn lines_points_and_errors_are_drawn() {
    let series = Series::new("a & b", 0, Mark::Line, vec![(0.1, 1.0), (1.0, 2.0), (10.0, f64::NAN)])
        .with_errors(&[0.1, 0.0, 0.0]);
    let rule = Series::new("published", 6, Mark::Rule, vec![(0.1, 1.5), (10.0, 1.5)]);
    let panel = Panel::new("d < 2", Axis::log("ε"), Axis::linear("error"), vec![rule, series]);
    let svg = Figure::new("Title", vec![panel.clone(), panel]).with_subtitle("words").to_svg();
    assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
    // Two of three points in each of two panels, and one in the legend.
    assert_eq!(count(&svg, "<circle"), 5);
    assert_eq!(count(&svg, "a &amp; b"), 1, "one entry for both panels");
    assert!(svg.contains("d &lt; 2") && svg.contains("words"));
}

/// Catches bars on top of each other, and heights that forget the base.
#[test]
fn bars_stand_side_by_side() {
    let bars = |name: &str, colour: usize, height: f64| {
        Series::new(name, colour, Mark::Bars, vec![(0.0, height), (1.0, height)])
    };
    let axis = Axis::categories("data", &["one", "two"]);
    let panel = Panel::new("", axis, Axis::linear("mse"), vec![bars("a", 0, 1.0), bars("b", 1, 2.0)]);
    let svg = Figure::new("t", vec![panel]).to_svg();
    let mut lefts: Vec<&str> = svg
        .lines()
        .filter(|line| line.starts_with("<rect x="))
        .filter_map(|line| line.split('"').nth(1))
        .collect();
    assert_eq!(lefts.len(), 4 + 2, "four bars, two entries of the legend");
    lefts.sort_unstable();
    lefts.dedup();
    assert_eq!(lefts.len(), 6);
}

#[test]
fn histograms_count() {
    let series = Series::histogram("h", 0, &[0.0, 0.1, 0.6, 1.0, 7.0], (2, [0.0, 1.0]));
    let heights: Vec<(f64, f64)> = series.points.iter().map(|point| (point.x, point.y)).collect();
    assert_eq!(heights, [(0.0, 2.0), (0.5, 2.0), (1.0, 0.0)]);
}

/// Catches an error bar that leaves a logarithmic axis: an error larger than the value would stretch it down to nothing.
#[test]
fn error_bars_on_a_logarithmic_axis_are_symmetric() {
    let series = Series::new("a", 0, Mark::Points, vec![(1.0, 1.0)]).with_errors(&[3.0]);
    let panel = Panel::new("", Axis::linear("x"), Axis::log("y").between(0.1, 10.0), vec![series]);
    let svg = Figure::new("t", vec![panel]).to_svg();
    let numbers = |line: &str| -> Vec<f64> { line.split('"').filter_map(|word| word.parse().ok()).collect() };
    let bar =
        svg.lines().find(|line| line.starts_with("<line") && line.contains("#0072B2")).map(numbers).unwrap();
    let point = svg.lines().find(|line| line.starts_with("<circle")).map(numbers).unwrap();
    assert!((bar[1] + bar[3] - 2.0 * point[1]).abs() < 0.3 && bar[1] > point[1] + 10.0, "{bar:?} {point:?}");
}

/// Catches a band that is drawn as a line, or whose edges cross: the upper edge runs back.
#[test]
fn bands_are_filled_and_go_around() {
    let band = Series::band("band", 2, &[(0.0, 1.0), (1.0, 2.0)], &[(0.0, 3.0), (1.0, 5.0)]);
    let around: Vec<(f64, f64)> = band.points.iter().map(|point| (point.x, point.y)).collect();
    assert_eq!(around, [(0.0, 1.0), (1.0, 2.0), (1.0, 5.0), (0.0, 3.0)]);
    let curve = Series::new("curve", 0, Mark::Curve, vec![(0.0, 2.0), (1.0, 3.0)]);
    let panel = Panel::new("", Axis::linear("x"), Axis::linear("y"), vec![band, curve]);
    let svg = Figure::new("t", vec![panel]).to_svg();
    assert_eq!(count(&svg, "<polygon"), 1);
    assert_eq!(count(&svg, "<circle"), 0, "curves have no points");
}

#[test]
fn grids_have_a_frame_for_every_plot() {
    let curve = Series::new("", 0, Mark::Curve, vec![(0.0, 0.0), (1.0, 0.1)]);
    let grid = Grid {
        title: "t".into(),
        subtitle: vec!["one".into(), "two".into()],
        rows: vec!["a".into(), "b".into()],
        columns: vec![vec!["n = 20".into(), "J = 1".into()]],
        tiles: vec![Tile::Plot(vec![curve]), Tile::Words("too slow".into())],
        x: Axis::linear("rank").between(0.0, 1.0),
        y: Axis::linear("difference").between(-0.2, 0.2),
    };
    let svg = grid.to_svg();
    assert_eq!(count(&svg, "<polyline"), 2, "a curve and its frame");
    assert!(["n = 20", "J = 1", "too slow", "one", "two"].iter().all(|word| svg.contains(word)));
}

/// Points at one place stay within the factor, in both directions, and no two coincide.
#[test]
fn scattered_points_are_apart() {
    let series = Series::new("a", 0, Mark::Points, vec![(10.0, 1.0); 50]).scattered(1.5);
    let mut places: Vec<f64> = series.points.iter().map(|point| point.x).collect();
    places.sort_by(f64::total_cmp);
    let reach = 1.5_f64.sqrt();
    assert!(places[0] < 9.0 && places[0] >= 10.0 / reach && places[49] > 11.0 && places[49] <= 10.0 * reach);
    assert!(places.windows(2).all(|pair| pair[1] - pair[0] > 0.01), "{places:?}");
}
