//! Which priors of the residual variance and of the features should be the default?
//!
//! The same random problems, shares of explained variance of 0.99 among them, are released by the default mechanism and fitted by `marginal` under every
//! candidate. **Criterion**, fixed before the first run: the smallest geometric mean over problems of the interval score of 90 percent intervals of standardised
//! slopes (Gneiting and Raftery 2007: width plus 20 times the distance by which the truth is missed). It is proper: neither narrow nor wide intervals gain.
//! Fresh problems then compare the winner with the defaults before it.

use std::io::Write;

use organza_curator::defaults;
use organza_experiments::releases::Mechanism;
use organza_infer::{FeaturesPart, MethodSpec, ModelSpec, PriorFile, Units, VariancePart, fit};
use organza_mcmc::{Monitor, Plan};
use organza_release::{BoxDomain, Domain, Interval, Layout, Release, Statistic, gram_entries};
use rand::{SeedableRng, rngs::ChaCha8Rng};
use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};

use crate::Failure;
use crate::design::problem;
use crate::mechanism::Setting;
use crate::table::Problem;

const FEATURES: [usize; 6] = [1, 2, 3, 5, 8, 12];
const SHARES: [f64; 4] = [0.2, 0.5, 0.9, 0.99];
/// Problems of the search and of the comparison never meet, nor those of the other experiment.
const SEARCH_SEED: u64 = 3;
const COMPARISON_SEED: u64 = 4;
const DELTA: f64 = 1e-6;
/// Mass outside of the intervals.
const OUTSIDE: f64 = 0.1;

/// Shape and rate of the residual variance.
const VARIANCES: [(f64, f64); 7] =
    [(2.0, 0.1), (2.0, 0.02), (1.0, 0.05), (1.0, 0.02), (1.0, 0.005), (0.5, 0.02), (0.5, 0.005)];
/// Mean of the variance of a feature.
const FEATURE_VARIANCES: [f64; 3] = [0.1, 0.03, 0.01];

/// Means over the slopes of one problem.
#[derive(Clone, Copy, Default)]
struct Merit {
    score: f64,
    width: f64,
    error: f64,
    /// Share of intervals that hold the truth, and least squares on the clamped and shrunk records without noise.
    covered: [f64; 2],
}

struct Outcome {
    tags: Vec<(&'static str, String)>,
    /// One for each candidate.
    merits: Vec<Merit>,
}

type Candidate = ((f64, f64), f64);

/// The earlier defaults and the choice.
const COMPARED: [Candidate; 3] = [((2.0, 0.1), 0.1), ((2.0, 0.02), 0.1), ((1.0, 0.005), 0.1)];

/// The search over all candidates, and the comparison on fresh problems.
pub fn run(quick: bool, out: &mut dyn Write) -> Result<(), Failure> {
    let of_feature = |feature| VARIANCES.map(|variance| (variance, feature));
    let candidates: Vec<Candidate> = FEATURE_VARIANCES.into_iter().flat_map(of_feature).collect();
    writeln!(
        out,
        "set,shape,rate,feature_variance,group,value,problems,score,width,error,coverage,coverage_clamped"
    )?;
    compare("search", SEARCH_SEED, (&candidates, quick), out)?;
    compare("comparison", COMPARISON_SEED, (&COMPARED, quick), out)
}

/// Compares candidates and writes the figures of every group of problems.
fn compare(
    set: &str,
    seed: u64,
    (candidates, quick): (&[Candidate], bool),
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let problems = if quick { 1 } else { 27 };
    let all: Vec<(usize, usize)> =
        FEATURES.into_iter().flat_map(|d| (0..problems).map(move |index| (d, index))).collect();
    let outcomes: Vec<Outcome> = all
        .into_par_iter()
        .with_max_len(1)
        .map(|(d, index)| evaluate(&problem(d, true, &SHARES, (seed, index)), candidates, (seed, index)))
        .collect::<Result<_, _>>()
        .map_err(Failure::Fit)?;
    let mut groups = vec![("all", String::new())];
    for tag in outcomes.iter().flat_map(|outcome| &outcome.tags) {
        if !groups.contains(tag) {
            groups.push(tag.clone());
        }
    }
    for group in &groups {
        let within = |outcome: &&Outcome| group.0 == "all" || outcome.tags.contains(group);
        let within: Vec<&Outcome> = outcomes.iter().filter(within).collect();
        for (place, ((shape, rate), feature)) in candidates.iter().enumerate() {
            let (line, (name, value)) = (figures(&within, place), group);
            writeln!(out, "{set},{shape},{rate},{feature},{name},{value},{},{line}", within.len())?;
            if *name == "all" || *name == "R2" {
                println!("{set} | {name} {value} | IG({shape}, {rate}), features {feature} | {line}");
            }
        }
    }
    Ok(())
}

/// Figures of a candidate; scores, widths and errors are geometric means over problems, relative to the first candidate.
fn figures(outcomes: &[&Outcome], place: usize) -> String {
    let count = outcomes.len() as f64;
    let ratio = |of: fn(&Merit) -> f64| {
        let log = |outcome: &&Outcome| (of(&outcome.merits[place]) / of(&outcome.merits[0])).ln();
        (outcomes.iter().map(log).sum::<f64>() / count).exp()
    };
    let covered = |which: usize| {
        outcomes.iter().map(|outcome| outcome.merits[place].covered[which]).sum::<f64>() / count
    };
    let [score, width, error] = [ratio(|m| m.score), ratio(|m| m.width), ratio(|m| m.error)];
    format!("{score:.4},{width:.4},{error:.4},{:.4},{:.4}", covered(0), covered(1))
}

/// All candidates on the same release.
fn evaluate(
    problem: &Problem,
    candidates: &[Candidate],
    (seed, index): (u64, usize),
) -> Result<Outcome, String> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream((problem.table.features * 1000 + index) as u64);
    let (release, clamped) = release(problem, &mut rng)?;
    let merits = candidates.iter().map(|candidate| merit(problem, *candidate, (&release, &clamped)));
    Ok(Outcome { tags: problem.tags.clone(), merits: merits.collect::<Result<_, _>>()? })
}

/// A release by the default mechanism, whose users' units are normalised ones, and the slopes of least squares on the exact sums.
fn release(problem: &Problem, rng: &mut ChaCha8Rng) -> Result<(Release, Vec<f64>), String> {
    let (d, table) = (problem.table.features, &problem.table);
    let scaling = defaults::scaling(d, problem.booleans, true).ok_or("no features")?;
    let interval = |name: String| Interval { name, lower: -1.0, upper: 1.0 };
    let domain = Domain::Box(BoxDomain {
        formula: String::new(),
        columns: vec![],
        intercept: true,
        features: (1..=d).map(|k| interval(format!("x{k}"))).collect(),
        response: interval("y".into()),
        record_scale: Some(scaling.radius),
        intercept_weight: scaling.intercept_weight,
        response_weight: scaling.response_weight,
    });
    let setting = Setting::Scaled {
        radius: scaling.radius,
        intercept_weight: scaling.intercept_weight,
        response_weight: scaling.response_weight,
    };
    let sums = setting.statistic(table, true);
    // The statistic has the constant in weighted units, a release in plain ones.
    let unit = |k: usize| if k == 0 { scaling.intercept_weight } else { 1.0 };
    let size = d + 2;
    let entry = |place: usize| {
        let (row, column) = (place / size, place % size);
        let sum = match (row == size - 1, column == size - 1) {
            (true, true) => sums.square,
            (true, false) => sums.cross[column],
            (false, true) => sums.cross[row],
            _ => sums.gram[row * (size - 1) + column],
        };
        sum / (unit(row) * unit(column))
    };
    let gram: Vec<f64> = (0..size * size).map(entry).collect();
    let statistic = Statistic::Gram { entries: gram_entries(&domain, true, true), layout: Layout::Isometric };
    let mechanism = Mechanism::calibrated(domain, statistic, (problem.epsilon, DELTA))
        .map_err(|error| error.to_string())?;
    let release = mechanism.publish("party", table.records() as u64, &mechanism.entries(&gram), rng);
    let slopes = sums.solve().ok_or("the features are collinear")?;
    Ok((release, slopes[1..].to_vec()))
}

/// The merit of one fit.
fn merit(
    problem: &Problem,
    ((shape, rate), feature): Candidate,
    (release, clamped): (&Release, &[f64]),
) -> Result<Merit, String> {
    let size = problem.table.features + 1;
    let diagonal = |row: usize, column: usize| match (row == column, row) {
        (false, _) => 0.0,
        (true, 0) => 1.0,
        _ => feature,
    };
    let scale = (0..size).map(|row| (0..size).map(|column| diagonal(row, column)).collect()).collect();
    let prior = PriorFile {
        units: Units::Normalised,
        variance: Some(VariancePart { shape, rate }),
        features: Some(FeaturesPart { degrees: size as f64 + 2.0, scale, mean: vec![], mean_records: 1.0 }),
        ..PriorFile::default()
    };
    let model = ModelSpec { prior, mass: 1.0 - OUTSIDE, ..ModelSpec::default() };
    let plan = Plan { chains: 1, warmup: 300, draws: 700, thin: 1, seed: 1, threads: 1 };
    let releases = std::slice::from_ref(release);
    let fitted = fit(&MethodSpec::default(), &model, releases, &plan, &Monitor::default())
        .map_err(|error| error.to_string())?;
    let (truth, mut total) = (&problem.truth, Merit::default());
    let slopes = truth.feature_sd.len() as f64;
    for (k, sd) in truth.feature_sd.iter().enumerate() {
        let name = format!("beta[x{}]", k + 1);
        let row = fitted.summary.parameters.iter().find(|row| row.name == name).ok_or("no such slope")?;
        let unit = sd / truth.response_variance.sqrt() / slopes;
        let (interval, value) = (&row.equal_tailed, truth.coefficients[k + 1]);
        let width = interval.upper - interval.lower;
        let distance = |value: f64| (interval.lower - value).max(value - interval.upper).max(0.0);
        let missed = distance(value);
        total.score += (width + 2.0 / OUTSIDE * missed) * unit;
        total.width += width * unit;
        total.error += (row.mean - value).abs() * unit;
        for (covered, value) in total.covered.iter_mut().zip([value, clamped[k]]) {
            *covered += f64::from(u8::from(distance(value) == 0.0)) / slopes;
        }
    }
    Ok(total)
}
