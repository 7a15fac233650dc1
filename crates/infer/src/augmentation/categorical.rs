//! Models of categorical records: a table of all combinations of levels, and naive Bayes.
//!
//! A latent record holds the place of its level in every column. \[JAGR22\] section 4. The counts of records are all that matters here, and
//! methods with counts as their state do without latent records; these models join other mechanisms to categorical records.

use std::ops::Range;

use organza_mcmc::{ChainRng, Stop};
use organza_release::LevelColumn;
use rand::RngExt;

use super::Generative;
use crate::InferError;
use crate::random::gamma;

/// More cells than this are a mistake.
const LARGEST_TABLE: usize = 10_000_000;
/// Fewer levels than this are counted through rather than searched.
const FEW: usize = 16;

/// Probabilities of a [`SaturatedRecords`] or [`NaiveBayesRecords`] model, block by block, and memory for their draws.
#[derive(Debug, Clone)]
pub struct CategoricalParameters {
    probabilities: Vec<f64>,
    /// Sums over a block up to and with each entry; infinite for the last, so that rounding leaves no gap.
    cumulative: Vec<f64>,
    counts: Vec<f64>,
}

impl CategoricalParameters {
    fn new(size: usize) -> Self {
        let line = vec![0.0; size];
        Self { probabilities: line.clone(), cumulative: line.clone(), counts: line }
    }

    /// Draws a block from the Dirichlet distribution of its counts, which include the prior's.
    fn draw(&mut self, range: Range<usize>, rng: &mut ChainRng) -> Result<(), Stop> {
        let (counts, block) = (&self.counts[range.clone()], &mut self.probabilities[range.clone()]);
        block.iter_mut().zip(counts).for_each(|(value, count)| *value = gamma(rng, *count));
        let total: f64 = block.iter().sum();
        if !(total > 0.0 && total.is_finite()) {
            return Err(Stop::numerical("probabilities are beyond reach: give a larger concentration"));
        }
        let mut sum = 0.0;
        let cumulative = &mut self.cumulative[range];
        for (value, cumulative) in block.iter_mut().zip(cumulative.iter_mut()) {
            *value /= total;
            sum += *value;
            *cumulative = sum;
        }
        if let Some(last) = cumulative.last_mut() {
            *last = f64::INFINITY;
        }
        Ok(())
    }
}

/// A place with the probabilities of these sums.
#[inline]
fn pick(cumulative: &[f64], rng: &mut ChainRng) -> u32 {
    let uniform: f64 = rng.random();
    if cumulative.len() >= FEW {
        return cumulative.partition_point(|sum| *sum <= uniform) as u32;
    }
    let (_, open) = cumulative.split_last().unwrap_or((&0.0, &[]));
    open.iter().fold(0, |place, sum| place + u32::from(*sum <= uniform))
}

fn check(columns: &[LevelColumn], concentration: f64) -> Result<(), InferError> {
    if !(concentration.is_finite() && concentration > 0.0) {
        let reason = format!("must be positive and finite, found {concentration}");
        return Err(InferError::prior("concentration", reason));
    }
    match columns.iter().find(|column| column.levels.len() < 2) {
        None if !columns.is_empty() => Ok(()),
        None => Err(InferError::Setting { field: "columns", reason: "give at least one column".into() }),
        Some(column) => {
            Err(InferError::Setting { field: "columns", reason: format!("{} needs two levels", column.name) })
        }
    }
}

/// Every combination of levels has a probability of its own; they have a symmetric Dirichlet prior.
#[derive(Debug, Clone, PartialEq)]
pub struct SaturatedRecords {
    concentration: f64,
    /// How far one level of a column moves in the table.
    strides: Vec<f64>,
    /// The record of every cell, row-major.
    cells: Vec<f64>,
    names: Vec<String>,
}

impl SaturatedRecords {
    /// The model of these columns; the last one changes fastest.
    pub fn new(columns: &[LevelColumn], concentration: f64) -> Result<Self, InferError> {
        check(columns, concentration)?;
        let size = columns.iter().try_fold(1_usize, |size, column| size.checked_mul(column.levels.len()));
        let Some(size) = size.filter(|size| *size <= LARGEST_TABLE) else {
            let reason = format!("have more than {LARGEST_TABLE} combinations of levels: take fewer columns");
            return Err(InferError::Setting { field: "columns", reason });
        };
        let (mut strides, mut stride) = (vec![0.0; columns.len()], size);
        let (mut cells, mut names) = (vec![0.0; size * columns.len()], vec![String::new(); size]);
        for (place, column) in columns.iter().enumerate() {
            stride /= column.levels.len();
            strides[place] = stride as f64;
            for (cell, name) in names.iter_mut().enumerate() {
                let level = cell / stride % column.levels.len();
                cells[cell * columns.len() + place] = level as f64;
                let comma = if place > 0 { ", " } else { "" };
                name.push_str(&format!("{comma}{}={}", column.name, column.levels[level]));
            }
        }
        let names = names.into_iter().map(|name| format!("p[{name}]")).collect();
        Ok(Self { concentration, strides, cells, names })
    }
}

impl Generative for SaturatedRecords {
    type Parameters = CategoricalParameters;

    fn width(&self) -> usize {
        self.strides.len()
    }

    fn start(&self, rng: &mut ChainRng) -> Result<CategoricalParameters, Stop> {
        let mut parameters = CategoricalParameters::new(self.names.len());
        self.draw_parameters(&[], &mut parameters, rng)?;
        Ok(parameters)
    }

    #[inline]
    fn draw_record(&self, parameters: &CategoricalParameters, rng: &mut ChainRng, record: &mut [f64]) {
        let cell = pick(&parameters.cumulative, rng) as usize;
        record.copy_from_slice(&self.cells[cell * record.len()..(cell + 1) * record.len()]);
    }

    fn draw_parameters(
        &self,
        records: &[f64],
        parameters: &mut CategoricalParameters,
        rng: &mut ChainRng,
    ) -> Result<(), Stop> {
        parameters.counts.fill(self.concentration);
        for record in records.chunks_exact(self.width()) {
            let cell: f64 = record.iter().zip(&self.strides).map(|(level, stride)| level * stride).sum();
            parameters.counts[cell as usize] += 1.0;
        }
        parameters.draw(0..self.names.len(), rng)
    }

    fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    fn write(&self, parameters: &CategoricalParameters, values: &mut [f64]) {
        values.copy_from_slice(&parameters.probabilities);
    }
}

/// A class, and given it features that are independent of each other; all probabilities have symmetric Dirichlet priors.
/// \[JAGR22\] section 4.
#[derive(Debug, Clone, PartialEq)]
pub struct NaiveBayesRecords {
    concentration: f64,
    /// The column of the class, and its levels.
    class: usize,
    classes: usize,
    features: Vec<Feature>,
    /// Probabilities of all features given one class.
    stride: usize,
    names: Vec<String>,
}

/// A feature: its column, and where its probabilities are among those of a class.
#[derive(Debug, Clone, PartialEq)]
struct Feature {
    column: usize,
    levels: Range<usize>,
}

impl NaiveBayesRecords {
    /// The model of these columns, of which one is the class.
    pub fn new(columns: &[LevelColumn], class: &str, concentration: f64) -> Result<Self, InferError> {
        check(columns, concentration)?;
        let Some(place) = columns.iter().position(|column| column.name == class) else {
            let known: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
            let reason = format!("{class:?} is no column; there are {}", known.join(", "));
            return Err(InferError::Setting { field: "class", reason });
        };
        let (mut features, mut stride) = (Vec::new(), 0);
        for (column, described) in columns.iter().enumerate().filter(|(column, _)| *column != place) {
            let levels = stride..stride + described.levels.len();
            stride = levels.end;
            features.push(Feature { column, levels });
        }
        let classes: Vec<String> =
            columns[place].levels.iter().map(|level| format!("{class}={level}")).collect();
        let mut names: Vec<String> = classes.iter().map(|name| format!("p[{name}]")).collect();
        for given in &classes {
            for column in features.iter().map(|feature| &columns[feature.column]) {
                names.extend(
                    column.levels.iter().map(|level| format!("p[{}={level} | {given}]", column.name)),
                );
            }
        }
        Ok(Self { concentration, class: place, classes: classes.len(), features, stride, names })
    }
}

impl Generative for NaiveBayesRecords {
    type Parameters = CategoricalParameters;

    fn width(&self) -> usize {
        self.features.len() + 1
    }

    fn start(&self, rng: &mut ChainRng) -> Result<CategoricalParameters, Stop> {
        let mut parameters = CategoricalParameters::new(self.names.len());
        self.draw_parameters(&[], &mut parameters, rng)?;
        Ok(parameters)
    }

    #[inline]
    fn draw_record(&self, parameters: &CategoricalParameters, rng: &mut ChainRng, record: &mut [f64]) {
        let (classes, given) = parameters.cumulative.split_at(self.classes);
        let class = pick(classes, rng);
        record[self.class] = f64::from(class);
        let given = &given[class as usize * self.stride..][..self.stride];
        for feature in &self.features {
            record[feature.column] = f64::from(pick(&given[feature.levels.clone()], rng));
        }
    }

    fn draw_parameters(
        &self,
        records: &[f64],
        parameters: &mut CategoricalParameters,
        rng: &mut ChainRng,
    ) -> Result<(), Stop> {
        parameters.counts.fill(self.concentration);
        let (classes, given) = parameters.counts.split_at_mut(self.classes);
        for record in records.chunks_exact(self.width()) {
            let class = record[self.class] as usize;
            classes[class] += 1.0;
            let given = &mut given[class * self.stride..(class + 1) * self.stride];
            for Feature { column, levels } in &self.features {
                given[levels.start + record[*column] as usize] += 1.0;
            }
        }
        parameters.draw(0..self.classes, rng)?;
        for start in (0..self.classes).map(|class| self.classes + class * self.stride) {
            for Feature { levels, .. } in &self.features {
                parameters.draw(start + levels.start..start + levels.end, rng)?;
            }
        }
        Ok(())
    }

    fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    fn write(&self, parameters: &CategoricalParameters, values: &mut [f64]) {
        values.copy_from_slice(&parameters.probabilities);
    }
}
