//! Tokens to a [`Formula`], by recursive descent. Precedence as in R: `^`, `:`, `*`, then `+` and `-`.

use super::arithmetic::DOT;
use super::terms::{MOST_FACTORS, Refusal, TermSet};
use super::tokens::{Token, tokenise};
use super::{Factor, Formula, FormulaError, Term};

/// The deepest nesting that is read; it keeps the recursion inside the stack.
const DEEPEST: usize = 64;

pub(super) struct Parser<'a> {
    text: &'a str,
    tokens: Vec<(Token, usize)>,
    next: usize,
    depth: usize,
    /// Operators of the factor that is being read; bounded, so that trees stay shallow.
    pub(super) operators: usize,
    /// Pairs of terms that were multiplied.
    products: usize,
}

/// Reads `response ~ terms`.
pub(super) fn parse_formula(text: &str) -> Result<Formula, FormulaError> {
    let mut parser = Parser::new(text)?;
    let response = parser.response()?;
    let set = parser.sum()?;
    parser.expect_end()?;
    let intercept = set.asks_for_intercept().unwrap_or(true);
    let terms = set.into_ordered();
    for (term, offset) in &terms {
        if uses_response(term, &response) {
            let message = format!("the response `{response}` is among the features, in `{term}`; remove it");
            return Err(FormulaError::at(text, *offset, message));
        }
    }
    if !intercept && terms.is_empty() {
        return Err(parser.error("no terms are left; write `~ 1` for the intercept alone"));
    }
    Ok(Formula { response, intercept, terms: terms.into_iter().map(|(term, _)| term).collect() })
}

/// Reads one term and nothing else.
pub(super) fn parse_term(text: &str) -> Result<Term, FormulaError> {
    let mut parser = Parser::new(text)?;
    let mut term = Term::of(parser.factor()?);
    while parser.take(':') {
        term = term.interact(&Term::of(parser.factor()?));
        if term.factors().len() > MOST_FACTORS {
            return Err(parser.error(Refusal::TooManyFactors.message()));
        }
    }
    parser.expect_end()?;
    Ok(term)
}

/// A response of one column may not appear in any feature; one of several columns (a change from a baseline)
/// may share them, but not be a factor itself.
pub(super) fn uses_response(term: &Term, response: &Factor) -> bool {
    let columns = response.expression().columns();
    term.factors().iter().any(|factor| {
        let shares = |column: &&str| factor.expression().columns().contains(column);
        factor == response || (columns.len() == 1 && columns.iter().any(shares))
    })
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Result<Self, FormulaError> {
        Ok(Self { text, tokens: tokenise(text)?, next: 0, depth: 0, operators: 0, products: 0 })
    }

    pub(super) fn peek(&self) -> &Token {
        // The last token is `End` and `advance` never passes it.
        &self.tokens[self.next].0
    }

    pub(super) fn offset(&self) -> usize {
        self.tokens[self.next].1
    }

    pub(super) fn advance(&mut self) -> Token {
        let token = self.peek().clone();
        self.next = (self.next + 1).min(self.tokens.len() - 1);
        token
    }

    pub(super) fn take(&mut self, symbol: char) -> bool {
        let found = *self.peek() == Token::Symbol(symbol);
        if found {
            self.advance();
        }
        found
    }

    pub(super) fn error(&self, message: impl Into<String>) -> FormulaError {
        self.error_at(self.offset(), message)
    }

    pub(super) fn error_at(&self, offset: usize, message: impl Into<String>) -> FormulaError {
        FormulaError::at(self.text, offset, message)
    }

    pub(super) fn close(&mut self) -> Result<(), FormulaError> {
        if self.take(')') {
            return Ok(());
        }
        Err(self.error(format!("expected `)`, found {}", self.peek())))
    }

    fn expect_end(&self) -> Result<(), FormulaError> {
        match self.peek() {
            Token::End => Ok(()),
            Token::Symbol('~') => Err(self.error("a formula has one `~`")),
            Token::Symbol('/') => Err(self.error(
                "`/` is not supported here; write a + a:b instead of a/b, or I(a / b) for a quotient",
            )),
            other => Err(self.error(format!("unexpected {other}; expected an operator such as `+`"))),
        }
    }

    /// Runs `read` one level deeper.
    pub(super) fn nested<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, FormulaError>,
    ) -> Result<T, FormulaError> {
        if self.depth == DEEPEST {
            return Err(self.error(format!("nested deeper than {DEEPEST} levels")));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    fn response(&mut self) -> Result<Factor, FormulaError> {
        if *self.peek() == Token::Symbol('~') {
            return Err(self.error("name the response before `~`"));
        }
        let response = self.factor()?;
        match self.peek() {
            Token::Symbol('~') => {
                self.advance();
                Ok(response)
            }
            Token::End => {
                Err(self.error(format!("expected `~` and the terms, as in `{response} ~ x1 + x2`")))
            }
            _ => Err(self.error("the response is one column or one function; put arithmetic in I(...)")),
        }
    }

    fn sum(&mut self) -> Result<TermSet, FormulaError> {
        let mut total = TermSet::default();
        let mut minus = self.take('-');
        if !minus {
            self.take('+');
        }
        loop {
            let offset = self.offset();
            let operand = self.product()?;
            if minus {
                total.remove(&operand);
            } else {
                total.add(operand).map_err(|refusal| self.refused(offset, &refusal))?;
            }
            minus = match self.peek() {
                Token::Symbol('+') => false,
                Token::Symbol('-') => true,
                _ => return Ok(total),
            };
            self.advance();
        }
    }

    fn product(&mut self) -> Result<TermSet, FormulaError> {
        let offset = self.offset();
        let mut left = self.interaction()?;
        while self.take('*') {
            let right = self.interaction()?;
            left = left.cross(right, &mut self.products).map_err(|refusal| self.refused(offset, &refusal))?;
        }
        Ok(left)
    }

    fn interaction(&mut self) -> Result<TermSet, FormulaError> {
        let offset = self.offset();
        let mut left = self.power()?;
        while self.take(':') {
            let right = self.power()?;
            left = left
                .interact(&right, &mut self.products)
                .map_err(|refusal| self.refused(offset, &refusal))?;
        }
        Ok(left)
    }

    fn power(&mut self) -> Result<TermSet, FormulaError> {
        let offset = self.offset();
        let base = self.atom()?;
        if !self.take('^') {
            return Ok(base);
        }
        let exponent = match *self.peek() {
            Token::Number(value) if (1.0..=1000.0).contains(&value) && value.fract() == 0.0 => value as u32,
            _ => {
                return Err(
                    self.error("expected a whole number of at least 1; for a power of a column write I(x^2)")
                );
            }
        };
        self.advance();
        base.power(exponent, &mut self.products).map_err(|refusal| self.refused(offset, &refusal))
    }

    fn atom(&mut self) -> Result<TermSet, FormulaError> {
        let offset = self.offset();
        match *self.peek() {
            Token::Symbol('(') => {
                self.advance();
                let set = self.nested(Self::sum)?;
                self.close()?;
                Ok(set)
            }
            Token::Number(value) if value == 0.0 || value == 1.0 => {
                self.advance();
                Ok(TermSet::intercept(value == 1.0))
            }
            Token::Number(_) => {
                Err(self.error("only 0 and 1 (the intercept) may stand here; put arithmetic in I(...)"))
            }
            _ => Ok(TermSet::term(Term::of(self.factor()?), offset)),
        }
    }

    /// A column, a function of an expression, or `I(expression)`.
    fn factor(&mut self) -> Result<Factor, FormulaError> {
        self.operators = 0;
        match self.peek() {
            Token::Quoted(_) | Token::Name(_) => {}
            Token::Dot => return Err(self.error(DOT)),
            other => return Err(self.error(format!("expected a term, found {other}"))),
        }
        // A name is not the last token, because `End` is.
        let called = self.tokens[self.next + 1].0 == Token::Symbol('(');
        let identity = called && *self.peek() == Token::Name("I".to_owned());
        Ok(Factor::new(self.operand()?, identity))
    }

    fn refused(&self, offset: usize, refusal: &Refusal) -> FormulaError {
        self.error_at(offset, refusal.message())
    }
}
