//! The exact statistic of a table: integers, the same for every number of threads and every order of rows.

use crate::CuratorError;
use crate::formula::{BlockColumns, Workspace};
use crate::gram::{GramAccumulator, IntegerGram};
use crate::mechanism::Plan;
use crate::table::{Counts, Event, Input, Progress, ReadOptions, Table};

/// What one thread needs to turn blocks into sums.
struct Worker<'p> {
    plan: &'p Plan,
    workspace: Workspace,
    terms: Vec<Vec<f64>>,
    gram: GramAccumulator,
}

impl<'p> Worker<'p> {
    fn new(plan: &'p Plan) -> Self {
        Self {
            plan,
            workspace: Workspace::default(),
            terms: vec![Vec::new(); plan.design().output_columns()],
            gram: GramAccumulator::new(plan.record_map()),
        }
    }

    fn add(&mut self, block: &BlockColumns<'_>) -> Result<(), CuratorError> {
        self.plan.design().evaluate(block, &mut self.workspace, &mut self.terms)?;
        let columns: Vec<&[f64]> = self.terms.iter().map(Vec::as_slice).collect();
        Ok(self.gram.add_block(&columns)?)
    }
}

/// The Gram matrix of a whole table.
pub fn measure(
    plan: &Plan,
    input: &Input,
    options: &ReadOptions,
    progress: &dyn Progress,
) -> Result<(IntegerGram, Counts), CuratorError> {
    let table = Table::new(input, plan.design(), options, progress);
    let (workers, counts) = table.fold(|| Worker::new(plan), |worker, block| worker.add(block))?;
    let mut total = GramAccumulator::new(plan.record_map());
    for worker in workers {
        total.merge(worker.gram)?;
    }
    if counts.records == 0 {
        return Err(CuratorError::EmptyTable { path: format!("{}, after dropping", input.name()) });
    }
    Ok((total.finish(), counts))
}

/// The Gram matrix of each batch of rows in turn. No record outlives its batch.
pub fn measure_batches(
    plan: &Plan,
    input: &Input,
    options: &ReadOptions,
    (batch_rows, progress): (u64, &dyn Progress),
    on_batch: &mut dyn FnMut(&IntegerGram) -> Result<(), CuratorError>,
) -> Result<Counts, CuratorError> {
    let table = Table::new(input, plan.design(), options, progress);
    let mut worker = Worker::new(plan);
    table.for_each_batch(batch_rows, &mut |event| match event {
        Event::Block(block) => worker.add(block),
        Event::BatchEnd(0) => Ok(()),
        Event::BatchEnd(_) => {
            let finished = std::mem::replace(&mut worker, Worker::new(plan));
            on_batch(&finished.gram.finish())
        }
    })
}
