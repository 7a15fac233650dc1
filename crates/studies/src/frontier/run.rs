//! All replicates at all losses, in parallel; the same numbers on any number of threads.

use std::sync::atomic::{AtomicUsize, Ordering};

use organza_curator::bounds::Bounds;
use organza_curator::defaults::planned_records;
use organza_curator::formula::Formula;
use organza_curator::gram::{GramAccumulator, IntegerGram};
use organza_curator::mechanism::{DomainChoice, Plan, RecordScale, Request};
use organza_infer::{Evidence, Fit, Method, MethodSpec, ModelSpec, Sampler, fit};
use organza_mcmc::Monitor;
use organza_release::Release;
use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};

use super::Frontier;
use crate::StudyError;
use crate::seeded::Mechanism;
use crate::simulation::Population;
use crate::{Watch, generator, seed};

/// What one fit is worth. Coefficients are standardised.
#[derive(Debug, Clone, PartialEq)]
pub struct Score {
    /// Widths of the intervals of the slopes.
    pub widths: Vec<f64>,
    /// Errors of their posterior means.
    pub errors: Vec<f64>,
    /// How many intervals hold the truth.
    pub held: usize,
    /// Root mean squared error of predictions over that with the true coefficients; at least 1.
    pub prediction: f64,
}

/// Scores of all replicates.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The method that was used.
    pub method: Method,
    /// For every replicate: one score for each epsilon, then the one without privacy.
    pub scores: Vec<Vec<Score>>,
}

/// Tables of one replicate, as exact sums, and where they came from.
struct Tables {
    population: Population,
    formula: Formula,
    bounds: Bounds,
    /// Columns of each party: features, then the response.
    parties: Vec<Vec<Vec<f64>>>,
    seed: u64,
}

impl Frontier {
    /// Runs all replicates. An interruption is an error: there is nothing to go on from.
    pub fn run(&self, watch: &Watch<'_>) -> Result<Outcome, StudyError> {
        let (done, total) = (AtomicUsize::new(0), self.design.replicates);
        let one = |number: usize| {
            if watch.is_interrupted() {
                return Err(StudyError::Interrupted);
            }
            let found = self.replicate(number, &watch.monitor());
            watch.progress(done.fetch_add(1, Ordering::Relaxed) + 1, total);
            // A chain that was cut short may fail, or say less than it should.
            if watch.is_interrupted() {
                return Err(StudyError::Interrupted);
            }
            found.map_err(|reason| StudyError::Replicate { replicate: number, reason })
        };
        let found: Vec<(Method, Vec<Score>)> =
            (1..total + 1).into_par_iter().with_max_len(1).map(one).collect::<Result<_, _>>()?;
        let method = found.first().map_or(Method::Marginal, |(method, _)| *method);
        Ok(Outcome { method, scores: found.into_iter().map(|(_, scores)| scores).collect() })
    }

    /// Plans the releases of the first replicate and asks whether the method accepts them.
    pub(super) fn check_releases(&self) -> Result<(), StudyError> {
        let tables = self.tables(1).map_err(|error| StudyError::setting("features", error))?;
        // The planner speaks of one epsilon.
        let refuse = |error: String| {
            StudyError::setting("epsilons", error.trim_start_matches("the setting `epsilon`: "))
        };
        for epsilon in &self.design.epsilons {
            tables.plan(*epsilon, self.design.delta).map_err(refuse)?;
        }
        let releases = self.releases(&tables, self.design.epsilons[0]).map_err(refuse)?;
        let evidence = Evidence::new(&releases).map_err(|error| StudyError::setting("method", error))?;
        match self.design.method.and_then(|method| Some((method, method.lacks(&evidence)?))) {
            None => Ok(()),
            Some((method, needs)) => Err(StudyError::setting(
                "method",
                format!("{method} needs {needs}, which releases by the default mechanism have not"),
            )),
        }
    }

    /// Scores at all losses and without privacy.
    fn replicate(&self, number: usize, monitor: &Monitor<'_>) -> Result<(Method, Vec<Score>), String> {
        let tables = self.tables(number)?;
        let (mut scores, mut method) = (Vec::new(), Method::Marginal);
        for epsilon in &self.design.epsilons {
            let fitted =
                self.fit(self.design.method, (&self.releases(&tables, *epsilon)?, tables.seed), monitor)?;
            method = fitted.method.unwrap_or(method);
            scores.push(tables.score(&fitted));
        }
        let exact = tables.exact_releases()?;
        scores.push(tables.score(&self.fit(Some(Method::Naive), (&exact, tables.seed), monitor)?));
        Ok((method, scores))
    }

    fn tables(&self, number: usize) -> Result<Tables, String> {
        let design = &self.design;
        let name = format!(
            "n={} d={} J={} R2={} fill={}",
            design.records, design.features, design.parties, design.r_squared, design.fill
        );
        let seed = seed(design.seed, "frontier", &name, number as u64);
        let mut rng = generator(seed, 0);
        let population = Population::draw(design.features, 1.0, &mut rng).with_r_squared(design.r_squared);
        let names: Vec<String> = (1..=design.features).map(|k| format!("x{k}")).collect();
        let formula =
            format!("y ~ {}", names.join(" + ")).parse::<Formula>().map_err(|error| error.to_string())?;
        let bounds = population.loose_bounds((&names, "y"), design.fill, &mut rng);
        let bounds = Bounds::from_toml(&bounds, "bounds").map_err(|error| error.to_string())?;
        let mut record = vec![0.0; design.features + 1];
        let mut party = || {
            let mut columns = vec![Vec::with_capacity(design.records); design.features + 1];
            for _ in 0..design.records {
                population.record(&mut rng, &mut record);
                columns.iter_mut().zip(&record).for_each(|(column, value)| column.push(*value));
            }
            columns
        };
        let parties = (0..design.parties).map(|_| party()).collect();
        Ok(Tables { population, formula, bounds, parties, seed })
    }

    /// Releases by the default mechanism, as a release plans them, with seeded noise.
    fn releases(&self, tables: &Tables, epsilon: f64) -> Result<Vec<Release>, String> {
        let plan = tables.plan(epsilon, self.design.delta)?;
        let mechanism = mechanism(&plan);
        let mut releases = Vec::new();
        for (place, columns) in tables.parties.iter().enumerate() {
            let gram = exact_sums(&plan, columns)?;
            let exact = values(&plan, &gram);
            // The same numbers at every epsilon: curves are smooth.
            let mut rng = generator(tables.seed, 1 + place as u64);
            releases.push(mechanism.publish(
                &format!("party{}", place + 1),
                gram.records(),
                &exact,
                &mut rng,
            ));
        }
        Ok(releases)
    }

    /// A fit of releases with this seed.
    fn fit(
        &self,
        method: Option<Method>,
        (releases, seed): (&[Release], u64),
        monitor: &Monitor<'_>,
    ) -> Result<Fit, String> {
        short_fit(method, self.design.level, (releases, seed), monitor)
    }
}

/// A fit by one chain, as short as widths allow.
pub(super) fn short_fit(
    method: Option<Method>,
    level: f64,
    (releases, seed): (&[Release], u64),
    monitor: &Monitor<'_>,
) -> Result<Fit, String> {
    let sampler = method.map_or(Sampler::Nuts, |method| method.samplers()[0]);
    let (warmup, draws, thin) = match sampler {
        sampler if sampler.is_independent() => (0, 1000, 1),
        Sampler::Nuts => (400, 800, 1),
        _ => (2000, 500, 10),
    };
    let plan = organza_mcmc::Plan { chains: 1, warmup, draws, thin, seed, threads: 1 };
    let model = ModelSpec { mass: level, ..ModelSpec::default() };
    let spec = MethodSpec { method, sampler: None };
    fit(&spec, &model, releases, &plan, monitor).map_err(|error| error.to_string())
}

impl Tables {
    fn request(&self, epsilon: f64, delta: f64) -> Request {
        Request::new(self.formula.clone(), self.bounds.clone(), epsilon, delta)
    }

    fn plan(&self, epsilon: f64, delta: f64) -> Result<Plan, String> {
        let records = self.parties.first().map_or(0, |columns| columns[0].len() as u64);
        let request = Request { records: planned_records(records), ..self.request(epsilon, delta) };
        Plan::new(&request).map_err(|error| error.to_string())
    }

    /// Exact sums of plain records as releases without noise, for the fit without privacy.
    fn exact_releases(&self) -> Result<Vec<Release>, String> {
        let domain = DomainChoice::Box { record_scale: RecordScale::None, intercept_weight: None };
        // The loss is of no importance: no noise is drawn, and `naive` does not look at its scale.
        let plan =
            Plan::new(&Request { domain, ..self.request(1.0, 0.5) }).map_err(|error| error.to_string())?;
        let mechanism = mechanism(&plan);
        let party = |(place, columns): (usize, &Vec<Vec<f64>>)| {
            let gram = exact_sums(&plan, columns)?;
            Ok(mechanism.release(&format!("party{}", place + 1), gram.records(), values(&plan, &gram)))
        };
        self.parties.iter().enumerate().map(party).collect()
    }

    fn score(&self, fitted: &Fit) -> Score {
        let laws = &self.population.laws;
        let truth: Vec<f64> = laws.iter().map(|law| law.coefficient).collect();
        let sigma2 = self.population.sigma * self.population.sigma;
        let response = (self.population.variance_of(&truth) + sigma2).sqrt();
        let row = |name: &str| fitted.summary.parameters.iter().find(|row| row.name == name);
        let rows: Vec<_> = (1..=laws.len()).filter_map(|k| row(&format!("beta[x{k}]"))).collect();
        let units: Vec<f64> = laws.iter().map(|law| law.sd / response).collect();
        let width = |(row, unit): (&&organza_mcmc::ParameterSummary, &f64)| {
            (row.equal_tailed.upper - row.equal_tailed.lower) * unit
        };
        let differences: Vec<f64> = rows.iter().zip(&truth).map(|(row, truth)| row.mean - truth).collect();
        let holds = |(row, truth): &(&&organza_mcmc::ParameterSummary, &f64)| {
            (row.equal_tailed.lower..=row.equal_tailed.upper).contains(truth)
        };
        // How far the line is off at the mean of the features, and how it turns around it.
        let at_zero = row("beta[intercept]").map_or(0.0, |row| row.mean - self.population.intercept);
        let shift = at_zero + laws.iter().zip(&differences).map(|(law, off)| law.centre * off).sum::<f64>();
        let excess = shift * shift + self.population.variance_of(&differences);
        Score {
            widths: rows.iter().zip(&units).map(width).collect(),
            held: rows.iter().zip(&truth).filter(holds).count(),
            errors: differences.iter().zip(&units).map(|(off, unit)| off * unit).collect(),
            prediction: (1.0 + excess / sigma2).sqrt(),
        }
    }
}

pub(super) fn mechanism(plan: &Plan) -> Mechanism {
    let (noise, privacy) = (plan.noise(), plan.privacy());
    Mechanism {
        domain: plan.domain().clone(),
        statistic: plan.statistic().clone(),
        family: noise.family,
        scales: noise.scales.clone(),
        epsilon: privacy.epsilon,
        delta: privacy.delta,
        sensitivity: privacy.sensitivity,
    }
}

/// The exact sums of a table, clamped and scaled as the plan says.
pub(super) fn exact_sums(plan: &Plan, columns: &[Vec<f64>]) -> Result<IntegerGram, String> {
    let mut sums = GramAccumulator::new(plan.record_map());
    let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    sums.add_block(&columns).map_err(|error| error.to_string())?;
    Ok(sums.finish())
}

/// The exact numbers that a release adds noise to, in its units.
pub(super) fn values(plan: &Plan, gram: &IntegerGram) -> Vec<f64> {
    let unit = f64::exp2(-2.0 * f64::from(gram.grid_bits()));
    let weights = plan.statistic().weights(plan.domain());
    let entries = plan.statistic().entries().iter().zip(weights);
    entries
        .map(|(&[row, column], weights)| {
            gram.entry(row, column).map_or(f64::NAN, |sum| sum as f64 * unit / weights.lattice)
        })
        .collect()
}
