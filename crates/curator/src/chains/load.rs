//! From a table to the records of a private chain, in normalised units.
//!
//! Features are clamped to their public bounds and mapped to [-1, 1]. The response of a linear regression is, too; that of a logistic
//! regression is 0 or 1 and that of a Poisson regression a count, clamped to its upper bound. A cell that cannot be used is an error that
//! names its place, as in a release: nothing has been asked or paid for then. The number of records is public.

use organza_mcmc::{Draws, DrawsError};
use organza_release::units::CoefficientMap;
use organza_release::{BoxDomain, Domain, Interval};

use super::models::{Regression, Response};
use super::records::Records;
use super::words::ChainModel;
use crate::CuratorError;
use crate::bounds::Bounds;
use crate::formula::{Design, Formula, Workspace};
use crate::mechanism::{record_map_for, unscaled};
use crate::policy::Subject;
use crate::table::{Counts, Reading, ResponseRule, Table};

/// A regression that is sampled beside its table: the model, the compiled formula and the units. Public knowledge only.
#[derive(Debug, Clone)]
pub struct ChainDesign {
    model: ChainModel,
    design: Design,
    domain: BoxDomain,
    prior_sd: f64,
}

impl ChainDesign {
    /// Compiles a formula with public bounds. Coefficients have independent normal priors around 0 with the standard deviation `prior_sd` in
    /// normalised units, and so has ln sigma.
    pub fn new(
        model: ChainModel,
        formula: Formula,
        bounds: Bounds,
        prior_sd: f64,
    ) -> Result<Self, CuratorError> {
        if !(prior_sd.is_finite() && prior_sd > 0.0) {
            return Err(CuratorError::setting("prior_sd", "must be a positive number"));
        }
        let plain = formula.response().as_column().is_some();
        let design = Design::compile(&formula, &bounds)?;
        let domain = unscaled(&formula, &design);
        record_map_for(&Domain::Box(domain.clone()))?;
        check_response(model, &design, plain)?;
        Ok(Self { model, design, domain, prior_sd })
    }

    /// What is computed, and from which columns.
    pub fn subject(&self) -> Subject {
        Subject { statistic: "chains", columns: self.design.column_names() }
    }

    /// The model.
    pub fn model(&self) -> ChainModel {
        self.model
    }

    /// The formula, the bounds and the names.
    pub fn domain(&self) -> &BoxDomain {
        &self.domain
    }

    /// Standard deviation of the prior of each coefficient, in normalised units.
    pub fn prior_sd(&self) -> f64 {
        self.prior_sd
    }

    /// Coefficients, the intercept included.
    pub fn coefficients(&self) -> usize {
        self.domain.features.len() + usize::from(self.domain.intercept)
    }

    /// Parameters of a chain.
    pub fn dimension(&self) -> usize {
        self.coefficients() + usize::from(self.model == ChainModel::Linear)
    }

    /// The upper bound of the response in users' units.
    pub fn response_upper(&self) -> f64 {
        self.design.response().upper
    }

    /// The model of a record.
    pub(super) fn regression<R: Response>(&self, response: R) -> Regression<R> {
        let names: Vec<String> = self.domain.features.iter().map(|feature| feature.name.clone()).collect();
        Regression::new(response, &names, self.domain.intercept, self.prior_sd)
    }

    fn rule(&self) -> Option<ResponseRule> {
        match self.model {
            ChainModel::Linear => None,
            ChainModel::Logistic => Some(ResponseRule::ZeroOrOne),
            ChainModel::Poisson => Some(ResponseRule::Count),
        }
    }

    /// Counts the records of a table, and checks every cell on the way.
    pub fn count(&self, reading: &Reading<'_>) -> Result<Counts, CuratorError> {
        let table = self.table(reading);
        let (_, counts) = table.fold(|| (), |(), _| Ok(()))?;
        not_empty(counts, reading)
    }

    /// Reads the records of a table.
    pub fn load(&self, reading: &Reading<'_>) -> Result<(Records, Counts), CuratorError> {
        let outputs = self.design.output_columns();
        let new_state = || (Workspace::default(), vec![Vec::new(); outputs], vec![Vec::new(); outputs]);
        let scales = self.scales();
        let (states, counts) =
            self.table(reading).fold(new_state, |(workspace, terms, columns), block| {
                self.design.evaluate(block, workspace, terms)?;
                for ((column, term), (centre, half_width)) in columns.iter_mut().zip(terms).zip(&scales) {
                    let normalised = |x: &f64| ((x - centre) / half_width).clamp(-1.0, 1.0);
                    let plain = half_width.is_infinite();
                    column.extend(term.iter().map(|x| if plain { *x } else { normalised(x) }));
                }
                Ok(())
            })?;
        let counts = not_empty(counts, reading)?;
        let mut columns = vec![Vec::with_capacity(counts.records as usize); outputs];
        for (_, _, part) in states {
            columns.iter_mut().zip(part).for_each(|(column, mut part)| column.append(&mut part));
        }
        Ok((Records::from_columns(&columns)?, counts))
    }

    fn table<'a>(&'a self, reading: &Reading<'a>) -> Table<'a> {
        let Reading { input, options, progress } = *reading;
        Table::new(input, &self.design, options, progress).with_response_rule(self.rule())
    }

    /// Centre and half-width of the features and the response; an infinite half-width leaves a column as it is.
    fn scales(&self) -> Vec<(f64, f64)> {
        let scale = |interval: &Interval| (interval.centre(), interval.half_width());
        let response = match self.model {
            ChainModel::Linear => scale(&self.domain.response),
            _ => (0.0, f64::INFINITY),
        };
        self.domain.features.iter().map(scale).chain([response]).collect()
    }

    /// Draws in users' units: coefficients of the features as they are in the table, and sigma in place of its logarithm.
    pub fn to_users(&self, draws: &Draws) -> Result<Draws, DrawsError> {
        let mut domain = self.domain.clone();
        if self.model != ChainModel::Linear {
            // The response of these models has no units.
            (domain.response.lower, domain.response.upper) = (-1.0, 1.0);
        }
        let map = CoefficientMap::new(&Domain::Box(domain));
        let (size, has_sigma) = (self.coefficients(), self.model == ChainModel::Linear);
        let intercept = self.domain.intercept.then_some("intercept");
        let features = self.domain.features.iter().map(|feature| feature.name.as_str());
        let mut names: Vec<String> =
            intercept.into_iter().chain(features).map(|name| format!("beta[{name}]")).collect();
        if has_sigma {
            names.push("sigma".into());
        }
        draws.converted(names, |old, new| {
            new[..size].copy_from_slice(&map.to_users(&old[..size]));
            if has_sigma {
                new[size] = map.response_unit() * libm::exp(old[size]);
            }
        })
    }
}

fn check_response(model: ChainModel, design: &Design, plain: bool) -> Result<(), CuratorError> {
    if design.features().is_empty() && !design.intercept() {
        return Err(CuratorError::setting(
            "formula",
            "there is nothing to estimate: no feature and no intercept",
        ));
    }
    let response = design.response();
    let fail = |needs: &str| {
        let reason = format!(
            "{model} needs {needs} as its response, and {} is bounded by {} and {}",
            response.name, response.lower, response.upper
        );
        Err(CuratorError::setting("model", reason))
    };
    match model {
        ChainModel::Logistic if !plain || (response.lower, response.upper) != (0.0, 1.0) => {
            fail("a column with bounds 0 and 1")
        }
        ChainModel::Poisson if !plain || response.lower != 0.0 => fail("a column with the lower bound 0"),
        _ => Ok(()),
    }
}

fn not_empty(counts: Counts, reading: &Reading<'_>) -> Result<Counts, CuratorError> {
    match counts.records {
        0 => Err(CuratorError::EmptyTable { path: format!("{}, after dropping", reading.input.name()) }),
        _ => Ok(counts),
    }
}
