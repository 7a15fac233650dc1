//! What is timed: whole runs of a method, the preparation of its target, and single gradients.

use crate::Failure;
use crate::clock::timed;
use crate::releases::prior;
use organza_infer::methods::{
    FixedGram, FixedGramMetropolis, FixedGramModel, Gibbs, GibbsSampler, MarginalDensity, Moments, NormalX,
    NormalXDensity, NormalXMetropolis, Quadrature,
};
use organza_infer::{Evidence, Prior};
use organza_mcmc::{ChainRng, Draws, Gradient, Kernel, Nuts, Plan, run};
use organza_release::Release;

/// Releases and priors.
pub struct Problem {
    evidence: Evidence,
    prior: Prior,
    conjugate: Prior,
}

impl Problem {
    pub fn new(releases: &[Release]) -> Result<Self, Failure> {
        let evidence = Evidence::new(releases)?;
        let features = evidence.dimension();
        Ok(Self { evidence, prior: prior(features, false)?, conjugate: prior(features, true)? })
    }

    pub fn dimension(&self) -> usize {
        self.evidence.dimension()
    }

    /// Draws of a method and the CPU seconds of everything from the releases on.
    pub fn run(&self, method: &str, plan: &Plan) -> Result<(Draws, f64), Failure> {
        let (draws, seconds) = timed(|| self.draws(method, plan));
        Ok((draws?, seconds))
    }

    fn draws(&self, method: &str, plan: &Plan) -> Result<Draws, Failure> {
        let (evidence, prior) = (&self.evidence, &self.prior);
        Ok(match method {
            "quadrature" => run(&Quadrature, &FixedGram::new(evidence, prior)?, plan)?,
            "fixed-gram" => {
                run(&FixedGramMetropolis::default(), &FixedGramModel::new(evidence, prior)?, plan)?
            }
            "normal-x" => {
                let target = NormalX::new(evidence, prior)?;
                run(&NormalXMetropolis::new(&target), &target, plan)?
            }
            "normal-x-nuts" => {
                run(&Nuts::for_plan(plan), &&NormalXDensity::new(NormalX::new(evidence, prior)?), plan)?
            }
            "marginal" => {
                let target = MarginalDensity::new(evidence, &self.conjugate)?;
                run(&target.sampler(plan), &&target, plan)?
            }
            "gibbs" => run(&GibbsSampler, &self.gibbs()?, plan)?,
            "gibbs-dense" => run(&GibbsSampler, &self.gibbs()?.dense(), plan)?,
            _ => return Err(format!("unknown method: {method}").into()),
        })
    }

    fn gibbs(&self) -> Result<Gibbs, Failure> {
        Ok(Gibbs::new(&self.evidence, &self.conjugate, Moments::Update)?)
    }

    /// CPU seconds of so many steps of a chain, after so many that adapt.
    pub fn steps(&self, method: &str, warmup: usize, count: usize) -> Result<f64, Failure> {
        let (evidence, prior) = (&self.evidence, &self.prior);
        let plan = (warmup, count);
        match method {
            "quadrature" => steps(Quadrature, &FixedGram::new(evidence, prior)?, plan),
            "fixed-gram" => {
                steps(FixedGramMetropolis::default(), &FixedGramModel::new(evidence, prior)?, plan)
            }
            "normal-x" => {
                let target = NormalX::new(evidence, prior)?;
                steps(NormalXMetropolis::new(&target), &target, plan)
            }
            "gibbs" => steps(GibbsSampler, &self.gibbs()?, plan),
            "gibbs-dense" => steps(GibbsSampler, &self.gibbs()?.dense(), plan),
            _ => Err(format!("{method} is timed by its gradients").into()),
        }
    }

    /// CPU seconds to prepare the target of independent draws.
    pub fn prepare(&self) -> Result<f64, Failure> {
        let (target, seconds) = timed(|| FixedGram::new(&self.evidence, &self.prior));
        target?;
        Ok(seconds)
    }

    /// CPU seconds of so many gradients at points around the start of a chain.
    pub fn gradients(&self, method: &str, count: usize) -> Result<f64, Failure> {
        let (evidence, prior) = (&self.evidence, &self.prior);
        match method {
            "normal-x-nuts" => gradients(&NormalXDensity::new(NormalX::new(evidence, prior)?), count),
            "marginal" => gradients(&MarginalDensity::new(evidence, &self.conjugate)?, count),
            _ => Err(format!("{method} has no gradient").into()),
        }
    }
}

fn steps<T, K: Kernel<T>>(mut kernel: K, target: &T, plan: (usize, usize)) -> Result<f64, Failure> {
    let mut rng = ChainRng::new(1, 0);
    let mut state = kernel.init(target, &mut rng)?;
    for _ in 0..plan.0 {
        let info = kernel.step(target, &mut state, &mut rng)?;
        kernel.adapt(&state, &info);
    }
    kernel.freeze();
    let (result, seconds) =
        timed(|| (0..plan.1).try_for_each(|_| kernel.step(target, &mut state, &mut rng).map(drop)));
    result?;
    Ok(seconds)
}

fn gradients(target: &impl Gradient, count: usize) -> Result<f64, Failure> {
    let (mut point, mut gradient) = (vec![0.0; target.dim()], vec![0.0; target.dim()]);
    target.start(&mut ChainRng::new(1, 0), &mut point);
    point.iter_mut().for_each(|value| *value *= 0.1);
    let mut evaluate = || target.log_density_and_gradient(&point, &mut gradient);
    if !evaluate().is_finite() {
        return Err("the density is not finite at the start".into());
    }
    // The first evaluation has allocated the memory.
    Ok(timed(|| (0..count).map(|_| std::hint::black_box(evaluate())).sum::<f64>()).1)
}
