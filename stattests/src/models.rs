//! Studies of the statistical tests: two features, bounds [-1, 1], delta 1e-6.

use organza_studies::calibration::Study;

/// Failure probability of the simulated releases.
const DELTA: f64 = 1e-6;

/// A study in the isometric layout, without an intercept, with the noise that this loss needs.
pub fn study(records: u64, epsilon: f64, parties: usize) -> Study {
    with_loss(Study::new(records, parties, 2), epsilon)
}

/// The same study with the noise of this loss, after a change of its shape.
pub fn with_loss(study: Study, epsilon: f64) -> Study {
    study.with_loss((epsilon, DELTA)).unwrap_or(Study { noise: f64::NAN, ..study })
}
