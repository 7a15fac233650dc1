//! The fast path against the plain definition, and the domain against the worst records.

use super::product::packed_index;
use super::{AveragedAccumulator, GramAccumulator, GramError, IntegerGram, RecordDomain, RecordMap};
use proptest::prelude::*;

const BITS: u32 = 16;

fn boxed(features: usize, intercept: Option<f64>, radius: Option<f64>) -> RecordDomain {
    let bounds = (0..features).map(|j| (-1.5 - j as f64, 0.25 + 3.0 * j as f64)).collect();
    RecordDomain::Box { features: bounds, response: (-20.0, 55.5), intercept, radius }
}

fn ball(features: usize) -> RecordDomain {
    RecordDomain::Ball { features, radius: 3.7, response_bound: 2.3 }
}

/// Domains of every shape with `features` features.
fn domains(features: usize) -> Vec<RecordDomain> {
    let g = RecordMap::grid_floor(0.5f64.sqrt(), BITS);
    let mut domains = vec![boxed(features, None, None), boxed(features, Some(1.0), None)];
    for radius in [0.05, 0.6, 1.3, 100.0] {
        domains.push(boxed(features, Some(g), Some(radius)));
        if features > 0 {
            domains.push(boxed(features, None, Some(radius)));
        }
    }
    domains.push(ball(features));
    domains
}

fn map(domain: &RecordDomain) -> RecordMap {
    RecordMap::new(domain, RecordMap::grid_floor(0.5f64.sqrt(), BITS), BITS).expect("valid domain")
}

/// The sum by definition: one integer record after another.
fn reference(map: &RecordMap, table: &[Vec<f64>]) -> Vec<i128> {
    let mut upper = vec![0; packed_index(0, map.dimension())];
    for row in 0..table[0].len() {
        let record: Vec<f64> = table.iter().map(|column| column[row]).collect();
        let w = map.integer_record(&record).expect("right length");
        for j in 0..w.len() {
            for i in 0..=j {
                upper[packed_index(i, j)] += i128::from(w[i]) * i128::from(w[j]);
            }
        }
    }
    upper
}

fn slices(table: &[Vec<f64>]) -> Vec<&[f64]> {
    table.iter().map(Vec::as_slice).collect()
}

fn fast(map: &RecordMap, table: &[Vec<f64>]) -> IntegerGram {
    let mut accumulator = GramAccumulator::new(map);
    accumulator.add_block(&slices(table)).expect("fits");
    accumulator.finish()
}

/// Values of all sizes: ordinary ones, the bounds, subnormal and huge ones.
fn wild() -> impl Strategy<Value = f64> {
    prop_oneof![
        6 => -30.0..60.0f64,
        1 => prop::sample::select(vec![-1.5, 0.25, -20.0, 55.5, 0.0, -0.0]),
        1 => prop::sample::select(vec![f64::MAX, f64::MIN, 5e-324, -5e-324, f64::MIN_POSITIVE, 1e200, -1e160]),
        1 => any::<f64>(),
    ]
}

fn table(columns: usize, rows: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Vec<f64>>> {
    rows.prop_flat_map(move |rows| prop::collection::vec(prop::collection::vec(wild(), rows), columns))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn fast_path_is_the_definition(table in (0usize..14).prop_flat_map(|d| table(d + 1, 1..1200))) {
        for domain in domains(table.len() - 1) {
            let map = map(&domain);
            let gram = fast(&map, &table);
            prop_assert_eq!(gram.records(), table[0].len() as u64);
            prop_assert_eq!(gram.upper(), reference(&map, &table), "{:?}", domain);
        }
    }

    #[test]
    fn order_blocks_and_merges_do_not_matter(
        table in table(6, 1..1500), cuts in prop::collection::vec(any::<prop::sample::Index>(), 1..5), shift in 0usize..1500,
    ) {
        for domain in domains(5) {
            let map = map(&domain);
            let whole = fast(&map, &table);
            let mut rotated = table.clone();
            let rows = table[0].len();
            rotated.iter_mut().for_each(|column| { column.reverse(); column.rotate_left(shift % rows); });
            prop_assert_eq!(&fast(&map, &rotated), &whole);
            let mut ends: Vec<usize> = cuts.iter().map(|cut| cut.index(rows + 1)).chain([0, rows]).collect();
            ends.sort_unstable();
            let mut parts: Vec<GramAccumulator> = vec![];
            for pair in ends.windows(2) {
                let block: Vec<&[f64]> = table.iter().map(|column| &column[pair[0]..pair[1]]).collect();
                let mut part = GramAccumulator::new(&map);
                part.add_block(&block).expect("fits");
                parts.push(part);
            }
            let mut sum = GramAccumulator::new(&map);
            for part in parts.into_iter().rev() { sum.merge(part).expect("same map"); }
            prop_assert_eq!(sum.finish(), whole);
        }
    }

    #[test]
    fn averaged_rows_are_sums_of_runs(
        table in table(4, 1..1000), averaged in 2u64..60, cut in any::<prop::sample::Index>(),
    ) {
        for domain in [boxed(3, None, None), boxed(3, None, Some(0.6)), ball(3)] {
            let map = map(&domain);
            let rows = table[0].len();
            let mut upper = vec![0; packed_index(0, map.dimension())];
            for run in (0..rows).collect::<Vec<_>>().chunks_exact(averaged as usize) {
                let mut sum = vec![0i128; map.dimension()];
                for &row in run {
                    let record: Vec<f64> = table.iter().map(|column| column[row]).collect();
                    let integers = map.integer_record(&record).expect("right length");
                    sum.iter_mut().zip(integers).for_each(|(sum, value)| *sum += i128::from(value));
                }
                for j in 0..sum.len() {
                    for i in 0..=j {
                        upper[packed_index(i, j)] += sum[i] * sum[j];
                    }
                }
            }
            let mut accumulator = AveragedAccumulator::new(&map, averaged);
            let cut = cut.index(rows + 1);
            for range in [0..cut, cut..rows] {
                let block: Vec<&[f64]> = table.iter().map(|column| &column[range.clone()]).collect();
                accumulator.add_block(&block).expect("fits");
            }
            let gram = accumulator.finish();
            prop_assert_eq!(gram.records(), rows as u64);
            prop_assert_eq!(gram.upper(), upper);
        }
    }

    #[test]
    fn records_stay_in_the_domain(record in prop::collection::vec(wild(), 1..40), bits in 4u32..=20, radius in 0.3..9.0f64) {
        let features = record.len() - 1;
        let radius = Some(radius);
        for domain in [boxed(features, Some(0.5), radius), boxed(features, None, None), ball(features)] {
            if let Ok(map) = RecordMap::new(&domain, 0.75, bits) {
                assert_in_domain(&domain, &map, &record);
            }
        }
    }
}

/// `floor((radius 2^bits)^2)`, exact.
fn squared_radius(radius: f64, bits: u32) -> i128 {
    let mantissa = i128::from((radius.to_bits() & ((1 << 52) - 1)) | (1 << 52));
    let exponent = (radius.to_bits() >> 52) as i32 - 1075 + bits as i32;
    let shift = 2 * exponent;
    if shift < 0 {
        mantissa.pow(2).checked_shr(shift.unsigned_abs()).unwrap_or(0)
    } else {
        mantissa.pow(2) << shift
    }
}

fn assert_in_domain(domain: &RecordDomain, map: &RecordMap, record: &[f64]) {
    let w = map.integer_record(record).expect("right length");
    let (response, x) = w.split_last().expect("the response");
    let steps = 1i64 << map.grid_bits();
    assert!(response.abs() <= steps / 4 * 3, "{domain:?} {record:?}: {w:?}");
    let squared_norm: i128 = x.iter().map(|&v| i128::from(v).pow(2)).sum();
    let radius = match domain {
        RecordDomain::Box { radius, .. } => *radius,
        RecordDomain::Ball { .. } => Some(1.0),
    };
    match radius {
        Some(radius) => {
            assert!(squared_norm <= squared_radius(radius, map.grid_bits()), "{domain:?} {record:?}: {w:?}")
        }
        None => assert!(x.iter().all(|v| v.abs() <= steps), "{domain:?} {record:?}: {w:?}"),
    }
}

#[test]
fn worst_records_stay_in_the_domain() {
    let corners =
        [f64::MIN, -21.0, -1.5, -1e-308, 5e-324, 0.2, 1.0, 55.5, 1e300, f64::MAX, f64::NAN, f64::INFINITY];
    for features in 0..4usize {
        for code in 0..corners.len().pow(features as u32 + 1) {
            let record: Vec<f64> =
                (0..=features).map(|j| corners[code / corners.len().pow(j as u32) % corners.len()]).collect();
            for radius in [0.01, 0.37, 1.0, 1.5, 2.0] {
                let domain = boxed(features, Some(0.5), Some(radius));
                assert_in_domain(&domain, &RecordMap::new(&domain, 0.75, BITS).expect("valid"), &record);
            }
            let domain = ball(features);
            assert_in_domain(&domain, &RecordMap::new(&domain, 0.75, BITS).expect("valid"), &record);
        }
    }
}

/// Directions in which rounding pushes every coordinate outwards: plain rounding at the full radius fails here.
#[test]
fn rounding_outwards_stays_in_the_ball() {
    for features in [2usize, 3, 10, 100, 2000] {
        let domain = RecordDomain::Ball { features, radius: 1.0, response_bound: 1.0 };
        for bits in [8, 12, 16] {
            let map = RecordMap::new(&domain, 0.75, bits).expect("valid");
            for k in 0..200 {
                let tilt = 1.0 + f64::from(k) / 50.0;
                let record: Vec<f64> = (0..=features).map(|j| if j % 2 == 0 { tilt } else { 1.0 }).collect();
                assert_in_domain(&domain, &map, &record);
            }
        }
    }
}

#[test]
fn bounds_become_grid_points() {
    let map = RecordMap::new(&boxed(2, Some(1.0), None), 0.5, BITS).expect("valid");
    assert_eq!(map.integer_record(&[-1.5, 3.25, 55.5]).expect("three"), [65536, -65536, 65536, 32768]);
    assert_eq!(map.integer_record(&[-9.0, 1e9, -1e9]).expect("three"), [65536, -65536, 65536, -32768]);
    assert_eq!(map.integer_record(&[f64::NAN, 0.375, 17.75]).expect("three"), [65536, -65536, 0, 0]);
}

#[test]
fn many_records_flush_into_wide_integers() {
    let domain = RecordDomain::Box {
        features: vec![(-1.0, 1.0)],
        response: (-1.0, 1.0),
        intercept: None,
        radius: None,
    };
    let map = RecordMap::new(&domain, 1.0, 22).expect("valid");
    // Odd integers, whose sum of squares needs more than 53 bits.
    let largest = (1i128 << 22) - 1;
    let (column, sum) = (vec![largest as f64 / 4_194_304.0; 10_007], 10_007 * largest.pow(2));
    let gram = fast(&map, &[column.clone(), column]);
    assert_eq!(gram.upper(), [sum; 3]);
    assert_eq!((gram.entry(1, 0), gram.entry(0, 2)), (Some(sum), None));
}

#[test]
fn huge_records_keep_their_direction() {
    let map = map(&ball(2));
    for size in [1e10, 1e140, 1e300, f64::MAX] {
        assert_eq!(map.integer_record(&[size, 0.0, 0.0]).expect("three")[..2], [65535, 0]);
        assert_eq!(map.integer_record(&[-size, size, 0.0]).expect("three")[..2], [-46340, 46340]);
    }
}

/// Rounding must not shift large sums: truncation would lose half a step per record and coordinate.
#[test]
fn scaling_has_no_systematic_rounding_error() {
    let domain = RecordDomain::Box {
        features: vec![(-1.0, 1.0)],
        response: (-1.0, 1.0),
        intercept: None,
        radius: Some(2.0),
    };
    let map = RecordMap::new(&domain, 1.0, 8).expect("valid");
    let column: Vec<f64> = (0..100_000).map(|i| f64::from(i) * 1e-5).collect();
    let exact: f64 = column.iter().map(|x| x * x).sum();
    let gram = fast(&map, &[column.clone(), column]);
    let sum = gram.entry(0, 0).expect("entry") as f64 / 65536.0;
    assert!((sum - exact).abs() < 1e-4 * exact, "{sum} {exact}");
}

#[test]
fn errors_say_what_is_wrong() {
    let new =
        |domain: &RecordDomain, weight, bits| RecordMap::new(domain, weight, bits).expect_err("invalid");
    assert!(matches!(
        new(&boxed(1, Some(0.3), None), 1.0, BITS),
        GramError::OffGrid { parameter: "intercept weight", .. }
    ));
    assert!(matches!(
        new(&boxed(1, None, None), 1e-9, BITS),
        GramError::OffGrid { parameter: "response weight", .. }
    ));
    assert!(matches!(new(&boxed(1, None, None), f64::NAN, BITS), GramError::NotPositive { .. }));
    assert!(matches!(new(&boxed(1, None, None), 1.0, 23), GramError::GridTooFine { .. }));
    assert!(matches!(new(&boxed(1, None, None), 1.0, u32::MAX), GramError::GridTooFine { .. }));
    assert!(matches!(new(&boxed(1, None, Some(1e-6)), 1.0, BITS), GramError::RadiusTooSmall { .. }));
    assert!(matches!(new(&ball(3000), 1.0, BITS), GramError::TooManyCoordinates { .. }));
    for bounds in [(1.0, 1.0), (2.0, 1.0), (f64::NAN, 1.0), (0.0, f64::INFINITY), (0.0, 1e-323)] {
        let domain =
            RecordDomain::Box { features: vec![bounds], response: (0.0, 1.0), intercept: None, radius: None };
        assert!(matches!(new(&domain, 1.0, BITS), GramError::Bounds { column: 0, .. }), "{bounds:?}");
    }
    let map = map(&boxed(1, None, None));
    let mut accumulator = GramAccumulator::new(&map);
    assert_eq!(accumulator.add_block(&[&[1.0]]), Err(GramError::ColumnCount { expected: 2, found: 1 }));
    let uneven = Err(GramError::RowCount { column: 1, expected: 2, found: 1 });
    assert_eq!(accumulator.add_block(&[&[1.0, 2.0], &[1.0]]), uneven);
    assert!(map.integer_record(&[1.0]).is_err());
    let other = GramAccumulator::new(&self::map(&boxed(1, Some(1.0), None)));
    assert_eq!(accumulator.merge(other), Err(GramError::DifferentMaps));
    assert_eq!(accumulator.finish().records(), 0);
}
