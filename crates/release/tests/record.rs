//! The record map of one record against that of many, and its slopes.

use organza_release::{RecordColumns, RecordMap};
use proptest::prelude::*;

const MAPS: [fn() -> RecordMap; 5] = [
    || RecordMap::of_box(None, None),
    || RecordMap::of_box(Some(0.6), None),
    || RecordMap::of_box(Some(0.6), Some(0.9)),
    || RecordMap::of_box(None, Some(0.9)),
    RecordMap::of_ball,
];

/// Whether the map writes the constant to columns.
const CONSTANT: [bool; 5] = [false, true, true, false, false];

/// w of two records by columns, and the slopes with respect to (u, v) of the sum of w times `slopes`.
fn by_columns(map: RecordMap, skip: usize, latent: &[f64; 6], slopes: &[f64; 8]) -> (Vec<f64>, Vec<f64>) {
    let length = 2;
    let first = if skip == 1 { 0 } else { length };
    let (mut mapped, mut factors) = (vec![0.0; 6 + skip * length], [1.0; 2]);
    let mut slopes = slopes[first..].to_vec();
    let mut columns =
        RecordColumns { length, latent, mapped: &mut mapped, factors: &mut factors, slopes: &mut slopes };
    map.apply_columns(&mut columns);
    map.pull_back(&mut columns);
    (mapped, slopes[skip * length..].to_vec())
}

proptest! {
    #[test]
    fn columns_are_records_and_slopes_are_differences(
        latent in prop::array::uniform6(-1.4..1.4f64), slopes in prop::array::uniform8(-1.0..1.0f64),
    ) {
        for (map, constant) in MAPS.into_iter().zip(CONSTANT) {
            let (map, skip) = (map(), usize::from(constant));
            let (mapped, pulled) = by_columns(map, skip, &latent, &slopes);
            for record in 0..2 {
                let mut w = [0.0; 4];
                map.apply(&[latent[record], latent[2 + record]], latent[4 + record], &mut w);
                for (k, value) in w[1 - skip..].iter().enumerate() {
                    prop_assert!((value - mapped[2 * k + record]).abs() < 1e-15);
                }
            }
            let total = |latent: &[f64; 6]| -> f64 {
                let mapped = by_columns(map, skip, latent, &slopes).0;
                mapped.iter().zip(&slopes[2 - 2 * skip..]).map(|(value, slope)| value * slope).sum()
            };
            for place in 0..6 {
                let (mut above, mut below) = (latent, latent);
                (above[place], below[place]) = (latent[place] + 1e-6, latent[place] - 1e-6);
                let (middle, ends) = (total(&latent), (total(&above), total(&below)));
                // Next to an edge, where a coordinate begins to be cut or a record to be shrunk, there is no slope.
                let smooth = (ends.0 + ends.1 - 2.0 * middle).abs() < 1e-10;
                let slope = (ends.0 - ends.1) / 2e-6;
                prop_assert!(!smooth || (slope - pulled[place]).abs() < 1e-6, "{map:?}: {slope} {}", pulled[place]);
            }
        }
    }
}
