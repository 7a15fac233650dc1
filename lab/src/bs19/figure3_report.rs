//! What the results of Figure 3 say.

use super::figure3::{EPSILONS, PARAMETERS, RECORDS, cell, column, methods};
use super::methods::Method;
use crate::metrics::{Estimate, KolmogorovSmirnov, coverage, kolmogorov_smirnov};
use crate::reproduce::{Line, Published, Report, Results, Table, Variant, Verdict, number};
use organza_studies::plot::{Axis, Figure, Mark, Panel, Series};

/// The budget of panels (a), (c) and (f), the number of records of (b) and (c).
const EPSILON: f64 = 0.1;
const FEW: u64 = 10;
/// Mass of the intervals of panel (d).
const MASS: f64 = 0.95;
/// Statistics that differ by less are near each other.
const NEAR: f64 = 0.1;
/// Trials behind the figures of the authors' code.
const TRIALS: f64 = 300.0;

/// A method with its coverage of slope, intercept and variance for n = 1,000 at epsilon 0.1 and at 1.
type Measured = (Method, [[f64; 3]; 2]);

/// The authors' code with its loose sensitivity; gibbs-noisy repaired.
const COVERAGE: [Measured; 2] = [
    (Method::GibbsUpdate, [[0.95, 0.81, 0.96], [0.94, 0.93, 0.95]]),
    (Method::GibbsNoisy, [[0.83, 0.80, 0.94], [0.85, 0.86, 0.94]]),
];
/// Posterior standard deviation of the intercept found by an independent program, gibbs-update, epsilon = 1, for each number of records: that sensitivity and the exact one.
const SPREADS: [[f64; 3]; 2] = [[0.96, 0.29, 0.13], [0.46, 0.13, 0.045]];

pub(super) fn report(variant: Variant, results: &Results) -> Report {
    let mut lines = calibration(variant, results);
    lines.extend(utility(variant, results));
    if variant == Variant::Published {
        lines.extend(authors_coverage(results));
    }
    if variant != Variant::Ours {
        lines.extend(spreads(variant, results));
    }
    let tables = vec![coverage_table(variant, results), spread_table(variant, results)];
    Report { lines, figure: Some(figure(variant, results)), tables, notes: notes(variant) }
}

/// Ranks of the truth of one parameter against the uniform law; none without trials.
fn uniformity(results: &Results, place: &str, method: Method, parameter: &str) -> Option<KolmogorovSmirnov> {
    let ranks = results.values(place, &column(method, &format!("{parameter} rank")));
    (!ranks.is_empty()).then(|| kolmogorov_smirnov(&ranks, |x| x))
}

/// The worst of the three parameters.
fn worst(results: &Results, place: &str, method: Method) -> Option<KolmogorovSmirnov> {
    let found = PARAMETERS.iter().filter_map(|name| uniformity(results, place, method, name));
    found.max_by(|a, b| a.statistic.total_cmp(&b.statistic))
}

/// Share of central intervals that hold the truth.
fn held(results: &Results, place: &str, method: Method, parameter: &str) -> Option<Estimate> {
    let ranks = results.values(place, &column(method, &format!("{parameter} rank")));
    let tail = 0.5 * (1.0 - MASS);
    let inside = ranks.iter().filter(|rank| (tail..=1.0 - tail).contains(*rank)).count();
    (!ranks.is_empty()).then(|| coverage(inside, ranks.len()))
}

fn cells() -> impl Iterator<Item = (u64, f64)> {
    RECORDS.into_iter().flat_map(|records| EPSILONS.map(|epsilon| (records, epsilon)))
}

/// "All four noise-aware methods are at or near the calibration-level of the non-private method, and better than Naive's calibration,
/// regardless of data size": statistic of the worst parameter.
fn calibration(variant: Variant, results: &Results) -> Vec<Line> {
    let mut lines = Vec::new();
    for (records, epsilon) in cells().filter(|(records, epsilon)| *epsilon == EPSILON || *records == FEW) {
        let place = cell(records, epsilon);
        let of = |method| worst(results, &place, method).map(|found| found.statistic);
        let (Some(exact), Some(naive)) = (of(Method::NonPrivate), of(Method::Naive)) else { continue };
        for method in methods(variant).iter().filter(|method| method.is_noise_aware()) {
            let Some(found) = of(*method) else { continue };
            let place = format!("Figure 3ab, n = {records}, epsilon = {epsilon}, {}, KS", method.name());
            let mut push = |beside: Method, text: String, holds: bool, why: &str| {
                let place = format!("{place} beside {}", beside.name());
                let verdict = Verdict::of_statement(holds, why);
                lines.push(Line::new(place, Published::Text(text), Estimate::exact(found), verdict));
            };
            let near = format!("near {}", number(exact));
            push(Method::NonPrivate, near, found <= exact + NEAR, "it is not near");
            push(Method::Naive, format!("below {}", number(naive)), found < naive, "not below Naive");
        }
    }
    lines
}

/// "The noise-aware methods provide at least as good utility as Naive": mean of the paired differences of MMD^2.
fn utility(variant: Variant, results: &Results) -> Vec<Line> {
    let mut lines = Vec::new();
    for (records, epsilon) in cells() {
        let place = cell(records, epsilon);
        let Some(naive) = results.mean(&place, &column(Method::Naive, "mmd")) else { continue };
        for method in methods(variant).iter().filter(|method| method.is_noise_aware()) {
            let Some(found) = results.mean(&place, &column(*method, "mmd")) else { continue };
            let error = libm::hypot(found.standard_error, naive.standard_error);
            let holds = found.value - naive.value <= 2.0 * error || error.is_nan();
            let verdict = Verdict::of_statement(holds, "above Naive");
            let where_ = format!("Figure 3e, n = {records}, epsilon = {epsilon}, {}, MMD^2", method.name());
            let text = format!("at most {} of Naive", number(naive.value));
            lines.push(Line::new(where_, Published::Text(text), found, verdict));
        }
    }
    lines
}

fn authors_coverage(results: &Results) -> Vec<Line> {
    let mut lines = Vec::new();
    for (method, both) in COVERAGE {
        for (epsilon, shares) in [0.1, 1.0].into_iter().zip(both) {
            for (name, share) in PARAMETERS.iter().zip(shares) {
                let Some(ours) = held(results, &cell(1000, epsilon), method, name) else { continue };
                let error = libm::hypot((share * (1.0 - share) / TRIALS).sqrt(), ours.standard_error);
                let holds = (ours.value - share).abs() <= 3.0 * error;
                let verdict = Verdict::of_statement(holds, "another coverage than the authors' code");
                let where_ = format!(
                    "Figure 3d (authors' code), n = 1000, epsilon = {epsilon}, {}, 95 % interval of the {name}",
                    method.name()
                );
                lines.push(Line::new(where_, Published::Number(share), ours, verdict));
            }
        }
    }
    lines
}

fn spreads(variant: Variant, results: &Results) -> Vec<Line> {
    let known = SPREADS[usize::from(variant == Variant::Claimed)];
    let line = |(records, known): (u64, f64)| {
        let ours = results.mean(&cell(records, 1.0), &column(Method::GibbsUpdate, "intercept sd"))?;
        // The known figures have two digits and errors of their own that nobody kept.
        let verdict = Verdict::of_error(known, 0.05 * known, ours);
        let where_ = format!(
            "posterior sd of the intercept, n = {records}, epsilon = 1, Gibbs-SS-Update (independent program)"
        );
        Some(Line::new(where_, Published::Number(known), ours, verdict))
    };
    RECORDS.into_iter().zip(known).filter_map(line).collect()
}

fn coverage_table(variant: Variant, results: &Results) -> Table {
    let mut rows = Vec::new();
    for (records, epsilon) in cells() {
        for method in methods(variant) {
            let of = |name: &str| held(results, &cell(records, epsilon), *method, name);
            let Some(found) = PARAMETERS.into_iter().map(of).collect::<Option<Vec<_>>>() else {
                continue;
            };
            let mut row = vec![records.to_string(), epsilon.to_string(), method.word().to_string()];
            row.extend(found.iter().map(|each| format!("{:.3}", each.value)));
            rows.push(row);
        }
    }
    let head = ["n", "epsilon", "method", "slope", "intercept", "variance"].map(str::to_string).into();
    Table { title: "Coverage of 95 percent intervals".into(), head, rows }
}

fn spread_table(variant: Variant, results: &Results) -> Table {
    let mut rows = Vec::new();
    for (records, epsilon) in cells() {
        for method in methods(variant) {
            let of =
                |name: &str| results.mean(&cell(records, epsilon), &column(*method, &format!("{name} sd")));
            let Some(found) = PARAMETERS.into_iter().map(of).collect::<Option<Vec<_>>>() else { continue };
            let mut row = vec![records.to_string(), epsilon.to_string(), method.word().to_string()];
            row.extend(found.iter().map(|each| number(each.value)));
            rows.push(row);
        }
    }
    let head = ["n", "epsilon", "method", "slope", "intercept", "variance"].map(str::to_string).into();
    Table { title: "Mean posterior standard deviation".into(), head, rows }
}

fn figure(variant: Variant, results: &Results) -> Figure {
    let mut panels = Vec::new();
    let ks = |name: &'static str| {
        move |place: &str, method| {
            uniformity(results, place, method, name).map(|found| Estimate::exact(found.statistic))
        }
    };
    let share = |name: &'static str| move |place: &str, method| held(results, place, method, name);
    let distance = |place: &str, method| results.mean(place, &column(method, "mmd"));
    let label = "KS statistic";
    panels.extend(PARAMETERS.map(|name| by_records(variant, &format!("(a) {name}"), label, ks(name))));
    panels.extend(PARAMETERS.map(|name| by_epsilon(variant, &format!("(b) {name}"), label, ks(name))));
    panels.extend(PARAMETERS.map(|name| ranks(variant, results, name)));
    panels
        .extend(PARAMETERS.map(|name| by_records(variant, &format!("(d) {name}"), "coverage", share(name))));
    panels.push(by_records(variant, "(e) discrepancy", "MMD²", distance));
    panels.push(by_epsilon(variant, "(e) discrepancy", "MMD²", distance));
    let title = match variant {
        Variant::Published => "[BS19] Figure 3 with the sensitivity of the authors' code",
        Variant::Claimed => "[BS19] Figure 3 with the exact sensitivity",
        Variant::Ours => "[BS19] Figure 3 with records cut to bounds that hold",
    };
    Figure::new(title, panels).in_columns(3).with_subtitle(
        "one feature and a constant; epsilon = 0.1 against n, n = 10 against epsilon; (c) distribution of the ranks, n = 10, epsilon = 0.1",
    )
}

fn by_records(
    variant: Variant,
    title: &str,
    label: &str,
    of: impl Fn(&str, Method) -> Option<Estimate>,
) -> Panel {
    let at = |method| {
        let point = |records: u64| Some((records as f64, of(&cell(records, EPSILON), method)?));
        RECORDS.into_iter().filter_map(point).collect()
    };
    panel(variant, title, (Axis::log("records"), Axis::linear(label)), at)
}

fn by_epsilon(
    variant: Variant,
    title: &str,
    label: &str,
    of: impl Fn(&str, Method) -> Option<Estimate>,
) -> Panel {
    let at = |method| {
        let point = |epsilon: f64| Some((epsilon, of(&cell(FEW, epsilon), method)?));
        EPSILONS.into_iter().filter_map(point).collect()
    };
    panel(variant, title, (Axis::log("epsilon"), Axis::linear(label)), at)
}

fn panel(
    variant: Variant,
    title: &str,
    (x, y): (Axis, Axis),
    points: impl Fn(Method) -> Vec<(f64, Estimate)>,
) -> Panel {
    let series = methods(variant).iter().map(|method| {
        let found = points(*method);
        let errors: Vec<f64> = found.iter().map(|(_, each)| each.standard_error).collect();
        let points = found.iter().map(|(x, each)| (*x, each.value)).collect();
        Series::new(method.name(), method.colour(), Mark::Line, points).with_errors(&errors)
    });
    Panel::new(title, x, y, series.collect())
}

/// The distribution function of the ranks: the diagonal if they are uniform.
fn ranks(variant: Variant, results: &Results, name: &str) -> Panel {
    let series = methods(variant).iter().map(|method| {
        let ranks = results.values(&cell(FEW, EPSILON), &column(*method, &format!("{name} rank")));
        let share =
            |level: f64| ranks.iter().filter(|rank| **rank <= level).count() as f64 / ranks.len() as f64;
        let levels = (0..=20).map(|k| 0.05 * f64::from(k));
        let points = levels.filter(|_| !ranks.is_empty()).map(|level| (level, share(level))).collect();
        Series::new(method.name(), method.colour(), Mark::Line, points)
    });
    let axis = |label: &str| Axis::linear(label).between(0.0, 1.0);
    Panel::new(&format!("(c) {name}"), axis("uniform"), axis("rank of the truth"), series.collect())
}

fn notes(variant: Variant) -> Vec<String> {
    let mut notes = vec![
        "The paper prints no numbers in Figure 3: its sentences are checked, and figures that were measured with the authors' code. KS is the largest of the three parameters."
            .to_string(),
        "Records, parameters and lengths of chains are those of the paper; 500 draws of each posterior enter the discrepancy, whose kernel has width 1. All budgets of a replicate have the same records.".into(),
    ];
    match variant {
        Variant::Published => notes.push(
            "As published: sensitivity 28 as in the authors' code (the text has 24), 80 for fourth moments. Records are not cut, and a third of the responses lie beyond the bounds that these numbers assume: nothing is private. \
             Gibbs-SS-Noisy gets the noisy moments that the text describes; the authors' code passes exact sums, so what the paper shows is not this method: given noisy moments it is far from calibrated with few records. Where its coverage differs from that of the repaired code, the paper is silent: noise makes the moments of \
             the feature impossible (a negative variance) in most trials, and we take the nearest possible ones. A variance of zero then lets noise in the sums pass for explained variance, so the residual variance comes out too \
             small. With exact moments at the same budget the variance was held in 93 percent of 60 trials at both budgets, as in the repaired code.".into(),
        ),
        Variant::Claimed => notes.push(
            "As claimed: the same with the exact sensitivities, 16/3 and 6, so less noise for the same epsilon. Records are still not cut. With so little noise Naive comes near for n = 1,000 and epsilon = 1, and \
             Gibbs-SS-Prior, which takes the moments of a prior for the true ones, falls behind it.".into(),
        ),
        Variant::Ours => notes.push(
            "Ours: features are cut to [-1, 1], responses to [-3, 3], with the exact sensitivity for these bounds, so the guarantee holds. `individual` knows of the cuts, the others do not. `auto` takes gibbs-update for \
             Laplace noise and `marginal` for isometric Gaussian noise, which has delta = 1e-6 at the same epsilon.".into(),
        ),
    }
    notes
}
