//! A chain of nuts-rs with either metric.

use std::f64::consts::FRAC_PI_2;

use nuts_rs::{
    Chain as _, CpuMath, DiagNutsSettings, KineticEnergyKind, LowRankNutsSettings, Settings, StepSizeSettings,
};

use super::density::Density;
use super::{Mass, Nuts, NutsInfo};
use crate::{ChainRng, Gradient, Stop};

/// Draws between two updates of scales that are good from the start.
const DRAWS_OF_AN_UPDATE: u64 = 10;

/// A chain of these settings.
type ChainOf<S, T> = Box<<S as Settings>::Chain<CpuMath<Density<T>>>>;

/// A chain that adapts by itself in its first draws.
pub(super) enum Chain<T: Gradient> {
    Diagonal(ChainOf<DiagNutsSettings, T>),
    LowRank(ChainOf<LowRankNutsSettings, T>),
}

/// Fills in the settings that both metrics share, makes a chain and starts it.
macro_rules! begin {
    ($settings:expr, $nuts:expr, $density:expr, $point:expr, $rng:expr) => {{
        let mut settings = $settings;
        settings.num_tune = $nuts.warmup.steps as u64;
        settings.maxdepth = $nuts.max_depth;
        settings.adapt_options.step_size_settings = step_size($nuts);
        // The last step of warm-up settles on the average step size; a share of few steps would have none.
        let last = 1.0 / $nuts.warmup.steps.max(1) as f64;
        settings.adapt_options.step_size_window = settings.adapt_options.step_size_window.max(last);
        let math = CpuMath::new($density);
        let mut chain = settings.new_chain(0, math, $rng).map_err(fail)?;
        chain.set_position($point).map_err(fail)?;
        Box::new(chain)
    }};
}

/// Takes a step. The types of the report have no names outside of nuts-rs, so this cannot be a function.
macro_rules! advance {
    ($chain:expr) => {{
        let (point, _, report, progress) = $chain.expanded_draw().map_err(fail)?;
        let info = NutsInfo {
            divergent: progress.diverging,
            energy: report.point.energy,
            depth: report.depth,
            step_size: progress.step_size,
            gradients: progress.num_gradients,
        };
        (point, info)
    }};
}

impl<T: Gradient + Clone> Chain<T> {
    /// A chain at `point`, where log density and gradient are finite. The key of its generator comes from
    /// `rng`.
    pub(super) fn new(nuts: &Nuts, target: &T, point: &[f64], rng: &mut ChainRng) -> Result<Self, Stop> {
        let target = target.clone();
        Ok(match nuts.mass {
            Mass::Diagonal => {
                let settings = DiagNutsSettings::default();
                Chain::Diagonal(begin!(settings, nuts, Density::new(target), point, rng))
            }
            Mass::LowRank => {
                let settings = LowRankNutsSettings::default();
                Chain::LowRank(begin!(settings, nuts, Density::new(target), point, rng))
            }
            Mass::NearNormal => {
                Chain::Diagonal(begin!(near_normal(), nuts, Density::near_normal(target), point, rng))
            }
        })
    }

    /// The next point and numbers about the step to it.
    pub(super) fn draw(&mut self) -> Result<(Box<[f64]>, NutsInfo), Stop> {
        Ok(match self {
            Chain::Diagonal(chain) => advance!(chain),
            Chain::LowRank(chain) => advance!(chain),
        })
    }
}

/// Paths that are exact for a normal target with the scales learnt so far, which many draws at a time improve: the first ones
/// are good, and few draws would spoil them.
fn near_normal() -> DiagNutsSettings {
    let mut settings =
        DiagNutsSettings { trajectory_kind: KineticEnergyKind::ExactNormal, ..Default::default() };
    settings.adapt_options.mass_matrix_update_freq = DRAWS_OF_AN_UPDATE;
    settings.adapt_options.early_mass_matrix_switch_freq = DRAWS_OF_AN_UPDATE;
    settings
}

fn step_size(nuts: &Nuts) -> StepSizeSettings {
    // Without jitter: after warm-up the step size never changes, which can be seen in the statistics.
    let mut settings =
        StepSizeSettings { target_accept: nuts.target_accept, jitter: None, ..Default::default() };
    if nuts.mass == Mass::NearNormal {
        // A step of pi would lead to the mirror image of a point, and back.
        settings.adapt_options.dual_average.max_step_size = FRAC_PI_2;
    }
    settings
}

fn fail(error: impl std::fmt::Display) -> Stop {
    Stop::numerical(format!("NUTS cannot go on: {error:#}"))
}
