//! Synthetic problems: marginals, correlation, badly known bounds, signal strength, size and budget at random.
//!
//! Features and response are standardised, so users' units are standard deviations.

use crate::table::{Bounds, Problem, Table, Truth};
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng, seq::IndexedRandom};
use rand_distr::{Distribution, StandardNormal};

const TEST_RECORDS: usize = 4_000;
/// Standard deviation of the logarithm of a lognormal feature.
const LOG_SD: f64 = 0.75;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Marginal {
    Normal,
    Uniform,
    Lognormal,
    /// Threshold on the latent normal and the probability of falling below it.
    Binary(f64, f64),
}

const BINARIES: [Marginal; 3] = [
    Marginal::Binary(0.0, 0.5),
    Marginal::Binary(-0.524_400_512_7, 0.3),
    Marginal::Binary(-1.281_551_565_5, 0.1),
];

impl Marginal {
    /// Maps a standard normal to mean 0, variance 1.
    fn map(self, z: f64) -> f64 {
        match self {
            Marginal::Normal => z,
            Marginal::Uniform => 12f64.sqrt() * (0.5 * libm::erfc(-z / 2f64.sqrt()) - 0.5),
            Marginal::Lognormal => {
                let (mean, sd) = lognormal_moments();
                ((LOG_SD * z).exp() - mean) / sd
            }
            Marginal::Binary(threshold, p) => {
                (f64::from(u8::from(z < threshold)) - p) / (p * (1.0 - p)).sqrt()
            }
        }
    }
}

fn lognormal_moments() -> (f64, f64) {
    let mean = (LOG_SD * LOG_SD / 2.0).exp();
    (mean, mean * ((LOG_SD * LOG_SD).exp() - 1.0).sqrt())
}

struct Design {
    marginals: Vec<Marginal>,
    bounds: Vec<Bounds>,
    autoregression: f64,
    slopes: Vec<f64>,
    noise_sd: f64,
}

fn pick<T: Copy>(options: &[T], fallback: T, rng: &mut ChaCha8Rng) -> T {
    options.choose(rng).copied().unwrap_or(fallback)
}

fn marginals(family: &str, d: usize, rng: &mut ChaCha8Rng) -> Vec<Marginal> {
    let one = |rng: &mut ChaCha8Rng| match family {
        "normal" => Marginal::Normal,
        "uniform" => Marginal::Uniform,
        "lognormal" => Marginal::Lognormal,
        "binary" => pick(&BINARIES, Marginal::Normal, rng),
        _ => {
            let binary = pick(&BINARIES, Marginal::Normal, rng);
            pick(&[Marginal::Normal, Marginal::Uniform, Marginal::Lognormal, binary], binary, rng)
        }
    };
    (0..d).map(|_| one(rng)).collect()
}

/// Bounds at `width` standard deviations around a centre that is off by up to `offset`, or the natural ones.
fn bounds(marginal: Marginal, width: f64, offset: f64, centred: bool, rng: &mut ChaCha8Rng) -> Bounds {
    if let Marginal::Binary(_, p) = marginal {
        let sd = (p * (1.0 - p)).sqrt();
        return if centred {
            Bounds { centre: 0.0, half_width: (1.0 - p).max(p) / sd }
        } else {
            Bounds { centre: (0.5 - p) / sd, half_width: 0.5 / sd }
        };
    }
    if marginal == Marginal::Lognormal && !centred && rng.random_bool(0.5) {
        let (mean, sd) = lognormal_moments();
        let lower = -mean / sd;
        return Bounds { centre: (lower + width) / 2.0, half_width: (width - lower) / 2.0 };
    }
    let sign = if rng.random_bool(0.5) { 1.0 } else { -1.0 };
    let centre = sign * (offset * rng.random::<f64>()).min(width - 1.0);
    Bounds { centre, half_width: width }
}

impl Design {
    fn records(&self, n: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
        let mut raw = Vec::with_capacity(n * (self.slopes.len() + 1));
        let fresh = (1.0 - self.autoregression * self.autoregression).sqrt();
        for _ in 0..n {
            let (mut z, mut y) = (0.0, 0.0);
            for (k, (marginal, slope)) in self.marginals.iter().zip(&self.slopes).enumerate() {
                let draw: f64 = StandardNormal.sample(rng);
                z = if k == 0 { draw } else { self.autoregression * z + fresh * draw };
                let x = marginal.map(z);
                y += slope * x;
                raw.push(x);
            }
            let error: f64 = StandardNormal.sample(rng);
            raw.push(y + self.noise_sd * error);
        }
        raw
    }

    /// Scales the slopes so that the response has variance 1 and the wanted share of it is explained.
    fn set_signal(&mut self, share: f64, rng: &mut ChaCha8Rng) {
        self.noise_sd = 0.0;
        let columns = self.slopes.len() + 1;
        let raw = self.records(TEST_RECORDS, rng);
        let variance = raw.chunks_exact(columns).map(|row| row[columns - 1].powi(2)).sum::<f64>();
        let factor = (share * TEST_RECORDS as f64 / variance).sqrt();
        self.slopes.iter_mut().for_each(|slope| *slope *= factor);
        self.noise_sd = (1.0 - share).sqrt();
    }

    fn truth(&self, intercept: bool, rng: &mut ChaCha8Rng) -> Truth {
        let d = self.slopes.len();
        let response = self.bounds[d];
        let mut coefficients: Vec<f64> =
            (0..d).map(|k| self.slopes[k] * self.bounds[k].half_width / response.half_width).collect();
        if intercept {
            let shift: f64 = (0..d).map(|k| self.slopes[k] * self.bounds[k].centre).sum();
            coefficients.insert(0, (shift - response.centre) / response.half_width);
        }
        let raw = self.records(TEST_RECORDS, rng);
        let mut test = Table::normalise(&raw, &self.bounds, false).moments(intercept);
        // Noise-free responses: the excess is then exactly the squared error of the regression line.
        let image = |row: &[f64]| row.iter().zip(&coefficients).map(|(a, b)| a * b).sum::<f64>();
        test.cross = test.gram.chunks_exact(test.size).map(image).collect();
        test.square = image(&test.cross);
        let feature_sd = self.bounds[..d].iter().map(|b| 1.0 / b.half_width).collect();
        let response_variance = response.half_width.powi(-2);
        Truth { coefficients, test, base: 0.0, response_variance, feature_sd }
    }
}

/// What the report groups problems by, in the order of drawing.
struct Traits {
    family: &'static str,
    width: f64,
    same_width: bool,
    offset: f64,
    share: f64,
    autoregression: f64,
}

const WIDTHS: [f64; 4] = [2.0, 3.0, 5.0, 10.0];

impl Traits {
    fn draw(intercept: bool, shares: &[f64], rng: &mut ChaCha8Rng) -> Traits {
        Traits {
            family: pick(&["normal", "uniform", "lognormal", "mixed", "mixed", "binary"], "mixed", rng),
            width: pick(&WIDTHS, 3.0, rng),
            same_width: rng.random_bool(0.5),
            offset: if intercept && rng.random_bool(0.6) { 2.0 } else { 0.0 },
            share: pick(shares, 0.5, rng),
            autoregression: pick(&[0.0, 0.5, 0.8], 0.0, rng),
        }
    }

    fn design(&self, d: usize, intercept: bool, rng: &mut ChaCha8Rng) -> Design {
        let marginals = marginals(self.family, d, rng);
        let mut all_bounds = Vec::new();
        for k in 0..=d {
            let width = if self.same_width { self.width } else { pick(&WIDTHS, 3.0, rng) };
            let marginal = marginals.get(k).copied().unwrap_or(Marginal::Normal);
            all_bounds.push(bounds(marginal, width, self.offset, !intercept, rng));
        }
        let slopes = (0..d).map(|_| StandardNormal.sample(rng)).collect();
        let autoregression = self.autoregression;
        let mut design = Design { marginals, bounds: all_bounds, autoregression, slopes, noise_sd: 0.0 };
        design.set_signal(self.share, rng);
        design
    }

    fn tags(&self) -> Vec<(&'static str, String)> {
        let width = match (self.family, self.same_width) {
            ("binary", _) => "binary".into(),
            (_, true) => self.width.to_string(),
            (_, false) => "mixed".into(),
        };
        vec![
            ("width", width),
            ("offset", if self.offset > 0.0 { "yes" } else { "no" }.into()),
            ("family", self.family.into()),
            ("R2", self.share.to_string()),
            ("correlation", self.autoregression.to_string()),
        ]
    }
}

/// The problem of number `index` for a number of features, which explain one of these shares of the variance; a seed and an index give the same problem always.
pub fn problem(d: usize, intercept: bool, shares: &[f64], (seed, index): (u64, usize)) -> Problem {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream((d * 100_000 + index) as u64);
    // Size and budget cycle, so that every number of features sees all nine pairs equally often.
    let n = [500, 5_000, 50_000][index % 3];
    let epsilon = [0.1, 1.0, 5.0][index / 3 % 3];
    let traits = Traits::draw(intercept, shares, &mut rng);
    let design = traits.design(d, intercept, &mut rng);
    let booleans = design.marginals.iter().filter(|m| matches!(m, Marginal::Binary(..))).count();
    let truth = design.truth(intercept, &mut rng);
    let table = Table::normalise(&design.records(n, &mut rng), &design.bounds, true);
    let mut tags = vec![("d", d.to_string()), ("n", n.to_string()), ("epsilon", epsilon.to_string())];
    tags.extend(traits.tags());
    Problem { table, truth, booleans, intercept, epsilon, tags }
}
