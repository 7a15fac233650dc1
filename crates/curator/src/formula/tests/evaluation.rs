use super::super::{BlockColumns, Function, Interval, Operator, Workspace, kernels};
use super::*;

/// Rows beyond several chunks, with values outside the bounds.
struct Table {
    numeric: Vec<Vec<f64>>,
    categorical: Vec<Vec<u32>>,
}

impl Table {
    fn new(design: &Design, rows: usize) -> Self {
        let value = |k: usize, i: usize| ((i * (7 + 3 * k) + k) % 101) as f64 / 5.0 - 4.0;
        let numeric = (0..design.numeric_columns().len()).map(|k| (0..rows).map(|i| value(k, i)).collect());
        let codes = |levels: usize| (0..rows).map(|i| ((i / 3) % levels) as u32).collect();
        let categorical = design.categorical_columns().iter().map(|column| codes(column.levels.len()));
        Self { numeric: numeric.collect(), categorical: categorical.collect() }
    }

    fn evaluate(&self, design: &Design, range: std::ops::Range<usize>, state: &mut State) {
        let numeric: Vec<&[f64]> = self.numeric.iter().map(|column| &column[range.clone()]).collect();
        let categorical: Vec<&[u32]> = self.categorical.iter().map(|codes| &codes[range.clone()]).collect();
        let block = BlockColumns { numeric: &numeric, categorical: &categorical };
        design.evaluate(&block, &mut state.workspace, &mut state.out).unwrap();
    }
}

struct State {
    workspace: Workspace,
    out: Vec<Vec<f64>>,
}

impl State {
    fn new(design: &Design) -> Self {
        Self { workspace: Workspace::default(), out: vec![Vec::new(); design.output_columns()] }
    }
}

const FORMULA: &str =
    "sqrt(y) ~ x + log(w)*z + site*sex + log(w):site:x + I(z^5 / (w + z^2)) + I((x + 1)^(z - w))";

#[test]
fn columns_hold_clamped_values_and_indicators() {
    let design = compiled("log2(y) ~ x + z:x + site + x:site + I(x - (z - 1))", "").unwrap();
    let (y, x, z) = ([4.0, 0.0, 99.0], [-5.0, 5.0, 20.0], [1.0, -9.0, 2.0]);
    let block = BlockColumns { numeric: &[&y, &x, &z], categorical: &[&[0, 1, 2]] };
    let mut state = State::new(&design);
    design.evaluate(&block, &mut state.workspace, &mut state.out).unwrap();
    let expected = [
        ("x", [0.0, 5.0, 10.0]),
        ("site[b]", [0.0, 1.0, 0.0]),
        ("site[c]", [0.0, 0.0, 1.0]),
        ("I(x - (z - 1))", [0.0, 8.0, 9.0]),
        ("z:x", [0.0, -10.0, 20.0]),
        ("x:site[b]", [0.0, 5.0, 0.0]),
        ("x:site[c]", [0.0, 0.0, 10.0]),
        ("log2(y)", [2.0, 0.0, libm::log2(9.0)]),
    ];
    let names: Vec<&str> =
        design.features().iter().chain([design.response()]).map(|f| f.name.as_str()).collect();
    assert_eq!(names, expected.map(|(name, _)| name));
    assert_eq!(state.out, expected.map(|(_, values)| values.to_vec()));
}

#[test]
fn bounds_of_a_derived_term_clamp_it_before_it_is_multiplied() {
    let design = compiled("y ~ log2(w):z", "['log2(w)']\nlower = 0\nupper = 1\n").unwrap();
    let block = BlockColumns { numeric: &[&[1.0; 3], &[0.5, 4.0, 1.5], &[3.0; 3]], categorical: &[] };
    let mut state = State::new(&design);
    design.evaluate(&block, &mut state.workspace, &mut state.out).unwrap();
    assert_eq!(state.out[0], [0.0, 3.0, 3.0 * libm::log2(1.5)]);
}

#[test]
fn not_a_number_becomes_the_lower_bound() {
    let design = compiled("y ~ z + I(z + 1)", "").unwrap();
    let block = BlockColumns { numeric: &[&[f64::NAN], &[f64::NAN]], categorical: &[] };
    let mut state = State::new(&design);
    design.evaluate(&block, &mut state.workspace, &mut state.out).unwrap();
    assert_eq!(state.out, [[-2.0], [-1.0], [1.0]]);
}

#[test]
fn results_of_libm_are_clamped_to_their_interval() {
    let narrow = Interval { lower: 0.25, upper: 0.5 };
    for function in Function::ALL {
        let mut values = vec![0.01, 1.0, 1.2, 1.4, 1.6, 30.0];
        kernels::apply(&mut values, function, &narrow);
        assert!(values.iter().all(|value| narrow.contains(*value)), "{function:?}: {values:?}");
    }
    let mut values = vec![0.1, 0.6, 2.0];
    kernels::combine_constant(&mut values, Operator::Power, 0.5, &narrow);
    kernels::combine(&mut values, Operator::Power, &[3.0, 0.1, -2.0], &narrow, |x| x);
    assert!(values.iter().all(|value| narrow.contains(*value)), "{values:?}");
}

#[test]
fn blocks_of_any_size_give_the_same_bits() {
    let design = compiled(FORMULA, "").unwrap();
    let table = Table::new(&design, 5000);
    let mut whole = State::new(&design);
    table.evaluate(&design, 0..5000, &mut whole);
    let mut state = State::new(&design);
    for size in [1, 7, 1023, 1024, 1025, 3000] {
        for start in (0..5000).step_by(size) {
            let range = start..(start + size).min(5000);
            table.evaluate(&design, range.clone(), &mut state);
            for (part, column) in state.out.iter().zip(&whole.out) {
                assert_eq!(part, &column[range.clone()]);
            }
            if size == 1 && start == 40 {
                break;
            }
        }
    }
}

#[test]
fn a_second_block_reuses_all_memory() {
    let design = compiled(FORMULA, "").unwrap();
    let table = Table::new(&design, 3000);
    let mut state = State::new(&design);
    let buffers = |state: &State| {
        let mut pointers: Vec<_> =
            state.workspace.buffers().chain(&state.out).map(|b| (b.as_ptr(), b.capacity())).collect();
        pointers.sort_unstable();
        pointers
    };
    table.evaluate(&design, 0..3000, &mut state);
    let first = buffers(&state);
    table.evaluate(&design, 1000..3000, &mut state);
    table.evaluate(&design, 0..3000, &mut state);
    assert_eq!(buffers(&state), first);
}

#[test]
fn a_workspace_serves_several_designs() {
    let (small, large) = (compiled("y ~ log(w)", "").unwrap(), compiled(FORMULA, "").unwrap());
    let mut workspace = Workspace::default();
    for design in [&large, &small, &large] {
        let table = Table::new(design, 1500);
        let (mut fresh, mut shared) = (State::new(design), State::new(design));
        table.evaluate(design, 0..1500, &mut fresh);
        shared.workspace = std::mem::take(&mut workspace);
        table.evaluate(design, 0..1500, &mut shared);
        assert_eq!(fresh.out, shared.out);
        workspace = shared.workspace;
    }
}

#[test]
fn blocks_that_do_not_fit_are_refused() {
    let design = compiled("y ~ x + site", "").unwrap();
    let evaluate = |numeric: &[&[f64]], categorical: &[&[u32]], outputs: usize| {
        let mut out = vec![Vec::new(); outputs];
        let block = BlockColumns { numeric, categorical };
        design.evaluate(&block, &mut Workspace::default(), &mut out).map_err(|error| error.to_string())
    };
    let shape = |what: &str, found: usize, expected: usize| {
        Err(format!("the block does not fit the design: {what} has {found}, expected {expected}"))
    };
    let (two, three): (&[f64], &[f64]) = (&[1.0, 2.0], &[1.0, 2.0, 3.0]);
    assert_eq!(evaluate(&[two], &[&[0, 1]], 4), shape("the list of numeric columns", 1, 2));
    assert_eq!(evaluate(&[two, two], &[], 4), shape("the list of categorical columns", 0, 1));
    assert_eq!(evaluate(&[two, two], &[&[0, 1]], 3), shape("the list of output columns", 3, 4));
    assert_eq!(evaluate(&[two, three], &[&[0, 1]], 4), shape("x", 3, 2));
    assert_eq!(evaluate(&[two, two], &[&[0]], 4), shape("site", 1, 2));
    let code = "column `site` has a level code that is not below its number of levels, 3";
    assert_eq!(evaluate(&[two, two], &[&[0, 3]], 4), Err(code.to_owned()));
    assert_eq!(evaluate(&[two, two], &[&[0, 2]], 4), Ok(()));
    assert_eq!(evaluate(&[&[], &[]], &[&[]], 4), Ok(()));
}

#[test]
fn bits_are_the_same_on_every_machine() {
    let design = compiled(FORMULA, "").unwrap();
    let table = Table::new(&design, 2000);
    let mut state = State::new(&design);
    table.evaluate(&design, 0..2000, &mut state);
    let fold =
        |hash: u64, value: &f64| (hash ^ value.to_bits()).wrapping_mul(0x0100_0000_01b3).rotate_left(23);
    let hash = state.out.iter().flatten().fold(0xcbf2_9ce4_8422_2325, fold);
    assert_eq!(hash, 0x193e_6e14_b57a_c9dc, "{hash:#x}");
}
