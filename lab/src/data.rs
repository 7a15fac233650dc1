//! The public data sets, prepared as the papers do.
//!
//! They are read from the folder in the environment variable `ORGANZA_DATA`, else from `../shared/data` beside the repository. They are
//! never part of it.

use std::path::{Path, PathBuf};

use crate::reproduce::ReproduceError;

/// The root of the repository, if the command runs inside it.
pub fn repository() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    here.ancestors().find(|folder| folder.join("lab/Cargo.toml").is_file()).map(Path::to_path_buf)
}

/// Where data sets are looked for.
pub fn folder() -> PathBuf {
    match std::env::var_os("ORGANZA_DATA") {
        Some(folder) => PathBuf::from(folder),
        None => repository().unwrap_or_default().join("../shared/data"),
    }
}

/// A data set of \[AYB23\] section 5.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataSet {
    /// Combined cycle power plant (UCI 294).
    PowerPlant,
    /// Bike sharing by the hour (UCI 275).
    BikeSharing,
    /// Air quality (UCI 360).
    AirQuality,
    /// 3D road network (UCI 246).
    Road,
}

impl DataSet {
    /// All of them, in the order of the paper.
    pub const ALL: [DataSet; 4] =
        [DataSet::PowerPlant, DataSet::BikeSharing, DataSet::AirQuality, DataSet::Road];

    /// The paper's name.
    pub fn name(self) -> &'static str {
        match self {
            DataSet::PowerPlant => "PowerPlant",
            DataSet::BikeSharing => "BikeSharing",
            DataSet::AirQuality => "AirQuality",
            DataSet::Road => "3droad",
        }
    }

    /// Name of its file.
    pub fn file(self) -> &'static str {
        match self {
            DataSet::PowerPlant => "power_plant_energy.csv",
            DataSet::BikeSharing => "bike_sharing.csv",
            DataSet::AirQuality => "air_quality.csv",
            DataSet::Road => "3droad.csv",
        }
    }

    fn remedy(self) -> &'static str {
        match self {
            DataSet::Road => {
                "get the 3D road network from the UCI repository (data set 246), save its 434,874 rows of four numbers (OSM_ID, longitude, \
                 latitude, altitude) as 3droad.csv without a header, and name its folder in ORGANZA_DATA"
            }
            _ => {
                "get it from github.com/sinanyildirim/Bayesian_DP_dist_LR (commit b673f3f) or from the UCI repository, without header, and name \
                 its folder in ORGANZA_DATA"
            }
        }
    }

    /// Whether its file is there.
    pub fn is_there(self) -> bool {
        folder().join(self.file()).is_file()
    }

    /// Reads and prepares it.
    pub fn load(self) -> Result<Regression, ReproduceError> {
        self.load_from(&folder())
    }

    /// The same from a folder.
    pub fn load_from(self, folder: &Path) -> Result<Regression, ReproduceError> {
        let path = folder.join(self.file());
        if !path.is_file() {
            return Err(ReproduceError::MissingData {
                name: self.name().to_string(),
                path: path.display().to_string(),
                remedy: self.remedy().to_string(),
            });
        }
        let (values, columns) = read_numbers(&path)?;
        Ok(Regression::prepare(values, columns))
    }
}

/// Numbers of a file without header, row by row; empty fields and lines are dropped, rows must have the same length.
pub fn read_numbers(path: &Path) -> Result<(Vec<f64>, usize), ReproduceError> {
    let text = std::fs::read_to_string(path).map_err(|error| ReproduceError::file(path, error))?;
    let fail = |line: usize, reason: String| ReproduceError::Line {
        path: path.display().to_string(),
        line: line + 1,
        reason,
    };
    let (mut values, mut columns) = (Vec::new(), 0);
    for (number, line) in text.lines().enumerate() {
        let before = values.len();
        for field in line.split(',').map(str::trim).filter(|field| !field.is_empty()) {
            let value: f64 = field.parse().map_err(|_| fail(number, format!("{field:?} is not a number")))?;
            values.push(value);
        }
        match values.len() - before {
            0 => {}
            found if columns == 0 || found == columns => columns = found,
            found => return Err(fail(number, format!("{found} numbers, the lines before have {columns}"))),
        }
    }
    if columns < 2 {
        return Err(fail(0, "a regression needs at least two columns".to_string()));
    }
    Ok((values, columns))
}

/// Records for training and for testing: features, then the response.
#[derive(Debug, Clone, PartialEq)]
pub struct Regression {
    /// Number of features.
    pub features: usize,
    /// Training records, row by row.
    pub train: Vec<f64>,
    /// Test records, row by row.
    pub test: Vec<f64>,
}

impl Regression {
    /// The preparation of the authors of \[AYB23\]: z-scores of all rows, response centred and divided by its largest absolute value,
    /// the first four fifths for training without shuffling.
    pub fn prepare(mut values: Vec<f64>, columns: usize) -> Self {
        let rows = values.len() / columns;
        for column in 0..columns {
            let each = || (0..rows).map(|row| row * columns + column);
            let centre = each().map(|place| values[place]).sum::<f64>() / rows as f64;
            let squares: f64 = each().map(|place| (values[place] - centre).powi(2)).sum();
            let largest = each().map(|place| (values[place] - centre).abs()).fold(0.0, f64::max);
            let unit = if column + 1 == columns { largest } else { (squares / (rows as f64 - 1.0)).sqrt() };
            each()
                .collect::<Vec<_>>()
                .into_iter()
                .for_each(|place| values[place] = (values[place] - centre) / unit);
        }
        let test = values.split_off((4 * rows).div_ceil(5) * columns);
        Self { features: columns - 1, train: values, test }
    }

    /// Number of training records.
    pub fn records(&self) -> usize {
        self.train.len() / (self.features + 1)
    }

    /// Largest norm of the features and largest absolute response among the training records: not private.
    pub fn bounds(&self) -> (f64, f64) {
        let rows = self.train.chunks_exact(self.features + 1);
        rows.fold((0.0, 0.0), |(radius, bound): (f64, f64), row| {
            let squared: f64 = row[..self.features].iter().map(|value| value * value).sum();
            (radius.max(squared.sqrt()), bound.max(row[self.features].abs()))
        })
    }

    /// Training records of `parties` contiguous blocks; the last takes what is left over.
    pub fn parties(&self, parties: usize) -> Vec<&[f64]> {
        let columns = self.features + 1;
        let block = self.records() / parties;
        let end = |party: usize| {
            if party + 1 == parties { self.train.len() } else { (party + 1) * block * columns }
        };
        (0..parties).map(|party| &self.train[party * block * columns..end(party)]).collect()
    }

    /// Mean squared error of predictions of the test records, without intercept.
    pub fn test_error(&self, coefficients: &[f64]) -> f64 {
        let rows = self.test.chunks_exact(self.features + 1);
        let count = rows.len() as f64;
        let error = |row: &[f64]| {
            let predicted: f64 = row.iter().zip(coefficients).map(|(x, theta)| x * theta).sum();
            (row[self.features] - predicted).powi(2)
        };
        rows.map(error).sum::<f64>() / count
    }
}

/// Gram matrix of records (row by row, response last), row-major.
pub fn gram(records: &[f64], columns: usize) -> Vec<f64> {
    let mut gram = vec![0.0; columns * columns];
    for record in records.chunks_exact(columns) {
        for (row, left) in gram.chunks_exact_mut(columns).zip(record) {
            row.iter_mut().zip(record).for_each(|(sum, right)| *sum += left * right);
        }
    }
    gram
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: the feature 1..5 has mean 3 and variance 2.5; the response 0, 0, 0, 0, 5 has mean 1 and largest distance 4.
    #[test]
    fn preparation_by_hand() {
        let values = (1..=5).flat_map(|k| [f64::from(k), if k == 5 { 5.0 } else { 0.0 }]).collect();
        let found = Regression::prepare(values, 2);
        assert_eq!((found.records(), found.test.len()), (4, 2));
        assert!((found.test[0] - 2.0 / 2.5_f64.sqrt()).abs() < 1e-15);
        assert_eq!((found.test[1], found.train[1]), (1.0, -0.25));
        assert_eq!(found.parties(3).iter().map(|part| part.len() / 2).collect::<Vec<_>>(), [1, 1, 2]);
        assert_eq!(found.test_error(&[0.0]), 1.0);
    }

    /// The shape of the road network, whose first column, an identifier, the paper keeps as a feature.
    #[test]
    fn a_small_file_of_the_shape_of_3droad() {
        let folder = tempfile::tempdir().unwrap();
        let row = |k: usize| {
            format!(
                "{},{:.7},{:.7},{:.12}\r\n",
                144_552_912 + k,
                9.3498 + 1e-4 * k as f64,
                56.7408 - 1e-5 * (k * k) as f64,
                17.05 + (k % 7) as f64
            )
        };
        std::fs::write(folder.path().join("3droad.csv"), (0..50).map(row).collect::<String>()).unwrap();
        let found = DataSet::Road.load_from(folder.path()).unwrap();
        assert_eq!((found.features, found.records(), found.test.len()), (3, 40, 40));
        let error = DataSet::Road.load_from(Path::new("/no/such/folder")).unwrap_err().to_string();
        assert!(error.contains("ORGANZA_DATA") && error.contains("OSM_ID"), "{error}");
    }

    #[test]
    fn bad_lines_are_named() {
        let folder = tempfile::tempdir().unwrap();
        for (text, words) in
            [("1,2\n3,x\n", "line 2: \"x\""), ("1,2\n1,2,3\n", "line 2: 3 numbers"), ("", "two columns")]
        {
            std::fs::write(folder.path().join("3droad.csv"), text).unwrap();
            let error = DataSet::Road.load_from(folder.path()).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
