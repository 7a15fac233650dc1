//! Free coordinates of a party's X'X: S = E T T'E' with E the factor of the estimate and T lower triangular.
//!
//! A coordinate is an entry of T beside the diagonal, or the logarithm of one on it, in units of its expected posterior standard
//! deviation: the origin is the estimate and every scale is about 1. They are in rows, the known row of a constant left out.

use super::observed::Observed;

/// Number of coordinates of a party.
pub(super) fn count(size: usize, constant: usize) -> usize {
    size * (size + 1) / 2 - constant
}

/// Writes T (its lower triangle) for a point.
pub(super) fn write_transform(party: &Observed, constant: usize, point: &[f64], transform: &mut [f64]) {
    let size = party.cross.len();
    if constant == 1 {
        transform[0] = 1.0;
    }
    let mut rest = point;
    for row in constant..size {
        let (values, next) = rest.split_at(row + 1);
        rest = next;
        let line = row * size..row * size + row + 1;
        let target = &mut transform[line.clone()];
        for ((entry, value), spread) in target.iter_mut().zip(values).zip(&party.spread[line]) {
            *entry = value * spread;
        }
        target[row] = libm::exp(target[row]);
    }
}
