//! The loss of one step on an equally spaced grid, rounded so that no loss is hidden, or so that none is invented.
//!
//! Cell i holds the outputs with a loss in (i h, (i+1) h], of masses P_i and Q_i; write B_i = P_i - e^(ih) Q_i and
//! A_i = e^((i+1)h) Q_i - P_i, both at least 0.
//!
//! **From above** (connect the dots, \[DGKKM22\] section 4). A cell is split over its two ends so that both of its masses
//! stay: B_i / (1 - e^-h) to the upper end, the rest to the lower. The curve delta(epsilon) becomes its own chord as
//! a function of e^epsilon between grid points, which is above it because the curve is convex.
//!
//! **From below.** Outputs are merged, which is post-processing and can only lose: a share w_i of cell i goes to its
//! lower end and is merged there with the share 1 - w_(i-1) of the cell below. The merged output has the loss i h
//! exactly if w_i B_i = (1 - w_(i-1)) A_(i-1). This is solved from the left; where no share in [0, 1] does it, the part
//! of the lower cell that cannot be lifted is rounded down.
//!
//! **Order of the error.** Both keep the mean of the loss up to h^2, so k steps cost k h^2, not k h. **Rounding.** All
//! masses carry bounds of their rounding errors, which go to the safe side.

use super::pair::{Pair, Sides};

/// Which way a discretisation errs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// Losses are not understated: upper bounds.
    Above,
    /// Losses are not overstated: lower bounds.
    Below,
}

/// Masses of P at the losses `(first + i) * spacing`.
#[derive(Debug, Clone)]
pub(super) struct Atoms {
    pub(super) first: i64,
    pub(super) spacing: f64,
    pub(super) mass: Vec<f64>,
    /// The mass of an infinite loss.
    pub(super) infinite: f64,
}

/// One cell: bounds of its masses, and of the two combinations that the header names.
struct Cell {
    p_least: f64,
    p_most: f64,
    below_least: f64,
    below_most: f64,
    above_most: f64,
}

impl Atoms {
    /// The losses of `pair`, cut at `deviations` standard deviations of the noise.
    pub(super) fn of(pair: &Pair, spacing: f64, deviations: f64, side: Side) -> Self {
        let (least, most) = pair.range(deviations);
        // An atom at the least loss is inside the first cell.
        let (first, last) = ((least / spacing).ceil() as i64 - 1, (most / spacing).ceil() as i64);
        let last = last.max(first + 1);
        let mut atoms = Self { first, spacing, mass: vec![0.0; (last - first + 1) as usize], infinite: 0.0 };
        match side {
            Side::Above => atoms.split(pair),
            Side::Below => atoms.merge(pair),
        }
        atoms
    }

    pub(super) fn loss(&self, index: usize) -> f64 {
        (self.first + index as i64) as f64 * self.spacing
    }

    fn split(&mut self, pair: &Pair) {
        let share = -libm::expm1(-self.spacing);
        let mut left = pair.sides(self.loss(0));
        self.mass[0] = left.p_below * (1.0 + left.error);
        for index in 0..self.mass.len() - 1 {
            let right = pair.sides(self.loss(index + 1));
            let cell = Cell::between(left, right, self.loss(index), self.spacing);
            let upper = (cell.below_most / share).clamp(0.0, cell.p_most);
            self.mass[index] += cell.p_most - upper;
            self.mass[index + 1] += upper;
            left = right;
        }
        self.infinite = left.p_above * (1.0 + left.error);
    }

    fn merge(&mut self, pair: &Pair) {
        let mut left = pair.sides(self.loss(0));
        // What the cell below sends up to the current grid point: its mass and what it lacks.
        let (mut rising, mut lacking) = (0.0, 0.0);
        for index in 0..self.mass.len() - 1 {
            let end = self.loss(index + 1);
            // An atom at the largest loss stays where it is.
            let right = pair.sides(if index + 2 == self.mass.len() { end.next_down() } else { end });
            let cell = Cell::between(left, right, self.loss(index), self.spacing);
            let enough = lacking <= cell.below_least + self.grace(index, rising);
            let share = if enough { safe_ratio(lacking, cell.below_least).min(1.0) } else { 1.0 };
            let lifted = if enough { 1.0 } else { cell.below_least / lacking };
            self.mass[index] += share * cell.p_least + lifted * rising;
            if index > 0 {
                self.mass[index - 1] += (1.0 - lifted) * rising;
            }
            (rising, lacking) = ((1.0 - share) * cell.p_least, (1.0 - share) * cell.above_most);
            left = right;
        }
        let last = self.mass.len() - 1;
        self.infinite = pair.infinite() * (1.0 - left.error);
        self.mass[last] += (left.p_above - pair.infinite()).max(0.0) * (1.0 - left.error);
        self.mass[last - 1] += rising;
    }

    /// What a mass may lack without being off its grid point by more than rounding, which the shift of a [`Curve`](super::curve::Curve) covers: an
    /// atom on the grid stays where it is.
    fn grace(&self, index: usize, mass: f64) -> f64 {
        32.0 * f64::EPSILON * (1.0 + self.loss(index).abs()) * mass
    }
}

/// The ratio of two numbers that are not negative, with 0 / 0 = 0.
fn safe_ratio(part: f64, whole: f64) -> f64 {
    if part > 0.0 { part / whole } else { 0.0 }
}

impl Cell {
    fn between(left: Sides, right: Sides, loss: f64, spacing: f64) -> Self {
        // Differences of the smaller side, so that a tail keeps its digits.
        let from_above = left.p_above < 0.5;
        let error = left.error.max(right.error);
        let p = if from_above { left.p_above - right.p_above } else { right.p_below - left.p_below };
        let q_from_above = left.q_above < 0.5;
        let q = if q_from_above { left.q_above - right.q_above } else { right.q_below - left.q_below };
        let p_error = 2.0 * error * if from_above { left.p_above } else { right.p_below };
        let q_error = 2.0 * error * if q_from_above { left.q_above } else { right.q_below };
        let (factor, next) = (libm::exp(loss), libm::exp(loss + spacing));
        // The products are good to a few units in the last place of p, which the last term covers.
        let slack = p_error + q_error * next + 4.0 * f64::EPSILON * (1.0 + loss.abs()) * p.abs();
        Self {
            p_least: (p - p_error).max(0.0),
            p_most: (p + p_error).max(0.0),
            below_least: (p - q * factor - slack).max(0.0),
            below_most: (p - q * factor + slack).max(0.0),
            above_most: (q * next - p + slack).max(0.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches atoms on the grid that are dropped or moved by a cell: the mean loss is kept on both sides, up to the square of the spacing.
    #[test]
    fn atoms_on_the_grid_stay() {
        let epsilon = 0.1_f64;
        let spacing = epsilon / 64.0;
        let laplace = epsilon - 1.0 + (-epsilon).exp();
        for (pair, mean) in [
            (Pair::Laplace { epsilon }, laplace),
            (Pair::Response { epsilon, delta: 0.0 }, epsilon * (0.5 * epsilon).tanh()),
        ] {
            for side in [Side::Above, Side::Below] {
                let atoms = Atoms::of(&pair, spacing, 9.0, side);
                let found: f64 = atoms.mass.iter().enumerate().map(|(i, mass)| mass * atoms.loss(i)).sum();
                assert!((atoms.mass.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{pair:?} {side:?}");
                assert!((found - mean).abs() < spacing * spacing, "{pair:?} {side:?}: {found} {mean}");
            }
        }
    }
}
