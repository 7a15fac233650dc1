//! Exact sensitivities of a Gram matrix, or proven upper bounds where no closed form is known.
//!
//! The statistic is `T(w)`, the released entries of `w w'` summed over records, in weighted units. Between
//! neighbours one record changes, so the sensitivity is the largest `|T(w) - T(w')|` over two records of the
//! domain (substitute) or the largest `|T(w)|` over one (add-remove). The papers' own values are too large for
//! Laplace noise (they add the ranges of the entries) and too small for Gaussian noise (\[AYB23\] section 3.1
//! uses the add-remove value under a definition by substitution).
//!
//! `d` counts the features, `q = d + 1` the coordinates that vary, `p` the features and the constant.

mod ada_ssp;
mod averaged;
mod ball;
mod counts;
mod cube;
mod fourth_moments;
mod ranges;

pub use ada_ssp::AdaSspParts;
pub use counts::{counts, moved_counts};
pub use fourth_moments::fourth_moments;
pub use ranges::by_ranges;

use crate::domain::{BoxDomain, Domain};
use crate::privacy::{Neighbours, Norm};
use crate::statistic::{Layout, Statistic};

/// An upper bound of a sensitivity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// The bound: no pair of neighbours differs by more.
    pub value: f64,
    /// Whether some pair of neighbours attains it.
    pub tight: bool,
}

/// Where records live, in weighted units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Geometry {
    /// Features in [-1, 1], response in `[-response_weight, response_weight]`, an unscaled constant.
    Cube {
        /// Value of the constant, if there is one.
        intercept_weight: f64,
        /// Largest absolute response.
        response_weight: f64,
    },
    /// Features (with the constant, if any) in a ball around zero, response in an interval around zero.
    Ball {
        /// Radius of the ball.
        radius: f64,
        /// Largest absolute response.
        response_bound: f64,
    },
}

impl Geometry {
    fn of(domain: &Domain) -> Self {
        match domain {
            Domain::Box(domain) => match domain.record_scale {
                None => Geometry::Cube {
                    intercept_weight: domain.intercept_weight,
                    response_weight: domain.response_weight,
                },
                Some(radius) => Geometry::Ball { radius, response_bound: domain.response_weight },
            },
            Domain::Ball(domain) => Geometry::Ball { radius: 1.0, response_bound: domain.response_weight },
        }
    }
}

/// The sensitivity of a release.
pub fn of_release(domain: &Domain, statistic: &Statistic, neighbours: Neighbours, norm: Norm) -> Bound {
    let shape = Shape::of(domain, statistic, neighbours);
    let (bound, attained) = match statistic {
        Statistic::Gram { .. } => (shape.sensitivity(norm), shrunk_records_attain(domain)),
        Statistic::AveragedGram { averaged, layout, .. } => {
            (shape.averaged_sensitivity(norm, *averaged), shrunk_records_reach_the_sphere(domain, *layout))
        }
        Statistic::AdaSsp { .. } => (ada_ssp::TOGETHER, false),
        Statistic::FourthMoments { .. } => (fourth_moments(domain.feature_count(), norm), false),
    };
    Bound { tight: bound.tight && attained, ..bound }
}

/// Whether shrunk records of a box, which are a part of the ball only, include a worst pair of the ball.
///
/// Unshrunk records with `|u|^2 = r^2 - g^2` lie on the sphere and keep the whole range of the response. If that sphere fits into
/// the cube and has two dimensions, then every product `x.x'` from `2 g^2 - r^2` to `r^2` occurs, and the pair with opposite
/// responses and `x.x' = c` (see `ball.rs`) is among them. Sufficient, not necessary.
fn shrunk_records_attain(domain: &Domain) -> bool {
    let Some((domain, radius)) = shrunk_box(domain) else { return true };
    let constant = if domain.intercept { domain.intercept_weight * domain.intercept_weight } else { 0.0 };
    let squared = radius * radius - constant;
    let product = (0.5 * domain.response_weight * domain.response_weight).min(radius * radius);
    domain.features.len() >= 2 && (0.0..=1.0).contains(&squared) && constant - squared <= product
}

/// Whether shrunk records of a box include one on the sphere with the largest response: in some direction, or for the upper
/// layout along an axis. Averaged records need no more (see `averaged.rs`), and have no constant.
fn shrunk_records_reach_the_sphere(domain: &Domain, layout: Layout) -> bool {
    let Some((domain, radius)) = shrunk_box(domain) else { return true };
    match layout {
        Layout::Isometric => radius * radius <= domain.features.len() as f64,
        Layout::Upper => radius <= 1.0,
    }
}

fn shrunk_box(domain: &Domain) -> Option<(&BoxDomain, f64)> {
    let Domain::Box(domain) = domain else { return None };
    domain.record_scale.map(|radius| (domain, radius))
}

/// Everything that the sensitivity of a Gram matrix depends on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shape {
    /// Number of features, the constant not counted.
    pub features: usize,
    /// Whether records carry a constant.
    pub intercept: bool,
    /// Whether the sum of squared responses is released.
    pub response_square: bool,
    /// How noise is laid out.
    pub layout: Layout,
    /// Which tables count as neighbours.
    pub neighbours: Neighbours,
    /// Where records live.
    pub geometry: Geometry,
}

impl Shape {
    /// The shape of a release.
    pub fn of(domain: &Domain, statistic: &Statistic, neighbours: Neighbours) -> Self {
        Self {
            features: domain.feature_count(),
            intercept: domain.intercept(),
            response_square: statistic.has_response_square(domain),
            layout: statistic.layout(),
            neighbours,
            geometry: Geometry::of(domain),
        }
    }

    /// The sensitivity in a norm.
    ///
    /// In the L1 norm, and for the cube in the upper layout, weights are taken to be 1; validation of a release
    /// guarantees it for the cube.
    pub fn sensitivity(&self, norm: Norm) -> Bound {
        match (self.geometry, norm) {
            (Geometry::Cube { .. }, Norm::L1) => cube::l1(self),
            (Geometry::Cube { intercept_weight, response_weight }, Norm::L2) => match self.layout {
                Layout::Upper => cube::l2_upper(self),
                Layout::Isometric => cube::l2_isometric(self, intercept_weight, response_weight),
            },
            (Geometry::Ball { radius, response_bound }, Norm::L1) => ball::l1(self, radius, response_bound),
            (Geometry::Ball { radius, response_bound }, Norm::L2) => ball::l2(self, radius, response_bound),
        }
    }

    /// The sensitivity in a norm if each row is the sum of `averaged >= 2` records over `sqrt(averaged)`; neighbours differ
    /// by substitution, and there is no constant. Exact but for the L1 norm on a ball.
    pub fn averaged_sensitivity(&self, norm: Norm, averaged: u64) -> Bound {
        averaged::sensitivity(self, norm, averaged.max(2))
    }

    /// Number of features and the constant.
    fn regressors(&self) -> usize {
        self.features + usize::from(self.intercept)
    }

    /// Number of released entries, the constant's own square included.
    fn entries(&self) -> usize {
        let dimension = self.regressors() + 1;
        dimension * (dimension + 1) / 2 - usize::from(!self.response_square)
    }
}
