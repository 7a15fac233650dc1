//! Blocks of rows to columns of features, a chunk and a column at a time.

use super::Interval;
use super::kernels::{apply, combine, combine_constant, copy, map, raise, zip};
use super::program::{Leaf, Operation, Program, Update};

/// Rows that are evaluated together, so that intermediate values stay in the nearest cache.
const CHUNK: usize = 1024;

/// The columns of a block of rows, in the order of the design. The caller has applied its missing rule.
#[derive(Debug, Clone, Copy)]
pub struct BlockColumns<'a> {
    /// One slice per column of `Design::numeric_columns`.
    pub numeric: &'a [&'a [f64]],
    /// One slice of level codes per column of `Design::categorical_columns`.
    pub categorical: &'a [&'a [u32]],
}

impl BlockColumns<'_> {
    /// The number of rows: those of the first column.
    pub fn rows(&self) -> usize {
        let categorical = || self.categorical.first().map_or(0, |column| column.len());
        self.numeric.first().map_or_else(categorical, |column| column.len())
    }
}

/// Scratch memory of `Design::evaluate`, one per thread.
#[derive(Debug, Clone, Default)]
pub struct Workspace {
    factors: Vec<Vec<f64>>,
    stack: Vec<Vec<f64>>,
}

impl Workspace {
    #[cfg(test)]
    pub(super) fn buffers(&self) -> impl Iterator<Item = &Vec<f64>> {
        self.factors.iter().chain(&self.stack)
    }

    fn prepare(&mut self, factors: usize, stack: usize) {
        let grow = |buffers: &mut Vec<Vec<f64>>, count: usize| {
            if buffers.len() < count {
                buffers.resize_with(count, || vec![0.0; CHUNK]);
            }
        };
        grow(&mut self.factors, factors);
        grow(&mut self.stack, stack);
    }
}

/// Where a numeric factor of a term is read from.
#[derive(Debug, Clone, Copy)]
pub(super) enum Source {
    Column(usize),
    /// A derived factor, evaluated earlier for the same chunk.
    Factor(usize),
}

/// Multiplies by a source and clamps to the interval of the product so far.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub(super) source: Source,
    pub(super) interval: Interval,
}

/// Keeps the rows of one level and sets the others to 0.
#[derive(Debug, Clone, Copy)]
pub(super) struct Indicator {
    pub(super) column: usize,
    pub(super) level: u32,
}

/// One output column.
#[derive(Debug, Clone)]
pub(super) struct Product {
    pub(super) steps: Vec<Step>,
    pub(super) indicators: Vec<Indicator>,
}

/// All that is evaluated for a chunk.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    columns: Vec<Interval>,
    factors: Vec<Program>,
    products: Vec<Product>,
    stack_depth: usize,
}

impl Plan {
    pub(super) fn new(columns: Vec<Interval>, factors: Vec<Program>, products: Vec<Product>) -> Self {
        let stack_depth = factors.iter().map(Program::stack_depth).max().unwrap_or(0);
        Self { columns, factors, products, stack_depth }
    }

    /// The sizes have been checked.
    pub(super) fn run(&self, block: &BlockColumns<'_>, workspace: &mut Workspace, out: &mut [Vec<f64>]) {
        workspace.prepare(self.factors.len(), self.stack_depth);
        let rows = block.rows();
        for start in (0..rows).step_by(CHUNK) {
            let chunk = Chunk { plan: self, block, start, rows: CHUNK.min(rows - start) };
            for (program, result) in self.factors.iter().zip(&mut workspace.factors) {
                chunk.run(program, &mut workspace.stack);
                std::mem::swap(result, &mut workspace.stack[0]);
            }
            for (product, column) in self.products.iter().zip(out.iter_mut()) {
                chunk.product(product, &workspace.factors, &mut column[start..start + chunk.rows]);
            }
        }
    }
}

struct Chunk<'a> {
    plan: &'a Plan,
    block: &'a BlockColumns<'a>,
    start: usize,
    rows: usize,
}

impl Chunk<'_> {
    fn numeric(&self, column: usize) -> &[f64] {
        &self.block.numeric[column][self.start..self.start + self.rows]
    }

    fn product(&self, product: &Product, factors: &[Vec<f64>], out: &mut [f64]) {
        let mut steps = product.steps.iter();
        match steps.next() {
            None => out.fill(1.0),
            Some(Step { source: Source::Column(column), interval }) => {
                copy(out, self.numeric(*column), interval)
            }
            Some(Step { source: Source::Factor(factor), interval }) => copy(out, &factors[*factor], interval),
        }
        for Step { source, interval } in steps {
            match *source {
                Source::Column(column) => {
                    let bounds = &self.plan.columns[column];
                    zip(out, self.numeric(column), |a, b| interval.clamp(a * bounds.clamp(b)));
                }
                Source::Factor(factor) => zip(out, &factors[factor], |a, b| interval.clamp(a * b)),
            }
        }
        for Indicator { column, level } in &product.indicators {
            let codes = &self.block.categorical[*column][self.start..self.start + self.rows];
            zip(out, codes, |value, code| if code == *level { value } else { 0.0 });
        }
    }

    /// Leaves the result of a program at the bottom of the stack.
    fn run(&self, program: &Program, stack: &mut [Vec<f64>]) {
        let mut depth = 0;
        for operation in &program.operations {
            match operation {
                Operation::Push(leaf) => {
                    self.push(*leaf, &mut stack[depth][..self.rows]);
                    depth += 1;
                }
                Operation::Update(update) => self.update(update, &mut stack[depth - 1][..self.rows]),
                Operation::Pop(operator, interval) => {
                    depth -= 1;
                    let (lower, upper) = stack.split_at_mut(depth);
                    combine(&mut lower[depth - 1][..self.rows], *operator, &upper[0], interval, |x| x);
                }
            }
        }
    }

    fn push(&self, leaf: Leaf, top: &mut [f64]) {
        match leaf {
            Leaf::Column(column) => copy(top, self.numeric(column), &self.plan.columns[column]),
            Leaf::Constant(value) => top.fill(value),
        }
    }

    fn update(&self, update: &Update, top: &mut [f64]) {
        match update {
            Update::Combine(operator, Leaf::Constant(value), interval) => {
                combine_constant(top, *operator, *value, interval);
            }
            Update::Combine(operator, Leaf::Column(column), interval) => {
                let bounds = &self.plan.columns[*column];
                combine(top, *operator, self.numeric(*column), interval, |x| bounds.clamp(x));
            }
            Update::Negate => map(top, |x| -x),
            Update::IntegerPower(exponent) => raise(top, *exponent),
            Update::Apply(function, interval) => apply(top, *function, interval),
            Update::Clamp(interval) => map(top, |x| interval.clamp(x)),
        }
    }
}
