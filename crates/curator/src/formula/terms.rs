//! The algebra of terms: what `+`, `-`, `:`, `*` and `^` do to sets of terms.

use indexmap::IndexMap;

use super::Term;
use super::term::TermKey;

/// The most terms that a formula may expand to.
pub(super) const MOST_TERMS: usize = 10_000;

/// The most factors of a term.
pub(super) const MOST_FACTORS: usize = 64;

/// The most pairs of terms that a formula may ask to multiply, repeated ones included: what it costs to read it.
const MOST_PRODUCTS: usize = 200_000;

/// Why an operation on term sets has no result.
#[derive(Debug)]
pub(super) enum Refusal {
    TooManyTerms,
    TooManyFactors,
    TooManyProducts,
    ZeroInProduct,
}

impl Refusal {
    pub(super) fn message(&self) -> String {
        match self {
            Self::TooManyTerms => format!("the formula expands to more than {MOST_TERMS} terms"),
            Self::TooManyFactors => format!("a term has more than {MOST_FACTORS} factors"),
            Self::TooManyProducts => {
                format!("the formula multiplies more than {MOST_PRODUCTS} pairs of terms")
            }
            Self::ZeroInProduct => "0 removes the intercept and cannot stand in an interaction".to_owned(),
        }
    }
}

/// Distinct terms in the order of appearance, each with the offset where it was written.
#[derive(Debug, Clone, Default)]
pub(super) struct TermSet {
    terms: IndexMap<TermKey, (Term, usize)>,
    /// The last word about the intercept: `1` asks for it, `0` and `- 1` remove it.
    intercept: Option<bool>,
}

impl TermSet {
    pub(super) fn term(term: Term, offset: usize) -> Self {
        let mut set = Self::default();
        set.terms.insert(term.key(), (term, offset));
        set
    }

    pub(super) fn intercept(present: bool) -> Self {
        Self { intercept: Some(present), ..Self::default() }
    }

    pub(super) fn asks_for_intercept(&self) -> Option<bool> {
        self.intercept
    }

    /// R's order: by degree, and by appearance inside a degree.
    pub(super) fn into_ordered(self) -> Vec<(Term, usize)> {
        let mut terms: Vec<_> = self.terms.into_values().collect();
        terms.sort_by_key(|(term, _)| term.factors().len());
        terms
    }

    fn insert(&mut self, term: Term, offset: usize) -> Result<(), Refusal> {
        if term.factors().is_empty() {
            self.intercept = Some(true);
            return Ok(());
        }
        self.terms.entry(term.key()).or_insert((term, offset));
        if self.terms.len() > MOST_TERMS { Err(Refusal::TooManyTerms) } else { Ok(()) }
    }

    /// `self + other`
    pub(super) fn add(&mut self, other: Self) -> Result<(), Refusal> {
        self.intercept = other.intercept.or(self.intercept);
        other.terms.into_values().try_for_each(|(term, offset)| self.insert(term, offset))
    }

    /// `self - other`; as in R, removing a term that is not there changes nothing, and `- 0` is `+ 1`.
    pub(super) fn remove(&mut self, other: &Self) {
        self.intercept = other.intercept.map(|present| !present).or(self.intercept);
        for key in other.terms.keys() {
            self.terms.shift_remove(key);
        }
    }

    /// `self:other`
    pub(super) fn interact(&self, other: &Self, products: &mut usize) -> Result<Self, Refusal> {
        let (left, right) = (self.with_intercept()?, other.with_intercept()?);
        *products = products.saturating_add(left.len().saturating_mul(right.len()));
        if *products > MOST_PRODUCTS {
            return Err(Refusal::TooManyProducts);
        }
        let mut product = Self::default();
        for (first, offset) in &left {
            for (second, second_offset) in &right {
                let offset = if first.factors().is_empty() { second_offset } else { offset };
                let term = first.interact(second);
                if term.factors().len() > MOST_FACTORS {
                    return Err(Refusal::TooManyFactors);
                }
                product.insert(term, *offset)?;
            }
        }
        Ok(product)
    }

    /// `self * other`, which is `self + other + self:other`
    pub(super) fn cross(self, other: Self, products: &mut usize) -> Result<Self, Refusal> {
        let product = self.interact(&other, products)?;
        let mut sum = self;
        sum.add(other)?;
        sum.add(product)?;
        Ok(sum)
    }

    /// `self^exponent`: all interactions up to that degree.
    pub(super) fn power(self, exponent: u32, products: &mut usize) -> Result<Self, Refusal> {
        let mut power = self.clone();
        for _ in 1..exponent {
            let size = power.terms.len();
            let higher = power.interact(&self, products)?;
            power.add(higher)?;
            if power.terms.len() == size {
                break;
            }
        }
        Ok(power)
    }

    /// The terms, with the intercept as the term of no factor.
    fn with_intercept(&self) -> Result<Vec<(Term, usize)>, Refusal> {
        let intercept = match self.intercept {
            Some(false) => return Err(Refusal::ZeroInProduct),
            Some(true) => Some((Term::empty(), 0)),
            None => None,
        };
        Ok(intercept.into_iter().chain(self.terms.values().cloned()).collect())
    }
}
