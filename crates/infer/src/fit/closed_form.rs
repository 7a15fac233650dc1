//! Independent draws from a multivariate normal posterior.

use organza_mcmc::{ChainRng, Kernel, Stop};

use crate::Gaussian;
use crate::linalg::{dot, factorise};
use crate::random::fill_normal;

/// The kernel of independent draws; the position is theta.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClosedForm;

/// What a draw needs.
pub(crate) struct ClosedFormState {
    factor: Vec<f64>,
    noise: Vec<f64>,
    position: Vec<f64>,
}

impl Kernel<Gaussian> for ClosedForm {
    type State = ClosedFormState;
    type Info = ();

    fn init(&self, target: &Gaussian, _rng: &mut ChainRng) -> Result<ClosedFormState, Stop> {
        let size = target.mean.len();
        let mut factor = target.covariance.clone();
        factorise(&mut factor, size).map_err(|row| {
            Stop::numerical(format!("the posterior covariance is not positive definite (row {row})"))
        })?;
        Ok(ClosedFormState { factor, noise: vec![0.0; size], position: target.mean.clone() })
    }

    fn step(&self, target: &Gaussian, state: &mut ClosedFormState, rng: &mut ChainRng) -> Result<(), Stop> {
        fill_normal(rng, &mut state.noise);
        let rows = state.factor.chunks_exact(target.mean.len());
        for ((value, mean), row) in state.position.iter_mut().zip(&target.mean).zip(rows) {
            *value = mean + dot(row, &state.noise);
        }
        Ok(())
    }

    fn position<'s>(&self, state: &'s ClosedFormState) -> &'s [f64] {
        &state.position
    }
}
