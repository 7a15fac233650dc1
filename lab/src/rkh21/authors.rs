//! What the authors' seeds say of their records. \[RKH21\] section 4
//!
//! Given the covariances, both posteriors depend on the records through the means of the columns alone, and these are here.

use std::sync::OnceLock;

use super::threefry::Key;
use crate::linalg::cholesky;

/// What the pages say of the records.
pub(super) const NOTE: &str = "Posteriors are those of the authors' records: their seeds are in their code, and the generator of JAX 0.2.13, which they used, gives the covariance of \
    the Gaussian and the means of all columns, through which alone the posteriors depend on the records. Starting points, samples of records and noise are ours.";

/// Numbers in a record of the Gaussian.
pub(super) const DIMENSION: usize = 10;
const ROWS: u32 = super::problem::RECORDS as u32;

/// Means of the columns of the banana's records, less the centre that they were drawn around.
pub(super) fn banana_errors() -> [f64; 2] {
    static ERRORS: OnceLock<[f64; 2]> = OnceLock::new();
    *ERRORS.get_or_init(|| {
        let keys = Key::new(43_247).split(3);
        let error = |column: usize, precision: f64| {
            keys[column].normals(ROWS).sum::<f64>() / f64::from(ROWS) / precision.sqrt()
        };
        [error(0, 5e-4), error(1, 4e-4)]
    })
}

/// The same of the Gaussian's records.
pub(super) fn gauss_errors() -> &'static [f64] {
    static ERRORS: OnceLock<Vec<f64>> = OnceLock::new();
    ERRORS.get_or_init(|| {
        let mut means = [0.0; DIMENSION];
        let count = ROWS * DIMENSION as u32;
        for (index, normal) in Key::new(4_627_290).normals(count).enumerate() {
            means[index % DIMENSION] += normal / f64::from(ROWS);
        }
        let lower = cholesky(&covariance()).unwrap_or_default();
        lower.chunks_exact(DIMENSION).map(|row| dot(row, &means)).collect()
    })
}

/// The covariance of the Gaussian: eigenvalues Gamma(1/2, 1), eigenvectors from orthogonalising the columns of a matrix of uniform numbers.
pub(super) fn covariance() -> Vec<f64> {
    let keys = Key::new(43_235_667).split(3);
    let values: Vec<f64> = keys[1].split(DIMENSION as u32).into_iter().map(|key| key.gamma(0.5)).collect();
    let matrix: Vec<f64> = keys[2].uniforms((DIMENSION * DIMENSION) as u32).collect();
    let mut vectors: Vec<Vec<f64>> = Vec::new();
    for column in 0..DIMENSION {
        let mut next: Vec<f64> = matrix[column..].iter().step_by(DIMENSION).copied().collect();
        for known in &vectors {
            let share = dot(&next, known);
            next.iter_mut().zip(known).for_each(|(value, known)| *value -= share * known);
        }
        let norm = dot(&next, &next).sqrt();
        next.iter_mut().for_each(|value| *value /= norm);
        vectors.push(next);
    }
    let entry = |index: usize| {
        let (row, column) = (index / DIMENSION, index % DIMENSION);
        vectors.iter().zip(&values).map(|(vector, value)| value * vector[row] * vector[column]).sum()
    };
    (0..DIMENSION * DIMENSION).map(entry).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-8, "{found} instead of {expected}");
        }
    }

    /// Numbers that JAX drew from the authors' seeds.
    #[test]
    fn the_banana_has_the_authors_records() {
        assert_close(&banana_errors(), &[0.133_319_604_277_858, 2.933_865_218_970_264 - 3.0]);
    }

    #[test]
    fn the_gaussian_has_the_authors_records() {
        let eigenvalues = [
            0.049_567_485_346_566_35,
            0.034_693_807_375_852_59,
            0.527_501_675_892_732_6,
            0.884_533_451_103_745,
            4.774_418_675_230_968,
            0.371_894_229_834_316_2,
            0.012_671_153_755_641_085,
            0.326_649_716_317_108_2,
            0.105_330_879_601_039_33,
            0.834_815_409_843_938_2,
        ];
        let keys = Key::new(43_235_667).split(3)[1].split(10);
        assert_close(&keys.into_iter().map(|key| key.gamma(0.5)).collect::<Vec<_>>(), &eigenvalues);
        let first_three = [-2.626_441_87e-3, 2.999_770_58 - 3.0, -1.246_538_13e-3];
        assert_close(&gauss_errors()[..3], &first_three);
    }

    /// The paper's clip bound for at most 20 percent clipped gradients is 15, those of DP-HMC and DP-SGNHT are 10 and 12.
    #[test]
    fn the_covariance_suits_the_clip_bounds() {
        use organza_curator::chains::models::GaussianMean;
        use organza_curator::chains::{RecordModel, Simulate};
        use organza_mcmc::ChainRng;

        let model = GaussianMean::new(&covariance(), 100.0).unwrap();
        let mut rng = ChainRng::new(1, 0);
        let mut record = vec![0.0; DIMENSION];
        let draws = 20_000;
        let norms = (0..draws).map(|_| {
            model.draw_record(&[0.0; DIMENSION], &mut rng, &mut record);
            model.prepare(&mut record);
            dot(&record, &record).sqrt()
        });
        let clipped = norms.filter(|norm| *norm > 15.0).count() as f64 / f64::from(draws);
        // 0.187 in the authors' records.
        assert!((clipped - 0.187).abs() < 0.012, "{clipped}");
    }
}
