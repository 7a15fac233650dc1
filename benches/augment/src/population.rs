//! `individual` in the setting of \[BS19\]: one covariate and an intercept, Laplace noise, the paper's loose sensitivity of 28.

use crate::{Failure, chain, plan, regression};
use organza_infer::methods::IndividualDensity;
use organza_infer::{Evidence, FeaturePrior, Prior};
use organza_mcmc::ChainRng;
use organza_mcmc::diagnostics::ess_bulk;
use rand_distr::{Distribution, StandardNormal};

/// Effective draws of the intercept per CPU second, warm-up included: 500 + 2,000 steps, three seeds.
pub fn report() -> Result<(), Failure> {
    println!("| n | epsilon | effective draws of the intercept per second |");
    println!("| --- | --- | --- |");
    for count in [10_usize, 100] {
        for epsilon in [0.1, 1.0] {
            let mut rng = ChainRng::new(19, 0);
            let records: Vec<f64> = (0..count).flat_map(|_| record(&mut rng)).collect();
            let domain = regression::domain(1);
            let release = regression::release(&domain, &records, (epsilon, Some(28.0)), &mut rng)?;
            let evidence = Evidence::new(std::slice::from_ref(&release))?;
            // sigma^2 ~ IG(20, .5), theta ~ N(0, sigma^2 19/.5), (mu, tau^2) ~ NIW(0, 1, 1, 50).
            let prior = Prior::new(vec![0.0; 2], &[38.0, 0.0, 0.0, 38.0], (20.0, 0.5))?
                .conjugate()
                .with_features(FeaturePrior::new(vec![1.0], 50.0, vec![0.0], 1.0)?);
            let (mut effective, mut seconds) = (0.0, 0.0);
            for seed in 0..3 {
                let plan = plan(500, 2000, seed);
                let density = IndividualDensity::new(&evidence, &prior)?;
                let (draws, time) = chain(&density.sampler(&plan), &&density, &plan)?;
                let traces = draws.traces(&draws.names()[0]).ok_or("no draws")?;
                effective += ess_bulk(&traces);
                seconds += time;
            }
            println!("| {count} | {epsilon} | {:.0} |", effective / seconds);
        }
    }
    Ok(())
}

fn record(rng: &mut ChainRng) -> [f64; 2] {
    let mut normal = || -> f64 { StandardNormal.sample(rng) };
    let covariate = 0.1 + 0.14 * normal();
    [covariate, 0.4 - 0.8 * covariate + (0.5_f64 / 19.0).sqrt() * normal()]
}
