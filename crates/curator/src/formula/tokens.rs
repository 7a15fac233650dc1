//! Text to tokens.

use std::fmt;

use super::FormulaError;
use super::expression::{continues_name, quoted_name, starts_name};

/// The longest formula that is read, in bytes.
const LONGEST: usize = 1 << 20;

/// The smallest piece of a formula.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    /// A column or function name, without backticks.
    Name(String),
    /// A column name that was written in backticks, so never a function.
    Quoted(String),
    Number(f64),
    /// One of `~ + - * / ^ : ( ) ,`.
    Symbol(char),
    /// R's "all other columns".
    Dot,
    End,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write!(f, "`{name}`"),
            Self::Quoted(name) => write!(f, "{}", quoted_name(name)),
            Self::Number(value) => write!(f, "`{value}`"),
            Self::Symbol(symbol) => write!(f, "`{symbol}`"),
            Self::Dot => write!(f, "`.`"),
            Self::End => write!(f, "the end of the formula"),
        }
    }
}

/// The tokens with their byte offsets; the last one is `End`.
pub(super) fn tokenise(text: &str) -> Result<Vec<(Token, usize)>, FormulaError> {
    if text.len() > LONGEST {
        return Err(FormulaError::at(text, LONGEST, format!("a formula may have {LONGEST} bytes at most")));
    }
    let mut scanner = Scanner { text, offset: 0 };
    let mut tokens = Vec::new();
    loop {
        scanner.skip_while(char::is_whitespace);
        let offset = scanner.offset;
        let token = scanner.token()?;
        let done = token == Token::End;
        tokens.push((token, offset));
        if done {
            return Ok(tokens);
        }
    }
}

struct Scanner<'a> {
    text: &'a str,
    offset: usize,
}

impl<'a> Scanner<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.offset..]
    }

    fn skip_while(&mut self, accept: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let length = rest.find(|c| !accept(c)).unwrap_or(rest.len());
        self.offset += length;
        &rest[..length]
    }

    fn token(&mut self) -> Result<Token, FormulaError> {
        let mut characters = self.rest().chars();
        let Some(first) = characters.next() else { return Ok(Token::End) };
        let second = characters.next();
        if first.is_ascii_digit() || (first == '.' && second.is_some_and(|c| c.is_ascii_digit())) {
            return self.number();
        }
        if starts_name(first) {
            let name = self.skip_while(continues_name);
            return Ok(if name == "." { Token::Dot } else { Token::Name(name.to_owned()) });
        }
        if first == '`' {
            return self.quoted();
        }
        if !"~+-*/^:(),".contains(first) {
            return Err(FormulaError::at(self.text, self.offset, unexpected_character(first)));
        }
        // R reads `**` as `^`.
        let doubled = first == '*' && second == Some('*');
        self.offset += if doubled { 2 } else { 1 };
        Ok(Token::Symbol(if doubled { '^' } else { first }))
    }

    fn number(&mut self) -> Result<Token, FormulaError> {
        let start = self.offset;
        self.skip_while(|c| c.is_ascii_digit() || c == '.');
        let rest = self.rest().as_bytes();
        let signed = usize::from(matches!(rest.get(1), Some(b'+' | b'-')));
        if matches!(rest.first(), Some(b'e' | b'E')) && rest.get(1 + signed).is_some_and(u8::is_ascii_digit) {
            self.offset += 1 + signed;
            self.skip_while(|c| c.is_ascii_digit());
        }
        let digits = &self.text[start..self.offset];
        if self.rest().starts_with(continues_name) {
            let message =
                format!("`{digits}` runs into a name; put a name that starts with a digit in backticks");
            return Err(FormulaError::at(self.text, start, message));
        }
        match digits.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(Token::Number(value)),
            _ => Err(FormulaError::at(self.text, start, format!("`{digits}` is not a finite number"))),
        }
    }

    fn quoted(&mut self) -> Result<Token, FormulaError> {
        let start = self.offset;
        let mut name = String::new();
        let mut characters = self.rest().char_indices().skip(1);
        while let Some((at, c)) = characters.next() {
            match c {
                '`' if name.is_empty() => {
                    return Err(FormulaError::at(self.text, start, "the name in backticks is empty"));
                }
                '`' => {
                    self.offset += at + 1;
                    return Ok(Token::Quoted(name));
                }
                '\\' => match characters.next() {
                    Some((_, escaped @ ('`' | '\\'))) => name.push(escaped),
                    _ => {
                        let message = "inside backticks a `\\` stands before a backtick or another `\\`";
                        return Err(FormulaError::at(self.text, start + at, message));
                    }
                },
                _ => name.push(c),
            }
        }
        Err(FormulaError::at(self.text, start, "this backtick has no partner"))
    }
}

fn unexpected_character(c: char) -> String {
    match c {
        '=' => "unexpected `=`; a formula has `~` between the response and the terms".to_owned(),
        '|' => "unexpected `|`; grouped effects are not supported".to_owned(),
        _ => format!("unexpected `{c}`; put odd column names in backticks"),
    }
}
