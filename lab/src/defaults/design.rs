//! Synthetic problems: marginals, correlation, badly known bounds, signal strength, size and budget at random.
//!
//! Features and response are standardised, so users' units are standard deviations.

use super::table::{Bounds, Problem, Table, Truth};
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
    curve: Option<Curve>,
    noise_sd: f64,
}

/// What the response has beside a line: the square of a feature, or of the line itself.
#[derive(Clone, Copy)]
struct Curve {
    feature: Option<usize>,
    weight: f64,
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
            if let Some(Curve { feature, weight }) = self.curve {
                let bent = feature.map_or(y, |k| raw[raw.len() - self.slopes.len() + k]);
                y += weight * bent * bent;
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

    /// Bends the truth: this share of what is explained is a square. A 0/1 feature has no square of its own.
    fn bend(&mut self, share: f64, rng: &mut ChaCha8Rng) {
        let feature = rng.random_range(0..self.slopes.len());
        let curved = rng.random_bool(0.5) && !matches!(self.marginals[feature], Marginal::Binary(..));
        let feature = curved.then_some(feature);
        let (columns, noise_sd) = (self.slopes.len() + 1, std::mem::take(&mut self.noise_sd));
        let raw = self.records(TEST_RECORDS, rng);
        let column =
            |k: usize, power: i32| raw.chunks_exact(columns).map(move |row| row[k].powi(power)).collect();
        let (signal, square) =
            (variance(column(columns - 1, 1)), variance(column(feature.unwrap_or(columns - 1), 2)));
        let kept = (1.0 - share).sqrt();
        self.slopes.iter_mut().for_each(|slope| *slope *= kept);
        let shrunk = if feature.is_some() { 1.0 } else { kept.powi(4) };
        self.curve = Some(Curve { feature, weight: (share * signal / (square * shrunk)).sqrt() });
        self.noise_sd = noise_sd;
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

fn variance(values: Vec<f64>) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n
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
        let mut design =
            Design { marginals, bounds: all_bounds, autoregression, slopes, curve: None, noise_sd: 0.0 };
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

/// A problem whose truth may be curved and whose answer is least squares on its own clamped records, without weights.
pub fn curved_problem(d: usize, intercept: bool, (seed, index): (u64, usize)) -> Option<Problem> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream((d * 100_000 + index) as u64);
    let n = [1_000, 10_000, 100_000, 1_000_000][index % 4];
    let epsilon = [0.1, 1.0, 5.0][index / 4 % 3];
    let traits = Traits::draw(intercept, &[0.2, 0.5, 0.9], &mut rng);
    let mut design = traits.design(d, intercept, &mut rng);
    let curvature = if rng.random_bool(0.5) { pick(&[0.02, 0.05, 0.1, 0.2], 0.1, &mut rng) } else { 0.0 };
    if curvature > 0.0 {
        design.bend(curvature, &mut rng);
    }
    let booleans = design.marginals.iter().filter(|m| matches!(m, Marginal::Binary(..))).count();
    let table = Table::normalise(&design.records(n, &mut rng), &design.bounds, true);
    let truth = Truth::least_squares(table.moments(intercept), &design.bounds)?;
    let truth_word = if curvature > 0.0 { "curved" } else { "line" };
    let mut tags = vec![("truth", truth_word.to_string()), ("curvature", curvature.to_string())];
    tags.extend([("d", d.to_string()), ("n", n.to_string()), ("epsilon", epsilon.to_string())]);
    tags.extend(traits.tags());
    Some(Problem { table, truth, booleans, intercept, epsilon, tags })
}
