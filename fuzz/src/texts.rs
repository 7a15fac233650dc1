//! Texts: formulas, bounds and priors.

use std::sync::LazyLock;

use organza_curator::bounds::Bounds;
use organza_curator::formula::{BlockColumns, Design, Formula, Workspace};
use organza_infer::tables::TableSpec;
use organza_infer::{Method, MethodSpec, Model, ModelSpec, PriorFile};
use organza_release::{CountRelease, Release};

use crate::{pick, releases};

/// Public bounds of the honest tables.
pub(crate) static BOUNDS: LazyLock<Bounds> =
    LazyLock::new(|| Bounds::from_toml(include_str!("../corpus/bounds/honest"), "bounds").expect("honest"));

/// A formula: its canonical text means the same, and no value leaves the bounds that follow from it.
pub fn formula(bytes: &[u8]) -> bool {
    let Some(formula) = std::str::from_utf8(bytes).ok().and_then(|text| text.parse::<Formula>().ok()) else {
        return false;
    };
    let text = formula.to_string();
    assert_eq!(text.parse::<Formula>().expect("canonical text can be read"), formula, "{text}");
    Design::compile_features(&formula, &BOUNDS).is_ok() | evaluates(&formula, &BOUNDS)
}

/// A file of bounds, which can be written and read again; and the value of a flag.
pub fn bounds(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let flag = BOUNDS.clone().set_flag(text).is_ok();
    let Ok(bounds) = Bounds::from_toml(text, "file") else { return flag };
    let again = bounds.to_toml();
    assert_eq!(Bounds::from_toml(&again, "again").expect("what was written can be read"), bounds, "{again}");
    evaluates(&"y ~ x * site + log(z) + I(x^2 / z)".parse().expect("a formula"), &bounds);
    true
}

/// A prior of coefficients or of probabilities, with honest releases; the first byte chooses a method.
pub fn prior(bytes: &[u8]) -> bool {
    let Some((choice, text)) = bytes.split_first() else { return false };
    let Ok(text) = std::str::from_utf8(text) else { return false };
    let of_counts = TableSpec::from_toml(text).is_ok_and(|tables| {
        let (_, honest) = releases::read::<CountRelease>(include_bytes!("../corpus/counts/honest-records"))
            .expect("honest");
        let model = ModelSpec { tables, ..ModelSpec::default() };
        releases::fits(&MethodSpec::default(), &model, &honest)
    });
    let Ok(prior) = PriorFile::from_toml(text) else { return of_counts };
    let (_, honest) =
        releases::read::<Release>(include_bytes!("../corpus/release/honest-gram")).expect("honest");
    let mut choice = usize::from(*choice);
    // That method has the same prior and is slow.
    let methods: Vec<Method> = Method::ALL.into_iter().filter(|it| *it != Method::Individual).collect();
    let method = pick(&mut choice, &methods);
    let spec = MethodSpec { method: Some(method), sampler: Some(pick(&mut choice, method.samplers())) };
    let (model, spec) = match choice % 4 {
        3 => (Some(Model::Logistic), MethodSpec::default()),
        _ => (None, spec),
    };
    releases::fits(&spec, &ModelSpec { model, prior, ..ModelSpec::default() }, &honest)
}

/// Compiles a formula and evaluates a few records, some of them far outside of the bounds.
fn evaluates(formula: &Formula, bounds: &Bounds) -> bool {
    let Ok(design) = Design::compile(formula, bounds) else { return false };
    let values = [f64::NEG_INFINITY, -1e300, -1.0, 0.0, 5e-324, 0.5, 3.0, f64::INFINITY, f64::NAN];
    let numeric = vec![&values[..]; design.numeric_columns().len()];
    let codes = |levels: usize| (0..values.len() as u32).map(|code| code % levels as u32).collect();
    let categorical: Vec<Vec<u32>> =
        design.categorical_columns().iter().map(|column| codes(column.levels.len())).collect();
    let categorical: Vec<&[u32]> = categorical.iter().map(Vec::as_slice).collect();
    let block = BlockColumns { numeric: &numeric, categorical: &categorical };
    let mut out = vec![Vec::new(); design.output_columns()];
    // A response and features of numbers alone read no column, so they have no rows.
    design.evaluate(&block, &mut Workspace::default(), &mut out).expect("a block of the design's own sizes");
    for (feature, values) in design.features().iter().chain([design.response()]).zip(&out) {
        let inside = |value: &f64| (feature.lower..=feature.upper).contains(value);
        assert!(values.iter().all(inside), "{formula}: {feature:?} is {values:?}");
    }
    true
}
