//! Studies of the default release and the default fit on tables that are not drawn from their model: are the intervals honest?
//!
//! A stratum is a way to make tables and bounds. A study makes a table, releases it as `organza release` would (noise is seeded), fits the releases with all defaults, and asks whether
//! 95 percent intervals hold the coefficients, sigma, R^2 and new records. Where the truth is a line it is the yardstick, else least squares on the clamped and weighted records.

use organza_curator::bounds::Bounds;
use organza_curator::defaults::planned_records;
use organza_curator::mechanism::{Plan as ReleasePlan, Request};
use organza_infer::{Fit, MethodSpec, ModelSpec, fit};
use organza_mcmc::diagnostics::equal_tailed;
use organza_mcmc::{Monitor, Plan};
use organza_release::units::CoefficientMap;
use organza_release::{Domain, Family, Missing, Neighbours, Release, Tool};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

use crate::linalg::{inverse, solve};
use organza_studies::seeded::standard_noise;

/// A way to make tables and bounds.
#[derive(Debug, Clone, PartialEq)]
pub struct Stratum {
    /// What distinguishes it.
    pub kind: Kind,
    /// Epsilon of every release; delta is 1e-6, and 0 with Laplace noise.
    pub epsilon: f64,
}

/// What distinguishes a stratum. Three parties of 1,000 records, three features and R^2 = 1/2 unless said otherwise; bounds near the data.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// Independent features: records of a party, parties, R^2.
    Independent(usize, usize, f64),
    /// The correlation of two features.
    Correlated(f64),
    /// Bounds this many times wider than four standard deviations.
    Loose(f64),
    /// Features with mean 0.7 and standard deviation 0.1 of the half-range.
    OffCentre,
    /// A feature and the levels of a factor.
    OneHot,
    /// A feature and its square.
    Square,
    /// Two features, their squares and their product.
    Interaction,
    /// Log-normal features that are clamped at their upper bounds.
    LogNormal,
    /// Independent features, neighbours that add or remove a record.
    AddRemove,
    /// Independent features, Laplace noise.
    Laplace,
    /// A table that is given, bounds of its features, and last those of the response.
    Table(Table, Vec<(f64, f64)>),
}

/// Features of every record, and its response.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    /// Features, record by record.
    pub x: Vec<Vec<f64>>,
    /// Response.
    pub y: Vec<f64>,
}

/// The strata that are drawn, as the committed results have them.
pub fn drawn() -> Vec<Stratum> {
    let of = |kind: Kind, epsilons: &[f64]| -> Vec<Stratum> {
        epsilons.iter().map(|epsilon| Stratum { kind: kind.clone(), epsilon: *epsilon }).collect()
    };
    [
        of(Kind::Independent(1000, 3, 0.5), &[0.3, 1.0, 3.0]),
        of(Kind::Independent(500, 1, 0.5), &[1.0]),
        of(Kind::Independent(100, 20, 0.5), &[1.0]),
        of(Kind::Independent(1000, 3, 0.999), &[1.0, 3.0]),
        of(Kind::Correlated(0.9), &[0.3, 1.0, 3.0]),
        of(Kind::Correlated(0.99), &[0.3, 1.0, 3.0]),
        of(Kind::OneHot, &[1.0]),
        of(Kind::Loose(15.0), &[0.3, 1.0]),
        of(Kind::OffCentre, &[1.0, 3.0]),
        of(Kind::Square, &[1.0, 3.0]),
        of(Kind::Interaction, &[1.0]),
        of(Kind::LogNormal, &[1.0]),
        of(Kind::AddRemove, &[1.0]),
        of(Kind::Laplace, &[1.0]),
    ]
    .concat()
}

impl std::fmt::Display for Kind {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Kind::Independent(records, parties, share) => {
                write!(to, "{parties} x {records} records R2 {share}")
            }
            Kind::Correlated(correlation) => write!(to, "correlation {correlation}"),
            Kind::Loose(factor) => write!(to, "bounds {factor} times too wide"),
            Kind::OffCentre => write!(to, "off-centre"),
            Kind::OneHot => write!(to, "one-hot levels"),
            Kind::Square => write!(to, "x and its square"),
            Kind::Interaction => write!(to, "squares and an interaction"),
            Kind::LogNormal => write!(to, "log-normal clamped"),
            Kind::AddRemove => write!(to, "add-remove"),
            Kind::Laplace => write!(to, "laplace"),
            Kind::Table(_, bounds) => {
                let (lower, upper) = bounds.first().unwrap_or(&(0.0, 0.0));
                write!(to, "table with bounds {lower}:{upper}")
            }
        }
    }
}

/// What a study found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Whether the interval of every coefficient holds.
    pub coefficients: Vec<bool>,
    /// The intervals of the slopes.
    pub slopes: Vec<(f64, f64)>,
    /// Whether that of sigma does.
    pub sigma: bool,
    /// Whether that of R^2 does.
    pub r_squared: bool,
    /// Share of records inside their predictive intervals.
    pub predictive: f64,
    /// Mean width of the slopes' intervals over that of least squares without privacy.
    pub width: f64,
    /// Mean interval score of the slopes, in the same unit.
    pub score: f64,
    /// Whether the chains have warnings: exit code 3.
    pub warned: bool,
    /// Seconds of the fit on one thread.
    pub seconds: f64,
}

/// Tables of all parties, bounds, and the truth where it is a line.
struct Problem {
    bounds: Vec<(f64, f64)>,
    response: (f64, f64),
    tables: Vec<Table>,
    truth: Option<(Vec<f64>, f64)>,
}

fn normal(rng: &mut ChaCha8Rng) -> f64 {
    StandardNormal.sample(rng)
}

/// Tables of a line with this share of explained variance.
fn line(
    (records, parties): (usize, usize),
    beta: &[f64],
    share: f64,
    rng: &mut ChaCha8Rng,
    feature: impl Fn(&mut ChaCha8Rng) -> Vec<f64>,
) -> Problem {
    let value = |x: &[f64]| beta[0] + x.iter().zip(&beta[1..]).map(|(x, slope)| x * slope).sum::<f64>();
    let trial: Vec<f64> = (0..4000).map(|_| value(&feature(rng))).collect();
    let mean = trial.iter().sum::<f64>() / 4000.0;
    let variance = trial.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / 4000.0;
    let sigma = (variance * (1.0 - share) / share).sqrt();
    let mut table = || {
        let x: Vec<Vec<f64>> = (0..records).map(|_| feature(rng)).collect();
        let y = x.iter().map(|x| value(x) + sigma * normal(rng)).collect();
        Table { x, y }
    };
    let tables: Vec<Table> = (0..parties).map(|_| table()).collect();
    let largest = tables.iter().flat_map(|table| &table.y).fold(0.0f64, |top, y| top.max(y.abs()));
    Problem {
        bounds: vec![(-4.0, 4.0); beta.len() - 1],
        response: (-1.2 * largest, 1.2 * largest),
        tables,
        truth: Some((beta.to_vec(), sigma)),
    }
}

impl Stratum {
    fn family(&self) -> Family {
        if self.kind == Kind::Laplace { Family::Laplace } else { Family::Gaussian }
    }

    fn problem(&self, rng: &mut ChaCha8Rng) -> Problem {
        let usual = [0.2, 0.5, -0.4, 0.3];
        let three = |correlation: f64| {
            move |rng: &mut ChaCha8Rng| {
                let first = normal(rng);
                let second = correlation * first + (1.0 - correlation * correlation).sqrt() * normal(rng);
                vec![first, second, normal(rng)]
            }
        };
        let size = (1000, 3);
        let inner = |rng: &mut ChaCha8Rng| (0.4 * normal(rng)).clamp(-1.0, 1.0);
        match &self.kind {
            Kind::Independent(records, parties, share) => {
                line((*records, *parties), &usual, *share, rng, three(0.0))
            }
            Kind::Correlated(correlation) => line(size, &usual, 0.5, rng, three(*correlation)),
            Kind::AddRemove | Kind::Laplace => line(size, &usual, 0.5, rng, three(0.0)),
            Kind::Loose(factor) => {
                let problem = line(size, &usual, 0.5, rng, three(0.0));
                Problem { bounds: vec![(-4.0 * factor, 4.0 * factor); 3], ..problem }
            }
            Kind::OffCentre => {
                let feature = |rng: &mut ChaCha8Rng| (0..3).map(|_| 0.7 + 0.1 * normal(rng)).collect();
                let problem = line(size, &[0.2, 5.0, -4.0, 3.0], 0.5, rng, feature);
                Problem { bounds: vec![(-1.0, 1.0); 3], ..problem }
            }
            Kind::OneHot => {
                let problem = line(size, &[0.2, 0.5, -0.4, 0.3, 0.6], 0.5, rng, |rng| {
                    let level: f64 = rng.random();
                    let is = |from: f64, to: f64| f64::from(u8::from((from..to).contains(&level)));
                    vec![normal(rng), is(0.0, 0.3), is(0.3, 0.5), is(0.5, 0.6)]
                });
                Problem { bounds: vec![(-4.0, 4.0), (0.0, 1.0), (0.0, 1.0), (0.0, 1.0)], ..problem }
            }
            Kind::Square => {
                let problem = line(size, &[0.2, 0.8, 1.0], 0.5, rng, |rng| {
                    let x = inner(rng);
                    vec![x, x * x]
                });
                Problem { bounds: vec![(-1.0, 1.0), (0.0, 1.0)], ..problem }
            }
            Kind::Interaction => {
                let problem = line(size, &[0.2, 0.8, -0.5, 1.0, 0.5, 0.7], 0.5, rng, |rng| {
                    let (x, z) = (inner(rng), inner(rng));
                    vec![x, z, x * x, z * z, x * z]
                });
                Problem {
                    bounds: vec![(-1.0, 1.0), (-1.0, 1.0), (0.0, 1.0), (0.0, 1.0), (-1.0, 1.0)],
                    ..problem
                }
            }
            Kind::LogNormal => {
                let feature = |rng: &mut ChaCha8Rng| (0..2).map(|_| normal(rng).exp()).collect();
                let problem = line(size, &[0.2, 0.5, 0.3], 0.5, rng, feature);
                Problem { bounds: vec![(0.0, 6.0); 2], truth: None, ..problem }
            }
            Kind::Table(table, bounds) => {
                let (response, features) = bounds.split_last().unwrap_or((&(0.0, 0.0), &[]));
                Problem {
                    bounds: features.to_vec(),
                    response: *response,
                    tables: vec![table.clone()],
                    truth: None,
                }
            }
        }
    }

    /// What `organza release` would do.
    fn plan(&self, problem: &Problem) -> Result<ReleasePlan, String> {
        let names: Vec<String> = (1..=problem.bounds.len()).map(|k| format!("x{k}")).collect();
        let section = |(name, (lower, upper)): (&str, &(f64, f64))| {
            format!("[{name}]\nlower = {lower:?}\nupper = {upper:?}\n")
        };
        let features: String = names.iter().map(String::as_str).zip(&problem.bounds).map(section).collect();
        let text = features + &section(("y", &problem.response));
        let bounds = Bounds::from_toml(&text, "bounds").map_err(|error| error.to_string())?;
        let formula = format!("y ~ {}", names.join(" + ")).parse().map_err(|_| "the formula is wrong")?;
        let delta = if self.family() == Family::Laplace { 0.0 } else { 1e-6 };
        let mut request = Request::new(formula, bounds, self.epsilon, delta);
        request.family = self.family();
        if self.kind == Kind::AddRemove {
            request.neighbours = Neighbours::AddRemove;
        } else {
            request.records = problem.tables.first().and_then(|table| planned_records(table.y.len() as u64));
        }
        ReleasePlan::new(&request).map_err(|error| error.to_string())
    }

    /// One table, its releases and their fit.
    pub fn study(&self, seed: u64) -> Result<Found, String> {
        let mut rng = ChaCha8Rng::seed_from_u64(7919 * seed + 13);
        let problem = self.problem(&mut rng);
        let plan = self.plan(&problem)?;
        let size = problem.bounds.len() + 2;
        let mut total = vec![0.0; size * size];
        let mut releases = vec![];
        for (number, table) in problem.tables.iter().enumerate() {
            let gram = problem.gram(plan.domain(), table);
            total.iter_mut().zip(&gram).for_each(|(sum, value)| *sum += value);
            let entries = plan.statistic().entries();
            let noisy = |(&[row, column], scale): (&[usize; 2], &f64)| {
                gram[row * size + column] + scale * standard_noise(self.family(), &mut rng)
            };
            releases.push(Release {
                schema: organza_release::SCHEMA.into(),
                party: format!("party{number}"),
                created: "2026-01-31T12:00:00Z".into(),
                records: (self.kind != Kind::AddRemove).then_some(table.y.len() as u64),
                missing: Missing::Refused,
                value: entries.iter().zip(&plan.noise().scales).map(noisy).collect(),
                noise: plan.noise().clone(),
                statistic: plan.statistic().clone(),
                domain: plan.domain().clone(),
                privacy: plan.privacy().clone(),
                tool: Tool { name: "organza-lab".into(), version: "0".into() },
            });
        }
        let chains = Plan { seed, threads: 1, ..Plan::default() };
        let started = std::time::Instant::now();
        let fitted =
            fit(&MethodSpec::default(), &ModelSpec::default(), &releases, &chains, &Monitor::default())
                .map_err(|error| error.to_string())?;
        let seconds = started.elapsed().as_secs_f64();
        let found = problem.judge(plan.domain(), &total, &fitted, &mut rng);
        found.map(|found| Found { seconds, ..found }).ok_or_else(|| "the features are collinear".into())
    }
}

impl Problem {
    /// The Gram matrix of clamped and weighted records in normalised units.
    fn gram(&self, domain: &Domain, table: &Table) -> Vec<f64> {
        let size = self.bounds.len() + 2;
        let unit = |value: f64, (lower, upper): (f64, f64)| {
            (2.0 * value.clamp(lower, upper) - lower - upper) / (upper - lower)
        };
        let (radius, constant) = match domain {
            Domain::Box(domain) => (domain.record_scale, domain.intercept_weight),
            Domain::Ball(_) => (None, 1.0),
        };
        let mut gram = vec![0.0; size * size];
        for (x, y) in table.x.iter().zip(&table.y) {
            let mut record = vec![1.0];
            record.extend(x.iter().zip(&self.bounds).map(|(x, bounds)| unit(*x, *bounds)));
            let norm = (constant * constant + record[1..].iter().map(|x| x * x).sum::<f64>()).sqrt();
            record.push(unit(*y, self.response));
            let square = radius.map_or(1.0, |radius| (radius / norm).min(1.0).powi(2));
            for (k, sum) in gram.iter_mut().enumerate() {
                *sum += square * record[k / size] * record[k % size];
            }
        }
        gram
    }

    /// Compares a fit with the truth, or with least squares on these sums.
    fn judge(&self, domain: &Domain, total: &[f64], fitted: &Fit, rng: &mut ChaCha8Rng) -> Option<Found> {
        let (size, map) = (self.bounds.len() + 2, CoefficientMap::new(domain));
        let d = size - 1;
        let inner: Vec<f64> = (0..d * d).map(|k| total[k / d * size + k % d]).collect();
        let cross: Vec<f64> = (0..d).map(|k| total[k * size + d]).collect();
        let theta = solve(&inner, &cross)?;
        let residual = total[size * size - 1] - theta.iter().zip(&cross).map(|(a, b)| a * b).sum::<f64>();
        let sd = (residual / total[0]).sqrt();
        let share = 1.0 - residual / (total[size * size - 1] - cross[0] * cross[0] / total[0]);
        let squares = map.covariance_to_users(&inverse(&inner)?);
        let (beta, sigma) =
            self.truth.clone().unwrap_or_else(|| (map.to_users(&theta), map.response_unit() * sd));
        let rows = &fitted.summary.parameters;
        let holds = |k: usize, value: f64| {
            rows.get(k).is_none_or(|row| row.equal_tailed.lower <= value && value <= row.equal_tailed.upper)
        };
        let (mut width, mut score) = (0.0, 0.0);
        for k in 1..d {
            let interval = rows[k].equal_tailed;
            let outside = (interval.lower - beta[k]).max(beta[k] - interval.upper).max(0.0);
            let unit = 2.0 * 1.96 * sd * squares[k * d + k].sqrt() * (d as f64 - 1.0);
            width += (interval.upper - interval.lower) / unit;
            score += (interval.upper - interval.lower + 40.0 * outside) / unit;
        }
        Some(Found {
            coefficients: (0..d).map(|k| holds(k, beta[k])).collect(),
            slopes: rows[1..d].iter().map(|row| (row.equal_tailed.lower, row.equal_tailed.upper)).collect(),
            sigma: holds(d, sigma),
            r_squared: holds(d + 1, share),
            predictive: self.predictive(fitted, rng)?,
            width,
            score,
            warned: !fitted.summary.warnings().is_empty(),
            seconds: 0.0,
        })
    }

    /// The share of about sixty records that lie inside their predictive intervals.
    fn predictive(&self, fitted: &Fit, rng: &mut ChaCha8Rng) -> Option<f64> {
        let d = self.bounds.len() + 1;
        let names = &fitted.draws.names()[..=d];
        let traces: Vec<Vec<f64>> =
            names.iter().map(|name| Some(fitted.draws.parameter(name)?.concat())).collect::<Option<_>>()?;
        let table = self.tables.first()?;
        let step = (table.y.len() / 60).max(1);
        let (mut inside, mut tried) = (0.0, 0.0);
        for (x, y) in table.x.iter().zip(&table.y).step_by(step) {
            let x: Vec<f64> =
                x.iter().zip(&self.bounds).map(|(x, (lower, upper))| x.clamp(*lower, *upper)).collect();
            let new: Vec<f64> = (0..traces[0].len())
                .map(|draw| {
                    let slopes = x.iter().zip(&traces[1..d]).map(|(x, trace)| x * trace[draw]);
                    traces[0][draw] + slopes.sum::<f64>() + traces[d][draw] * normal(rng)
                })
                .collect();
            let interval = equal_tailed(&new, 0.95);
            tried += 1.0;
            inside += f64::from(u8::from(interval.lower <= *y && *y <= interval.upper));
        }
        Some(inside / tried)
    }
}

/// Many studies.
#[derive(Debug, Clone, PartialEq)]
pub struct Coverage {
    /// Percent of intervals that hold: every coefficient.
    pub coefficients: Vec<f64>,
    /// The same of sigma, of R^2, and of new records.
    pub sigma: f64,
    /// R^2.
    pub r_squared: f64,
    /// New records.
    pub predictive: f64,
    /// Median of the widths.
    pub width: f64,
    /// Median of the interval scores.
    pub score: f64,
    /// Fits that have warnings.
    pub warned: usize,
    /// Mean time of a fit.
    pub seconds: f64,
}

impl Stratum {
    /// So many studies, in parallel.
    pub fn coverage(&self, studies: u64) -> Result<Coverage, String> {
        let found: Vec<Found> =
            (0..studies).into_par_iter().map(|seed| self.study(seed)).collect::<Result<_, _>>()?;
        let percent =
            |of: &dyn Fn(&Found) -> f64| 100.0 * found.iter().map(of).sum::<f64>() / found.len() as f64;
        let share = |of: &dyn Fn(&Found) -> bool| percent(&|found| f64::from(u8::from(of(found))));
        let median = |of: &dyn Fn(&Found) -> f64| {
            let mut values: Vec<f64> = found.iter().map(of).collect();
            values.sort_by(f64::total_cmp);
            values[values.len() / 2]
        };
        let count = found.first().map_or(0, |found| found.coefficients.len());
        Ok(Coverage {
            coefficients: (0..count).map(|k| share(&|found| found.coefficients[k])).collect(),
            sigma: share(&|found| found.sigma),
            r_squared: share(&|found| found.r_squared),
            predictive: percent(&|found| found.predictive),
            width: median(&|found| found.width),
            score: median(&|found| found.score),
            warned: found.iter().filter(|found| found.warned).count(),
            seconds: found.iter().map(|found| found.seconds).sum::<f64>() / found.len() as f64,
        })
    }
}
