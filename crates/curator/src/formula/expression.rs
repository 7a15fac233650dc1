//! Arithmetic inside `I(...)` and functions: the tree and its canonical text.

use std::fmt;

/// A function of one argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Function {
    /// Natural logarithm.
    Log,
    /// Logarithm to base 2.
    Log2,
    /// Logarithm to base 10.
    Log10,
    /// Natural logarithm of one plus the argument.
    Log1p,
    /// Exponential.
    Exp,
    /// Square root.
    Sqrt,
    /// Absolute value.
    Abs,
}

impl Function {
    /// All functions, in the order in which messages list them.
    pub const ALL: [Self; 7] =
        [Self::Log, Self::Log2, Self::Log10, Self::Log1p, Self::Exp, Self::Sqrt, Self::Abs];

    /// The name in a formula.
    pub fn name(self) -> &'static str {
        match self {
            Self::Log => "log",
            Self::Log2 => "log2",
            Self::Log10 => "log10",
            Self::Log1p => "log1p",
            Self::Exp => "exp",
            Self::Sqrt => "sqrt",
            Self::Abs => "abs",
        }
    }

    /// The function of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|function| function.name() == name)
    }
}

/// An operator between two expressions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `^`
    Power,
}

/// Arithmetic on columns. `Display` writes the fewest parentheses that keep the tree.
#[derive(Debug, Clone, PartialEq)]
pub enum Expression {
    /// A column of the table, by its name.
    Column(String),
    /// A finite number that is not negative; a negative one is a `Negate`.
    Number(f64),
    /// Unary minus.
    Negate(Box<Expression>),
    /// Two operands.
    Binary(Operator, Box<Expression>, Box<Expression>),
    /// A function and its argument.
    Call(Function, Box<Expression>),
}

impl Expression {
    /// Appends the columns in the order of the text, each once.
    pub fn collect_columns<'a>(&'a self, columns: &mut Vec<&'a str>) {
        match self {
            Self::Column(name) => {
                if !columns.contains(&name.as_str()) {
                    columns.push(name);
                }
            }
            Self::Number(_) => {}
            Self::Negate(inner) | Self::Call(_, inner) => inner.collect_columns(columns),
            Self::Binary(_, left, right) => {
                left.collect_columns(columns);
                right.collect_columns(columns);
            }
        }
    }

    /// The columns in the order of the text, each once.
    pub fn columns(&self) -> Vec<&str> {
        let mut columns = Vec::new();
        self.collect_columns(&mut columns);
        columns
    }

    /// How tightly the outermost operator binds, as in R: `+ -` 1, `* /` 2, unary minus 3, `^` 4, the rest 5.
    fn precedence(&self) -> u8 {
        match self {
            Self::Binary(Operator::Add | Operator::Subtract, ..) => 1,
            Self::Binary(Operator::Multiply | Operator::Divide, ..) => 2,
            Self::Negate(_) => 3,
            Self::Binary(Operator::Power, ..) => 4,
            Self::Column(_) | Self::Number(_) | Self::Call(..) => 5,
        }
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, least: u8) -> fmt::Result {
        if self.precedence() < least {
            f.write_str("(")?;
            self.write(f, 0)?;
            return f.write_str(")");
        }
        match self {
            Self::Column(name) => f.write_str(&quoted_name(name)),
            Self::Number(value) => f.write_str(&number_text(*value)),
            Self::Negate(inner) => {
                f.write_str("-")?;
                inner.write(f, 3)
            }
            Self::Binary(operator, left, right) => {
                // The left operand of `^` and the right operands of the others need the next level, because
                // `^` associates to the right and the others to the left; `a^-b` needs no parentheses.
                let (symbol, left_least, right_least) = match operator {
                    Operator::Add => (" + ", 1, 2),
                    Operator::Subtract => (" - ", 1, 2),
                    Operator::Multiply => (" * ", 2, 3),
                    Operator::Divide => (" / ", 2, 3),
                    Operator::Power => ("^", 5, 3),
                };
                left.write(f, left_least)?;
                f.write_str(symbol)?;
                right.write(f, right_least)
            }
            Self::Call(function, argument) => {
                write!(f, "{}(", function.name())?;
                argument.write(f, 0)?;
                f.write_str(")")
            }
        }
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, 0)
    }
}

/// The shortest text that reads back as the same number, valid in a formula and in TOML.
pub(crate) fn number_text(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude == 0.0 || (1e-5..1e15).contains(&magnitude) {
        format!("{value}")
    } else {
        format!("{value:e}")
    }
}

/// Whether a name needs no backticks: as in R, or with a leading underscore.
fn is_plain_name(name: &str) -> bool {
    let mut characters = name.chars();
    let Some(first) = characters.next() else { return false };
    let numeric_start = first == '.' && characters.clone().next().is_none_or(|c| c.is_ascii_digit());
    starts_name(first) && !numeric_start && characters.all(continues_name)
}

/// Whether a plain name may start with this character.
pub(super) fn starts_name(c: char) -> bool {
    c.is_alphabetic() || c == '.' || c == '_'
}

/// Whether a plain name may go on with this character.
pub(super) fn continues_name(c: char) -> bool {
    c.is_alphanumeric() || c == '.' || c == '_'
}

/// The name as a formula writes it: in backticks if it is not plain, with `\` before a backtick or backslash.
pub(crate) fn quoted_name(name: &str) -> String {
    if is_plain_name(name) {
        return name.to_owned();
    }
    backticked(name)
}

/// The name in backticks, whether it needs them or not.
pub(crate) fn backticked(name: &str) -> String {
    format!("`{}`", name.replace('\\', "\\\\").replace('`', "\\`"))
}
