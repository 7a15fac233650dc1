//! Interval arithmetic in the same floating-point operations as the evaluator.
//!
//! Rounding to nearest is monotone, so for `+ - * /`, square root and powers by repeated multiplication the
//! rounded results at the ends of the operands enclose the rounded results inside: no outward rounding is
//! needed, and the ends stay as clean as the bounds (`x^2` of [0, 10] is [0, 100]). Functions of the crate
//! `libm` are accurate but not provably monotone; the evaluator clamps their results to the interval.

use super::{Function, Operator, number_text};

/// Integer exponents up to this size are computed by repeated multiplication; larger ones are refused.
pub(super) const LARGEST_POWER: i32 = 1000;

/// A closed interval of finite numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
}

/// Why an operation has no finite interval; the text says what is needed.
pub(super) type Reason = String;

impl Interval {
    /// Adding +0 turns a negative zero into a positive one, so that the ends print cleanly.
    pub(super) fn new(lower: f64, upper: f64) -> Self {
        Self { lower: lower + 0.0, upper: upper + 0.0 }
    }

    pub(super) fn point(value: f64) -> Self {
        Self::new(value, value)
    }

    /// Whether the interval has one value only.
    pub fn is_point(&self) -> bool {
        self.lower == self.upper
    }

    /// Whether the value lies inside.
    pub fn contains(&self, value: f64) -> bool {
        self.lower <= value && value <= self.upper
    }

    /// The nearest value inside; NaN becomes the lower end, so that the result is always inside.
    #[inline(always)]
    pub fn clamp(&self, value: f64) -> f64 {
        let raised = if value > self.lower { value } else { self.lower };
        if raised < self.upper { raised } else { self.upper }
    }

    /// The smallest interval with both this one and zero: what an indicator times this one can be.
    pub(super) fn with_zero(self) -> Self {
        Self::new(self.lower.min(0.0), self.upper.max(0.0))
    }

    /// The smallest interval with all values, if it and its width are finite.
    fn hull(values: &[f64]) -> Result<Self, Reason> {
        let lower = values.iter().copied().fold(f64::INFINITY, f64::min);
        let upper = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let finite = values.iter().all(|value| value.is_finite()) && (upper - lower).is_finite();
        if finite { Ok(Self::new(lower, upper)) } else { Err("it overflows; tighten the bounds".to_owned()) }
    }

    pub(super) fn negate(self) -> Self {
        Self::new(-self.upper, -self.lower)
    }

    /// Any operator but the power of an expression.
    pub(super) fn combine(self, operator: Operator, other: Self) -> Result<Self, Reason> {
        match operator {
            Operator::Add => Self::hull(&[self.lower + other.lower, self.upper + other.upper]),
            Operator::Subtract => Self::hull(&[self.lower - other.upper, self.upper - other.lower]),
            Operator::Multiply => self.corners(other, |a, b| a * b),
            Operator::Divide if other.contains(0.0) => {
                Err("the divisor may be 0; choose bounds that keep it away from 0".to_owned())
            }
            Operator::Divide => self.corners(other, |a, b| a / b),
            Operator::Power => self.real_power(other),
        }
    }

    /// Encloses an operation that is monotone in each operand.
    fn corners(self, other: Self, f: impl Fn(f64, f64) -> f64) -> Result<Self, Reason> {
        Self::hull(&[
            f(self.lower, other.lower),
            f(self.lower, other.upper),
            f(self.upper, other.lower),
            f(self.upper, other.upper),
        ])
    }

    /// `self^exponent` by repeated multiplication.
    pub(super) fn integer_power(self, exponent: i32) -> Result<Self, Reason> {
        if exponent < 0 && self.contains(0.0) {
            return Err("a negative power of 0; choose bounds that keep the base away from 0".to_owned());
        }
        let ends = [integer_power(self.lower, exponent), integer_power(self.upper, exponent)];
        if exponent > 0 && exponent % 2 == 0 && self.contains(0.0) {
            return Self::hull(&[0.0, ends[0], ends[1]]);
        }
        Self::hull(&ends)
    }

    /// `self^other` as exp(other log self): monotone in each operand where the base is positive.
    fn real_power(self, other: Self) -> Result<Self, Reason> {
        if self.lower < 0.0 || (self.lower == 0.0 && other.lower <= 0.0) {
            let lower = number_text(self.lower);
            return Err(format!(
                "a power that is not a whole number needs a positive base, which reaches {lower} here; raise \
                 a bound or take a whole power"
            ));
        }
        self.corners(other, libm::pow)
    }

    /// The image of a function.
    pub(super) fn apply(self, function: Function, argument: &str) -> Result<Self, Reason> {
        let (limit, open, advice) = match function {
            Function::Log | Function::Log2 | Function::Log10 => (0.0, true, "raise a bound, or use log1p"),
            Function::Log1p => (-1.0, true, "raise a bound"),
            Function::Sqrt => (0.0, false, "raise a bound"),
            Function::Exp | Function::Abs => (f64::NEG_INFINITY, true, ""),
        };
        if self.lower < limit || (open && self.lower == limit) {
            let (name, relation) = (function.name(), if open { "above" } else { "from" });
            let (limit, lower) = (number_text(limit), number_text(self.lower));
            return Err(format!(
                "{name} needs values {relation} {limit}, but `{argument}` reaches {lower}; {advice}"
            ));
        }
        let ends = [function.value(self.lower), function.value(self.upper)];
        if function == Function::Abs && self.contains(0.0) {
            return Self::hull(&[0.0, ends[0], ends[1]]);
        }
        Self::hull(&ends)
    }
}

impl Function {
    /// The value at a point, with the same bits on every machine.
    #[inline]
    pub(super) fn value(self, x: f64) -> f64 {
        match self {
            Self::Log => libm::log(x),
            Self::Log2 => libm::log2(x),
            Self::Log10 => libm::log10(x),
            Self::Log1p => libm::log1p(x),
            Self::Exp => libm::exp(x),
            // IEEE 754 fixes the result of the square root, so that the one of the processor is portable.
            Self::Sqrt => x.sqrt(),
            Self::Abs => x.abs(),
        }
    }
}

/// `x^exponent` by squaring: a fixed sequence of multiplications, monotone in |x|.
#[inline]
pub(super) fn integer_power(x: f64, exponent: i32) -> f64 {
    let mut remaining = exponent.unsigned_abs();
    let (mut power, mut square) = (1.0, x);
    while remaining > 0 {
        if remaining & 1 == 1 {
            power *= square;
        }
        remaining >>= 1;
        if remaining > 0 {
            square *= square;
        }
    }
    if exponent < 0 { 1.0 / power } else { power }
}
