//! Calibration and frontier as a library: what they find must be true.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

use organza_infer::Method;
use organza_studies::Watch;
use organza_studies::calibration::{Calibration, Data, Matrix, Report, Request};
use organza_studies::frontier::{Design, Frontier, Point, Report as FrontierReport};
use organza_studies::metrics::Binomial;

fn calibrate(request: Request) -> Report {
    let calibration = Calibration::new(request).unwrap();
    Report::new(&calibration, &calibration.run(&Watch::default()).unwrap())
}

fn frontier(design: Design) -> Vec<Point> {
    let frontier = Frontier::new(design).unwrap();
    FrontierReport::new(&frontier, &frontier.run(&Watch::default()).unwrap()).points
}

/// p-values of ranks on the method's own model, alpha = 1e-6 over all. Catches features beyond two, an intercept or parties that the
/// simulation and the model do not share. Ranks of a wrong model are seen by the same test: `naive`, and `fixed-gram` off its model.
#[test]
fn ranks_are_uniform_where_the_model_is_right() {
    let of = |method: Method| Request { replicates: 100, ..Request::new(method) };
    let fine = [
        Request { features: 4, parties: 3, intercept: true, ..of(Method::FixedGram) },
        Request { features: 3, records: 50, ..of(Method::Fast) },
    ];
    let reports: Vec<Report> = fine.into_iter().map(calibrate).collect();
    let count = reports.iter().map(|report| report.rows.len()).sum::<usize>() as f64;
    for report in &reports {
        let worst = report.rows.iter().map(|row| row.p_value).fold(1.0, f64::min);
        assert!(worst > 1e-6 / count, "{report:?}");
    }
    let bad = [
        of(Method::Naive),
        Request { data: Some(Data::Records), records: 2000, replicates: 300, ..of(Method::FixedGram) },
    ];
    for report in bad.into_iter().map(calibrate) {
        assert!(!report.calibrated && report.rows[0].p_value < 1e-6, "{report:?}");
    }
}

#[test]
fn an_interruption_ends_with_an_error() {
    let stop = std::sync::atomic::AtomicBool::new(true);
    let watch = Watch { interrupted: Some(&stop), ..Watch::default() };
    let calibration = Calibration::new(Request::new(Method::Fast)).unwrap();
    assert!(calibration.run(&watch).unwrap_err().to_string().contains("interrupted"));
    let design = Design { records: 100, features: 1, ..Design::default() };
    assert!(Frontier::new(design).unwrap().run(&watch).unwrap_err().to_string().contains("interrupted"));
}

/// Latent records beyond twenty are left out of the matrix, and the picture says so.
#[test]
fn a_matrix_leaves_out_what_is_too_slow() {
    let like = Request { replicates: 20, draws: 9, ..Request::new(Method::Fast) };
    let methods = [Method::Fast, Method::Augmentation];
    let matrix = Matrix::run(&methods, &like, &Watch::default()).unwrap();
    assert_eq!(matrix.reports().len(), 12 + 2);
    assert_eq!(matrix.to_svg().matches("too slow").count(), 10);
    assert!(!Matrix::methods().contains(&Method::AdaSsp));
}

/// Widths and errors fall with epsilon, and at a very large one nearly to what they are without privacy (a radius that lets go costs some percent). Catches
/// noise that does not follow epsilon, and units that differ between the two fits.
#[test]
fn widths_fall_to_those_without_privacy() {
    let epsilons = vec![0.1, 1.0, 50.0];
    let design =
        Design { records: 20_000, features: 2, fill: 0.3, epsilons, replicates: 10, ..Design::default() };
    let points = frontier(design);
    assert!(points.windows(2).all(|pair| pair[0].width > pair[1].width * 0.999), "{points:?}");
    assert!(points[0].rmse > 3.0 * points[2].rmse && points[0].ratio > 3.0, "{points:?}");
    let [.., largest, bare] = &points[..] else { panic!("{points:?}") };
    assert_eq!((bare.epsilon, bare.ratio), (None, 1.0));
    assert!((1.0..1.2).contains(&largest.ratio) && largest.prediction < 1.01, "{points:?}");
    // Without privacy a standardised slope has about the sd sqrt((1 - R^2) / n), times 1.05 for a correlation of 0.3.
    let expected = 2.0 * 1.96 * (0.5_f64 / 20_000.0).sqrt() * 1.048;
    assert!((bare.width / expected - 1.0).abs() < 0.05, "{} {expected}", bare.width);
}

/// Intervals hold the truth as often as they should: within binomial bounds at alpha = 1e-6 over all comparisons. Catches units of the truth that differ
/// from those of the fit.
#[test]
fn coverage_is_within_binomial_bounds() {
    let design = Design {
        records: 500,
        features: 2,
        parties: 2,
        epsilons: vec![1.0, 10.0],
        replicates: 24,
        level: 0.8,
        ..Design::default()
    };
    let points = frontier(design);
    let slopes = 48;
    let [low, high] = Binomial::up_to(slopes).range(slopes, 0.8, 0.5e-6 / 3.0);
    for point in &points {
        let held = (point.coverage * slopes as f64).round() as usize;
        assert!((low..=high).contains(&held), "{held} of {slopes}: {point:?}");
    }
}

/// Loose bounds need more noise for the same spread: catches bounds that do not follow the fill, and a fill that moves
/// what there is without privacy.
#[test]
fn looser_bounds_make_wider_intervals() {
    let at = |fill: f64| {
        let design = Design {
            records: 2000,
            features: 1,
            fill,
            epsilons: vec![1.0],
            replicates: 6,
            ..Design::default()
        };
        frontier(design)
    };
    let (tight, loose) = (at(0.3), at(0.1));
    assert!(loose[0].ratio > 2.0 * tight[0].ratio, "{loose:?} {tight:?}");
    assert!((loose[1].width / tight[1].width - 1.0).abs() < 0.1, "{loose:?} {tight:?}");
}
