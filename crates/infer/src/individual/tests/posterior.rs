//! Draws against laws that are known.

use organza_mcmc::diagnostics::{Traces, mcse_mean};
use organza_mcmc::{ChainRng, Draws, Plan, run};
use organza_release::{Family, Layout, Statistic, gram_entries};

use super::super::IndividualDensity;
use super::*;
use crate::prior::FeaturePrior;
use crate::random::{InverseWishart, fill_normal, inverse_gamma};
use crate::{Evidence, MarginalDensity, Prior};

/// P(|z| > 5.6) = 2e-8: alpha = 1e-6 over some fifty comparisons.
const LARGEST: f64 = 5.6;

fn sample(density: &IndividualDensity, draws: usize, seed: u64) -> Draws {
    let plan = Plan { chains: 2, warmup: 500, draws, thin: 1, seed, threads: 2 };
    run(&density.sampler(&plan), &density, &plan).unwrap()
}

/// z of the mean of a function of the draws against a mean with its own error.
fn z(draws: &Draws, place: usize, f: &dyn Fn(f64) -> f64, (mean, error): (f64, f64)) -> f64 {
    let name = draws.names()[place].clone();
    let chains: Vec<Vec<f64>> =
        draws.parameter(&name).unwrap().iter().map(|chain| chain.iter().map(|x| f(*x)).collect()).collect();
    let count = chains.iter().map(Vec::len).sum::<usize>() as f64;
    let found = chains.iter().flatten().sum::<f64>() / count;
    (found - mean) / mcse_mean(&Traces::new(&chains)).hypot(error)
}

fn average(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (mean, (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n * n)).sqrt())
}

/// Under overwhelming noise the prior is left, also that of the covariance of the features, which the explained share depends on.
/// Catches a wrong power in the volume of the moments and a scale without its Jacobian.
#[test]
fn under_overwhelming_noise_the_prior_is_left() {
    let cases = [
        (boxed(2, true, None), vec![25], true, Family::Laplace),
        (boxed(2, true, Some(0.8)), vec![4, 12], false, Family::Gaussian),
        (ball(2), vec![2, 9], true, Family::Gaussian),
    ];
    for (case, (domain, records, conjugate, family)) in cases.into_iter().enumerate() {
        let mut rng = ChainRng::new(31, case as u32);
        let size = domain.dimension() - 1;
        let releases: Vec<_> = (0..records.len())
            .map(|party| {
                let mechanism =
                    Mechanism { domain: domain.clone(), records: records[party], family, scale: 1e7 };
                simulated(&format!("p{party}"), &mechanism, &truth(&domain), &mut rng)
            })
            .collect();
        let prior = Prior::weak(size);
        let prior = if conjugate { prior.conjugate() } else { prior };
        let evidence = Evidence::new(&releases).unwrap();
        let density = IndividualDensity::new(&evidence, &prior).unwrap();
        let draws = sample(&density, 2_000, 4);
        let simulated = prior_shares(conjugate, &mut rng);
        for k in 0..size {
            let deviation = |x: f64| if conjugate { x.clamp(-0.3, 0.3) } else { x * x };
            assert!(z(&draws, k, &|x| x, (0.0, 0.0)).abs() < LARGEST, "{case} {k}");
            let expected = if conjugate { (0.0, 0.0) } else { (1.0, 0.0) };
            assert!(z(&draws, k, &deviation, expected).abs() < LARGEST, "{case} {k}");
        }
        // 1/sigma^2 is gamma with shape 1 and rate 0.005.
        for (f, mean) in
            [(&(|x: f64| 1.0 / x) as &dyn Fn(f64) -> f64, 200.0), (&|x: f64| x.ln(), LOG_VARIANCE)]
        {
            let found = z(&draws, size, f, (mean, 0.0));
            assert!(found.abs() < LARGEST, "{case}: {found}");
        }
        let share = z(&draws, size + 1, &|x| x, average(&simulated));
        let square =
            z(&draws, size + 1, &|x| x * x, average(&simulated.iter().map(|x| x * x).collect::<Vec<_>>()));
        assert!(share.abs() < LARGEST && square.abs() < LARGEST, "{case}: {share} {square}");
    }
}

/// E ln sigma^2 = ln 0.005 - digamma(1).
const LOG_VARIANCE: f64 = -5.298_317_366_548_037 + 0.577_215_664_901_532_9;

/// Explained shares of two features drawn from the default prior.
fn prior_shares(conjugate: bool, rng: &mut ChainRng) -> Vec<f64> {
    let mut wishart = InverseWishart::new(2);
    let draw = |_| {
        let variance = inverse_gamma(rng, 1.0, 0.005);
        let (mut sigma, mut theta) = (vec![0.0; 4], vec![0.0; 2]);
        wishart.sample(rng, &[0.1, 0.0, 0.0, 0.1], 4.0, &mut sigma);
        fill_normal(rng, &mut theta);
        let unit = if conjugate { variance } else { 1.0 };
        let explained = unit * crate::linalg::quadratic_form(&sigma, &theta);
        explained / (explained + variance)
    };
    (0..100_000).map(draw).collect()
}

/// With many records inside the bounds sums are normal and `marginal` has the same posterior, here by longer chains.
/// Catches a wrong scale of an entry and records that count twice.
#[test]
fn many_records_agree_with_marginal() {
    let mut rng = ChainRng::new(32, 0);
    let domain = boxed(1, true, None);
    let truth = Truth { theta: vec![0.2, 0.5], sigma: 0.15, mean: 0.1, sd: 0.2 };
    let (records, scale) = (300, 6.0);
    let mechanism = Mechanism { domain: domain.clone(), records, family: Family::Gaussian, scale: 1e-9 };
    let mut release = simulated("a", &mechanism, &truth, &mut rng);
    let statistic = Statistic::Gram { entries: gram_entries(&domain, true, true), layout: Layout::Isometric };
    let weight = |entry: &[usize; 2]| statistic.entry_weight(&domain, *entry);
    release.noise.scales = statistic.entries().iter().map(|entry| 0.4 * scale / weight(entry)).collect();
    for (value, scale) in release.value.iter_mut().zip(&release.noise.scales) {
        *value += 0.5 * scale * normal(&mut rng);
    }
    release.statistic = statistic;
    let evidence = Evidence::new(&[release]).unwrap();
    let features = FeaturePrior::new(vec![0.4], 12.0, vec![0.0], 1.0).unwrap();
    let prior = Prior::new(vec![0.0; 2], &[1.0, 0.0, 0.0, 1.0], (4.0, 0.1)).unwrap().with_features(features);
    let marginal = MarginalDensity::new(&evidence, &prior).unwrap();
    let plan = Plan { chains: 2, warmup: 500, draws: 4_000, thin: 1, seed: 2, threads: 2 };
    let reference = run(&marginal.sampler(&plan), &&marginal, &plan).unwrap();
    let draws = sample(&IndividualDensity::new(&evidence, &prior).unwrap(), 800, 3);
    for place in 0..4 {
        let name = reference.names()[place].clone();
        for f in [&(|x: f64| x) as &dyn Fn(f64) -> f64, &|x: f64| x * x] {
            let chains: Vec<Vec<f64>> = reference
                .parameter(&name)
                .unwrap()
                .iter()
                .map(|chain| chain.iter().map(|x| f(*x)).collect())
                .collect();
            let mean = chains.iter().flatten().sum::<f64>() / 8_000.0;
            let found = z(&draws, place, f, (mean, mcse_mean(&Traces::new(&chains))));
            assert!(found.abs() < LARGEST, "{place}: {found}");
        }
    }
}

/// With little noise and no record cut the latent sums are the released ones, and the posterior is that of the regression on them.
#[test]
fn with_little_noise_it_is_the_usual_regression() {
    let mut rng = ChainRng::new(33, 0);
    let domain = boxed(2, true, None);
    let truth = Truth { theta: vec![0.1, 0.3, -0.2], sigma: 0.1, mean: 0.1, sd: 0.15 };
    let mechanism = Mechanism { domain, records: 150, family: Family::Gaussian, scale: 1e-3 };
    let evidence = Evidence::new(&[simulated("a", &mechanism, &truth, &mut rng)]).unwrap();
    let prior = Prior::weak(3);
    let exact = crate::Naive::posterior(&evidence, &prior).unwrap();
    let plan = Plan { chains: 2, warmup: 0, draws: 20_000, thin: 1, seed: 1, threads: 2 };
    let exact = run(&crate::Quadrature, &exact, &plan).unwrap();
    let draws = sample(&IndividualDensity::new(&evidence, &prior).unwrap(), 1_000, 5);
    for (place, name) in exact.names().iter().enumerate().take(4) {
        let values = exact.parameter(name).unwrap().concat();
        let (mean, error) = average(&values);
        let spread = average(&values.iter().map(|x| (x - mean).powi(2)).collect::<Vec<_>>());
        let found =
            [z(&draws, place, &|x| x, (mean, error)), z(&draws, place, &|x| (x - mean).powi(2), spread)];
        assert!(found.iter().all(|z| z.abs() < LARGEST), "{name}: {found:?}");
    }
}
