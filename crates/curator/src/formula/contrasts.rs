//! How a categorical column is coded in a term: by contrasts or by full indicators.
//!
//! R's rule: in a term, a factor is coded by contrasts (one indicator per level but the first) if what is
//! left of the term without it is already in the model, and by full indicators otherwise. "In the model"
//! means spanned by the intercept or an earlier term: a term spans the products of its own factors, so
//! `0 + a + b` codes `a` in full and `b` by contrasts, because the indicators of `a` sum to the intercept.
//!
//! Only categorical factors may be dropped that way: a term spans a part of itself only if both have the same
//! numeric factors. R drops numeric ones too, and so loses columns in `x:a + a:b` and has one too many in
//! `0 + x + x:a`; neither happens here. As in R, `a:b` without `a` and `b` is coded in full beside an
//! intercept, which is one column more than its rank.

use std::collections::BTreeSet;

use super::Term;

/// The factors of a term by kind, as sets of texts.
#[derive(Debug)]
struct Kinds {
    numeric: BTreeSet<String>,
    categorical: BTreeSet<String>,
}

impl Kinds {
    fn of(term: &Term, is_categorical: &dyn Fn(&str) -> bool) -> Self {
        let mut kinds = Self { numeric: BTreeSet::new(), categorical: BTreeSet::new() };
        for factor in term.factors() {
            let categorical = factor.as_column().is_some_and(is_categorical);
            let side = if categorical { &mut kinds.categorical } else { &mut kinds.numeric };
            side.insert(factor.to_string());
        }
        kinds
    }

    /// Whether this term spans the other one without its factor `dropped`.
    fn spans(&self, other: &Self, dropped: &str) -> bool {
        self.numeric == other.numeric
            && other.categorical.iter().all(|factor| factor == dropped || self.categorical.contains(factor))
    }
}

/// For each term and each of its factors in order: whether it is coded by contrasts. Numeric factors are not.
pub(super) fn contrasts(
    terms: &[Term],
    intercept: bool,
    is_categorical: &dyn Fn(&str) -> bool,
) -> Vec<Vec<bool>> {
    let kinds: Vec<Kinds> = terms.iter().map(|term| Kinds::of(term, is_categorical)).collect();
    let coded = |index: usize, factor: &super::Factor| {
        let own = &kinds[index];
        let name = factor.to_string();
        let constant = Kinds { numeric: BTreeSet::new(), categorical: BTreeSet::new() };
        own.categorical.contains(&name)
            && ((intercept && constant.spans(own, &name))
                || kinds[..index].iter().any(|earlier| earlier.spans(own, &name)))
    };
    let of_term = |(index, term): (usize, &Term)| term.factors().iter().map(|f| coded(index, f)).collect();
    terms.iter().enumerate().map(of_term).collect()
}
