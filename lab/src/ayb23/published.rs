//! What the paper states.

use crate::data::DataSet;

/// Numbers of parties.
pub const PARTIES: [usize; 3] = [1, 5, 10];
/// Privacy losses of the simulations.
pub const EPSILONS: [f64; 7] = [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0];

/// One number of Table 1 with its interval of 90 percent from Table 2.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entry {
    /// Mean squared error of predictions.
    pub error: f64,
    /// Interval for its mean.
    pub interval: [f64; 2],
}

impl Entry {
    /// Standard error that the interval implies, and half a unit of the last printed digit as a uniform error.
    pub fn standard_error(&self) -> f64 {
        // The authors use the t distribution with 49 degrees of freedom.
        let half = 0.5 * (self.interval[1] - self.interval[0]);
        libm::hypot(half / 1.676_55, 0.0001 / 12.0_f64.sqrt())
    }
}

const fn entry(error: f64, low: f64, high: f64) -> Entry {
    Entry { error, interval: [low, high] }
}

/// Table 1 and Table 2 for one data set and number of parties: MCMC-normalX, MCMC-fixedS, Bayes-fixedS-fast, MCMC-B&S, adaSSP. The interval
/// of MCMC-fixedS for AirQuality, J = 5, is printed as [0.0089, 0.010].
pub fn table1(set: DataSet, parties: usize) -> [Entry; 5] {
    let place = PARTIES.iter().position(|count| *count == parties).unwrap_or(0);
    match set {
        DataSet::PowerPlant => POWER_PLANT[place],
        DataSet::BikeSharing => BIKE_SHARING[place],
        DataSet::AirQuality => AIR_QUALITY[place],
        DataSet::Road => [entry(0.0229, 0.0229, 0.0229); 5],
    }
}

const POWER_PLANT: [[Entry; 5]; 3] = [
    [
        entry(0.0129, 0.0128, 0.0129),
        entry(0.0129, 0.0128, 0.0129),
        entry(0.0129, 0.0128, 0.0129),
        entry(0.0128, 0.0128, 0.0129),
        entry(0.0139, 0.0137, 0.0140),
    ],
    [
        entry(0.0133, 0.0132, 0.0135),
        entry(0.0134, 0.0132, 0.0136),
        entry(0.0134, 0.0132, 0.0136),
        entry(0.0136, 0.0135, 0.0138),
        entry(0.0235, 0.0234, 0.0236),
    ],
    [
        entry(0.0142, 0.0139, 0.0145),
        entry(0.0143, 0.0140, 0.0146),
        entry(0.0143, 0.0140, 0.0146),
        entry(0.0143, 0.0141, 0.0146),
        entry(0.0351, 0.0349, 0.0353),
    ],
];

const BIKE_SHARING: [[Entry; 5]; 3] = [
    [
        entry(0.0024, 0.0021, 0.0027),
        entry(0.0021, 0.0018, 0.0024),
        entry(0.0021, 0.0018, 0.0024),
        entry(0.0020, 0.0017, 0.0022),
        entry(0.0107, 0.0106, 0.0108),
    ],
    [
        entry(0.0174, 0.0137, 0.0210),
        entry(0.0045, 0.0041, 0.0049),
        entry(0.0045, 0.0040, 0.0049),
        entry(0.0086, 0.0076, 0.0095),
        entry(0.0382, 0.0380, 0.0383),
    ],
    [
        entry(0.0812, 0.0671, 0.0954),
        entry(0.0082, 0.0072, 0.0092),
        entry(0.0082, 0.0072, 0.0092),
        entry(0.0137, 0.0116, 0.0158),
        entry(0.0526, 0.0524, 0.0527),
    ],
];

const AIR_QUALITY: [[Entry; 5]; 3] = [
    [
        entry(0.0060, 0.0051, 0.0069),
        entry(0.0057, 0.0048, 0.0066),
        entry(0.0057, 0.0048, 0.0066),
        entry(0.0062, 0.0053, 0.0071),
        entry(0.0066, 0.0065, 0.0067),
    ],
    [
        entry(0.0142, 0.0109, 0.0175),
        entry(0.0100, 0.0089, 0.0110),
        entry(0.0099, 0.0089, 0.0109),
        entry(0.0130, 0.0109, 0.0151),
        entry(0.0227, 0.0226, 0.0229),
    ],
    [
        entry(0.0985, 0.0733, 0.1236),
        entry(0.0117, 0.0099, 0.0135),
        entry(0.0117, 0.0099, 0.0135),
        entry(0.0216, 0.0175, 0.0257),
        entry(0.0314, 0.0313, 0.0315),
    ],
];

/// Names of the paper's methods, in the order of Table 1.
pub const METHODS: [&str; 5] = ["MCMC-normalX", "MCMC-fixedS", "Bayes-fixedS-fast", "MCMC-B&S", "adaSSP"];
/// The same methods in our words.
pub const WORDS: [&str; 5] = ["normal-x", "fixed-gram", "fast", "gibbs-update", "ada-ssp"];

/// CPU milliseconds for an iteration of the authors' code on GNU Octave, for (d, J): MCMC-normalX, MCMC-fixedS, MCMC-B&S with vectorised moments.
/// Figure 3 itself prints no numbers.
pub const TIMES: [(usize, usize, [f64; 3]); 8] = [
    (2, 1, [0.83, 0.15, 0.53]),
    (2, 10, [5.9, 0.94, 1.4]),
    (5, 1, [0.90, 0.15, 0.55]),
    (5, 10, [5.6, 0.96, 2.0]),
    (10, 1, [0.97, 0.16, 0.90]),
    (10, 10, [6.3, 1.3, 4.3]),
    (20, 1, [1.2, 0.26, 11.0]),
    (20, 10, [8.8, 1.7, 45.0]),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a number in the wrong row: every mean lies in its interval, but for rounding.
    #[test]
    fn means_lie_in_their_intervals() {
        for set in DataSet::ALL {
            for parties in PARTIES {
                for Entry { error, interval } in table1(set, parties) {
                    assert!(
                        error >= interval[0] - 1e-4 && error <= interval[1] + 1e-4,
                        "{set:?} {parties} {error}"
                    );
                    let middle = 0.5 * (interval[0] + interval[1]);
                    assert!((error - middle).abs() < 1.01e-4, "{set:?} {parties} {error} {middle}");
                }
            }
        }
    }
}
