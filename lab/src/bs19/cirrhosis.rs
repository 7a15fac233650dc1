//! Wine consumption and deaths from cirrhosis of 46 states, the data of \[BS19\] section 4.3.

use std::path::Path;

use crate::data::folder;
use crate::reproduce::ReproduceError;

const FILE: &str = "cirrhosis.csv";
const HEADER: &str = "wine,liquor,cirrhosis";
const REMEDY: &str = "get data.txt from github.com/gbernstein6/private_bayesian_regression (commit c0d2e2c), put the line \
                      wine,liquor,cirrhosis before it, save it as cirrhosis.csv and name its folder in ORGANZA_DATA";

/// Feature and response of every state, each scaled to [0, 1] by its own smallest and largest value: not private, as in the paper.
pub fn load() -> Result<Vec<(f64, f64)>, ReproduceError> {
    load_from(&folder())
}

/// The same from a folder.
fn load_from(folder: &Path) -> Result<Vec<(f64, f64)>, ReproduceError> {
    let path = folder.join(FILE);
    if !path.is_file() {
        return Err(ReproduceError::MissingData {
            name: "cirrhosis".into(),
            path: path.display().to_string(),
            remedy: REMEDY.into(),
        });
    }
    let text = std::fs::read_to_string(&path).map_err(|error| ReproduceError::file(&path, error))?;
    let fail = |line: usize, reason: String| ReproduceError::Line {
        path: path.display().to_string(),
        line: line + 1,
        reason,
    };
    let mut rows = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if number == 0 {
            if line.trim() != HEADER {
                return Err(fail(0, format!("must be the header {HEADER}, found {line:?}")));
            }
            continue;
        }
        let fields: Result<Vec<f64>, _> = line.split(',').map(|field| field.trim().parse()).collect();
        match fields.as_deref() {
            Ok(&[wine, _, deaths]) => rows.push((wine, deaths)),
            _ => return Err(fail(number, format!("must be three numbers, found {line:?}"))),
        }
    }
    Ok(scaled(&rows))
}

fn scaled(rows: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let range = |of: fn(&(f64, f64)) -> f64| {
        let low = rows.iter().map(of).fold(f64::INFINITY, f64::min);
        let high = rows.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
        (low, high - low)
    };
    let ((x, width), (y, height)) = (range(|row| row.0), range(|row| row.1));
    rows.iter().map(|row| ((row.0 - x) / width, (row.1 - y) / height)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scaling_by_hand_and_bad_lines_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let write = |text: &str| std::fs::write(folder.path().join(FILE), text).unwrap();
        write("wine,liquor,cirrhosis\n5,30,41.25\n4,41,31.25\n9,38,51.25\n");
        assert_eq!(load_from(folder.path()).unwrap(), [(0.2, 0.5), (0.0, 0.0), (1.0, 1.0)]);
        write("wine,liquor,cirrhosis\n5,30\n");
        assert!(load_from(folder.path()).unwrap_err().to_string().contains("line 2: must be three"));
        write("5,30,41.2\n");
        assert!(load_from(folder.path()).unwrap_err().to_string().contains("header wine,liquor"));
        let missing = load_from(Path::new("/no/such/folder")).unwrap_err().to_string();
        assert!(missing.contains("ORGANZA_DATA"), "{missing}");
    }

    /// Least squares on the scaled data has slope 0.814 and intercept 0.079: catches another column. Without the file there is nothing to test.
    #[test]
    fn the_file_is_the_papers() {
        let Ok(rows) = load() else { return eprintln!("SKIPPED: no {FILE}") };
        let n = rows.len() as f64;
        let mean = |of: fn(&(f64, f64)) -> f64| rows.iter().map(of).sum::<f64>() / n;
        let (x, y) = (mean(|row| row.0), mean(|row| row.1));
        let slope = (mean(|row| row.0 * row.1) - x * y) / (mean(|row| row.0 * row.0) - x * x);
        assert_eq!(rows.len(), 46);
        assert!((slope - 0.814).abs() < 1e-3 && (y - slope * x - 0.079).abs() < 1e-3, "{slope}");
    }
}
