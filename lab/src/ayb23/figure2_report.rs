//! What the results of Figure 2 say.

use std::collections::BTreeMap;

use super::figure2::{FEATURES, MEASURES, cell};
use super::published::{EPSILONS, METHODS, PARTIES, WORDS};
use crate::metrics::{Estimate, geometric_mean};
use crate::reproduce::{Line, Published, Report, Results, Variant, Verdict};
use organza_studies::plot::{Axis, Figure, Mark, Panel, Series};

/// A method in one cell.
#[derive(Clone, Copy)]
struct Place {
    features: usize,
    parties: usize,
    epsilon: f64,
    measure: &'static str,
}

fn places() -> impl Iterator<Item = Place> {
    FEATURES.into_iter().flat_map(|features| {
        PARTIES.into_iter().flat_map(move |parties| {
            EPSILONS.into_iter().flat_map(move |epsilon| {
                MEASURES.map(|measure| Place { features, parties, epsilon, measure })
            })
        })
    })
}

fn error(results: &Results, word: &str, place: Place) -> Option<Estimate> {
    let values = results
        .values(&cell(place.features, place.parties, place.epsilon), &format!("{word} {}", place.measure));
    (!values.is_empty()).then(|| geometric_mean(&values))
}

pub(super) fn report(variant: Variant, results: &Results) -> Report {
    let mut lines = statements(results);
    lines.extend(without_privacy(results));
    let published = variant == Variant::Published;
    let noise =
        if published { "the noise of the authors' code" } else { "the noise that the claimed epsilon needs" };
    let mut notes = vec![
        format!("Made with {noise}. Means are geometric over replicates, each with records of its own (the same for all epsilons and numbers of parties): Sigma_x ~ IW(V'V, d + 1) has such heavy tails that an \
                 arithmetic mean is that of its worst draw. The paper shows one draw of the records."),
        "`fixed-gram` is computed by quadrature, `normal-x` and `gibbs-update` are our versions of the paper's chains, 10,000 steps, half of them warm-up.".to_string(),
    ];
    if published {
        notes.push("As in the authors' code the prediction error of the chains is averaged over their draws, that of the others is taken at a point.".into());
    }
    let ranges: Vec<String> =
        FEATURES.into_iter().filter_map(|features| range_over_draws(results, features)).collect();
    notes.push(format!("Which method is ahead is a matter of the draw of the records: single replicates have MCMC-normalX below MCMC-B&S in {}. The paper's sentence is about one draw.", ranges.join(" and in ")));
    Report { lines, figure: Some(figure(variant, results)), tables: vec![], notes }
}

/// Smallest, median and largest share of cells, over replicates, in which normal-x is below gibbs-update.
fn range_over_draws(results: &Results, features: usize) -> Option<String> {
    let mut draws: BTreeMap<u64, (u32, u32)> = BTreeMap::new();
    let column = |word: &str, measure: &str| {
        let name = format!("{word} {measure}");
        results.columns().iter().position(|column| *column == name)
    };
    for measure in MEASURES {
        let (left, right) = (column(WORDS[0], measure)?, column(WORDS[3], measure)?);
        let own = format!("d={features} ");
        for row in results.rows().iter().filter(|row| row.cell.starts_with(&own)) {
            let (below, all) = draws.entry(row.replicate).or_default();
            *below += u32::from(row.values[left] < row.values[right]);
            *all += 1;
        }
    }
    let mut shares: Vec<f64> =
        draws.values().map(|(below, all)| 100.0 * f64::from(*below) / f64::from(*all)).collect();
    shares.sort_by(f64::total_cmp);
    let (first, last) = (shares.first()?, shares.last()?);
    Some(format!(
        "{first:.0} to {last:.0} percent of the cells for d = {features} (median {:.0})",
        shares[shares.len() / 2]
    ))
}

/// Shares of the cells in which a statement of the text holds.
fn statements(results: &Results) -> Vec<Line> {
    let below = |left: usize, right: usize| {
        move |place: &Place| {
            Some(error(results, WORDS[left], *place)?.value < error(results, WORDS[right], *place)?.value)
        }
    };
    let share = |holds: &dyn Fn(&Place) -> Option<bool>, among: &dyn Fn(&Place) -> bool| {
        let all: Vec<bool> =
            places().filter(|place| among(place)).filter_map(|place| holds(&place)).collect();
        all.iter().filter(|holds| **holds).count() as f64 / all.len() as f64
    };
    let everywhere = |_: &Place| true;
    let both =
        |method: usize| move |place: &Place| Some(below(method, 3)(place)? && below(method, 4)(place)?);
    let most = |text: &str, share: f64| {
        let verdict = Verdict::of_statement(share >= 0.8, format!("in {:.0} % of the cells", 100.0 * share));
        Line::new(text, Published::Text("almost all cells".into()), Estimate::exact(share), verdict)
    };
    let two = share(&below(0, 3), &|place| place.features == 2);
    let five = share(&below(0, 3), &|place| place.features == 5);
    let improves = |place: &Place| {
        let last = Place { epsilon: EPSILONS[6], ..*place };
        let all = WORDS
            .iter()
            .map(|word| Some(error(results, word, last)?.value < error(results, word, *place)?.value));
        all.collect::<Option<Vec<bool>>>().map(|all| all.into_iter().all(|better| better))
    };
    vec![
        most(
            "section 5.1, MCMC-fixedS below adaSSP and MCMC-B&S, share of cells",
            share(&both(1), &everywhere),
        ),
        most(
            "section 5.1, Bayes-fixedS-fast below adaSSP and MCMC-B&S, share of cells",
            share(&both(2), &everywhere),
        ),
        most("section 5.1, MCMC-normalX below MCMC-B&S for d = 2, share of cells", two),
        Line::new(
            "section 5.1, the same for d = 5, where MCMC-B&S is more competitive",
            Published::Text("fewer than for d = 2".into()),
            Estimate::exact(five),
            Verdict::of_statement(five < two, format!("{:.0} % against {:.0} %", 100.0 * five, 100.0 * two)),
        ),
        most(
            "section 5.1, all methods improve from epsilon 0.1 to 10, share of panels",
            share(&improves, &|place| place.epsilon == EPSILONS[0]),
        ),
    ]
}

/// The numbers in the caption: one draw of the records, so ours need only have it in their range.
fn without_privacy(results: &Results) -> Vec<Line> {
    let published = [[2.92e-5, 9.60e-5], [1.54e-5, 4.19e-5]];
    let mut lines = Vec::new();
    for (features, numbers) in FEATURES.into_iter().zip(published) {
        for (measure, number) in MEASURES.into_iter().zip(numbers) {
            // All cells of a replicate share their records, so one of them has all that there is.
            let mut all =
                results.values(&cell(features, PARTIES[0], EPSILONS[0]), &format!("non-private {measure}"));
            if all.is_empty() {
                continue;
            }
            let ours = geometric_mean(&all);
            all.sort_by(f64::total_cmp);
            let inside = (all[0]..=all[all.len() - 1]).contains(&number);
            let verdict = Verdict::of_statement(inside, "beyond all of our draws of the records");
            let place = format!(
                "Figure 2, caption, without privacy, d = {features}, {measure} (in the range of ours)"
            );
            lines.push(Line::new(place, Published::Number(number), ours, verdict));
        }
    }
    lines
}

fn figure(variant: Variant, results: &Results) -> Figure {
    let panel = |features: usize, measure: &'static str, parties: usize| {
        let series = WORDS.into_iter().zip(METHODS).chain([("non-private", "without privacy")]).enumerate();
        let series = series.map(|(method, (word, name))| {
            let at = |epsilon: f64| {
                Some((epsilon, error(results, word, Place { features, parties, epsilon, measure })?))
            };
            let found: Vec<(f64, Estimate)> = EPSILONS.into_iter().filter_map(at).collect();
            let errors: Vec<f64> = found.iter().map(|(_, each)| each.standard_error).collect();
            let points = found.iter().map(|(epsilon, each)| (*epsilon, each.value)).collect();
            let mark = if method == 5 { Mark::Rule } else { Mark::Line };
            Series::new(name, if method == 5 { 6 } else { method }, mark, points).with_errors(&errors)
        });
        let title = format!("{measure}, d = {features}, J = {parties}");
        Panel::new(&title, Axis::log("epsilon"), Axis::log("mean squared error"), series.collect())
    };
    let panels = FEATURES.into_iter().flat_map(|features| {
        MEASURES.into_iter().flat_map(move |measure| PARTIES.map(|parties| panel(features, measure, parties)))
    });
    let title = match variant {
        Variant::Published => "[AYB23] Figure 2 with the noise of the authors' code",
        _ => "[AYB23] Figure 2 with the noise that the claimed epsilon needs",
    };
    Figure::new(title, panels.collect())
        .with_subtitle("geometric means over replicates with their standard errors; n = 100,000")
}
