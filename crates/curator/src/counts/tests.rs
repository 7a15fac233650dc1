//! The whole mechanism with a known noise source, and its claims.

use organza_release::{CountFamily, Family, Missing, Neighbours};

use super::publish::CountSource;
use super::tally::Tally;
use super::{CountPlan, CountRequest, ExactCounts, parse_tables};
use crate::CuratorError;
use crate::bounds::Bounds;
use crate::formula::BlockColumns;

/// Remembers what was asked for and returns a fixed number.
#[derive(Default)]
struct Fixed {
    drawn: i128,
    asked: Vec<(CountFamily, f64)>,
}

impl CountSource for Fixed {
    fn draw(&mut self, family: CountFamily, scale: f64) -> Result<i128, CuratorError> {
        self.asked.push((family, scale));
        Ok(self.drawn)
    }
}

fn request(tables: &str) -> CountRequest {
    let mut bounds = Bounds::default();
    for flag in ["a=u,v,w", "b=no,yes", "x=0:1"] {
        bounds.set_flag(flag).unwrap();
    }
    CountRequest::new(parse_tables(tables).unwrap(), bounds, 1.0, 0.0)
}

fn counted(plan: &CountPlan) -> ExactCounts {
    let mut parts = [(); 2].map(|()| Tally::new(plan.tables(), plan.columns()));
    let block = |a: &[u32], b: &[u32], tally: &mut Tally| {
        tally.add(&BlockColumns { numeric: &[], categorical: &[a, b] }).unwrap();
    };
    block(&[0, 2, 1], &[0, 1, 1], &mut parts[0]);
    block(&[2], &[1], &mut parts[1]);
    let [mut total, more] = parts;
    total.merge(&more);
    total.finish()
}

/// Catches transposed cells, lost parts of a parallel count and noise that skips empty cells.
#[test]
fn every_cell_is_counted_and_gets_noise() {
    let mut request = request("a, b; b");
    (request.neighbours, request.count_records) = (Neighbours::AddRemove, true);
    let plan = CountPlan::new(&request).unwrap();
    let mut noise = Fixed { drawn: -10, asked: vec![] };
    let release = plan.publish_with(&counted(&plan), "p", Missing::Refused, &mut noise).unwrap();
    let exact: Vec<f64> = release.value.iter().map(|value| value + 10.0).collect();
    assert_eq!(exact, [1.0, 0.0, 0.0, 1.0, 0.0, 2.0, 1.0, 3.0, 4.0]);
    assert_eq!(noise.asked, vec![(CountFamily::DiscreteLaplace, 3.0); 9]);
    assert_eq!((release.records, plan.cells(), plan.sensitivity().value), (None, 9, 3.0));
    assert_eq!(plan.description(), "counts of a by b; b; number of records");
}

/// The scale is the smallest on its grid: two steps less (one may be within the rounding of a quotient) and the loss is larger.
#[test]
fn claims_hold_and_nothing_is_wasted() {
    for neighbours in [Neighbours::Substitute, Neighbours::AddRemove] {
        for (epsilon, delta) in [(1.0, 0.0), (0.3, 0.0), (1.0, 1e-6), (0.1, 1e-9), (3.0, 1e-3), (12.0, 1e-5)]
        {
            let CountRequest { tables, bounds, .. } = request("a, b; b; a");
            let request = CountRequest { neighbours, ..CountRequest::new(tables, bounds, epsilon, delta) };
            let plan = CountPlan::new(&request).unwrap();
            let release = plan.publish_with(&counted(&plan), "p", Missing::Refused, &mut Fixed::default());
            let mut release = release.unwrap();
            let claim = release.claim().unwrap();
            assert!(claim.holds && claim.sensitivity.tight, "{epsilon} {delta}: {claim:?}");
            release.noise.scale -= 2.0 / 1_048_576.0;
            let less = release.claim().unwrap();
            assert!(less.epsilon > epsilon || less.delta > delta, "{epsilon} {delta}: {less:?}");
        }
    }
}

/// Pure noise in exact arithmetic: moved counts over the scale is at most epsilon as rational numbers.
#[test]
fn laplace_scales_are_rounded_up() {
    use dashu_ratio::RBig;
    for epsilon in [0.1, 1.0 / 3.0, 0.7, 1.0, 2.9, 1e-6, 123.456] {
        let plan = CountPlan::new(&CountRequest { epsilon, ..request("a; b") }).unwrap();
        let exact = |number: f64| RBig::try_from(number).unwrap();
        assert!(RBig::from(4) <= exact(epsilon) * exact(plan.noise().scale), "{epsilon}");
    }
}

#[test]
fn requests_are_refused_where_they_have_no_meaning() {
    let say = |change: &dyn Fn(&mut CountRequest)| {
        let mut request = request("a, b");
        change(&mut request);
        CountPlan::new(&request).unwrap_err().to_string()
    };
    let tables = |text: &str| parse_tables(text).unwrap();
    assert!(
        say(&|r| r.tables = tables("a, c"))
            .contains("column \"c\" has no public levels; give the setting `bound` c=")
    );
    assert!(say(&|r| r.tables = tables("a, x")).contains("column \"x\" has bounds"));
    assert!(
        say(&|r| r.tables = tables("a, a")).contains("the setting `tables`: tables[0]: \"a\" is given twice")
    );
    assert!(say(&|r| r.tables = tables("a, b; b, a")).contains("earlier table"));
    assert!(say(&|r| r.count_records = true).contains("`neighbours = add-remove`"));
    assert!(say(&|r| r.epsilon = 0.0).contains("the setting `epsilon`: must be positive"));
    assert!(say(&|r| r.epsilon = 1e-12).contains("beyond any use"));
    assert!(say(&|r| r.delta = 1e-6).contains("Laplace noise is pure"));
    assert!(say(&|r| r.family = Family::Gaussian).contains("between 0 and 1"));
    assert!(parse_tables("a,;b").unwrap_err().to_string().contains("a name is missing"));
    assert!(parse_tables("").is_err());
}
