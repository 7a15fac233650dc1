//! What a model must be able to do to be sampled beside the data.

use organza_mcmc::ChainRng;
use pulp::Simd;

use super::gradient_sum::GradientSum;
use super::records::{Block, Gradients};

/// A model of independent records, ln p(theta) + sum over records of ln p(x | theta), known one record at a time.
///
/// The loops over the records of a block should be plain, without branches, in functions marked `#[inline(always)]`: they are
/// then compiled for the widest registers of the machine. A result that is not a finite number counts as a clipped 0.
pub trait RecordModel: Sync {
    /// Names of the parameters; as many as theta has values.
    fn parameters(&self) -> Vec<String>;

    /// Numbers in a record.
    fn columns(&self) -> usize;

    /// ln p(theta), up to a constant.
    fn log_prior(&self, theta: &[f64]) -> f64;

    /// Adds the gradient of [`Self::log_prior`].
    fn add_prior_gradient(&self, theta: &[f64], gradient: &mut [f64]);

    /// ln p(x | theta) of each record of a block, up to a constant that does not depend on theta.
    fn log_likelihood(&self, theta: &[f64], block: Block<'_>, values: &mut [f64]);

    /// The gradient of ln p(x | theta) in theta, of each record of a block.
    fn gradient(&self, theta: &[f64], block: Block<'_>, gradients: Gradients<'_>);

    /// ln p(x | to) - ln p(x | from) of each record of a block; `spare` has as many places as `values`.
    #[inline(always)]
    fn log_ratio(
        &self,
        (from, to): (&[f64], &[f64]),
        block: Block<'_>,
        values: &mut [f64],
        spare: &mut [f64],
    ) {
        self.log_likelihood(to, block, values);
        self.log_likelihood(from, block, spare);
        values.iter_mut().zip(spare).for_each(|(value, from)| *value -= *from);
    }

    /// Hands the gradients of many blocks to their sum. A model whose gradients are shifted or weighted columns says so here instead of having them
    /// written, and is added up faster.
    #[inline(always)]
    fn add_gradients<S: Simd>(&self, theta: &[f64], sum: GradientSum<'_, S>) {
        sum.add_written(
            #[inline(always)]
            |block, gradients| self.gradient(theta, block, gradients),
        );
    }

    /// Changes a record once, before the first question, into whatever form makes questions cheap.
    fn prepare(&self, _record: &mut [f64]) {}
}

/// A model that can make up records, for rehearsals without privacy cost.
pub trait Simulate: RecordModel {
    /// Draws theta from the prior, or from a public guess that is narrower.
    fn draw_parameters(&self, rng: &mut ChainRng, theta: &mut [f64]);

    /// Draws one record as [`RecordModel::prepare`] expects it.
    fn draw_record(&self, theta: &[f64], rng: &mut ChainRng, record: &mut [f64]);
}
