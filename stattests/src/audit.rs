//! An audit of a plan for releases of sums: the worst pair of neighbouring tables that a search finds, many releases of both, and what an
//! attacker who knows everything but which table it was can tell from them.

use organza_curator::gram::{GramAccumulator, IntegerGram};
use organza_curator::mechanism::{NoiseRng, Plan};
use organza_curator::{CuratorError, Measured};
use organza_release::loss::gaussian_epsilon;
use organza_release::{Domain, Family, Missing, Neighbours, Statistic};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use crate::attack::{Releases, gaussian_mu_lower_bound, pure_epsilon_lower_bound};

/// Pairs of records that the search begins with; the best is improved value by value.
const STARTS: usize = 400;

/// A table with a record, and its neighbour: another record in its place, or none.
pub struct Pair {
    /// The record.
    pub first: Vec<f64>,
    /// The other record; none where it is taken away.
    pub second: Option<Vec<f64>>,
}

/// What was found.
pub struct Verdict {
    /// Loss of the exact statistics of the pair, as a part of the largest that the noise is made for.
    pub distance: f64,
    /// Lower confidence bound of epsilon, at the plan's delta.
    pub epsilon: f64,
}

/// The statistic of a table with these records.
pub fn statistic(plan: &Plan, records: &[&[f64]]) -> Result<IntegerGram, CuratorError> {
    let columns = (0..plan.record_map().columns()).map(|k| records.iter().map(|record| record[k]).collect());
    let columns: Vec<Vec<f64>> = columns.collect();
    let mut gram = GramAccumulator::new(plan.record_map());
    gram.add_block(&columns.iter().map(Vec::as_slice).collect::<Vec<_>>())?;
    Ok(gram.finish())
}

/// The statistic without noise, in the release's units.
pub fn exact_values(plan: &Plan, gram: &IntegerGram) -> Vec<f64> {
    let unit = f64::exp2(-2.0 * f64::from(plan.record_map().grid_bits()));
    let plain = |&[row, column]: &[usize; 2]| {
        let weight = plan.domain().coordinate_weight(row) * plan.domain().coordinate_weight(column);
        gram.entry(row, column).unwrap_or_default() as f64 * unit / weight
    };
    plan.statistic().entries().iter().map(plain).collect()
}

/// Releases of both tables with all noise multiplied by `factor`, in units of that noise.
pub fn releases(plan: &Plan, pair: &Pair, factor: f64, repeats: usize) -> Result<Releases, CuratorError> {
    // A record that both tables have: a release of no record at all is not possible.
    let common = pair.first.as_slice();
    let draw = |record: Option<&[f64]>| -> Result<Vec<Vec<f64>>, CuratorError> {
        let records: Vec<&[f64]> = std::iter::once(common).chain(record).collect();
        let measured = Measured::Gram(statistic(plan, &records)?);
        let Measured::Gram(gram) = &measured else { return Ok(Vec::new()) };
        let exact = exact_values(plan, gram);
        let noisy = |_| {
            let noise = &mut NoiseRng::from_operating_system();
            let release = plan.publish(&measured, "audit", Missing::Refused, noise)?;
            let scaled = |(value, (exact, scale)): (&f64, (&f64, &f64))| {
                (exact + factor * (value - exact)) / (factor * scale)
            };
            Ok(release.value.iter().zip(exact.iter().zip(&release.noise.scales)).map(scaled).collect())
        };
        (0..repeats).map(noisy).collect()
    };
    Ok(Releases { first: draw(Some(&pair.first))?, second: draw(pair.second.as_deref())? })
}

/// The pair of records whose statistics are furthest apart in units of the noise, as far as a search finds it.
pub fn worst_pair(plan: &Plan) -> Result<Pair, CuratorError> {
    let domain = plan.domain();
    let choices = match domain {
        Domain::Box(domain) => {
            let interval =
                |lower: f64, upper: f64| [lower, 0.5 * (lower + upper), 0.75 * upper + 0.25 * lower, upper];
            let terms = domain.features.iter().chain([&domain.response]);
            terms.map(|term| interval(term.lower, term.upper)).collect()
        }
        Domain::Ball(domain) => {
            let steps = |limit: f64| [-limit, -0.5 * limit, 0.5 * limit, limit];
            let mut choices = vec![steps(domain.radius); domain.features.len()];
            choices.push(steps(domain.response_bound));
            choices
        }
    };
    let columns = choices.len();
    let exchange = plan.privacy().neighbours == Neighbours::Substitute;
    let length = if exchange { 2 * columns } else { columns };
    let pair = |picks: &[usize]| {
        let record =
            |picks: &[usize]| picks.iter().zip(&choices).map(|(pick, choice)| choice[*pick]).collect();
        Pair { first: record(&picks[..columns]), second: exchange.then(|| record(&picks[columns..])) }
    };
    // Which corners are tried is no secret, so this generator has a seed.
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut best = (-1.0, vec![0; length]);
    for _ in 0..STARTS {
        let picks: Vec<usize> = (0..length).map(|_| rng.random_range(0..4)).collect();
        best = better(best, (distance(plan, &pair(&picks))?, picks));
    }
    loop {
        let before = best.0;
        for place in 0..length {
            for pick in 0..4 {
                let mut picks = best.1.clone();
                picks[place] = pick;
                best = better(best, (distance(plan, &pair(&picks))?, picks));
            }
        }
        if best.0 <= before {
            return Ok(pair(&best.1));
        }
    }
}

fn better(one: (f64, Vec<usize>), other: (f64, Vec<usize>)) -> (f64, Vec<usize>) {
    if other.0 > one.0 { other } else { one }
}

/// How far apart the statistics of a pair are, in units of the noise.
fn distance(plan: &Plan, pair: &Pair) -> Result<f64, CuratorError> {
    let of = |record: &[f64]| Ok::<_, CuratorError>(exact_values(plan, &statistic(plan, &[record])?));
    let first = of(&pair.first)?;
    let second = pair.second.as_deref().map_or_else(|| Ok(vec![0.0; first.len()]), of)?;
    let parts =
        first.iter().zip(&second).zip(&plan.noise().scales).map(|((a, b), scale)| (a - b).abs() / scale);
    Ok(match plan.noise().family {
        Family::Gaussian => parts.map(|part| part * part).sum::<f64>().sqrt(),
        Family::Laplace => parts.sum(),
    })
}

/// Attacks a plan with `repeats` releases of each table; none for statistics that are not a Gram matrix of the records.
pub fn audit(plan: &Plan, factor: f64, repeats: usize, alpha: f64) -> Result<Option<Verdict>, CuratorError> {
    if !matches!(plan.statistic(), Statistic::Gram { .. }) {
        return Ok(None);
    }
    let pair = worst_pair(plan)?;
    let distance = distance(plan, &pair)? * plan.weighted_scale() / plan.sensitivity().value;
    let drawn = releases(plan, &pair, factor, repeats)?;
    let epsilon = match plan.noise().family {
        Family::Gaussian => {
            let mu = gaussian_mu_lower_bound(&drawn, alpha).max(1e-9);
            gaussian_epsilon(plan.privacy().delta, mu).unwrap_or(f64::INFINITY)
        }
        Family::Laplace => laplace_epsilon(&drawn, alpha),
    };
    Ok(Some(Verdict { distance, epsilon }))
}

/// The event that the likelihood ratio is nearly as large as it can be; how nearly is chosen on the first half of the releases.
fn laplace_epsilon(drawn: &Releases, alpha: f64) -> f64 {
    let half = drawn.first.len() / 2;
    let median = |draws: &[Vec<f64>]| -> Vec<f64> {
        let column = |k: usize| {
            let mut values: Vec<f64> = draws[..half].iter().map(|draw| draw[k]).collect();
            *values.select_nth_unstable_by(half / 2, f64::total_cmp).1
        };
        (0..draws[0].len()).map(column).collect()
    };
    let (first, second) = (median(&drawn.first), median(&drawn.second));
    let score = |draw: &Vec<f64>| -> f64 {
        draw.iter().zip(first.iter().zip(&second)).map(|(v, (a, b))| (v - b).abs() - (v - a).abs()).sum()
    };
    let scores = |draws: &[Vec<f64>]| draws.iter().map(score).collect::<Vec<_>>();
    let (ours, theirs) = (scores(&drawn.first), scores(&drawn.second));
    let bound = |threshold: f64, range: std::ops::Range<usize>| {
        let hits =
            |scores: &[f64]| scores[range.clone()].iter().filter(|score| **score > threshold).count() as u64;
        pure_epsilon_lower_bound((hits(&ours), hits(&theirs)), range.len() as u64, alpha)
    };
    let largest = ours.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let thresholds = (1..20).map(|k| largest * (1.0 - f64::from(k) / 20.0));
    let best = thresholds.max_by(|a, b| bound(*a, 0..half).total_cmp(&bound(*b, 0..half)));
    bound(best.unwrap_or(0.0), half..ours.len())
}
