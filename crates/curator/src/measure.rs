//! The exact statistic of a table: integers, the same for every number of threads and, unless records are averaged, every
//! order of rows.

use crate::CuratorError;
use crate::defaults::planned_records;
use crate::formula::{BlockColumns, Workspace};
use crate::gram::IntegerGram;
use crate::mechanism::{Plan, Request};
use crate::sums::{Measured, Sums};
use crate::table::{Counts, Event, Input, Progress, ReadOptions, Reading, Table};

/// What one thread needs to turn blocks into sums.
struct Worker<'p> {
    plan: &'p Plan,
    workspace: Workspace,
    terms: Vec<Vec<f64>>,
    sums: Sums,
}

impl<'p> Worker<'p> {
    fn new(plan: &'p Plan) -> Self {
        Self {
            plan,
            workspace: Workspace::default(),
            terms: vec![Vec::new(); plan.design().output_columns()],
            sums: Sums::new(plan),
        }
    }

    fn add(&mut self, block: &BlockColumns<'_>) -> Result<(), CuratorError> {
        self.plan.design().evaluate(block, &mut self.workspace, &mut self.terms)?;
        let columns: Vec<&[f64]> = self.terms.iter().map(Vec::as_slice).collect();
        self.sums.add_block(&columns)
    }
}

/// The Gram matrix of a whole table, of averaged records if the plan says so.
pub fn measure(
    plan: &Plan,
    input: &Input,
    options: &ReadOptions,
    progress: &dyn Progress,
) -> Result<(IntegerGram, Counts), CuratorError> {
    let (measured, counts) = measure_statistic(plan, input, options, progress)?;
    let reason = "the plan is not one of a Gram matrix";
    let gram = measured.into_gram().ok_or_else(|| CuratorError::setting("statistic", reason))?;
    Ok((gram, counts))
}

/// The planned statistic of a whole table.
pub fn measure_statistic(
    plan: &Plan,
    input: &Input,
    options: &ReadOptions,
    progress: &dyn Progress,
) -> Result<(Measured, Counts), CuratorError> {
    let empty = || CuratorError::EmptyTable { path: format!("{}, after dropping", input.name()) };
    if Sums::need_order(plan) {
        let mut whole = None;
        let counts = measure_batches(plan, input, options, (u64::MAX, progress), &mut |measured| {
            whole = Some(measured.clone());
            Ok(())
        })?;
        return Ok((whole.ok_or_else(empty)?, counts));
    }
    let table = Table::new(input, plan.design(), options, progress);
    let (workers, counts) = table.fold(|| Worker::new(plan), |worker, block| worker.add(block))?;
    let mut total = Sums::new(plan);
    for worker in workers {
        total.merge(worker.sums)?;
    }
    if counts.records == 0 {
        return Err(empty());
    }
    Ok((total.finish()?, counts))
}

/// The number of records that a release by this plan would have, missing values treated alike.
pub fn count_records(plan: &Plan, reading: &Reading<'_>) -> Result<u64, CuratorError> {
    let table = Table::new(reading.input, plan.design(), reading.options, reading.progress);
    let (_, counts) = table.fold(|| (), |(), _| Ok(()))?;
    Ok(counts.records)
}

/// A plan whose radius is that of the table's own number of records ([`planned_records`]). Where that number must not
/// or need not be known, or the table can be read but once, it is the plan as asked for.
pub fn plan_for(request: &Request, reading: &Reading<'_>) -> Result<Plan, CuratorError> {
    let plan = Plan::new(request)?;
    if !request.wants_records() || !reading.input.is_regular_file() {
        return Ok(plan);
    }
    let records = planned_records(count_records(&plan, reading)?);
    Plan::new(&Request { records, ..request.clone() })
}

/// The planned statistic of each batch of rows in turn. No record outlives its batch.
pub fn measure_batches(
    plan: &Plan,
    input: &Input,
    options: &ReadOptions,
    (batch_rows, progress): (u64, &dyn Progress),
    on_batch: &mut dyn FnMut(&Measured) -> Result<(), CuratorError>,
) -> Result<Counts, CuratorError> {
    let table = Table::new(input, plan.design(), options, progress);
    let mut worker = Worker::new(plan);
    table.for_each_batch(batch_rows, &mut |event| match event {
        Event::Block(block) => worker.add(block),
        Event::BatchEnd(0) => Ok(()),
        Event::BatchEnd(_) => {
            let finished = std::mem::replace(&mut worker, Worker::new(plan));
            on_batch(&finished.sums.finish()?)
        }
    })
}
