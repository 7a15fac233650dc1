//! Simulation-based calibration of every method that claims exactness on its own model, through the whole of `fit`.
//!
//! Ranks of the truth among posterior draws must be uniform: n in {20, 200, 10^4}, epsilon in {0.1, 1}, J in {1, 5} (`augmentation`: n = 20). One p-value per
//! parameter and cell, Bonferroni over all of a test, alpha = 1e-6. Seen to catch: the covariance sigma_y^2 S theta of the
//! published Eq. (10), a missing Jacobian, y'y taken for noise of scale tau.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

use organza_infer::{Method, MethodSpec, Sampler, fit};
use organza_mcmc::{Draws, Monitor, Plan};
use organza_release::Layout;
use organza_stattests::ALPHA;
use organza_stattests::models::{study, with_loss};
use organza_studies::calibration::{Data, Ranks, Study};
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rayon::iter::{IntoParallelIterator, ParallelIterator};

/// Draws of a replicate: one less than a multiple of the bins.
const DRAWS: usize = 99;

/// What is calibrated.
struct Case {
    method: Method,
    sampler: Sampler,
    intercept: bool,
    layout: Layout,
    replicates: u64,
    plan: Plan,
    /// Records, epsilon, parties.
    cells: Vec<(u64, f64, usize)>,
    data: Data,
}

impl Case {
    fn new(method: Method, sampler: Sampler) -> Self {
        let plan = Plan { chains: 1, warmup: 0, draws: DRAWS, thin: 1, seed: 0, threads: 1 };
        let (intercept, layout, data) = (false, Layout::Isometric, Data::of(method));
        Self { method, sampler, intercept, layout, replicates: 200, plan, cells: grid(), data }
    }

    /// Ranks over all replicates of one cell.
    fn ranks(&self, study: &Study, cell: u64) -> Ranks {
        let names: Vec<&str> = match (self.method == Method::Fast, study.intercept) {
            (true, _) => vec!["x1", "x2"],
            (false, false) => vec!["x1", "x2", "sigma"],
            (false, true) => vec!["intercept", "x1", "x2", "sigma"],
        };
        let replicate = |number: u64| {
            let mut rng = ChaCha8Rng::seed_from_u64(1_000_000 * cell + number);
            let truth = study.truth_for(self.method, &mut rng);
            let releases = study.releases(self.data, &truth, &mut rng);
            let spec = MethodSpec { method: Some(self.method), sampler: Some(self.sampler) };
            let plan = Plan { seed: number, ..self.plan };
            let model = study.model_for(self.method);
            let fitted = fit(&spec, &model, &releases, &plan, &Monitor::default()).unwrap();
            let columns = columns(&fitted.draws, names.len());
            let mut values = truth.theta.clone();
            values.push(truth.variance.sqrt());
            let mut ranks = Ranks::new(&names, DRAWS);
            ranks.add(&values[..names.len()], |place| &columns[place]);
            ranks
        };
        (0..self.replicates).into_par_iter().map(replicate).reduce(|| Ranks::new(&names, DRAWS), Ranks::join)
    }

    /// Every cell of the grid.
    fn check(&self) {
        let mut found = Vec::new();
        for (cell, (records, epsilon, parties)) in self.cells.iter().copied().enumerate() {
            let study = study(records, epsilon, parties);
            let study = Study { layout: self.layout, intercept: self.intercept, ..study };
            let study = with_loss(study, epsilon);
            for (name, p_value) in self.ranks(&study, cell as u64).p_values() {
                println!("n {records}, epsilon {epsilon}, J {parties}, {name}: p = {p_value:.2e}");
                found.push((format!("n {records}, epsilon {epsilon}, J {parties}, {name}"), p_value));
            }
        }
        let bound = ALPHA / found.len() as f64;
        let bad: Vec<_> = found.iter().filter(|(_, p_value)| p_value.is_nan() || *p_value < bound).collect();
        assert!(bad.is_empty(), "ranks are not uniform: {bad:?}");
    }
}

fn grid() -> Vec<(u64, f64, usize)> {
    let cells = [20, 200, 10_000].into_iter().flat_map(|n| [0.1, 1.0].map(|epsilon| (n, epsilon)));
    cells.flat_map(|(n, epsilon)| [1, 5].map(|parties| (n, epsilon, parties))).collect()
}

fn columns(draws: &Draws, count: usize) -> Vec<Vec<f64>> {
    let names = draws.names();
    names[..count].iter().map(|name| draws.parameter(name).unwrap().concat()).collect()
}

#[test]
fn fast() {
    Case { replicates: 1000, ..Case::new(Method::Fast, Sampler::ClosedForm) }.check();
}

#[test]
fn fixed_gram_quadrature() {
    Case { replicates: 1000, ..Case::new(Method::FixedGram, Sampler::Quadrature) }.check();
}

#[test]
fn fixed_gram_metropolis() {
    let case = Case::new(Method::FixedGram, Sampler::Metropolis);
    Case { plan: Plan { warmup: 1000, thin: 20, ..case.plan }, ..case }.check();
}

#[test]
fn normal_x_nuts() {
    let case = Case::new(Method::NormalX, Sampler::Nuts);
    Case { replicates: 100, plan: Plan { warmup: 200, thin: 2, ..case.plan }, ..case }.check();
}

#[test]
fn normal_x_nuts_with_an_intercept() {
    let case = Case::new(Method::NormalX, Sampler::Nuts);
    Case {
        intercept: true,
        layout: Layout::Upper,
        replicates: 100,
        plan: Plan { warmup: 200, thin: 2, ..case.plan },
        ..case
    }
    .check();
}

#[test]
fn normal_x_metropolis() {
    let case = Case::new(Method::NormalX, Sampler::Metropolis);
    Case { replicates: 120, plan: Plan { warmup: 3000, thin: 100, ..case.plan }, ..case }.check();
}

#[test]
fn marginal() {
    let case = Case::new(Method::Marginal, Sampler::Nuts);
    Case { plan: Plan { warmup: 300, thin: 3, ..case.plan }, ..case }.check();
}

#[test]
fn marginal_with_an_intercept() {
    let case = Case::new(Method::Marginal, Sampler::Nuts);
    Case { intercept: true, plan: Plan { warmup: 300, thin: 3, ..case.plan }, ..case }.check();
}

/// Time grows with the records: few of them, where no normal limit holds.
#[test]
fn augmentation() {
    let case = Case::new(Method::Augmentation, Sampler::Interweaving);
    let cells = vec![(20, 0.5, 1), (20, 3.0, 2), (20, 20.0, 1)];
    Case { replicates: 120, plan: Plan { warmup: 800, thin: 15, ..case.plan }, cells, ..case }.check();
}

#[test]
fn augmentation_with_an_intercept() {
    let case = Case::new(Method::Augmentation, Sampler::Interweaving);
    let cells = vec![(20, 3.0, 1)];
    Case {
        intercept: true,
        layout: Layout::Upper,
        replicates: 150,
        plan: Plan { warmup: 800, thin: 15, ..case.plan },
        cells,
        ..case
    }
    .check();
}
