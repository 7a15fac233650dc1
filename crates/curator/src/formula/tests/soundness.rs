//! Values lie in the interval of their term, and the evaluator computes what the formula says.

use proptest::prelude::*;

use super::super::{BlockColumns, Expression, Function, Operator, Workspace};
use super::*;
use crate::bounds::ColumnBounds;

const COLUMNS: [&str; 3] = ["a", "b", "c"];

fn expression() -> impl Strategy<Value = Expression> {
    let leaf = prop_oneof![
        3 => (0..3_usize).prop_map(|k| Expression::Column(COLUMNS[k].to_owned())),
        1 => (0..8_u32).prop_map(|value| Expression::Number(f64::from(value) / 2.0)),
    ];
    leaf.prop_recursive(5, 20, 2, |inner| {
        let function = proptest::sample::select(Function::ALL.to_vec());
        let operators = [Operator::Add, Operator::Subtract, Operator::Multiply, Operator::Divide];
        let operator = proptest::sample::select(operators.to_vec());
        let exponent = proptest::sample::select(vec![-2.0, -1.0, 0.5, 1.5, 2.0, 3.0]);
        let power = |base: Expression, exponent: f64| {
            let number = Expression::Number(f64::abs(exponent));
            let exponent = if exponent < 0.0 { Expression::Negate(Box::new(number)) } else { number };
            Expression::Binary(Operator::Power, Box::new(base), Box::new(exponent))
        };
        prop_oneof![
            1 => inner.clone().prop_map(|e| Expression::Negate(Box::new(e))),
            2 => (function, inner.clone()).prop_map(|(f, e)| Expression::Call(f, Box::new(e))),
            1 => (inner.clone(), exponent).prop_map(move |(base, e)| power(base, e)),
            1 => (inner.clone(), inner.clone())
                .prop_map(|(l, r)| Expression::Binary(Operator::Power, Box::new(l), Box::new(r))),
            4 => (operator, inner.clone(), inner)
                .prop_map(|(o, l, r)| Expression::Binary(o, Box::new(l), Box::new(r))),
        ]
    })
}

/// Row by row, without any clamping; whole powers by repeated squaring.
fn reference(expression: &Expression, row: &[f64; 3]) -> f64 {
    match expression {
        Expression::Column(name) => row[COLUMNS.iter().position(|column| column == name).unwrap()],
        Expression::Number(value) => *value,
        Expression::Negate(inner) => -reference(inner, row),
        Expression::Call(function, argument) => {
            let x = reference(argument, row);
            match function {
                Function::Log => libm::log(x),
                Function::Log2 => libm::log2(x),
                Function::Log10 => libm::log10(x),
                Function::Log1p => libm::log1p(x),
                Function::Exp => libm::exp(x),
                Function::Sqrt => libm::sqrt(x),
                Function::Abs => libm::fabs(x),
            }
        }
        Expression::Binary(operator, left, right) => {
            let (l, r) = (reference(left, row), reference(right, row));
            match operator {
                Operator::Add => l + r,
                Operator::Subtract => l - r,
                Operator::Multiply => l * r,
                Operator::Divide => l / r,
                Operator::Power if right.columns().is_empty() && r.fract() == 0.0 => {
                    let squared = |bit: u32| (0..bit).fold(l, |square, _| square * square);
                    let bits = (0..10).filter(|bit| (r.abs() as u32) >> bit & 1 == 1);
                    let product: f64 = bits.map(squared).product();
                    if r < 0.0 { 1.0 / product } else { product }
                }
                Operator::Power => libm::pow(l, r),
            }
        }
    }
}

fn bounds() -> impl Strategy<Value = [(f64, f64); 3]> {
    let positive = (0.01..3.0_f64, 0.01..4.0_f64).prop_map(|(lower, width)| (lower, lower + width));
    let any_sign = (-3.0..3.0_f64, 0.01..4.0_f64).prop_map(|(lower, width)| (lower, lower + width));
    let whole = (-3..3_i32, 1..4_i32).prop_map(|(l, w)| (f64::from(l), f64::from(l + w)));
    let one = prop_oneof![3 => positive, 1 => any_sign, 1 => whole];
    [one.clone(), one.clone(), one]
}

/// Places inside the bounds as fractions; the ends are frequent, because extremes are found there.
fn places() -> impl Strategy<Value = Vec<[f64; 3]>> {
    let one = || prop_oneof![1 => Just(0.0), 1 => Just(1.0), 2 => 0.0..1.0_f64];
    proptest::collection::vec([one(), one(), one()], 20)
}

fn design(expression: &Expression, bounds: &[(f64, f64); 3]) -> Result<Design, FormulaError> {
    let mut public = Bounds::default();
    public.insert("y", ColumnBounds::Numeric { lower: 0.0, upper: 1.0 }).unwrap();
    for (name, &(lower, upper)) in COLUMNS.iter().zip(bounds) {
        public.insert(name, ColumnBounds::Numeric { lower, upper }).unwrap();
    }
    Design::compile(&format!("y ~ I({expression})").parse::<Formula>().unwrap(), &public)
}

/// The feature for rows of `a, b, c`, by the compiled design.
fn evaluated(design: &Design, rows: &[[f64; 3]]) -> Vec<f64> {
    let response = vec![0.5; rows.len()];
    let columns: Vec<Vec<f64>> = design.numeric_columns()[1..]
        .iter()
        .map(|column| {
            let index = COLUMNS.iter().position(|name| *name == column.name).unwrap();
            rows.iter().map(|row| row[index]).collect()
        })
        .collect();
    let numeric: Vec<&[f64]> = std::iter::once(&response).chain(&columns).map(Vec::as_slice).collect();
    let mut out = vec![Vec::new(); 2];
    let block = BlockColumns { numeric: &numeric, categorical: &[] };
    design.evaluate(&block, &mut Workspace::default(), &mut out).unwrap();
    out.swap_remove(0)
}

proptest! {
    #![proptest_config(seeded(4000))]

    #[test]
    fn values_inside_the_bounds_lie_in_the_interval(
        expression in expression(), bounds in bounds(), places in places()
    ) {
        let Ok(design) = design(&expression, &bounds) else { return Ok(()) };
        let (lower, upper) = (design.features()[0].lower, design.features()[0].upper);
        let row = |place: &[f64; 3]| std::array::from_fn(|k| {
            let (low, high) = bounds[k];
            (low + place[k] * (high - low)).clamp(low, high)
        });
        let rows: Vec<[f64; 3]> = places.iter().map(row).collect();
        for (row, value) in rows.iter().zip(evaluated(&design, &rows)) {
            let expected = reference(&expression, row);
            prop_assert!(lower <= expected && expected <= upper, "{expected} not in [{lower}, {upper}]");
            prop_assert_eq!(value, expected);
        }
    }

    #[test]
    fn whatever_comes_in_a_value_of_the_interval_comes_out(
        expression in expression(), bounds in bounds(),
        rows in proptest::collection::vec(proptest::array::uniform3(proptest::num::f64::ANY), 20)
    ) {
        let Ok(design) = design(&expression, &bounds) else { return Ok(()) };
        let (lower, upper) = (design.features()[0].lower, design.features()[0].upper);
        for value in evaluated(&design, &rows) {
            prop_assert!(lower <= value && value <= upper, "{value} not in [{lower}, {upper}]");
        }
    }
}

#[test]
fn enough_random_expressions_compile() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::new(seeded(1));
    let strategy = (expression(), bounds());
    let draw = |_| strategy.new_tree(&mut runner).unwrap().current();
    let good = (0..1000).map(draw).filter(|(e, b)| design(e, b).is_ok()).count();
    assert!(good > 400, "only {good} of 1000");
}
