//! Puts a [`Design`] together from a formula and public bounds.

use std::collections::HashMap;

use super::contrasts::contrasts;
use super::evaluate::{Indicator, Plan, Product, Source, Step};
use super::program::{Compiler, Program};
use super::{
    CategoricalColumn, Design, Factor, Feature, Formula, FormulaError, Interval, NumericColumn, Operator,
    Term,
};
use crate::bounds::{Bounds, ColumnBounds};

/// The most features of a design.
const MOST_FEATURES: usize = 100_000;

/// The most bytes of the names of all features together.
const MOST_NAME_BYTES: usize = 64 << 20;

pub(super) struct Assembly<'a> {
    formula: &'a Formula,
    bounds: &'a Bounds,
    numeric: Vec<NumericColumn>,
    categorical: Vec<CategoricalColumn>,
    numeric_index: HashMap<String, usize>,
    categorical_index: HashMap<String, usize>,
    /// Derived factors are evaluated once per chunk, however many terms have them.
    factors: Vec<Program>,
    factor_index: HashMap<String, usize>,
    features: Vec<Feature>,
    products: Vec<Product>,
    /// Bytes of the features' names so far.
    name_bytes: usize,
    /// Whether the response is a constant that stands for none.
    without_response: bool,
}

impl<'a> Assembly<'a> {
    pub(super) fn new(formula: &'a Formula, bounds: &'a Bounds) -> Result<Self, FormulaError> {
        let mut assembly = Self {
            formula,
            bounds,
            numeric: Vec::new(),
            categorical: Vec::new(),
            numeric_index: HashMap::new(),
            categorical_index: HashMap::new(),
            factors: Vec::new(),
            factor_index: HashMap::new(),
            features: Vec::new(),
            products: Vec::new(),
            name_bytes: 0,
            without_response: false,
        };
        assembly.collect_columns()?;
        assembly.check_kinds()?;
        Ok(assembly)
    }

    /// The same without a response.
    pub(super) fn without_response(self) -> Self {
        Self { without_response: true, ..self }
    }

    pub(super) fn design(mut self) -> Result<Design, FormulaError> {
        let formula = self.formula;
        let is_categorical = |name: &str| self.categorical_index.contains_key(name);
        let coding = contrasts(formula.terms(), formula.intercept(), &is_categorical);
        for (term, coding) in formula.terms().iter().zip(&coding) {
            self.add_term(term, coding)?;
        }
        let term = Term::of(formula.response().clone());
        let (steps, interval) = self.numeric_part(&term)?;
        let response = if self.without_response {
            Feature { name: term.to_string(), lower: interval.lower, upper: interval.upper, indicator: false }
        } else {
            Feature::new(term.to_string(), interval, false)?
        };
        self.products.push(Product { steps, indicators: Vec::new() });
        let columns = self.numeric.iter().map(|column| column.interval).collect();
        Ok(Design {
            plan: Plan::new(columns, self.factors, self.products),
            numeric: self.numeric,
            categorical: self.categorical,
            intercept: formula.intercept(),
            features: self.features,
            response,
        })
    }

    fn collect_columns(&mut self) -> Result<(), FormulaError> {
        let mut missing: Vec<String> = Vec::new();
        for name in self.formula.columns() {
            match self.bounds.column(name) {
                Some(ColumnBounds::Numeric { lower, upper }) => {
                    self.numeric_index.insert(name.to_owned(), self.numeric.len());
                    let interval = Interval::new(*lower, *upper);
                    self.numeric.push(NumericColumn { name: name.to_owned(), interval });
                }
                Some(ColumnBounds::Categorical { levels }) => {
                    self.categorical_index.insert(name.to_owned(), self.categorical.len());
                    self.categorical
                        .push(CategoricalColumn { name: name.to_owned(), levels: levels.clone() });
                }
                None => missing.push(name.to_owned()),
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        let known = self.bounds.columns().map(|(name, _)| name.to_owned()).collect();
        Err(FormulaError::MissingBounds { columns: missing, known })
    }

    /// Categorical columns may stand alone or in interactions only, and only on the right side.
    fn check_kinds(&self) -> Result<(), FormulaError> {
        if let Some(column) = self.formula.response().as_column()
            && self.categorical_index.contains_key(column)
        {
            return Err(FormulaError::CategoricalResponse { column: column.to_owned() });
        }
        for factor in self.formula.factors().filter(|factor| factor.as_column().is_none()) {
            let columns = factor.expression().columns();
            if let Some(column) = columns.into_iter().find(|name| self.categorical_index.contains_key(*name))
            {
                let (factor, column) = (factor.to_string(), column.to_owned());
                return Err(FormulaError::CategoricalArithmetic { factor, column });
            }
        }
        Ok(())
    }

    /// Adds one feature per combination of the coded levels; the levels of the first factor vary fastest.
    fn add_term(&mut self, term: &Term, coding: &[bool]) -> Result<(), FormulaError> {
        let (steps, mut interval) = self.numeric_part(term)?;
        let categorical: Vec<(usize, u32)> = term
            .factors()
            .iter()
            .zip(coding)
            .filter_map(|(factor, by_contrasts)| Some((self.category(factor)?, u32::from(*by_contrasts))))
            .collect();
        if !categorical.is_empty() {
            interval = interval.with_zero();
        }
        let mut levels: Vec<u32> = categorical.iter().map(|(_, first)| *first).collect();
        loop {
            if self.features.len() == MOST_FEATURES || self.name_bytes > MOST_NAME_BYTES {
                return Err(FormulaError::TooManyFeatures { limit: MOST_FEATURES });
            }
            let name = self.feature_name(term, &levels);
            self.name_bytes += name.len();
            self.features.push(Feature::new(name, interval, steps.is_empty())?);
            let indicator = |(&(column, _), &level): (&(usize, u32), &u32)| Indicator { column, level };
            let indicators = categorical.iter().zip(&levels).map(indicator).collect();
            self.products.push(Product { steps: steps.clone(), indicators });
            if !self.next_combination(&categorical, &mut levels) {
                return Ok(());
            }
        }
    }

    fn next_combination(&self, categorical: &[(usize, u32)], levels: &mut [u32]) -> bool {
        for (&(column, first), level) in categorical.iter().zip(levels) {
            *level += 1;
            if (*level as usize) < self.categorical[column].levels.len() {
                return true;
            }
            *level = first;
        }
        false
    }

    fn category(&self, factor: &Factor) -> Option<usize> {
        self.categorical_index.get(factor.as_column()?).copied()
    }

    fn feature_name(&self, term: &Term, levels: &[u32]) -> String {
        let mut levels = levels.iter();
        let part = |factor: &Factor| {
            let level = self.category(factor).and_then(|column| {
                levels.next().map(|level| &self.categorical[column].levels[*level as usize])
            });
            level.map_or_else(|| factor.to_string(), |level| format!("{factor}[{level}]"))
        };
        let parts: Vec<String> = term.factors().iter().map(part).collect();
        parts.join(":")
    }

    /// The product of the numeric factors and its interval, which is 1 without any.
    fn numeric_part(&mut self, term: &Term) -> Result<(Vec<Step>, Interval), FormulaError> {
        let mut steps: Vec<Step> = Vec::new();
        let mut running = Interval::point(1.0);
        for factor in
            term.factors().iter().filter(|factor| self.category(factor).is_none()).collect::<Vec<_>>()
        {
            let (source, interval) = self.source(factor)?;
            running = if steps.is_empty() { interval } else { self.product(running, interval, term)? };
            steps.push(Step { source, interval: running });
        }
        if steps.len() < term.factors().len() && self.bounds.term(term).is_some() {
            return Err(FormulaError::BoundsOfCategories { term: term.to_string() });
        }
        running = self.tightened(term, running)?;
        if let Some(last) = steps.last_mut() {
            last.interval = running;
        }
        Ok((steps, running))
    }

    fn product(&self, left: Interval, right: Interval, term: &Term) -> Result<Interval, FormulaError> {
        left.combine(Operator::Multiply, right).map_err(|reason| FormulaError::Undefined {
            expression: term.to_string(),
            bounds: "the product of its factors".to_owned(),
            reason,
        })
    }

    /// Where a numeric factor is read from, and its interval.
    fn source(&mut self, factor: &Factor) -> Result<(Source, Interval), FormulaError> {
        if let Some(&index) = factor.as_column().and_then(|name| self.numeric_index.get(name)) {
            return Ok((Source::Column(index), self.numeric[index].interval));
        }
        let text = factor.to_string();
        if let Some(&index) = self.factor_index.get(&text) {
            return Ok((Source::Factor(index), self.factors[index].interval));
        }
        let mut program = Compiler::new(&self.numeric).program(factor.expression())?;
        program.clamp_to(self.tightened(&Term::of(factor.clone()), program.interval)?);
        let (index, interval) = (self.factors.len(), program.interval);
        self.factors.push(program);
        self.factor_index.insert(text, index);
        Ok((Source::Factor(index), interval))
    }

    /// Intersects with the bounds that were given for a derived term.
    fn tightened(&self, term: &Term, derived: Interval) -> Result<Interval, FormulaError> {
        let Some(given) = self.bounds.term(term) else { return Ok(derived) };
        let meet = Interval::new(derived.lower.max(given.lower), derived.upper.min(given.upper));
        if meet.lower < meet.upper {
            return Ok(meet);
        }
        Err(FormulaError::DisjointBounds {
            term: term.to_string(),
            lower: given.lower,
            upper: given.upper,
            derived_lower: derived.lower,
            derived_upper: derived.upper,
        })
    }
}
