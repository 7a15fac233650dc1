mod compilation;
mod compile_errors;
mod evaluation;
mod hostile;
mod round_trip;
mod soundness;
mod syntax;

use proptest::test_runner::{Config, RngSeed};

use super::{Design, Formula, FormulaError};
use crate::bounds::Bounds;

/// Property tests are seeded, so that a run can be repeated.
pub(crate) fn seeded(cases: u32) -> Config {
    Config { cases, rng_seed: RngSeed::Fixed(20_261_116), failure_persistence: None, ..Config::default() }
}

const BOUNDS: &str = "
y = { lower = 1, upper = 9 }
x = { lower = 0, upper = 10 }
z = { lower = -2, upper = 3 }
w = { lower = 0.5, upper = 4 }
site = { levels = ['a', 'b', 'c'] }
sex = { levels = ['f', 'm'] }
";

fn compiled(formula: &str, more_bounds: &str) -> Result<Design, FormulaError> {
    let bounds = Bounds::from_toml(&format!("{BOUNDS}{more_bounds}"), "bounds.toml").unwrap();
    Design::compile(&formula.parse::<Formula>().unwrap(), &bounds)
}
