//! Loops over one column of a chunk. Each choice is made outside its loop, so that the loops vectorise; there
//! is no fused multiply-add, so that vectorising does not change a bit.

use super::interval::{Interval, integer_power};
use super::{Function, Operator};

pub(super) fn map(values: &mut [f64], f: impl Fn(f64) -> f64) {
    for value in values {
        *value = f(*value);
    }
}

pub(super) fn zip<T: Copy>(values: &mut [f64], others: &[T], f: impl Fn(f64, T) -> f64) {
    for (value, other) in values.iter_mut().zip(others) {
        *value = f(*value, *other);
    }
}

/// Copies and clamps in one pass.
pub(super) fn copy(values: &mut [f64], source: &[f64], interval: &Interval) {
    for (value, other) in values.iter_mut().zip(source) {
        *value = interval.clamp(*other);
    }
}

/// Combines with another column, each value of which goes through `read`; real powers are clamped.
pub(super) fn combine(
    values: &mut [f64],
    operator: Operator,
    others: &[f64],
    interval: &Interval,
    read: impl Fn(f64) -> f64,
) {
    match operator {
        Operator::Add => zip(values, others, |a, b| a + read(b)),
        Operator::Subtract => zip(values, others, |a, b| a - read(b)),
        Operator::Multiply => zip(values, others, |a, b| a * read(b)),
        Operator::Divide => zip(values, others, |a, b| a / read(b)),
        Operator::Power => zip(values, others, |a, b| interval.clamp(libm::pow(a, read(b)))),
    }
}

pub(super) fn combine_constant(values: &mut [f64], operator: Operator, constant: f64, interval: &Interval) {
    match operator {
        Operator::Add => map(values, |a| a + constant),
        Operator::Subtract => map(values, |a| a - constant),
        Operator::Multiply => map(values, |a| a * constant),
        Operator::Divide => map(values, |a| a / constant),
        Operator::Power => map(values, |a| interval.clamp(libm::pow(a, constant))),
    }
}

pub(super) fn apply(values: &mut [f64], function: Function, interval: &Interval) {
    match function {
        Function::Sqrt => map(values, |x| interval.clamp(Function::Sqrt.value(x))),
        Function::Abs => map(values, |x| interval.clamp(Function::Abs.value(x))),
        _ => map(values, |x| interval.clamp(function.value(x))),
    }
}

pub(super) fn raise(values: &mut [f64], exponent: i32) {
    match exponent {
        2 => map(values, |x| integer_power(x, 2)),
        3 => map(values, |x| integer_power(x, 3)),
        4 => map(values, |x| integer_power(x, 4)),
        _ => map(values, |x| integer_power(x, exponent)),
    }
}
