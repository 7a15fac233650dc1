//! Factors and terms: what stands between the `+` and the `:` of a formula.

use std::fmt;
use std::str::FromStr;

use super::{Expression, FormulaError, parser};

/// One variable of a term: a column, a function, or `I(...)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Factor {
    expression: Expression,
    identity: bool,
}

impl Factor {
    /// Without `identity` the expression is a column or a function.
    pub(super) fn new(expression: Expression, identity: bool) -> Self {
        Self { expression, identity }
    }

    /// What the factor computes.
    pub fn expression(&self) -> &Expression {
        &self.expression
    }

    /// The name, if the factor is a plain column.
    pub fn as_column(&self) -> Option<&str> {
        match &self.expression {
            Expression::Column(name) if !self.identity => Some(name),
            _ => None,
        }
    }
}

impl fmt::Display for Factor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.identity { write!(f, "I({})", self.expression) } else { write!(f, "{}", self.expression) }
    }
}

/// Two terms with the same factors in any order have the same key.
pub(crate) type TermKey = Vec<String>;

/// A product of distinct factors, in the order in which they were written.
#[derive(Debug, Clone, PartialEq)]
pub struct Term {
    factors: Vec<Factor>,
}

impl Term {
    /// The term of no factor: the intercept. It exists only while a formula is read.
    pub(super) fn empty() -> Self {
        Self { factors: Vec::new() }
    }

    pub(super) fn of(factor: Factor) -> Self {
        Self { factors: vec![factor] }
    }

    /// The interaction of two terms; as in R, `a:a` is `a`.
    pub(super) fn interact(&self, other: &Self) -> Self {
        let mut factors = self.factors.clone();
        for factor in &other.factors {
            if !factors.contains(factor) {
                factors.push(factor.clone());
            }
        }
        Self { factors }
    }

    /// The factors in the order in which they were written.
    pub fn factors(&self) -> &[Factor] {
        &self.factors
    }

    /// The name, if the term is a plain column.
    pub fn as_column(&self) -> Option<&str> {
        match self.factors.as_slice() {
            [factor] => factor.as_column(),
            _ => None,
        }
    }

    pub(crate) fn key(&self) -> TermKey {
        let mut key: TermKey = self.factors.iter().map(Factor::to_string).collect();
        key.sort_unstable();
        key
    }
}

impl FromStr for Term {
    type Err = FormulaError;

    /// Reads one term, such as `log(x)` or `x1:site`; other operators of a formula are refused.
    fn from_str(text: &str) -> Result<Self, FormulaError> {
        parser::parse_term(text)
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, factor) in self.factors.iter().enumerate() {
            write!(f, "{}{factor}", if index == 0 { "" } else { ":" })?;
        }
        Ok(())
    }
}
