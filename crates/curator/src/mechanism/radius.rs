//! The default radius of scaled records: it grows with the public number of records.

use organza_release::loss::gaussian_scale;
use organza_release::sensitivity::of_release;
use organza_release::{Domain, Family, Neighbours, Norm, Statistic};

use super::request::{DomainChoice, RecordScale, Request, StatisticKind};
use crate::CuratorError;
use crate::defaults::{NOISE_SHARE, grown, noise_allowed};

/// A record is rounded to the grid inside of its radius: with so much more none is shrunk by that.
const ROUNDING: f64 = 1.0 / 4096.0;

impl Request {
    /// Whether records are shrunk to the default radius.
    pub(super) fn has_default_radius(&self) -> bool {
        matches!(self.domain, DomainChoice::Box { record_scale: RecordScale::Default, .. })
            && self.family == Family::Gaussian
            && self.statistic != StatisticKind::FourthMoments
    }

    /// Whether the number of records in a table may and should plan its release: it is public, moves the radius, and
    /// nobody gave it.
    pub fn wants_records(&self) -> bool {
        self.records.is_none() && self.neighbours == Neighbours::Substitute && self.has_default_radius()
    }
}

/// The domain with the radius that the number of records allows.
pub(super) fn grow(
    request: &Request,
    domain: &mut Domain,
    statistic: &Statistic,
) -> Result<(), CuratorError> {
    let (Some(records), true, Domain::Box(scaled)) =
        (request.records, request.has_default_radius(), &*domain)
    else {
        return Ok(());
    };
    let Some(smallest) = scaled.record_scale else { return Ok(()) };
    let longest = scaled.longest_record() * (1.0 + ROUNDING);
    let allowed = noise_allowed(records, scaled.response_weight, NOISE_SHARE);
    let unit = gaussian_scale(request.epsilon, request.delta, 1.0)?;
    let with = |radius: f64| {
        let mut scaled = scaled.clone();
        scaled.record_scale = Some(radius);
        Domain::Box(scaled)
    };
    let fits = |radius: f64| {
        let bound = of_release(&with(radius), statistic, request.neighbours, Norm::L2);
        bound.value * unit <= allowed
    };
    *domain = with(grown((smallest, longest), fits));
    Ok(())
}

#[cfg(test)]
mod tests {
    use organza_release::BoxDomain;

    use super::super::Plan;
    use super::super::tests::request;
    use super::*;

    fn planned(request: &Request, records: Option<u64>) -> (BoxDomain, f64) {
        let plan = Plan::new(&Request { records, ..request.clone() }).unwrap();
        let Domain::Box(domain) = plan.domain() else { panic!("not a box") };
        (domain.clone(), plan.weighted_scale())
    }

    /// Catches a radius that does not let go or lets go too early, and weights that move with it.
    #[test]
    fn the_radius_lets_go_as_records_grow() {
        for formula in ["y ~ x", "y ~ x + z - 1"] {
            let request = request(formula);
            let few = planned(&request, None).0;
            assert_eq!(planned(&request, Some(100)).0, few, "few records have the radius of old");
            let mut before = few.record_scale.unwrap();
            for records in [10_000, 50_000, 150_000, 10_000_000_000] {
                let (domain, noise) = planned(&request, Some(records));
                let radius = domain.record_scale.unwrap();
                assert!(radius >= before, "{radius} {before}");
                before = radius;
                let allowed = noise_allowed(records, domain.response_weight, NOISE_SHARE);
                // Scales are rounded up to whole steps of the lattice.
                assert!(
                    radius == few.record_scale.unwrap() || noise <= allowed * (1.0 + 1e-6),
                    "{noise} {allowed}"
                );
                assert_eq!(BoxDomain { record_scale: few.record_scale, ..domain }, few);
            }
            assert!(planned(&request, Some(10_000_000_000)).0.shrinks_nothing());
        }
    }

    /// Catches rounding that shrinks the longest record after all.
    #[test]
    fn beyond_the_longest_record_none_is_shrunk() {
        let plan = Plan::new(&Request { records: Some(1 << 40), ..request("y ~ x + z") }).unwrap();
        let corner: Vec<f64> = match plan.domain() {
            Domain::Box(domain) => {
                domain.features.iter().chain([&domain.response]).map(|term| term.upper).collect()
            }
            Domain::Ball(_) => Vec::new(),
        };
        assert_eq!(plan.record_map().scale(&corner).unwrap(), 1.0);
    }

    #[test]
    fn only_a_default_radius_grows() {
        let usual = request("y ~ x");
        let fixed = DomainChoice::Box { record_scale: RecordScale::Radius(0.5), intercept_weight: None };
        let fixed = Request { domain: fixed, ..usual.clone() };
        assert_eq!(planned(&fixed, Some(1 << 40)).0.record_scale, Some(0.5));
        assert!(usual.wants_records() && !fixed.wants_records());
        let protected = Request { neighbours: Neighbours::AddRemove, ..usual.clone() };
        assert!(!protected.wants_records() && planned(&protected, Some(1 << 40)).0.shrinks_nothing());
        let pure = Request { family: Family::Laplace, delta: 0.0, ..usual.clone() };
        assert_eq!(planned(&pure, Some(1 << 40)).0.record_scale, None);
        let none = Plan::new(&Request { records: Some(0), ..usual }).unwrap_err().to_string();
        assert!(none.contains("`records`"), "{none}");
    }
}
