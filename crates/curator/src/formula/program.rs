//! An expression compiled to operations on columns, together with the interval of its results.

use std::collections::HashMap;

use super::interval::{Interval, LARGEST_POWER, Reason};
use super::{Expression, FormulaError, Function, NumericColumn, Operator, number_text, quoted_name};

/// A value that needs no computation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Leaf {
    /// A numeric column, clamped to its bounds when it is read.
    Column(usize),
    Constant(f64),
}

/// Replaces the top of the stack, in one pass over a chunk of rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Update {
    /// An operator with a right operand, and the interval to which real powers are clamped.
    Combine(Operator, Leaf, Interval),
    Negate,
    IntegerPower(i32),
    /// A function and the interval to which its results are clamped.
    Apply(Function, Interval),
    Clamp(Interval),
}

/// One pass over a chunk of rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Operation {
    Push(Leaf),
    Update(Update),
    /// Pops the right operand and combines it into the left one below.
    Pop(Operator, Interval),
}

/// Operations that leave one value per row on the stack.
#[derive(Debug, Clone)]
pub(super) struct Program {
    pub(super) operations: Vec<Operation>,
    pub(super) interval: Interval,
}

impl Program {
    /// How many values are on the stack at once.
    pub(super) fn stack_depth(&self) -> usize {
        let (mut depth, mut deepest) = (0_usize, 0);
        for operation in &self.operations {
            match operation {
                Operation::Push(_) => depth += 1,
                Operation::Pop(..) => depth -= 1,
                Operation::Update(_) => {}
            }
            deepest = deepest.max(depth);
        }
        deepest
    }

    /// Narrows the interval and clamps the results to it.
    pub(super) fn clamp_to(&mut self, interval: Interval) {
        if interval != self.interval {
            self.operations.push(Operation::Update(Update::Clamp(interval)));
            self.interval = interval;
        }
    }
}

/// A compiled part and its interval; what is no leaf is on the stack.
#[derive(Clone, Copy)]
struct Part {
    leaf: Option<Leaf>,
    interval: Interval,
}

impl Part {
    fn constant(value: f64) -> Self {
        Self { leaf: Some(Leaf::Constant(value)), interval: Interval::point(value) }
    }

    fn is_constant(&self) -> bool {
        matches!(self.leaf, Some(Leaf::Constant(_)))
    }
}

/// Compiles expressions over the numeric columns of a design.
pub(super) struct Compiler<'a> {
    columns: &'a [NumericColumn],
    index: HashMap<&'a str, usize>,
    operations: Vec<Operation>,
}

impl<'a> Compiler<'a> {
    pub(super) fn new(columns: &'a [NumericColumn]) -> Self {
        let index = columns.iter().enumerate().map(|(index, column)| (column.name.as_str(), index)).collect();
        Self { columns, index, operations: Vec::new() }
    }

    pub(super) fn program(mut self, expression: &Expression) -> Result<Program, FormulaError> {
        let part = self.part(expression)?;
        self.push(part.leaf, self.operations.len());
        Ok(Program { operations: self.operations, interval: part.interval })
    }

    fn part(&mut self, expression: &Expression) -> Result<Part, FormulaError> {
        match expression {
            Expression::Number(value) => Ok(Part::constant(*value)),
            Expression::Column(name) => self.column(name),
            Expression::Negate(inner) => {
                let inner = self.part(inner)?;
                Ok(self.unary(inner, inner.interval.negate(), Update::Negate))
            }
            Expression::Call(function, argument) => {
                let inner = self.part(argument)?;
                let image = inner.interval.apply(*function, &argument.to_string());
                let image = image.map_err(|reason| self.undefined(expression, reason))?;
                Ok(self.unary(inner, image, Update::Apply(*function, image)))
            }
            Expression::Binary(Operator::Multiply, left, right) if left == right => {
                // `x * x` is never negative; interval arithmetic alone would not see it.
                let base = self.part(left)?;
                self.whole_power(expression, base, 2.0)
            }
            Expression::Binary(operator, left, right) => self.binary(expression, *operator, left, right),
        }
    }

    fn column(&self, name: &str) -> Result<Part, FormulaError> {
        let missing = || FormulaError::MissingBounds { columns: vec![name.to_owned()], known: Vec::new() };
        let index = *self.index.get(name).ok_or_else(missing)?;
        Ok(Part { leaf: Some(Leaf::Column(index)), interval: self.columns[index].interval })
    }

    /// Leaves are put on the stack only when an operation needs them there.
    fn push(&mut self, leaf: Option<Leaf>, position: usize) {
        if let Some(leaf) = leaf {
            self.operations.insert(position, Operation::Push(leaf));
        }
    }

    fn unary(&mut self, inner: Part, interval: Interval, update: Update) -> Part {
        if inner.is_constant() {
            return Part::constant(interval.lower);
        }
        self.push(inner.leaf, self.operations.len());
        self.operations.push(Operation::Update(update));
        Part { leaf: None, interval }
    }

    fn binary(
        &mut self,
        whole: &Expression,
        operator: Operator,
        left: &Expression,
        right: &Expression,
    ) -> Result<Part, FormulaError> {
        let left = self.part(left)?;
        let position = self.operations.len();
        let right = self.part(right)?;
        if let (Operator::Power, Some(Leaf::Constant(exponent))) = (operator, right.leaf)
            && exponent.fract() == 0.0
        {
            return self.whole_power(whole, left, exponent);
        }
        let interval = left.interval.combine(operator, right.interval);
        let interval = interval.map_err(|reason| self.undefined(whole, reason))?;
        if left.is_constant() && right.is_constant() {
            return Ok(Part::constant(interval.lower));
        }
        self.push(left.leaf, position);
        self.operations.push(match right.leaf {
            Some(leaf) => Operation::Update(Update::Combine(operator, leaf, interval)),
            None => Operation::Pop(operator, interval),
        });
        Ok(Part { leaf: None, interval })
    }

    fn whole_power(&mut self, whole: &Expression, base: Part, exponent: f64) -> Result<Part, FormulaError> {
        if exponent.abs() > f64::from(LARGEST_POWER) {
            return Err(self.undefined(whole, format!("whole exponents may be {LARGEST_POWER} at most")));
        }
        let exponent = exponent as i32;
        let interval = base.interval.integer_power(exponent);
        let interval = interval.map_err(|reason| self.undefined(whole, reason))?;
        Ok(self.unary(base, interval, Update::IntegerPower(exponent)))
    }

    fn undefined(&self, expression: &Expression, reason: Reason) -> FormulaError {
        let described = |name: &str| {
            let Interval { lower, upper } = self.columns[self.index[name]].interval;
            let (lower, upper) = (number_text(lower), number_text(upper));
            format!("{}: lower = {lower}, upper = {upper}", quoted_name(name))
        };
        let bounds: Vec<String> = expression.columns().into_iter().map(described).collect();
        let bounds = if bounds.is_empty() { "it has no column".to_owned() } else { bounds.join("; ") };
        FormulaError::Undefined { expression: expression.to_string(), bounds, reason }
    }
}
