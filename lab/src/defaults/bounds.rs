//! `--bounds`: whether default fits of default releases are honest, whatever bounds a person gives.

use std::io::Write;
use std::path::Path;

use crate::strata::{Kind, Stratum, Table, drawn};

use super::Failure;

/// Bounds of the feature, from near the data to forty times their range.
const BOUNDS: [(f64, f64); 4] = [(10.0, 50.0), (0.0, 100.0), (0.0, 200.0), (0.0, 1000.0)];

/// The columns `bmi` and `target` of diabetes.csv, as scikit-learn has it without scaling.
fn diabetes(folder: &Path) -> Result<Table, String> {
    let path = folder.join("diabetes.csv");
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap_or("").split(',').collect();
    let place = |name: &str| names.iter().position(|other| *other == name).ok_or(format!("no column {name}"));
    let (x, y) = (place("bmi")?, place("target")?);
    let mut table = Table::default();
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |k: usize| {
            cells.get(k).and_then(|cell| cell.parse::<f64>().ok()).ok_or(format!("not a number: {line}"))
        };
        table.x.push(vec![number(x)?]);
        table.y.push(number(y)?);
    }
    Ok(table)
}

pub fn run((studies, only): (u64, &str), data: Option<&Path>, out: &mut impl Write) -> Result<(), Failure> {
    let mut strata = drawn();
    match data.map(diabetes) {
        Some(Ok(table)) => {
            for bounds in BOUNDS {
                let kind = Kind::Table(table.clone(), vec![bounds, (0.0, 350.0)]);
                strata.extend([1.0, 5.0, 15.0].map(|epsilon| Stratum { kind: kind.clone(), epsilon }));
            }
        }
        Some(Err(reason)) => return Err(Failure::Fit(reason)),
        None => eprintln!(
            "without --data the diabetes table is left out; a folder with it: python -c \"from sklearn.datasets import load_diabetes as d; \
             d(as_frame=True, scaled=False).frame.to_csv('diabetes.csv', index=False)\""
        ),
    }
    writeln!(
        out,
        "stratum,epsilon,studies,worst,mean,sigma,r_squared,predictive,width,score,warned,seconds"
    )?;
    for stratum in strata.into_iter().filter(|stratum| stratum.kind.to_string().contains(only)) {
        // Of one table only the noise is new.
        let studies = if matches!(stratum.kind, Kind::Table(..)) { studies.min(60) } else { studies };
        let found = stratum.coverage(studies).map_err(Failure::Fit)?;
        let worst = found.coefficients.iter().copied().fold(f64::INFINITY, f64::min);
        let mean = found.coefficients.iter().sum::<f64>() / found.coefficients.len() as f64;
        let row = format!(
            "{},{},{studies},{worst:.1},{mean:.1},{:.1},{:.1},{:.1},{:.2},{:.2},{},{:.2}",
            stratum.kind,
            stratum.epsilon,
            found.sigma,
            found.r_squared,
            found.predictive,
            found.width,
            found.score,
            found.warned,
            found.seconds
        );
        println!("{row}");
        writeln!(out, "{row}")?;
        out.flush()?;
    }
    Ok(())
}
