//! How honest and how fast is every method? Coverage, width and time over whole studies: tables, releases, fits.
//!
//! Three parties with a uniform, a skewed and a binary feature release at epsilon 1 with
//! the default mechanism; every method fits the same releases. The features are not normal and records are clamped and scaled,
//! so this asks more than calibration on a method's own model. Noise comes from the operating system: figures vary from run to run
//! within their binomial error.

mod study;

use std::time::Instant;

use organza_infer::{Fit, Method, MethodSpec, ModelSpec, Sampler, fit};
use organza_mcmc::{Monitor, Plan};
use organza_release::Release;
use study::{COEFFICIENTS, Study};

/// Anything that a study, a release or a fit may say.
pub type Failure = Box<dyn std::error::Error>;

/// A method, its sampler and a plan that suits it.
struct Contestant {
    method: Method,
    sampler: Sampler,
    plan: Plan,
}

/// Sums over replicates.
#[derive(Default)]
struct Score {
    fits: f64,
    held: f64,
    width: f64,
    squared_error: f64,
    seconds: f64,
    effective: f64,
    unconverged: f64,
}

fn contestants() -> Vec<Contestant> {
    let nuts = Plan { threads: 1, ..Plan::default() };
    let independent = Plan { warmup: 0, ..nuts };
    let walk = Plan { warmup: 5000, thin: 20, ..nuts };
    let woven = Plan { warmup: 2000, thin: 5, ..nuts };
    let of = |method: Method, sampler: Sampler, plan: Plan| Contestant { method, sampler, plan };
    vec![
        of(Method::Marginal, Sampler::Nuts, nuts),
        of(Method::NormalX, Sampler::Nuts, nuts),
        of(Method::NormalX, Sampler::Metropolis, walk),
        of(Method::FixedGram, Sampler::Quadrature, independent),
        of(Method::FixedGram, Sampler::Metropolis, walk),
        of(Method::Fast, Sampler::ClosedForm, independent),
        of(Method::GibbsUpdate, Sampler::Gibbs, walk),
        of(Method::GibbsPrior, Sampler::Dense, walk),
        of(Method::GibbsNoisy, Sampler::Dense, walk),
        of(Method::Naive, Sampler::Quadrature, independent),
        of(Method::Augmentation, Sampler::Interweaving, woven),
        of(Method::Individual, Sampler::Nuts, nuts),
    ]
}

impl Score {
    fn add(&mut self, fit: &Fit, truth: &[f64], seconds: f64) {
        self.fits += 1.0;
        self.seconds += seconds;
        let rows = &fit.summary.parameters[..COEFFICIENTS];
        self.effective += rows.iter().map(|row| row.ess_bulk).fold(f64::INFINITY, f64::min);
        self.unconverged += f64::from(u8::from(!fit.summary.warnings().is_empty()));
        for (row, value) in rows.iter().zip(truth) {
            let interval = row.equal_tailed;
            self.held += f64::from(u8::from((interval.lower..=interval.upper).contains(value)));
            self.width += (interval.upper - interval.lower).ln();
            self.squared_error += (row.mean - value).powi(2);
        }
    }

    fn row(&self, contestant: &Contestant, widest: f64) -> String {
        let all = self.fits * COEFFICIENTS as f64;
        let coverage = self.held / all;
        let error = (coverage * (1.0 - coverage) / all).sqrt();
        format!(
            "| `{}` {} | {:.1} ± {:.1} % | {:.2} | {:.1} | {:.0} | {:.0} % |",
            contestant.method,
            contestant.sampler,
            100.0 * coverage,
            100.0 * error,
            (self.width / all).exp() / widest,
            1000.0 * self.seconds / self.fits,
            self.effective / self.seconds,
            100.0 * self.unconverged / self.fits,
        )
    }
}

/// What to compare, over how many studies.
#[derive(clap::Args, Debug)]
pub struct MethodsArguments {
    /// Studies of each table
    #[arg(long, default_value_t = 100)]
    replicates: u64,
    /// Records of each party
    #[arg(long, value_delimiter = ',', default_value = "300,3000,30000")]
    records: Vec<usize>,
    /// Only this method, beside the first, which is the reference
    #[arg(long)]
    method: Option<Method>,
}

/// Prints a table for each number of records.
pub fn run(arguments: &MethodsArguments) -> Result<(), Failure> {
    arguments.records.iter().try_for_each(|records| compare(*records, arguments))
}

/// One table.
fn compare(records: usize, options: &MethodsArguments) -> Result<(), Failure> {
    let asked = |(place, contestant): &(usize, Contestant)| {
        *place == 0 || options.method.is_none_or(|method| method == contestant.method)
    };
    let contestants: Vec<Contestant> =
        contestants().into_iter().enumerate().filter(asked).map(|(_, contestant)| contestant).collect();
    let mut scores: Vec<Score> = contestants.iter().map(|_| Score::default()).collect();
    let replicates = options.replicates;
    for seed in 0..replicates {
        let study = Study::new(records, seed)?;
        let (scaled, unscaled) = (study.releases()?, study.unscaled_releases()?);
        for (contestant, score) in contestants.iter().zip(&mut scores) {
            // Latent records are beyond reach where there are too many.
            if contestant.method == Method::Individual && 3 * records > 20_000 {
                continue;
            }
            let releases = if contestant.method == Method::GibbsNoisy { &unscaled } else { &scaled };
            let started = Instant::now();
            let fitted = fitted(contestant, releases, seed)?;
            score.add(&fitted, &study.truth, started.elapsed().as_secs_f64());
        }
    }
    println!("\n{records} records for each of three parties, epsilon 1, {replicates} studies\n");
    println!(
        "| method | 95 % intervals that hold the truth | width | ms for a fit | effective draws per second | warned |"
    );
    println!("| --- | --- | --- | --- | --- | --- |");
    let reference = (scores[0].width / (scores[0].fits * COEFFICIENTS as f64)).exp();
    for (contestant, score) in contestants.iter().zip(&scores).filter(|(_, score)| score.fits > 0.0) {
        println!("{}", score.row(contestant, reference));
    }
    Ok(())
}

fn fitted(contestant: &Contestant, releases: &[Release], seed: u64) -> Result<Fit, Failure> {
    let spec = MethodSpec { method: Some(contestant.method), sampler: Some(contestant.sampler) };
    let plan = Plan { seed, ..contestant.plan };
    Ok(fit(&spec, &ModelSpec::default(), releases, &plan, &Monitor::default())?)
}
