//! Figure 3: calibration, coverage and distance from the posterior without privacy.

use super::figure3_report;
use super::methods::{Length, Method};
use super::simulate::Setting;
use crate::metrics::{Sample, squared_mmd};
use crate::reproduce::{About, Experiment, Report, ReproduceError, Results, Seeds, Study, Variant};
use organza_studies::generator;

/// Numbers of records. \[BS19\] section 4.1
pub const RECORDS: [u64; 3] = [10, 100, 1000];
/// Budgets; those of Figure 4, since the axes of Figure 3 are not in the text.
pub const EPSILONS: [f64; 3] = [0.01, 0.1, 1.0];
/// What is estimated.
pub const PARAMETERS: [&str; 3] = ["slope", "intercept", "variance"];
/// Draws of each posterior that the discrepancy looks at.
const COMPARED: usize = 500;

const PUBLISHED: [Method; 6] = [
    Method::NonPrivate,
    Method::Naive,
    Method::GibbsNoisy,
    Method::GibbsPrior,
    Method::GibbsUpdate,
    Method::Individual,
];
const OURS: [Method; 5] =
    [Method::NonPrivate, Method::Naive, Method::GibbsUpdate, Method::Individual, Method::Marginal];

/// Methods of a variant; the first is that without privacy.
pub fn methods(variant: Variant) -> &'static [Method] {
    if variant == Variant::Ours { &OURS } else { &PUBLISHED }
}

/// Name of a cell.
pub fn cell(records: u64, epsilon: f64) -> String {
    format!("n={records} epsilon={epsilon}")
}

/// Name of a column.
pub fn column(method: Method, what: &str) -> String {
    format!("{} {what}", method.word())
}

/// The experiment.
pub struct Figure3;

impl Experiment for Figure3 {
    fn about(&self) -> About {
        About {
            key: "bs19-figure3",
            title: "Calibration, coverage and discrepancy of regressions from noisy sums (Figure 3, a to e)",
            paper: "bs19",
            version: 1,
            minutes: 5,
        }
    }

    fn variants(&self) -> &'static [Variant] {
        &Variant::ALL
    }

    fn replicates(&self, _: Variant) -> u64 {
        300
    }

    fn columns(&self, variant: Variant) -> Vec<String> {
        let of_parameter = |method: Method| {
            PARAMETERS.into_iter().flat_map(move |name| {
                [column(method, &format!("{name} rank")), column(method, &format!("{name} sd"))]
            })
        };
        let of_method = |method: &Method| of_parameter(*method).chain([column(*method, "mmd")]);
        methods(variant).iter().flat_map(of_method).collect()
    }

    fn prepare(&self, variant: Variant) -> Result<Box<dyn Study>, ReproduceError> {
        Ok(Box::new(Figure3Study { variant, length: Length::PUBLISHED }))
    }

    fn report(&self, variant: Variant, results: &Results) -> Report {
        figure3_report::report(variant, results)
    }
}

struct Figure3Study {
    variant: Variant,
    length: Length,
}

impl Study for Figure3Study {
    fn cells(&self) -> Vec<String> {
        RECORDS.into_iter().flat_map(|records| EPSILONS.map(|epsilon| cell(records, epsilon))).collect()
    }

    fn replicate(&self, place: usize, seed: u64) -> Result<Vec<f64>, String> {
        self.paired(place, Seeds { own: seed, shared: seed })
    }

    /// All budgets of a replicate have the same records.
    fn paired(&self, place: usize, seeds: Seeds) -> Result<Vec<f64>, String> {
        let (records, epsilon) = (RECORDS[place / EPSILONS.len()], EPSILONS[place % EPSILONS.len()]);
        let setting = Setting::new(self.variant);
        let (truth, problem) = setting.simulate(records, epsilon, &mut generator(seeds.shared, 0))?;
        let (mut values, mut reference) = (Vec::new(), None);
        for method in methods(self.variant) {
            if !method.accepts(records) {
                values.extend([f64::NAN; 2 * PARAMETERS.len() + 1]);
                continue;
            }
            let draws = method.draws(&problem, seeds.own, self.length)?;
            let draws: Vec<[f64; 3]> = draws.iter().map(|draw| setting.to_users(draw)).collect();
            for (k, value) in truth.iter().enumerate() {
                values.extend(rank_and_sd(draws.iter().map(|draw| draw[k]), *value));
            }
            let sample = thinned(&draws);
            let distance = reference.as_ref().map_or(0.0, |reference| squared_mmd(reference, &sample, 1.0));
            values.push(distance);
            reference.get_or_insert(sample);
        }
        Ok(values)
    }
}

/// The share of draws below the truth, and their standard deviation.
fn rank_and_sd(draws: impl ExactSizeIterator<Item = f64> + Clone, truth: f64) -> [f64; 2] {
    let count = draws.len() as f64;
    let below = draws.clone().filter(|draw| *draw < truth).count() as f64;
    let mean = draws.clone().sum::<f64>() / count;
    let squares: f64 = draws.map(|draw| (draw - mean) * (draw - mean)).sum();
    [below / count, (squares / (count - 1.0)).sqrt()]
}

/// As many draws as are compared, evenly spaced.
fn thinned(draws: &[[f64; 3]]) -> Sample {
    let every = (draws.len() / COMPARED).max(1);
    Sample::new(3, draws.iter().skip(every - 1).step_by(every).flatten().copied().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_by_hand() {
        let [rank, sd] = rank_and_sd([1.0, 2.0, 3.0, 6.0].into_iter(), 2.5);
        assert_eq!(rank, 0.5);
        assert!((sd - (14.0_f64 / 3.0).sqrt()).abs() < 1e-15);
    }

    /// Ranks of the truth in posteriors without privacy are uniform over 300 trials, alpha = 1e-6 / 3: catches records that do not come from the prior.
    #[test]
    fn the_posterior_without_privacy_is_calibrated() {
        let setting = Setting::new(Variant::Claimed);
        let mut ranks = [const { Vec::new() }; 3];
        for seed in 0..300 {
            let (truth, problem) = setting.simulate(10, 1.0, &mut generator(seed, 0)).unwrap();
            let draws = Method::NonPrivate.draws(&problem, seed, Length::PUBLISHED).unwrap();
            let draws: Vec<[f64; 3]> = draws.iter().map(|draw| setting.to_users(draw)).collect();
            for (k, ranks) in ranks.iter_mut().enumerate() {
                ranks.push(rank_and_sd(draws.iter().map(|draw| draw[k]), truth[k])[0]);
            }
        }
        for ranks in ranks {
            let found = crate::metrics::kolmogorov_smirnov(&ranks, |x| x);
            assert!(found.p_value > 1e-6 / 3.0, "{found:?}");
        }
    }

    /// A short replicate of the smallest cell: every method has a finite rank, and noise never makes a posterior narrower than it is without.
    #[test]
    fn a_short_replicate() {
        for variant in Variant::ALL {
            let study = Figure3Study { variant, length: Length { gibbs: 1_000 } };
            let values = study.replicate(1, 4).unwrap();
            assert_eq!(values.len(), Figure3.columns(variant).len());
            assert!(values.iter().all(|value| value.is_finite()), "{values:?}");
            for (place, method) in
                methods(variant).iter().enumerate().filter(|(_, each)| each.is_noise_aware())
            {
                assert!(values[7 * place + 3] > values[3], "{method:?}: {values:?}");
            }
        }
    }
}
