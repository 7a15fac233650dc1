//! Arithmetic inside `I(...)` and functions. Precedence as in R: `^` (to the right), unary minus, `* /`, and
//! last `+ -`.

use super::parser::Parser;
use super::tokens::Token;
use super::{Expression, FormulaError, Function, Operator};

/// The most operators of one factor; with the depth of nesting it bounds the depth of the tree.
const MOST_OPERATORS: usize = 256;

pub(super) const DOT: &str =
    "`.` (all other columns) is not supported: name every column, because each needs public bounds";

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Result<Expression, FormulaError> {
        self.left_associative(
            |symbol| match symbol {
                '+' => Some(Operator::Add),
                '-' => Some(Operator::Subtract),
                _ => None,
            },
            Self::quotient,
        )
    }

    fn quotient(&mut self) -> Result<Expression, FormulaError> {
        self.left_associative(
            |symbol| match symbol {
                '*' => Some(Operator::Multiply),
                '/' => Some(Operator::Divide),
                _ => None,
            },
            Self::signed,
        )
    }

    fn left_associative(
        &mut self,
        operator: impl Fn(char) -> Option<Operator>,
        operand: impl Fn(&mut Self) -> Result<Expression, FormulaError>,
    ) -> Result<Expression, FormulaError> {
        let mut left = operand(self)?;
        loop {
            let Token::Symbol(symbol) = *self.peek() else { return Ok(left) };
            let Some(operator) = operator(symbol) else { return Ok(left) };
            self.count_operator()?;
            self.advance();
            let right = operand(self)?;
            left = Expression::Binary(operator, Box::new(left), Box::new(right));
        }
    }

    fn signed(&mut self) -> Result<Expression, FormulaError> {
        if self.take('+') {
            return self.nested(Self::signed);
        }
        if self.take('-') {
            self.count_operator()?;
            return Ok(Expression::Negate(Box::new(self.nested(Self::signed)?)));
        }
        let base = self.operand()?;
        if !self.take('^') {
            return Ok(base);
        }
        self.count_operator()?;
        let exponent = self.nested(Self::signed)?;
        Ok(Expression::Binary(Operator::Power, Box::new(base), Box::new(exponent)))
    }

    /// A number, a column, a function, or an expression in parentheses; `I(...)` is a parenthesis here.
    pub(super) fn operand(&mut self) -> Result<Expression, FormulaError> {
        match self.peek().clone() {
            Token::Number(value) => {
                self.advance();
                Ok(Expression::Number(value))
            }
            Token::Symbol('(') => self.parenthesised(),
            Token::Quoted(name) => {
                self.advance();
                Ok(Expression::Column(name))
            }
            Token::Name(name) => self.column_or_call(name),
            Token::Dot => Err(self.error(DOT)),
            other => Err(self.error(format!("expected a column, a number or a function, found {other}"))),
        }
    }

    fn column_or_call(&mut self, name: String) -> Result<Expression, FormulaError> {
        let offset = self.offset();
        self.advance();
        if *self.peek() != Token::Symbol('(') {
            return Ok(Expression::Column(name));
        }
        if name == "I" {
            return self.parenthesised();
        }
        let Some(function) = Function::from_name(&name) else {
            let known: Vec<&str> = Function::ALL.into_iter().map(Function::name).collect();
            let message = format!("unknown function `{name}`; known are {} and I", known.join(", "));
            return Err(self.error_at(offset, message));
        };
        Ok(Expression::Call(function, Box::new(self.parenthesised()?)))
    }

    fn parenthesised(&mut self) -> Result<Expression, FormulaError> {
        self.advance();
        let inner = self.nested(Self::expression)?;
        if *self.peek() == Token::Symbol(',') {
            return Err(self.error("a function takes one argument"));
        }
        self.close()?;
        Ok(inner)
    }

    fn count_operator(&mut self) -> Result<(), FormulaError> {
        self.operators += 1;
        if self.operators > MOST_OPERATORS {
            return Err(self.error(format!("more than {MOST_OPERATORS} operators in one term")));
        }
        Ok(())
    }
}
