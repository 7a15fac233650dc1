//! Figure 3: time for an iteration against the number of features.

use std::time::Instant;

use organza_infer::Evidence;
use organza_infer::methods::{
    FixedGramMetropolis, FixedGramModel, Gibbs, GibbsSampler, Moments, NormalX, NormalXMetropolis,
};
use organza_mcmc::{ChainRng, Kernel};
use organza_release::{Layout, Statistic, gram_entries};

use super::published::{METHODS, PARTIES, TIMES};
use super::simulate::Simulated;
use crate::metrics::Estimate;
use crate::reproduce::{
    About, Experiment, Line, Published, Report, ReproduceError, Results, Study, Variant, Verdict,
};
use organza_studies::generator;
use organza_studies::plot::{Axis, Figure, Mark, Panel, Series};
use organza_studies::seeded::Mechanism;

const MOST_FEATURES: usize = 20;
const RECORDS: usize = 10_000;
/// The kernels that are timed, and their names in the picture.
const KERNELS: [(&str, &str); 4] = [
    ("normal-x", "MCMC-normalX"),
    ("fixed-gram", "MCMC-fixedS"),
    ("gibbs-update dense", "MCMC-B&S"),
    ("gibbs-update", "the same with isometric noise"),
];

/// The experiment.
pub struct Figure3;

impl Experiment for Figure3 {
    fn about(&self) -> About {
        About {
            key: "ayb23-figure3",
            title: "Time for an iteration of the chains against the number of features (Figure 3)",
            paper: "ayb23",
            version: 1,
            minutes: 3,
        }
    }

    fn variants(&self) -> &'static [Variant] {
        &[Variant::Published]
    }

    fn replicates(&self, _: Variant) -> u64 {
        3
    }

    fn columns(&self, _: Variant) -> Vec<String> {
        KERNELS.map(|(word, _)| format!("{word} ms")).to_vec()
    }

    fn is_timed(&self) -> bool {
        true
    }

    fn prepare(&self, _: Variant) -> Result<Box<dyn Study>, ReproduceError> {
        Ok(Box::new(Figure3Study { most: MOST_FEATURES }))
    }

    fn report(&self, _: Variant, results: &Results) -> Report {
        Report {
            lines: lines(results),
            figure: Some(figure(results)),
            tables: vec![],
            notes: vec![
                "Shortest of eight short runs on one thread; the shortest of the replicates is reported, because other programs only ever add time. n = 10,000, epsilon = 1."
                    .to_string(),
                "The figure prints no numbers. What is compared is the authors' code on GNU Octave, measured in CPU time on another day of the same kind of machine, \
                 with vectorised moments in MCMC-B&S; so the ratios say more than the milliseconds."
                    .to_string(),
                "`gibbs-update` with isometric noise has the same target in O(d^3); the paper's layout of the noise needs the O(d^6) step.".to_string(),
            ],
        }
    }
}

fn cell(features: usize, parties: usize) -> String {
    format!("d={features} J={parties}")
}

/// The shortest time of all replicates, in milliseconds.
fn shortest(results: &Results, (features, parties): (usize, usize), kernel: usize) -> Option<Estimate> {
    let values = results.values(&cell(features, parties), &format!("{} ms", KERNELS[kernel].0));
    values.into_iter().reduce(f64::min).map(Estimate::exact)
}

fn lines(results: &Results) -> Vec<Line> {
    let mut lines = Vec::new();
    for (features, parties, times) in TIMES {
        for (kernel, published) in times.into_iter().enumerate() {
            let Some(ours) = shortest(results, (features, parties), kernel) else { continue };
            let method = [METHODS[0], METHODS[1], METHODS[3]][kernel];
            let place =
                format!("Figure 3 (authors' code on Octave), d = {features}, J = {parties}, {method}, ms");
            // A factor of two is within what two machines may differ by.
            let verdict =
                Verdict::of_error(published, 0.0, Estimate { standard_error: published / 6.0, ..ours });
            lines.push(Line::new(place, Published::Number(published), ours, verdict));
        }
    }
    let at = |features: usize, kernel: usize| shortest(results, (features, 1), kernel).map(|time| time.value);
    if let (Some(dense), Some(normal), Some(middle)) = (at(20, 2), at(20, 0), at(10, 2)) {
        let ratio = Estimate::exact(dense / normal);
        let verdict = Verdict::of_statement(ratio.value > 10.0, "not ten times slower at d = 20");
        lines.push(Line::new(
            "section 5.1, MCMC-B&S over MCMC-normalX at d = 20, J = 1",
            Published::Text("drastically slower".into()),
            ratio,
            verdict,
        ));
        let power = (dense / middle).log2();
        let verdict = Verdict::of_statement(power > 3.5, "grows no faster than d^3.5");
        let place = "section 4.3, MCMC-B&S from d = 10 to 20 grows like d to the power";
        lines.push(Line::new(
            place,
            Published::Text("more than 3, 6 in the limit".into()),
            Estimate::exact(power),
            verdict,
        ));
    }
    lines
}

fn figure(results: &Results) -> Figure {
    let panel = |parties: usize| {
        let series = KERNELS.iter().enumerate().map(|(kernel, (_, name))| {
            let at = |features: usize| {
                Some((features as f64, shortest(results, (features, parties), kernel)?.value))
            };
            let colour = [0, 1, 3, 2][kernel];
            Series::new(name, colour, Mark::Line, (1..=MOST_FEATURES).filter_map(at).collect())
        });
        Panel::new(
            &format!("J = {parties}"),
            Axis::linear("features"),
            Axis::log("milliseconds"),
            series.collect(),
        )
    };
    Figure::new("[AYB23] Figure 3: time for an iteration", PARTIES.map(panel).to_vec())
        .with_subtitle("one thread, shortest of several short runs; n = 10,000, epsilon = 1")
}

struct Figure3Study {
    most: usize,
}

impl Study for Figure3Study {
    fn cells(&self) -> Vec<String> {
        (1..=self.most).flat_map(|features| PARTIES.map(|parties| cell(features, parties))).collect()
    }

    fn replicate(&self, place: usize, seed: u64) -> Result<Vec<f64>, String> {
        let (features, parties) = (place / PARTIES.len() + 1, PARTIES[place % PARTIES.len()]);
        let simulated = Simulated::new(features, RECORDS, parties, &mut generator(seed, 9))?;
        let bounds = simulated.bounds(1.0);
        let evidence = |mechanism: Mechanism| {
            let releases = bounds.releases(&mechanism, &simulated.parties, &mut generator(seed, 0));
            Evidence::new(&releases).map_err(|error| error.to_string())
        };
        let upper = bounds.mechanism(Variant::Claimed, true).map_err(|error| error.to_string())?;
        let domain = upper.domain.clone();
        let isometric =
            Statistic::Gram { entries: gram_entries(&domain, true, true), layout: Layout::Isometric };
        let isometric = Mechanism::calibrated(domain, isometric, (bounds.epsilon, bounds.delta));
        let (upper, isometric) = (evidence(upper)?, evidence(isometric.map_err(|error| error.to_string())?)?);
        let text = |error: organza_infer::InferError| error.to_string();
        let prior = bounds.prior(&simulated.lambda, false).map_err(text)?;
        let conjugate = bounds.prior(&simulated.lambda, true).map_err(text)?;
        let normal = NormalX::new(&upper, &prior).map_err(text)?;
        let fixed = FixedGramModel::new(&upper, &prior).map_err(text)?;
        let gibbs = |evidence| Gibbs::new(evidence, &conjugate, Moments::Update).map_err(text);
        Ok(vec![
            milliseconds(NormalXMetropolis::new(&normal), &normal, seed)?,
            milliseconds(FixedGramMetropolis::default(), &fixed, seed)?,
            milliseconds(GibbsSampler, &gibbs(&upper)?.dense(), seed)?,
            milliseconds(GibbsSampler, &gibbs(&isometric)?, seed)?,
        ])
    }
}

/// Shortest time for a step, in milliseconds: eight runs of about two milliseconds or five steps after a little warm-up.
fn milliseconds<T, K: Kernel<T>>(mut kernel: K, target: &T, seed: u64) -> Result<f64, String> {
    let mut rng = ChainRng::new(seed, 0);
    let text = |stop: organza_mcmc::Stop| stop.to_string();
    let mut state = kernel.init(target, &mut rng).map_err(text)?;
    let begun = Instant::now();
    const WARMUP: u32 = 20;
    for _ in 0..WARMUP {
        let info = kernel.step(target, &mut state, &mut rng).map_err(text)?;
        kernel.adapt(&state, &info);
    }
    kernel.freeze();
    let once = begun.elapsed().as_secs_f64() / f64::from(WARMUP);
    let steps = (2e-3 / once).clamp(5.0, 5000.0) as u32;
    let mut shortest = f64::INFINITY;
    for _ in 0..8 {
        let begun = Instant::now();
        for _ in 0..steps {
            kernel.step(target, &mut state, &mut rng).map_err(text)?;
        }
        shortest = shortest.min(begun.elapsed().as_secs_f64() / f64::from(steps));
    }
    Ok(1e3 * shortest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_replicate() {
        let found = Figure3Study { most: 2 }.replicate(4, 1).unwrap();
        assert!(found.len() == 4 && found.iter().all(|time| *time > 0.0 && *time < 1e3), "{found:?}");
    }
}
