use proptest::prelude::*;

use super::super::parser::{parse_term, uses_response};
use super::super::terms::TermSet;
use super::super::{Expression, Factor, Function, Operator, Term};
use super::*;

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-e][a-z0-9_.]{0,2}",
        1 => "[ -~]{1,4}",
        1 => proptest::collection::vec(any::<char>(), 1..4).prop_map(String::from_iter),
        1 => Just("I".to_owned()),
        1 => Just("log".to_owned()),
    ]
}

fn expression() -> impl Strategy<Value = Expression> {
    let number = proptest::num::f64::POSITIVE | proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL;
    let leaf = prop_oneof![
        name().prop_map(Expression::Column),
        number.prop_map(Expression::Number),
        (0_u32..20).prop_map(|value| Expression::Number(f64::from(value))),
    ];
    leaf.prop_recursive(5, 24, 2, |inner| {
        let function = proptest::sample::select(Function::ALL.to_vec());
        let operators =
            [Operator::Add, Operator::Subtract, Operator::Multiply, Operator::Divide, Operator::Power];
        let operator = proptest::sample::select(operators.to_vec());
        prop_oneof![
            inner.clone().prop_map(|e| Expression::Negate(Box::new(e))),
            (function, inner.clone()).prop_map(|(f, e)| Expression::Call(f, Box::new(e))),
            (operator, inner.clone(), inner).prop_map(|(o, left, right)| Expression::Binary(
                o,
                Box::new(left),
                Box::new(right)
            )),
        ]
    })
}

fn factor() -> impl Strategy<Value = Factor> {
    prop_oneof![
        2 => name().prop_map(|name| Factor::new(Expression::Column(name), false)),
        1 => expression().prop_map(|e| Factor::new(Expression::Call(Function::Log1p, Box::new(e)), false)),
        1 => expression().prop_map(|e| Factor::new(e, true)),
    ]
}

fn term() -> impl Strategy<Value = Term> {
    proptest::collection::vec(factor(), 1..4).prop_map(|factors| {
        factors.into_iter().fold(Term::empty(), |term, factor| term.interact(&Term::of(factor)))
    })
}

fn formula() -> impl Strategy<Value = Formula> {
    let parts = (factor(), any::<bool>(), proptest::collection::vec(term(), 0..5));
    parts.prop_map(|(response, intercept, terms)| {
        let mut set = TermSet::default();
        for term in terms.into_iter().filter(|term| !uses_response(term, &response)) {
            set.add(TermSet::term(term, 0)).unwrap();
        }
        let terms: Vec<Term> = set.into_ordered().into_iter().map(|(term, _)| term).collect();
        Formula { response, intercept: intercept || terms.is_empty(), terms }
    })
}

/// Pieces that often make a formula.
fn pieces() -> impl Strategy<Value = Vec<&'static str>> {
    let pieces = ["x", "z", "+", "-", ":", "*", "1", "0", "(", ")", "^2", "I(", "log(", "`", ".", "~"];
    proptest::collection::vec(proptest::sample::select(pieces.to_vec()), 1..9)
}

proptest! {
    #![proptest_config(seeded(1000))]

    #[test]
    fn the_text_of_a_formula_reads_back_as_the_formula(formula in formula()) {
        let text = formula.to_string();
        prop_assert_eq!(text.parse::<Formula>().map_err(|e| TestCaseError::fail(e.to_string()))?, formula);
    }

    #[test]
    fn the_text_of_a_term_reads_back_as_the_term(term in term()) {
        let text = term.to_string();
        prop_assert_eq!(parse_term(&text).map_err(|e| TestCaseError::fail(e.to_string()))?, term);
    }

    #[test]
    fn any_text_is_read_or_refused_without_panic(text in "[ -~]{0,40}", pieces in pieces()) {
        let _ = text.parse::<Formula>();
        if let Ok(formula) = format!("y ~ {}", pieces.concat()).parse::<Formula>() {
            prop_assert_eq!(formula.to_string().parse::<Formula>(), Ok(formula));
        }
    }
}
