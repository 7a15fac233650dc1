//! Autocovariance by the Fourier transform.

use rustfft::FftPlannerScalar;
use rustfft::num_complex::Complex;

use super::Traces;
use super::traces::mean;

/// Autocovariance at lags 0, 1, ..., N - 1, averaged over chains, each around its own mean and with N in the
/// denominator at every lag.
///
/// Effective sizes need only the average, so the squared spectra are added and transformed back once.
pub fn autocovariance(traces: &Traces) -> Vec<f64> {
    let draws = traces.draws();
    // Zeros after the draws keep the end of a chain from meeting its beginning.
    let length = (2 * draws).next_power_of_two();
    // Without run-time choice of instructions: the same bits on every processor of a platform.
    let mut planner = FftPlannerScalar::new();
    let transform = planner.plan_fft_forward(length);
    let mut power = vec![Complex::new(0.0, 0.0); length];
    for chain in traces.iter() {
        let centre = mean(chain);
        let mut spectrum: Vec<_> = chain.iter().map(|value| Complex::new(value - centre, 0.0)).collect();
        spectrum.resize(length, Complex::new(0.0, 0.0));
        transform.process(&mut spectrum);
        power.iter_mut().zip(&spectrum).for_each(|(sum, term)| sum.re += term.norm_sqr());
    }
    // The power is real and even, so the forward transform is the inverse up to the factor.
    transform.process(&mut power);
    let factor = 1.0 / (length as f64 * draws as f64 * traces.chains() as f64);
    power.iter().take(draws).map(|value| value.re * factor).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn equals_the_direct_sum(
            chains in (1..40_usize).prop_flat_map(|draws| {
                prop::collection::vec(prop::collection::vec(-10.0..10.0_f64, draws), 1..4)
            })
        ) {
            let found = autocovariance(&Traces::new(&chains));
            let draws = chains[0].len();
            prop_assert_eq!(found.len(), draws);
            for (lag, found) in found.into_iter().enumerate() {
                let of_chain = |chain: &Vec<f64>| {
                    let centre = chain.iter().sum::<f64>() / draws as f64;
                    let pairs = chain.iter().zip(&chain[lag..]);
                    pairs.map(|(one, other)| (one - centre) * (other - centre)).sum::<f64>() / draws as f64
                };
                let direct = chains.iter().map(of_chain).sum::<f64>() / chains.len() as f64;
                prop_assert!((found - direct).abs() < 1e-11, "lag {lag}: {found} {direct}");
            }
        }
    }
}
