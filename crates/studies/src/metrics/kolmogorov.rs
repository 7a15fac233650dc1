//! The test of Kolmogorov and Smirnov, with exact p-values for one sample (Marsaglia, Tsang and Wang 2003).

/// A statistic and its p-value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KolmogorovSmirnov {
    /// Largest distance between distribution functions.
    pub statistic: f64,
    /// Probability of at least this distance if the laws are the same.
    pub p_value: f64,
}

/// A sample against a continuous law; the p-value is exact up to 10,000 values, else the limit law's.
pub fn kolmogorov_smirnov(sample: &[f64], distribution: impl Fn(f64) -> f64) -> KolmogorovSmirnov {
    let mut sorted = sample.to_vec();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len() as f64;
    let distance = |(place, value): (usize, &f64)| {
        let (below, level) = (place as f64 / count, distribution(*value));
        (level - below).max(below + 1.0 / count - level)
    };
    let statistic = sorted.iter().enumerate().map(distance).fold(0.0, f64::max);
    let p_value = match sorted.len() {
        0 => f64::NAN,
        count @ 1..=10_000 => 1.0 - exact(count, statistic),
        _ => limit(statistic * count.sqrt()),
    };
    KolmogorovSmirnov { statistic, p_value: p_value.clamp(0.0, 1.0) }
}

/// P(D_n < d): with k = ceil(n d) and h = k - n d it is n! / n^n times the middle entry of the n-th power of a matrix of size 2k - 1.
fn exact(count: usize, distance: f64) -> f64 {
    let n = count as f64;
    // Far in the tail the limit has seven digits (their own short cut).
    let s = distance * distance * n;
    if s > 7.24 || (s > 3.76 && count > 99) {
        return 1.0 - 2.0 * libm::exp(-(2.000071 + 0.331 / n.sqrt() + 1.409 / n) * s);
    }
    let k = (n * distance) as usize + 1;
    let (size, h) = (2 * k - 1, k as f64 - n * distance);
    let mut power = Scaled::power(&Scaled { size, values: matrix(size, h), exponent: 0 }, count);
    let middle = (k - 1) * size + k - 1;
    for i in 1..=count {
        power.values[middle] *= i as f64 / n;
        if power.values[middle] < 1e-140 {
            power.values[middle] *= 1e140;
            power.exponent -= 140;
        }
    }
    power.values[middle] * libm::pow(10.0, f64::from(power.exponent))
}

fn matrix(size: usize, h: f64) -> Vec<f64> {
    let mut values: Vec<f64> =
        (0..size * size).map(|place| if place / size + 1 >= place % size { 1.0 } else { 0.0 }).collect();
    for i in 0..size {
        values[i * size] -= libm::pow(h, (i + 1) as f64);
        values[(size - 1) * size + i] -= libm::pow(h, (size - i) as f64);
    }
    values[(size - 1) * size] += if 2.0 * h > 1.0 { libm::pow(2.0 * h - 1.0, size as f64) } else { 0.0 };
    for i in 0..size {
        for j in 0..=i.min(size - 1) {
            (1..=i + 1 - j).for_each(|g| values[i * size + j] /= g as f64);
        }
    }
    values
}

/// A matrix times a power of ten: powers of it overflow otherwise.
#[derive(Clone)]
struct Scaled {
    size: usize,
    values: Vec<f64>,
    exponent: i32,
}

impl Scaled {
    fn power(&self, exponent: usize) -> Scaled {
        if exponent == 1 {
            return self.clone();
        }
        let half = self.power(exponent / 2);
        let square = half.times(&half);
        if exponent.is_multiple_of(2) { square } else { square.times(self) }
    }

    fn times(&self, other: &Scaled) -> Scaled {
        let size = self.size;
        let mut values = vec![0.0; size * size];
        for (row, left) in values.chunks_exact_mut(size).zip(self.values.chunks_exact(size)) {
            for (factor, right) in left.iter().zip(other.values.chunks_exact(size)) {
                row.iter_mut().zip(right).for_each(|(sum, value)| *sum += factor * value);
            }
        }
        let mut product = Scaled { size, values, exponent: self.exponent + other.exponent };
        if product.values[size / 2 * size + size / 2] > 1e140 {
            product.values.iter_mut().for_each(|value| *value *= 1e-140);
            product.exponent += 140;
        }
        product
    }
}

/// P(K > x) of the limit law.
fn limit(x: f64) -> f64 {
    if x < 0.2 {
        return 1.0;
    }
    let term = |k: f64| {
        let sign = if k as i64 % 2 == 1 { 1.0 } else { -1.0 };
        sign * libm::exp(-2.0 * k * k * x * x)
    };
    (2.0 * (1..=100).map(f64::from).map(term).sum::<f64>()).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 0.1, 0.2, 0.9 against the uniform law has its largest gap at 0.2, where the step ends at 2/3.
    #[test]
    fn a_statistic_by_hand() {
        let found = kolmogorov_smirnov(&[0.9, 0.1, 0.2], |x| x);
        assert!((found.statistic - (2.0 / 3.0 - 0.2)).abs() < 1e-15);
        // P(D_1 < d) = 2d - 1 for d in [1/2, 1].
        let one = kolmogorov_smirnov(&[0.2], |x| x);
        assert!((one.statistic - 0.8).abs() < 1e-15 && (one.p_value - 0.4).abs() < 1e-12, "{one:?}");
    }

    /// Their own example, P(D_10 < 0.274) = 0.6284796154565..., and closed forms: P(D_n < d) = n! (2d - 1/n)^n for d in [1/2n, 1/n].
    #[test]
    fn distribution_by_known_values() {
        assert!((exact(10, 0.274) - 0.628_479_615_456_5).abs() < 1e-12, "{}", exact(10, 0.274));
        for (count, factorial) in [(2_usize, 2.0), (3, 6.0), (5, 120.0)] {
            let n = count as f64;
            let d = 0.8 / n;
            let expected = factorial * (2.0 * d - 1.0 / n).powi(count as i32);
            assert!((exact(count, d) - expected).abs() < 1e-12, "{count}");
        }
        // SciPy 1.17, `kstwo.sf`, which itself approximates to about six digits here.
        for (count, x, expected) in
            [(150_usize, 0.9, 0.374_556_4), (160, 1.36, 0.045_852_17), (5000, 1.36, 0.048_848_56)]
        {
            let found = 1.0 - exact(count, x / (count as f64).sqrt());
            assert!((found - expected).abs() < 1e-5, "{count}: {found}, {expected}");
        }
        assert!((limit(1.3581) - 0.05).abs() < 1e-4);
    }
}
