//! Attacks the release that you plan, as the audits of this project do:
//!
//!     cargo run --release -p organza-stattests --example audit -- "y ~ x + z" bounds.toml --epsilon 1 --delta 1e-6
//!
//! It needs no table: it looks for two neighbouring tables within your bounds that the noise hides worst, makes many releases of both and
//! tells how large epsilon must be at least. More than you claim would be a fault of this program: please report it.

use organza_curator::bounds::Bounds;
use organza_curator::mechanism::{DomainChoice, Plan, RecordScale, Request};
use organza_release::{Family, Neighbours};
use organza_stattests::audit::audit;

const USAGE: &str = "usage: audit FORMULA BOUNDS.toml --epsilon E [--delta D] [--mechanism laplace] [--neighbours add-remove] \
                     [--records N] [--record-scale none] [--releases 100000]";
/// Chance that a sound mechanism is accused.
const ALPHA: f64 = 1e-3;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [formula, file, options @ ..] = &arguments[..] else { return Err(USAGE.into()) };
    let bounds = Bounds::from_toml(&std::fs::read_to_string(file)?, file)?;
    let mut request = Request::new(formula.parse()?, bounds, 1.0, 0.0);
    let mut repeats = 100_000;
    for option in options.chunks(2) {
        let [name, value] = option else { return Err(USAGE.into()) };
        match (name.as_str(), value.as_str()) {
            ("--epsilon", value) => request.epsilon = value.parse()?,
            ("--delta", value) => request.delta = value.parse()?,
            ("--mechanism", "laplace") => request.family = Family::Laplace,
            ("--neighbours", "add-remove") => request.neighbours = Neighbours::AddRemove,
            ("--records", value) => request.records = Some(value.parse()?),
            ("--record-scale", "none") => {
                request.domain =
                    DomainChoice::Box { record_scale: RecordScale::None, intercept_weight: None };
            }
            ("--releases", value) => repeats = value.parse()?,
            _ => return Err(USAGE.into()),
        }
    }
    let plan = Plan::new(&request)?;
    let verdict = audit(&plan, 1.0, repeats, ALPHA)?.ok_or("only releases of sums are audited")?;
    println!("{}", plan.description());
    println!("worst pair found: {:.1}% of the sensitivity", 100.0 * verdict.distance);
    println!("claimed: epsilon {}, delta {}", request.epsilon, request.delta);
    println!("shown by {repeats} releases of each table: epsilon at least {:.4}", verdict.epsilon.max(0.0));
    if verdict.epsilon > request.epsilon {
        return Err("THE CLAIM IS EXCEEDED".into());
    }
    Ok(())
}
