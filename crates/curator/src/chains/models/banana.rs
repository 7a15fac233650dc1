//! The banana: a posterior that is thin and bent. \[RKH21\] section 4.
//!
//! x_1 ~ N(theta_1, s_1^2), x_2 ~ N(theta_2 + a theta_1^2, s_2^2), and (theta_1, theta_2 + a theta_1^2) ~ N(0, I / t_0) before the
//! data. The posterior is of the same form. The paper's text calls sigma_0 = 1000 a standard deviation; its code, followed here, has it as the variance.

use organza_mcmc::ChainRng;
use pulp::Simd;
use rand::RngExt;
use rand_distr::StandardNormal;

use crate::chains::clipper::{Columns, GROUP, Tiles};
use crate::chains::gradient_sum::GradientSum;
use crate::chains::model::{RecordModel, Simulate};
use crate::chains::records::{Block, Gradients};

/// The banana model; precisions, not variances.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Banana {
    /// How bent it is: a.
    pub bend: f64,
    /// Precision of the prior, t_0.
    pub prior_precision: f64,
    /// Precisions of the two columns.
    pub precisions: [f64; 2],
}

/// The setting of \[RKH21\] section 4.
impl Default for Banana {
    fn default() -> Self {
        Self { bend: 20.0, prior_precision: 1e-3, precisions: [5e-4, 4e-4] }
    }
}

impl Banana {
    /// Mean and standard deviation of (theta_1, theta_2 + a theta_1^2) after n records with these column means.
    pub fn posterior(&self, records: f64, means: [f64; 2]) -> [(f64, f64); 2] {
        let one = |column: usize| {
            let precision = records * self.precisions[column] + self.prior_precision;
            (records * self.precisions[column] * means[column] / precision, precision.sqrt().recip())
        };
        [one(0), one(1)]
    }

    /// Straight coordinates of theta.
    fn straight(&self, theta: &[f64]) -> [f64; 2] {
        [theta[0], theta[1] + self.bend * theta[0] * theta[0]]
    }
}

impl RecordModel for Banana {
    fn parameters(&self) -> Vec<String> {
        vec!["theta[1]".into(), "theta[2]".into()]
    }

    fn columns(&self) -> usize {
        2
    }

    fn log_prior(&self, theta: &[f64]) -> f64 {
        let [one, two] = self.straight(theta);
        -0.5 * self.prior_precision * (one * one + two * two)
    }

    fn add_prior_gradient(&self, theta: &[f64], gradient: &mut [f64]) {
        let [one, two] = self.straight(theta);
        gradient[0] -= self.prior_precision * (one + two * 2.0 * self.bend * theta[0]);
        gradient[1] -= self.prior_precision * two;
    }

    #[inline(always)]
    fn log_likelihood(&self, theta: &[f64], block: Block<'_>, values: &mut [f64]) {
        let ([one, two], [first, second]) = (self.straight(theta), self.precisions);
        for ((value, x), y) in values.iter_mut().zip(block.column(0)).zip(block.column(1)) {
            *value = -0.5 * (first * (x - one) * (x - one) + second * (y - two) * (y - two));
        }
    }

    #[inline(always)]
    fn log_ratio(
        &self,
        (from, to): (&[f64], &[f64]),
        block: Block<'_>,
        values: &mut [f64],
        _spare: &mut [f64],
    ) {
        // A difference of squares: (x - a)^2 - (x - b)^2 = (b - a) (2 x - a - b).
        let (from, to, [first, second]) = (self.straight(from), self.straight(to), self.precisions);
        let (slope, slant) = (first * (to[0] - from[0]), second * (to[1] - from[1]));
        let (middle, centre) = (0.5 * (from[0] + to[0]), 0.5 * (from[1] + to[1]));
        for ((value, x), y) in values.iter_mut().zip(block.column(0)).zip(block.column(1)) {
            *value = slope * (x - middle) + slant * (y - centre);
        }
    }

    #[inline(always)]
    fn gradient(&self, theta: &[f64], block: Block<'_>, mut gradients: Gradients<'_>) {
        let ([one, two], [first, second]) = (self.straight(theta), self.precisions);
        let turn = 2.0 * self.bend * theta[0];
        let (along, mut others) = gradients.split_first();
        let columns = block.column(0).iter().zip(block.column(1));
        for ((along, across), (x, y)) in along.iter_mut().zip(others.coordinate(0)).zip(columns) {
            let pull = second * (y - two);
            *across = pull;
            *along = first * (x - one) + turn * pull;
        }
    }

    #[inline(always)]
    fn add_gradients<S: Simd>(&self, theta: &[f64], sum: GradientSum<'_, S>) {
        let turn = 2.0 * self.bend * theta[0];
        sum.add_computed::<2, _>(
            #[inline(always)]
            |simd, block| {
                Bent::new(simd, Columns::of(block, 2), (self.straight(theta), self.precisions, turn))
            },
        );
    }
}

/// The gradients of a block.
struct Bent<'a, S: Simd> {
    simd: S,
    columns: Columns<'a, S>,
    precisions: [S::f64s; 2],
    /// Minus the centres times their precisions.
    offsets: [S::f64s; 2],
    turn: S::f64s,
}

impl<'a, S: Simd> Bent<'a, S> {
    #[inline(always)]
    fn new(simd: S, columns: Columns<'a, S>, (centres, precisions, turn): ([f64; 2], [f64; 2], f64)) -> Self {
        let [one, two] = [-centres[0] * precisions[0], -centres[1] * precisions[1]];
        Self {
            simd,
            columns,
            precisions: [simd.splat_f64s(precisions[0]), simd.splat_f64s(precisions[1])],
            offsets: [simd.splat_f64s(one), simd.splat_f64s(two)],
            turn: simd.splat_f64s(turn),
        }
    }

    /// A column minus its centre, times its precision.
    #[inline(always)]
    fn pull(&self, column: usize, place: usize) -> [S::f64s; GROUP] {
        let (precision, offset) = (self.precisions[column], self.offsets[column]);
        let mut tile = self.columns.tile(column, place);
        for value in &mut tile {
            *value = self.simd.mul_add_e_f64s(precision, *value, offset);
        }
        tile
    }
}

impl<S: Simd> Tiles<S> for Bent<'_, S> {
    #[inline(always)]
    fn tile(&self, coordinate: usize, place: usize) -> [S::f64s; GROUP] {
        let mut pulls = self.pull(coordinate, place);
        if coordinate == 0 {
            for (along, across) in pulls.iter_mut().zip(self.pull(1, place)) {
                *along = self.simd.mul_add_e_f64s(self.turn, across, *along);
            }
        }
        pulls
    }
}

impl Simulate for Banana {
    /// The truth of the paper.
    fn draw_parameters(&self, _rng: &mut ChainRng, theta: &mut [f64]) {
        theta.copy_from_slice(&[0.0, 3.0]);
    }

    fn draw_record(&self, theta: &[f64], rng: &mut ChainRng, record: &mut [f64]) {
        let centres = self.straight(theta);
        for ((value, centre), precision) in record.iter_mut().zip(centres).zip(self.precisions) {
            *value = centre + rng.sample::<f64, _>(StandardNormal) / precision.sqrt();
        }
    }
}
