//! The papers' bound for Laplace noise: ranges of the entries added up.

use super::Bound;
use crate::domain::Domain;
use crate::statistic::Statistic;

/// Sum over the entries of the width of the interval in which a record's contribution lies, for unscaled records in bounds: 1 for a
/// square, 2 for everything else, times the entry's weight (\[JAGR22\] section 5). With p features and an intercept it is
/// p^2 + 4p + 3. It holds, but no two records attain it: all entries cannot move by their ranges at once. None for other domains.
pub fn by_ranges(domain: &Domain, statistic: &Statistic) -> Option<Bound> {
    if !matches!(statistic, Statistic::Gram { .. }) || domain.is_scaled() {
        return None;
    }
    let width = |&[row, column]: &[usize; 2]| {
        let is_constant = domain.intercept() && row == 0;
        let range = if row == column && !is_constant { 1.0 } else { 2.0 };
        range * statistic.entry_weight(domain, [row, column])
    };
    Some(Bound { value: statistic.entries().iter().map(width).sum(), tight: false })
}

#[cfg(test)]
mod tests {
    use super::super::of_release;
    use super::*;
    use crate::{BoxDomain, Interval, Layout, Neighbours, Norm, gram_entries};

    fn boxed(features: usize, record_scale: Option<f64>) -> Domain {
        let interval = |name: String| Interval { name, lower: -1.0, upper: 1.0 };
        Domain::Box(BoxDomain {
            formula: String::new(),
            columns: vec![],
            intercept: true,
            features: (0..features).map(|k| interval(format!("x{k}"))).collect(),
            response: interval("y".into()),
            record_scale,
            intercept_weight: 1.0,
            response_weight: 1.0,
        })
    }

    #[test]
    fn it_is_the_papers_number_and_never_less_than_the_exact_one() {
        for p in 0..8 {
            let domain = boxed(p, None);
            let statistic =
                Statistic::Gram { entries: gram_entries(&domain, true, true), layout: Layout::Upper };
            let found = by_ranges(&domain, &statistic).unwrap().value;
            assert_eq!(found, (p * p + 4 * p + 3) as f64);
            assert!(found >= of_release(&domain, &statistic, Neighbours::Substitute, Norm::L1).value);
            assert_eq!(by_ranges(&boxed(p, Some(1.0)), &statistic), None);
        }
    }
}
