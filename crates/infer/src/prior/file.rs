//! A prior in a file: `prior.toml`, in users' units or in normalised units.
//!
//! ```toml
//! units = "users"                    # or "normalised": bounds mapped to [-1, 1]
//! [coefficients]
//! mean = { dose = 0.5 }              # by name; 0 where nothing is said
//! sd = { intercept = 20, dose = 2 }  # by name; weakly informative where nothing is said
//! # covariance = [[..], ..]          # instead of sd, in the order intercept, features
//! conjugate = false                  # true multiplies the covariance by sigma^2 (then sd is in units of sigma)
//! [variance]                         # sigma^2 ~ inverse gamma
//! shape = 2
//! rate = 40
//! [features]                         # normalised units, for the methods that describe the features: their covariance is inverse Wishart
//! scale = 0.2                        # its mean: the variance of every feature, or a matrix [[0.1, 0], [0, 0.1]]
//! degrees = 6                        # more is surer; the number of features + 2 if nothing is said
//! mean = [0, 0]                      # 0 if nothing is said
//! mean_records = 1
//! ```

use std::collections::BTreeMap;

use organza_release::did_you_mean;
use organza_release::units::CoefficientMap;
use serde::{Deserialize, Serialize};

use super::{FeaturePrior, Prior};
use crate::{Evidence, InferError};

/// What a file says of a prior.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PriorFile {
    /// Units of coefficients and variance.
    pub units: Units,
    /// Coefficients.
    pub coefficients: CoefficientsPart,
    /// Residual variance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variance: Option<VariancePart>,
    /// Features.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub features: Option<FeaturesPart>,
}

/// Units of a prior.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Units {
    /// Those of the tables.
    #[default]
    Users,
    /// Bounds mapped to [-1, 1].
    Normalised,
}

/// The prior of the coefficients.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CoefficientsPart {
    /// Means by name.
    pub mean: BTreeMap<String, f64>,
    /// Standard deviations by name.
    pub sd: BTreeMap<String, f64>,
    /// A full covariance matrix instead of standard deviations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub covariance: Option<Vec<Vec<f64>>>,
    /// Whether the covariance is multiplied by the residual variance.
    pub conjugate: bool,
}

/// The prior of the residual variance.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VariancePart {
    /// Shape.
    pub shape: f64,
    /// Rate.
    pub rate: f64,
}

/// The prior of the features.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeaturesPart {
    /// Degrees of freedom; the number of features and 2 if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub degrees: Option<f64>,
    /// Scale matrix, or the number that is on its diagonal.
    pub scale: Scale,
    /// Mean; zero if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean: Option<Vec<f64>>,
    /// Records that the mean is worth.
    #[serde(default = "one")]
    pub mean_records: f64,
}

/// The scale of the features' covariance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Scale {
    /// The same for every feature, which are not correlated.
    Number(f64),
    /// A matrix.
    Matrix(Vec<Vec<f64>>),
}

fn one() -> f64 {
    1.0
}

impl PriorFile {
    /// Reads a file's text; the error names the line.
    pub fn from_toml(text: &str) -> Result<Self, InferError> {
        toml::from_str(text).map_err(|error| InferError::prior("file", error.to_string()))
    }

    /// The prior for the regression of the releases.
    pub fn build(&self, evidence: &Evidence) -> Result<Prior, InferError> {
        self.build_with(evidence, 1.0)
    }

    /// The same with this sd of coefficients in normalised units where nothing is said.
    pub(crate) fn build_with(&self, evidence: &Evidence, weak_sd: f64) -> Result<Prior, InferError> {
        let names = coefficient_names(evidence);
        let map = CoefficientMap::new(evidence.domain());
        let (mean, covariance) = self.coefficients(&names, &map, weak_sd)?;
        let unit = if self.units == Units::Users { map.response_unit() } else { 1.0 };
        // In normalised units the weak default; given in users' units the rate is a variance.
        let variance = self
            .variance
            .map_or(Prior::WEAK_VARIANCE, |variance| (variance.shape, variance.rate / (unit * unit)));
        let mut prior = Prior::new(mean, &covariance, variance)?;
        prior = match self.coefficients.conjugate {
            true => prior.conjugate(),
            false => {
                let (given, part) = self.given(&names, &map);
                prior.with_given(given, part, self.variance.is_some())
            }
        };
        match &self.features {
            None => Ok(prior),
            Some(part) => {
                let usual = FeaturePrior::weak(evidence);
                let size = usual.dimension();
                let scale = match &part.scale {
                    Scale::Matrix(rows) => flatten("features.scale", rows)?,
                    Scale::Number(value) => {
                        (0..size * size).map(|k| if k % (size + 1) == 0 { *value } else { 0.0 }).collect()
                    }
                };
                let mean = part.mean.clone().unwrap_or_else(|| usual.mean().to_vec());
                let degrees = part.degrees.unwrap_or(usual.degrees());
                let features = FeaturePrior::new(scale, degrees, mean, part.mean_records)?;
                features.check(evidence)?;
                Ok(prior.with_features(features))
            }
        }
    }

    /// Which coefficients are given, and the precision and precision times mean of those by name: a coefficient in users' units is a
    /// linear function of the normalised ones.
    fn given(&self, names: &[String], map: &CoefficientMap) -> (Vec<bool>, (Vec<f64>, Vec<f64>)) {
        let (part, size) = (&self.coefficients, names.len());
        let given = |name: &String| part.covariance.is_some() || part.sd.contains_key(name);
        let users = self.units == Units::Users;
        let origin = if users { map.to_users(&vec![0.0; size]) } else { vec![0.0; size] };
        let column = |k: usize| {
            let unit: Vec<f64> = (0..size).map(|l| f64::from(u8::from(k == l))).collect();
            if users { map.linear_part(&unit) } else { unit }
        };
        let columns: Vec<Vec<f64>> = (0..size).map(column).collect();
        let (mut precision, mut shift) = (vec![0.0; size * size], vec![0.0; size]);
        for (k, name) in names.iter().enumerate() {
            let Some(sd) = part.sd.get(name) else { continue };
            let row: Vec<f64> = columns.iter().map(|column| column[k]).collect();
            let distance = part.mean.get(name).unwrap_or(&0.0) - origin[k];
            for (i, left) in row.iter().enumerate() {
                shift[i] += left * distance / (sd * sd);
                for (j, right) in row.iter().enumerate() {
                    precision[i * size + j] += left * right / (sd * sd);
                }
            }
        }
        (names.iter().map(given).collect(), (precision, shift))
    }

    /// Mean and covariance in normalised units.
    fn coefficients(
        &self,
        names: &[String],
        map: &CoefficientMap,
        weak_sd: f64,
    ) -> Result<(Vec<f64>, Vec<f64>), InferError> {
        let size = names.len();
        let part = &self.coefficients;
        for (field, given) in [("coefficients.mean", &part.mean), ("coefficients.sd", &part.sd)] {
            if let Some(unknown) = given.keys().find(|name| !names.contains(name)) {
                let known = names.join(", ");
                let near = did_you_mean(unknown, names);
                let reason = format!("names {unknown:?}, which is no coefficient{near}; there are {known}");
                return Err(InferError::prior(field, reason));
            }
        }
        if part.covariance.is_some() && !part.sd.is_empty() {
            return Err(InferError::prior("coefficients", "has both sd and covariance: give one"));
        }
        let users = self.units == Units::Users;
        // Weakly informative in normalised units: uncorrelated and centred, seen in users' units where those are meant.
        let mut unit = vec![0.0; size * size];
        (0..size).for_each(|k| unit[k * size + k] = weak_sd * weak_sd);
        let (centre, spread) = match users {
            true => (map.to_users(&vec![0.0; size]), map.covariance_to_users(&unit)),
            false => (vec![0.0; size], unit),
        };
        let mean: Vec<f64> =
            names.iter().zip(centre).map(|(name, zero)| *part.mean.get(name).unwrap_or(&zero)).collect();
        let covariance = match &part.covariance {
            Some(rows) => flatten("coefficients.covariance", rows)?,
            None => with_deviations(names, spread, &part.sd)?,
        };
        if covariance.len() != size * size {
            let reason = format!("must have {size} rows and columns: {}", names.join(", "));
            return Err(InferError::prior("coefficients.covariance", reason));
        }
        Ok(match users {
            true => (map.to_normalised(&mean), covariance_to_normalised(map, &covariance)),
            false => (mean, covariance),
        })
    }
}

/// Names of the coefficients: `intercept`, then the features.
pub(crate) fn coefficient_names(evidence: &Evidence) -> Vec<String> {
    let domain = evidence.domain();
    let constant = domain.intercept().then(|| "intercept".to_string());
    constant.into_iter().chain(domain.feature_names().into_iter().map(String::from)).collect()
}

/// Replaces rows and columns of the default covariance by independent ones where a deviation is given.
fn with_deviations(
    names: &[String],
    mut covariance: Vec<f64>,
    deviations: &BTreeMap<String, f64>,
) -> Result<Vec<f64>, InferError> {
    let size = names.len();
    for (k, name) in names.iter().enumerate() {
        let Some(sd) = deviations.get(name) else { continue };
        if !(sd.is_finite() && *sd > 0.0) {
            let reason = format!("of {name} must be positive and finite, found {sd}");
            return Err(InferError::prior("coefficients.sd", reason));
        }
        for other in 0..size {
            (covariance[k * size + other], covariance[other * size + k]) = (0.0, 0.0);
        }
        covariance[k * size + k] = sd * sd;
    }
    Ok(covariance)
}

/// Covariance in normalised units: the differences of [`CoefficientMap::to_normalised`] are its linear part.
fn covariance_to_normalised(map: &CoefficientMap, covariance: &[f64]) -> Vec<f64> {
    let size = map.dimension();
    let origin = map.to_normalised(&vec![0.0; size]);
    let linear = |row: &[f64]| -> Vec<f64> {
        map.to_normalised(row).iter().zip(&origin).map(|(value, zero)| value - zero).collect()
    };
    let transpose = |m: &[f64]| -> Vec<f64> { (0..m.len()).map(|k| m[k % size * size + k / size]).collect() };
    let rows: Vec<f64> = covariance.chunks(size).flat_map(&linear).collect();
    let mut both: Vec<f64> = transpose(&rows).chunks(size).flat_map(&linear).collect();
    crate::linalg::symmetrise(&mut both, size);
    both
}

fn flatten(field: &'static str, rows: &[Vec<f64>]) -> Result<Vec<f64>, InferError> {
    match rows.iter().position(|row| row.len() != rows.len()) {
        Some(row) => Err(InferError::prior(field, format!("is not square: row {} is different", row + 1))),
        None => Ok(rows.concat()),
    }
}
