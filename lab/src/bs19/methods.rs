//! The methods of the paper by name, and draws of their posteriors.

use organza_infer::Evidence;
use organza_infer::methods::{
    Gibbs, GibbsSampler, IndividualDensity, MarginalDensity, Moments, Naive, Quadrature,
};
use organza_mcmc::{Draws, Kernel, Plan, run};

use super::problem::Problem;
use organza_studies::generator;

/// A method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// The posterior of the exact sums.
    NonPrivate,
    /// Noisy sums taken for the exact ones.
    Naive,
    /// Half of the budget for noisy fourth moments of the feature.
    GibbsNoisy,
    /// Moments of the feature from the prior.
    GibbsPrior,
    /// Moments of the feature learnt.
    GibbsUpdate,
    /// Latent records.
    Individual,
    /// Not in the paper: isometric Gaussian noise, the sums integrated out.
    Marginal,
}

/// Delta of Gaussian noise.
pub const DELTA: f64 = 1e-6;
/// Independent draws, and those of NUTS.
const DRAWS: usize = 2_000;
/// Steps before them.
const NUTS_WARMUP: usize = 500;

impl Method {
    /// Our word for it.
    pub fn word(self) -> &'static str {
        match self {
            Method::NonPrivate => "non-private",
            Method::Naive => "naive",
            Method::GibbsNoisy => "gibbs-noisy",
            Method::GibbsPrior => "gibbs-prior",
            Method::GibbsUpdate => "gibbs-update",
            Method::Individual => "individual",
            Method::Marginal => "marginal",
        }
    }

    /// The paper's name.
    pub fn name(self) -> &'static str {
        match self {
            Method::NonPrivate => "Non-Private",
            Method::Naive => "Naive",
            Method::GibbsNoisy => "Gibbs-SS-Noisy",
            Method::GibbsPrior => "Gibbs-SS-Prior",
            Method::GibbsUpdate => "Gibbs-SS-Update",
            Method::Individual => "MCMC-Ind",
            Method::Marginal => "marginal (ours)",
        }
    }

    /// Colour in pictures.
    pub fn colour(self) -> usize {
        match self {
            Method::NonPrivate => 6,
            Method::Naive => 1,
            Method::GibbsNoisy => 4,
            Method::GibbsPrior => 3,
            Method::GibbsUpdate => 0,
            Method::Individual => 2,
            Method::Marginal => 7,
        }
    }

    /// Whether it counts the noise.
    pub fn is_noise_aware(self) -> bool {
        !matches!(self, Method::NonPrivate | Method::Naive)
    }

    /// Whether it is used for so many records: the paper has latent records up to 100.
    pub fn accepts(self, records: u64) -> bool {
        self != Method::Individual || records <= 100
    }

    /// Draws of intercept, slope and residual variance in normalised units. `length` shortens the chains of the paper.
    pub fn draws(self, problem: &Problem, seed: u64, length: Length) -> Result<Vec<[f64; 3]>, String> {
        // Methods with the same mechanism see the same noise.
        let mut rng = generator(seed, 1);
        let text = |error: organza_infer::InferError| error.to_string();
        let Problem { prior, sums, .. } = problem;
        let gibbs = |evidence: &Evidence, prior, moments| {
            let target = Gibbs::new(evidence, prior, moments).map_err(text)?;
            chain(&GibbsSampler, &target, length.gibbs(sums.records, seed))
        };
        match self {
            Method::NonPrivate | Method::Naive => {
                let private = self == Method::Naive;
                let evidence = if private { problem.noisy(1.0, &mut rng) } else { problem.exact() }?;
                let target = Naive::posterior(&evidence, prior).map_err(text)?;
                chain(&Quadrature, &target, length.independent(seed))
            }
            Method::GibbsUpdate => gibbs(&problem.noisy(1.0, &mut rng)?, prior, Moments::Update),
            Method::GibbsPrior => {
                gibbs(&problem.noisy(1.0, &mut rng)?, &problem.moments_prior, Moments::Prior)
            }
            Method::GibbsNoisy => {
                let evidence = problem.noisy(0.5, &mut rng)?;
                let fourth = problem.fourth_moments(0.5, &mut rng)?;
                gibbs(&evidence, prior, Moments::Noisy(fourth))
            }
            Method::Individual => {
                let target = IndividualDensity::new(&problem.noisy(1.0, &mut rng)?, prior).map_err(text)?;
                let plan = length.nuts(seed);
                chain(&target.sampler(&plan), &&target, plan)
            }
            Method::Marginal => {
                let target =
                    MarginalDensity::new(&problem.gaussian(DELTA, &mut rng)?, prior).map_err(text)?;
                let plan = length.nuts(seed);
                chain(&target.sampler(&plan), &&target, plan)
            }
        }
    }
}

/// Lengths of chains. \[BS19\] section 4.1
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Length {
    /// Draws of a Gibbs sampler.
    pub gibbs: usize,
}

impl Length {
    /// Those of the paper.
    pub const PUBLISHED: Length = Length { gibbs: 20_000 };

    /// 5,000 steps before the draws, 20,000 for a thousand records.
    fn gibbs(self, records: u64, seed: u64) -> Plan {
        let warmup = if records < 1000 { self.gibbs / 4 } else { self.gibbs };
        Plan { chains: 1, warmup, draws: self.gibbs, thin: 1, seed, threads: 1 }
    }

    fn nuts(self, seed: u64) -> Plan {
        Plan { warmup: NUTS_WARMUP, ..self.independent(seed) }
    }

    fn independent(self, seed: u64) -> Plan {
        Plan { chains: 1, warmup: 0, draws: DRAWS, thin: 1, seed, threads: 1 }
    }
}

fn chain<T: Sync, K: Kernel<T>>(kernel: &K, target: &T, plan: Plan) -> Result<Vec<[f64; 3]>, String> {
    let draws: Draws = run(kernel, target, &plan).map_err(|error| error.to_string())?;
    let rows = draws.values().chunks_exact(draws.names().len());
    Ok(rows.map(|row| [row[0], row[1], row[2]]).collect())
}

#[cfg(test)]
mod tests {
    use super::super::simulate::Setting;
    use super::*;
    use crate::reproduce::Variant;

    const ALL: [Method; 7] = [
        Method::NonPrivate,
        Method::Naive,
        Method::GibbsNoisy,
        Method::GibbsPrior,
        Method::GibbsUpdate,
        Method::Individual,
        Method::Marginal,
    ];

    fn means(draws: &[[f64; 3]]) -> [f64; 3] {
        std::array::from_fn(|k| draws.iter().map(|draw| draw[k]).sum::<f64>() / draws.len() as f64)
    }

    /// Without privacy the posterior has the closed form of \[BS19\] Eq. (1), by hand for two coefficients. Six standard errors: catches a
    /// prior in other units and coefficients in another order.
    #[test]
    fn without_privacy_it_is_the_closed_form() {
        let setting = Setting::new(Variant::Published);
        let (_, problem) = setting.simulate(40, 1.0, &mut generator(5, 0)).unwrap();
        let draws = Method::NonPrivate.draws(&problem, 5, Length::PUBLISHED).unwrap();
        let unit = [8.0, 8.0];
        let [n, x, y, _, xx, xy, _, _, yy] = problem.sums.gram;
        let (x, y, xx, xy, yy) =
            (x * unit[0], y * unit[1], xx * 64.0, xy * unit[0] * unit[1], yy * unit[1] * unit[1]);
        let precision = 0.5 / 19.0;
        let (a, b, c) = (n + precision, x, xx + precision);
        let determinant = a * c - b * b;
        let (intercept, slope) = ((c * y - b * xy) / determinant, (a * xy - b * y) / determinant);
        let rate = 0.5 + 0.5 * (yy - intercept * y - slope * xy);
        let variance = rate / (20.0 + 0.5 * n - 1.0);
        let found = means(&draws.iter().map(|draw| setting.to_users(draw)).collect::<Vec<_>>());
        let errors = [
            (variance * a / determinant / 2000.0).sqrt(),
            (variance * c / determinant / 2000.0).sqrt(),
            variance / (19.0 + 0.5 * n).sqrt() / 2000_f64.sqrt(),
        ];
        for ((found, expected), error) in found.iter().zip([slope, intercept, variance]).zip(errors) {
            assert!((found - expected).abs() < 6.0 * error, "{found} {expected} {error}");
        }
    }

    /// With little noise and many records all methods agree: catches noise in other units than the sums, fourth moments in another order.
    #[test]
    fn with_little_noise_all_agree() {
        for variant in [Variant::Published, Variant::Ours] {
            let setting = Setting::new(variant);
            let (_, problem) = setting.simulate(100, 1e5, &mut generator(1, 0)).unwrap();
            let mut expected = [0.0; 3];
            // Gaussian noise is always made for the bounds, which are beyond all records in the published setting; `individual` is slow.
            let left_out = if variant == Variant::Ours { Method::Individual } else { Method::Marginal };
            let counts = |method: &Method| *method != left_out;
            for method in ALL.into_iter().filter(counts) {
                let draws = method.draws(&problem, 3, Length { gibbs: 2_000 }).unwrap();
                let users: Vec<[f64; 3]> = draws.iter().map(|draw| setting.to_users(draw)).collect();
                let found = means(&users);
                if method == Method::NonPrivate {
                    expected = found;
                }
                for (k, (found, expected)) in found.iter().zip(expected).enumerate() {
                    let tolerance = [0.05, 0.02, 0.002][k];
                    assert!(
                        (found - expected).abs() < tolerance,
                        "{variant:?} {method:?} {k}: {found} {expected}"
                    );
                }
            }
        }
    }
}
