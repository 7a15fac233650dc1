//! The compiled design: which columns it needs, which features it makes, and how.

use super::assembly::Assembly;
use super::evaluate::Plan;
use super::{BlockColumns, Formula, FormulaError, Interval, Workspace};
use crate::bounds::Bounds;

/// A numeric column that a design reads, with its public bounds.
#[derive(Debug, Clone, PartialEq)]
pub struct NumericColumn {
    /// Name in the table.
    pub name: String,
    /// Public bounds; values outside are clamped.
    pub interval: Interval,
}

/// A categorical column that a design reads. A level code is an index into `levels`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CategoricalColumn {
    /// Name in the table.
    pub name: String,
    /// Public levels; the first one is the reference.
    pub levels: Vec<String>,
}

/// A column of the design matrix, or the response.
#[derive(Debug, Clone, PartialEq)]
pub struct Feature {
    /// Canonical text, such as `x1:site[b]`.
    pub name: String,
    /// Public lower bound; no evaluated value is below.
    pub lower: f64,
    /// Public upper bound; no evaluated value is above.
    pub upper: f64,
    /// Whether it is an indicator of levels, 0 or 1.
    pub indicator: bool,
}

impl Feature {
    pub(super) fn new(name: String, interval: Interval, indicator: bool) -> Result<Self, FormulaError> {
        if interval.is_point() {
            return Err(FormulaError::ConstantTerm { term: name, value: interval.lower });
        }
        Ok(Self { name, lower: interval.lower, upper: interval.upper, indicator })
    }
}

/// A formula compiled with public bounds.
///
/// ```
/// # use organza_curator::{bounds::Bounds, formula::{BlockColumns, Design, Formula}};
/// let bounds = Bounds::from_toml("[y]\nlower = 0\nupper = 9\n[x]\nlower = -2\nupper = 3", "bounds.toml")?;
/// let design = Design::compile(&"y ~ x + I(x^2)".parse::<Formula>()?, &bounds)?;
/// assert_eq!(design.features()[1].name, "I(x^2)");
/// assert_eq!((design.features()[1].lower, design.features()[1].upper), (0.0, 9.0));
///
/// let mut out = vec![Vec::new(); design.output_columns()];
/// let block = BlockColumns { numeric: &[&[1.0, 99.0], &[-1.0, 50.0]], categorical: &[] };
/// design.evaluate(&block, &mut Workspace::default(), &mut out)?;
/// assert_eq!(out, [[-1.0, 3.0], [1.0, 9.0], [1.0, 9.0]]); // x, I(x^2), y: 99 and 50 were clamped
/// # use organza_curator::formula::Workspace;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Design {
    pub(super) numeric: Vec<NumericColumn>,
    pub(super) categorical: Vec<CategoricalColumn>,
    pub(super) intercept: bool,
    pub(super) features: Vec<Feature>,
    pub(super) response: Feature,
    pub(super) plan: Plan,
}

impl Design {
    /// Compiles a formula with public bounds; no table is needed.
    pub fn compile(formula: &Formula, bounds: &Bounds) -> Result<Self, FormulaError> {
        Assembly::new(formula, bounds)?.design()
    }

    /// Compiles the right side alone; the last output column is 0.
    pub fn compile_features(formula: &Formula, bounds: &Bounds) -> Result<Self, FormulaError> {
        Assembly::new(&formula.without_response(), bounds)?.without_response().design()
    }

    /// The numeric columns in the order in which [`BlockColumns::numeric`] holds them: as they appear in the
    /// formula, the response first.
    pub fn numeric_columns(&self) -> &[NumericColumn] {
        &self.numeric
    }

    /// Names of all columns that are read.
    pub(crate) fn column_names(&self) -> Vec<String> {
        let numeric = self.numeric_columns().iter().map(|column| &column.name);
        numeric.chain(self.categorical_columns().iter().map(|column| &column.name)).cloned().collect()
    }

    /// The categorical columns in the order in which [`BlockColumns::categorical`] holds them.
    pub fn categorical_columns(&self) -> &[CategoricalColumn] {
        &self.categorical
    }

    /// Whether the model has an intercept; it is no feature.
    pub fn intercept(&self) -> bool {
        self.intercept
    }

    /// The features in the order of the output columns.
    pub fn features(&self) -> &[Feature] {
        &self.features
    }

    /// The response; it is the last output column.
    pub fn response(&self) -> &Feature {
        &self.response
    }

    /// How many columns [`Design::evaluate`] writes: the features and the response.
    pub fn output_columns(&self) -> usize {
        self.features.len() + 1
    }

    /// Writes one column per feature and then the response to `out`, each with one value per row.
    ///
    /// Base columns are clamped to their bounds, the term is evaluated, and the result is clamped to the
    /// interval of the feature; a NaN that the caller's missing rule let through becomes a lower bound. The
    /// values have the same bits on every machine. A workspace may be used again, also for another design;
    /// with vectors and a workspace that have seen a block of this size nothing is allocated.
    pub fn evaluate(
        &self,
        block: &BlockColumns<'_>,
        workspace: &mut Workspace,
        out: &mut [Vec<f64>],
    ) -> Result<(), FormulaError> {
        let rows = self.check_block(block, out.len())?;
        for column in out.iter_mut() {
            column.resize(rows, 0.0);
        }
        self.plan.run(block, workspace, out);
        Ok(())
    }

    /// The number of rows, if all sizes and codes fit.
    fn check_block(&self, block: &BlockColumns<'_>, outputs: usize) -> Result<usize, FormulaError> {
        let check = |what: &str, found: usize, expected: usize| {
            let error = || FormulaError::BlockShape { what: what.to_owned(), found, expected };
            if found == expected { Ok(()) } else { Err(error()) }
        };
        check("the list of numeric columns", block.numeric.len(), self.numeric.len())?;
        check("the list of categorical columns", block.categorical.len(), self.categorical.len())?;
        check("the list of output columns", outputs, self.output_columns())?;
        let rows = block.rows();
        for (column, values) in self.numeric.iter().zip(block.numeric) {
            check(&column.name, values.len(), rows)?;
        }
        for (column, codes) in self.categorical.iter().zip(block.categorical) {
            check(&column.name, codes.len(), rows)?;
            let levels = column.levels.len();
            if codes.iter().copied().max().is_some_and(|largest| largest as usize >= levels) {
                return Err(FormulaError::LevelCode { column: column.name.clone(), levels });
            }
        }
        Ok(rows)
    }
}
