//! The kernel: Gram matrices, then the features, then the regression.

use organza_mcmc::{ChainRng, Info, Kernel, Statistic, Stop, Thinned};

use super::dense::DenseConditional;
use super::features::FeatureLaw;
use super::projection::Projection;
use super::record::RecordLaw;
use super::regression::Regression;
use super::spectral::SpectralConditional;
use super::{Gibbs, Moments};
use crate::random::normal;

/// Draws every group of unknowns given the others; the position is (theta, sigma^2, R^2).
#[derive(Debug, Clone, Copy, Default)]
pub struct GibbsSampler;

/// Parameters of a chain and memory for its steps.
#[derive(Debug, Clone)]
pub struct GibbsState {
    features: FeatureLaw,
    record: RecordLaw,
    regression: Regression,
    dense: DenseConditional,
    spectral: SpectralConditional,
    projection: Projection,
    /// Sum of the latent Gram matrices, plain units.
    gram: Vec<f64>,
    position: Vec<f64>,
}

/// What a step reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GibbsInfo {
    /// Whether the drawn sum of Gram matrices had to be made positive semi-definite.
    pub projected: bool,
}

impl Info for GibbsInfo {
    const STATISTICS: &'static [Statistic] = &[Statistic { name: "projected", thinned: Thinned::Mean }];

    fn write(&self, values: &mut [f64]) {
        values[0] = f64::from(u8::from(self.projected));
    }
}

impl Kernel<Gibbs> for GibbsSampler {
    type State = GibbsState;
    type Info = GibbsInfo;

    /// Starts from an entry-wise compromise between the releases and a draw of the prior: near the posterior whether noise or
    /// records prevail, so that chains that mix slowly need not travel, and dispersed like it.
    fn init(&self, target: &Gibbs, rng: &mut ChainRng) -> Result<GibbsState, Stop> {
        let mut state = GibbsState::new(target, rng);
        state.regression.draw_prior(rng, &target.prior)?;
        if target.moments == Moments::Update {
            state.features.draw_prior(rng, &target.features)?;
        }
        state.record.set(&state.regression.theta, state.regression.variance, &state.features);
        state.start(target, rng);
        state.update(target, rng)?;
        Ok(state)
    }

    fn step(&self, target: &Gibbs, state: &mut GibbsState, rng: &mut ChainRng) -> Result<GibbsInfo, Stop> {
        state.gram.fill(0.0);
        // [BS19] Algorithm 1, lines 3 and 4
        state.record.set(&state.regression.theta, state.regression.variance, &state.features);
        if let RecordLaw::Normal(record) = &state.record {
            state.spectral.draw(rng, &target.bases, record, &mut state.gram)?;
        }
        state.dense.draw(rng, &target.dense, &mut state.record, &mut state.gram)?;
        if target.constant {
            // Exact, but for the rounding of a rotation.
            state.gram[0] = target.records;
        }
        let projected = state.update(target, rng)?;
        Ok(GibbsInfo { projected })
    }

    fn position<'s>(&self, state: &'s GibbsState) -> &'s [f64] {
        &state.position
    }
}

impl GibbsState {
    fn new(target: &Gibbs, rng: &mut ChainRng) -> Self {
        let (size, constant) = (target.size, target.constant);
        let (record, features) = target.laws();
        Self {
            features,
            record,
            regression: Regression::new(&target.prior),
            dense: DenseConditional::new(size, constant, &target.dense, rng),
            spectral: SpectralConditional::new(size, constant),
            projection: Projection::new(size, constant),
            gram: vec![0.0; size * size],
            position: vec![0.0; size + 1],
        }
    }

    /// Gram = prior + V / (V + noise) (released + noise drawn anew - prior), V the prior variance of an entry by its scale.
    fn start(&mut self, target: &Gibbs, rng: &mut ChainRng) {
        let size = target.size;
        let (mut released, mut variance) = (vec![0.0; size * size], vec![0.0; size * size]);
        target.bases.iter().for_each(|basis| basis.add_released(&mut released, &mut variance));
        target.dense.iter().for_each(|pool| pool.add_released(&mut released, &mut variance, size));
        let second = self.record.second();
        for row in 0..size {
            for column in row..size {
                let place = row * size + column;
                let mean = target.records * second[place];
                let own = mean * mean
                    + target.records
                        * target.records
                        * second[row * size + row]
                        * second[column * size + column];
                let noisy = released[place] + variance[place].sqrt() * normal(rng);
                self.gram[place] = mean + own / (own + variance[place]) * (noisy - mean);
                self.gram[column * size + row] = self.gram[place];
            }
        }
        if target.constant {
            self.gram[0] = target.records;
        }
    }

    /// The parameters given the sum of the Gram matrices; says whether it was projected.
    fn update(&mut self, target: &Gibbs, rng: &mut ChainRng) -> Result<bool, Stop> {
        let projected = self.projection.project(&mut self.gram);
        if target.moments == Moments::Update {
            self.features.draw(rng, &target.features, &self.gram, target.records)?;
        }
        // [BS19] Algorithm 1, line 5
        self.regression.draw(rng, &target.prior, &self.gram, target.records)?;
        let (theta, variance) = (&self.regression.theta, self.regression.variance);
        let explained = match &target.moments {
            Moments::Noisy(moments) => moments.explained(theta),
            _ => self.features.explained(&theta[usize::from(target.constant)..], target.scaled_constant),
        };
        let size = target.size;
        self.position[..size - 1].copy_from_slice(theta);
        self.position[size - 1] = variance;
        self.position[size] = explained / (explained + variance);
        Ok(projected)
    }
}
