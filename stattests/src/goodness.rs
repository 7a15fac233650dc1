//! Goodness of fit of integer noise against its exact probabilities.

use statrs::distribution::{ChiSquared, ContinuousCDF};

/// p-value of Pearson's chi-square test of integer draws against unnormalised weights on `-reach..=reach`; everything
/// beyond is one more cell. Cells are pooled until each expects at least ten draws.
pub fn chi_square_p_value(draws: &[i128], weight: impl Fn(i128) -> f64, reach: i128) -> f64 {
    let far = 4 * reach;
    let total: f64 = (-far..=far).map(&weight).sum();
    let count = draws.len() as f64;
    let mut cells: Vec<(f64, f64)> = Vec::new();
    let mut pooled = (0.0, 0.0);
    for value in -reach..=reach {
        let observed = draws.iter().filter(|draw| **draw == value).count() as f64;
        pooled = (pooled.0 + observed, pooled.1 + count * weight(value) / total);
        if pooled.1 >= 10.0 {
            cells.push(std::mem::take(&mut pooled));
        }
    }
    let inside: (f64, f64) = cells.iter().fold((0.0, 0.0), |sum, cell| (sum.0 + cell.0, sum.1 + cell.1));
    let rest = (count - inside.0, count - inside.1);
    if rest.1 >= 10.0 {
        cells.push(rest);
    } else if let Some(last) = cells.last_mut() {
        *last = (last.0 + rest.0, last.1 + rest.1);
    }
    let statistic: f64 =
        cells.iter().map(|(observed, expected)| (observed - expected).powi(2) / expected).sum();
    ChiSquared::new(cells.len() as f64 - 1.0).map_or(f64::NAN, |law| law.sf(statistic))
}
