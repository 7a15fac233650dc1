//! Figure 4: distance to the posterior without privacy.

use organza_infer::Evidence;
use rand::Rng;

use super::methods::{Posterior, Problem};
use super::published::{EPSILONS, METHODS, PARTIES, WORDS};
use super::simulate::{Simulated, normal_draw};
use crate::linalg::cholesky;
use crate::metrics::{Estimate, Sample, coverage, squared_mmd};
use crate::reproduce::{
    About, Experiment, Line, Published, Report, ReproduceError, Results, Seeds, Study, Table, Variant,
    Verdict,
};
use organza_studies::generator;
use organza_studies::plot::{Axis, Figure, Mark, Panel, Series};

const FEATURES: usize = 2;
const RECORDS: usize = 100_000;
const STEPS: usize = 10_000;
/// Independent draws, where there are such; the authors take 2,000.
const DRAWS: usize = 1_000;
/// Every so many steps of a chain count. \[AYB23\] section D
const EVERY: usize = 50;
/// The authors' kernel: the density of N(0, h I).
const KERNEL_VARIANCE: f64 = 0.1;

/// The experiment.
pub struct Figure4;

impl Experiment for Figure4 {
    fn about(&self) -> About {
        About {
            key: "ayb23-figure4",
            title: "Squared maximum mean discrepancy to the posterior without privacy, d = 2 (Figure 4)",
            paper: "ayb23",
            version: 2,
            minutes: 10,
        }
    }

    fn variants(&self) -> &'static [Variant] {
        &[Variant::Published, Variant::Claimed]
    }

    fn replicates(&self, _: Variant) -> u64 {
        50
    }

    fn columns(&self, _: Variant) -> Vec<String> {
        WORDS[..4].iter().map(ToString::to_string).collect()
    }

    fn prepare(&self, variant: Variant) -> Result<Box<dyn Study>, ReproduceError> {
        Ok(Box::new(Figure4Study { variant, records: RECORDS, steps: STEPS, draws: DRAWS }))
    }

    fn report(&self, variant: Variant, results: &Results) -> Report {
        let noise = match variant {
            Variant::Published => "the noise of the authors' code",
            _ => "the noise that the claimed epsilon needs",
        };
        Report {
            lines: lines(results),
            figure: Some(figure(variant, results)),
            tables: vec![means(results)],
            notes: vec![
                format!("Made with {noise}. Every replicate has records of its own, the same for all epsilons and numbers of parties; the paper shows one draw of them."),
                "The published picture takes the wrong axis of its array: each of its lines is one replicate averaged over the methods, so the names beside the lines mean nothing. Ours are \
                 means over replicates, method by method.".to_string(),
                format!(
                    "\"Falls\" is weaker than \"converges\": the table has the means, which at epsilon 10 are far from zero. Lines in which the mean falls to less than half: {} of {}.",
                    halved(results).0,
                    halved(results).1
                ),
                format!("The kernel is the authors', the density of N(0, 0.1 I). {DRAWS} independent draws, where the authors take 2,000; every 50th draw of a chain."),
            ],
        }
    }
}

fn cell(parties: usize, epsilon: f64) -> String {
    format!("J={parties} epsilon={epsilon}")
}

/// "All the methods converge to the non-private posterior as epsilon increases": it falls in most replicates, beyond two standard errors.
fn lines(results: &Results) -> Vec<Line> {
    let mut lines = Vec::new();
    for (word, name) in WORDS[..4].iter().zip(METHODS) {
        for parties in PARTIES {
            let pairs = results.pairs(&cell(parties, EPSILONS[0]), &cell(parties, EPSILONS[6]), word);
            if pairs.is_empty() {
                continue;
            }
            let fell = pairs.iter().filter(|(first, last)| last < first).count();
            let ours = coverage(fell, pairs.len());
            let most = ours.value - 0.5 > 2.0 * ours.standard_error;
            let verdict =
                Verdict::of_statement(most, format!("it falls in {fell} of {} replicates", pairs.len()));
            let place = format!(
                "section 5.1, J = {parties}, {name}, share of replicates where MMD^2 falls from epsilon 0.1 to 10"
            );
            lines.push(Line::new(place, Published::Text("all methods converge".into()), ours, verdict));
        }
    }
    lines
}

/// In how many lines the mean at the largest loss is less than half of that at the smallest, and how many lines there are.
fn halved(results: &Results) -> (usize, usize) {
    let ratios = WORDS[..4].iter().flat_map(|word| {
        PARTIES.into_iter().filter_map(move |parties| {
            let at = |epsilon: f64| results.mean(&cell(parties, epsilon), word);
            Some(at(EPSILONS[6])?.value / at(EPSILONS[0])?.value)
        })
    });
    let ratios: Vec<f64> = ratios.collect();
    (ratios.iter().filter(|ratio| **ratio < 0.5).count(), ratios.len())
}

/// Means at three losses.
fn means(results: &Results) -> Table {
    let losses = [EPSILONS[0], EPSILONS[3], EPSILONS[6]];
    let row = |parties: usize, word: &str, name: &str| {
        let at = |epsilon: f64| match results.mean(&cell(parties, epsilon), word) {
            Some(found) => format!("{:.2} ± {:.2}", found.value, found.standard_error),
            None => String::new(),
        };
        [parties.to_string(), name.to_string()].into_iter().chain(losses.map(at)).collect::<Vec<_>>()
    };
    let of_parties =
        |parties: usize| WORDS[..4].iter().zip(METHODS).map(move |(word, name)| row(parties, word, name));
    let head = ["J".to_string(), "method".into()]
        .into_iter()
        .chain(losses.map(|epsilon| format!("epsilon {epsilon}")));
    let title = "Mean of MMD^2 over replicates, with its standard error".into();
    Table { title, head: head.collect(), rows: PARTIES.into_iter().flat_map(of_parties).collect() }
}

fn figure(variant: Variant, results: &Results) -> Figure {
    let panel = |parties: usize| {
        let series = WORDS[..4].iter().zip(METHODS).enumerate().map(|(method, (word, name))| {
            let at = |epsilon: f64| Some((epsilon, results.mean(&cell(parties, epsilon), word)?));
            let found: Vec<(f64, Estimate)> = EPSILONS.into_iter().filter_map(at).collect();
            let errors: Vec<f64> = found.iter().map(|(_, each)| each.standard_error).collect();
            let points = found.iter().map(|(epsilon, each)| (*epsilon, each.value)).collect();
            Series::new(name, method, Mark::Line, points).with_errors(&errors)
        });
        Panel::new(&format!("J = {parties}"), Axis::log("epsilon"), Axis::linear("MMD²"), series.collect())
    };
    let title = match variant {
        Variant::Published => "[AYB23] Figure 4 with the noise of the authors' code",
        _ => "[AYB23] Figure 4 with the noise that the claimed epsilon needs",
    };
    Figure::new(title, PARTIES.map(panel).to_vec())
        .with_subtitle("squared discrepancy to the posterior without privacy, mean and standard error over replicates; d = 2, n = 100,000")
}

struct Figure4Study {
    variant: Variant,
    records: usize,
    steps: usize,
    draws: usize,
}

impl Study for Figure4Study {
    fn cells(&self) -> Vec<String> {
        PARTIES.into_iter().flat_map(|parties| EPSILONS.map(|epsilon| cell(parties, epsilon))).collect()
    }

    fn replicate(&self, place: usize, seed: u64) -> Result<Vec<f64>, String> {
        self.paired(place, Seeds { own: seed, shared: seed })
    }

    /// All cells of a replicate have the same records.
    fn paired(&self, place: usize, seeds: Seeds) -> Result<Vec<f64>, String> {
        let seed = seeds.own;
        let (parties, epsilon) = (PARTIES[place / EPSILONS.len()], EPSILONS[place % EPSILONS.len()]);
        let simulated = Simulated::new(FEATURES, self.records, parties, &mut generator(seeds.shared, 9))?;
        let reference = simulated.non_private()?.draws(self.draws, &mut generator(seed, 8))?;
        let reference = Sample::new(FEATURES, reference);
        let height = (2.0 * std::f64::consts::PI * KERNEL_VARIANCE).powf(-0.5 * FEATURES as f64);
        let samples = self.samples(&simulated, epsilon, seed)?;
        let distance = |draws: Vec<f64>| {
            height * squared_mmd(&reference, &Sample::new(FEATURES, draws), KERNEL_VARIANCE.sqrt())
        };
        Ok(samples.into_iter().map(distance).collect())
    }
}

impl Figure4Study {
    /// Draws of the four Bayesian methods.
    fn samples(&self, simulated: &Simulated, epsilon: f64, seed: u64) -> Result<Vec<Vec<f64>>, String> {
        let bounds = simulated.bounds(epsilon);
        let fits = bounds.fit(self.variant, &simulated.parties, &simulated.lambda, (seed, self.steps))?;
        let mechanism = bounds.mechanism(self.variant, false).map_err(|error| error.to_string())?;
        let releases = bounds.releases(&mechanism, &simulated.parties, &mut generator(seed, 0));
        let evidence = Evidence::new(&releases).map_err(|error| error.to_string())?;
        let slopes = [bounds.slope(); FEATURES];
        let problem = Problem { evidence: &evidence, slopes: &slopes, seed };
        let prior = bounds.prior(&simulated.lambda, false).map_err(|error| error.to_string())?;
        let fixed = problem.fixed_gram_draws(&prior, self.draws)?;
        let fast = normal_draws(&fits[2], self.draws, &mut generator(seed, 7))?;
        Ok(vec![thinned(&fits[0]), fixed.draws, fast, thinned(&fits[3])])
    }
}

/// Every so many draws of a chain.
fn thinned(posterior: &Posterior) -> Vec<f64> {
    let rows = posterior.draws.chunks_exact(FEATURES).skip(EVERY - 1).step_by(EVERY);
    rows.flatten().copied().collect()
}

fn normal_draws(posterior: &Posterior, count: usize, rng: &mut impl Rng) -> Result<Vec<f64>, String> {
    let lower = cholesky(&posterior.covariance).ok_or("the covariance is singular")?;
    Ok((0..count).flat_map(|_| normal_draw(&posterior.mean, &lower, 1.0, rng)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At a large epsilon all methods are near the posterior without privacy, at a small one none is: catches samples in wrong units.
    #[test]
    fn more_epsilon_is_nearer() {
        let study = Figure4Study { variant: Variant::Published, records: 20_000, steps: 2_000, draws: 200 };
        let [far, near] = [0, 6].map(|cell| study.replicate(cell, 2).unwrap());
        for (far, near) in far.iter().zip(&near) {
            assert!(near < far && far.is_finite(), "{far} {near}");
        }
    }
}
