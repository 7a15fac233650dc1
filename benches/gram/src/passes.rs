//! The passes that are timed.

use crate::matrix::Matrix;
use organza_curator::bounds::Bounds;
use organza_curator::gram::product::{Columns, add_products, packed_index};
use organza_curator::gram::{GramAccumulator, IntegerGram, RecordDomain, RecordMap};
use organza_curator::measure::measure;
use organza_curator::mechanism::{DomainChoice, Plan, RecordScale, Request};
use organza_curator::table::{Input, ReadOptions};
use std::error::Error;
use std::ops::Range;
use std::path::Path;

pub type Failure = Box<dyn Error + Send + Sync>;

/// `W'W` of a matrix that holds integers already. A million rows of 17-bit integers stay below 2^53.
pub fn product(matrix: &Matrix, threads: usize) -> Result<Vec<i128>, Failure> {
    let parts = in_parallel(matrix.rows, threads, |range| {
        let mut sums = vec![0.0; packed_index(0, matrix.dimension)];
        let values = &matrix.values[range.start..];
        let columns = Columns::new(values, matrix.rows, range.len(), matrix.dimension).ok_or("shape")?;
        add_products(pulp::Arch::new(), columns, &mut sums)?;
        Ok(sums)
    })?;
    let mut total = vec![0; packed_index(0, matrix.dimension)];
    for part in &parts {
        total.iter_mut().zip(part).for_each(|(total, &part): (&mut i128, _)| *total += part as i128);
    }
    Ok(total)
}

/// Clamping, normalising, scaling, rounding and multiplying: the last column is the response, with an intercept.
pub fn map(matrix: &Matrix, shape: &str, threads: usize) -> Result<IntegerGram, Failure> {
    let map = record_map(shape, matrix.dimension, 60_000.0)?;
    let columns = matrix.columns();
    merged(in_parallel(matrix.rows, threads, |range| {
        let mut accumulator = GramAccumulator::new(&map);
        let part: Vec<&[f64]> = columns.iter().map(|column| &column[range.clone()]).collect();
        accumulator.add_block(&part)?;
        Ok(accumulator)
    })?)
}

/// The columns x0 to x9 of a file, x9 the response, by the path that a release takes.
pub fn parquet(path: &Path, shape: &str, threads: usize) -> Result<IntegerGram, Failure> {
    let mut bounds = Bounds::default();
    for column in 0..10 {
        bounds.set_flag(&format!("x{column}=-3:3"))?;
    }
    let features: Vec<String> = (0..9).map(|column| format!("x{column}")).collect();
    let formula = format!("x9 ~ {}", features.join(" + "));
    let mut request = Request::new(formula.parse()?, bounds, 1.0, 1e-8);
    let record_scale = if shape == "box" { RecordScale::None } else { RecordScale::Default };
    request.domain = DomainChoice::Box { record_scale, intercept_weight: None };
    let options = ReadOptions { threads, ..ReadOptions::default() };
    Ok(measure(&Plan::new(&request)?, &Input::File(path.to_path_buf()), &options, &())?.0)
}

fn record_map(shape: &str, columns: usize, bound: f64) -> Result<RecordMap, Failure> {
    let radius = match shape {
        "box" => None,
        "scaled" => Some(0.6 * (columns as f64).sqrt()),
        _ => return Err(format!("unknown shape: {shape}").into()),
    };
    let features = vec![(-bound, bound); columns - 1];
    let domain = RecordDomain::Box { features, response: (-bound, bound), intercept: Some(1.0), radius };
    Ok(RecordMap::new(&domain, 1.0, 16)?)
}

fn merged(parts: Vec<GramAccumulator>) -> Result<IntegerGram, Failure> {
    let mut parts = parts.into_iter();
    let mut sum = parts.next().ok_or("no parts")?;
    for part in parts {
        sum.merge(part)?;
    }
    Ok(sum.finish())
}

/// Divides the rows among threads; one thread is this one.
fn in_parallel<T: Send>(
    rows: usize,
    threads: usize,
    work: impl Fn(Range<usize>) -> Result<T, Failure> + Sync,
) -> Result<Vec<T>, Failure> {
    if threads < 2 {
        return Ok(vec![work(0..rows)?]);
    }
    let step = rows.div_ceil(threads).max(1);
    let work = &work;
    std::thread::scope(|scope| {
        let parts = (0..rows).step_by(step).map(|from| from..rows.min(from + step));
        let workers: Vec<_> = parts.map(|part| scope.spawn(move || work(part))).collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap_or_else(|_| Err("a thread panicked".into())))
            .collect()
    })
}
