//! The generator behind the authors' records: Threefry-2x32 (Salmon et al. 2011) with twenty rounds, and how JAX 0.2.13 used it.
//!
//! Their seeds are in their code, so their records can be had without it. Later releases of JAX draw other numbers from the same seeds.

use organza_mcmc::normal_quantile;

const ROTATIONS: [[u32; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];

/// A key: a stream of random numbers, each of which is a function of its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key([u32; 2]);

impl Key {
    pub(super) fn new(seed: u32) -> Self {
        Self([0, seed])
    }

    /// The block of two counters.
    fn block(self, counters: [u32; 2]) -> [u32; 2] {
        let Self([first, second]) = self;
        let keys = [first, second, first ^ second ^ 0x1BD1_1BDA];
        let mut x = [counters[0].wrapping_add(keys[0]), counters[1].wrapping_add(keys[1])];
        for round in 0..5 {
            for rotation in ROTATIONS[round % 2] {
                x[0] = x[0].wrapping_add(x[1]);
                x[1] = x[1].rotate_left(rotation) ^ x[0];
            }
            x[0] = x[0].wrapping_add(keys[(round + 1) % 3]);
            x[1] = x[1].wrapping_add(keys[(round + 2) % 3]).wrapping_add(round as u32 + 1);
        }
        x
    }

    /// So many new keys.
    pub(super) fn split(self, count: u32) -> Vec<Key> {
        let blocks: Vec<[u32; 2]> = (0..count).map(|index| self.block([index, count + index])).collect();
        // First all first halves, then all second halves, and these in pairs.
        let halves: Vec<u32> =
            [0, 1].into_iter().flat_map(|half| blocks.iter().map(move |block| block[half])).collect();
        halves.chunks_exact(2).map(|pair| Key([pair[0], pair[1]])).collect()
    }

    /// The numbers between 0 and 1 of an array of so many.
    pub(super) fn uniforms(self, count: u32) -> impl Iterator<Item = f64> {
        (0..count).map(move |index| {
            let [high, low] = self.block([index, count + index]);
            let bits = (u64::from(high) << 32) | u64::from(low);
            (bits >> 12) as f64 / (1u64 << 52) as f64
        })
    }

    /// The standard normal numbers of an array of so many: sqrt(2) erfinv(u) for u uniform between -1 and 1.
    pub(super) fn normals(self, count: u32) -> impl Iterator<Item = f64> {
        self.uniforms(count).map(|uniform| normal_quantile(uniform.max(f64::MIN_POSITIVE)))
    }

    /// One uniform number.
    pub(super) fn uniform(self) -> f64 {
        self.uniforms(1).sum()
    }

    /// One Gamma(shape, 1) for a shape below 1, by the method of Marsaglia and Tsang (2000).
    pub(super) fn gamma(self, shape: f64) -> f64 {
        let pair = self.split(2);
        let boost = libm::pow(pair[1].uniform(), 1.0 / shape);
        let d = shape + 1.0 - 1.0 / 3.0;
        let c = 1.0 / 3.0 / d.sqrt();
        let mut key = pair[0];
        loop {
            let keys = key.split(3);
            key = keys[0];
            let (x, v) = keys[1].normal_with_positive(c);
            let (square, cube) = (x * x, v * v * v);
            let u = keys[2].uniform();
            if u < 1.0 - 0.0331 * square * square
                || libm::log(u) < 0.5 * square + d * (1.0 - cube + libm::log(cube))
            {
                return d * cube * boost;
            }
        }
    }

    /// A normal x with 1 + c x > 0, and that number.
    fn normal_with_positive(self, c: f64) -> (f64, f64) {
        let mut key = self;
        loop {
            let pair = key.split(2);
            key = pair[0];
            let x: f64 = pair[1].normals(1).sum();
            if 1.0 + c * x > 0.0 {
                return (x, 1.0 + c * x);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that JAX drew.
    #[test]
    fn keys_and_numbers_are_those_of_jax() {
        let key = Key::new(43_247);
        let three =
            [[2_319_829_394, 3_089_276_917], [3_504_182_308, 1_661_392_343], [891_081_558, 2_782_819_260]];
        assert_eq!(key.split(3), three.map(Key));
        assert_eq!(key.split(2), [[984_863_992, 602_199_324], [1_837_319_995, 1_449_972_373]].map(Key));
        let uniforms: Vec<f64> = key.uniforms(5).take(3).collect();
        assert_eq!(uniforms, [0.38453282898678287, 0.8284832018788868, 0.7894487072216159]);
        assert_eq!(key.uniform(), 0.5729614434304886);
        for (found, expected) in key.normals(5).skip(3).zip([1.002087797637768, -0.8133598469882071]) {
            assert!((found - expected).abs() < 1e-14, "{found} instead of {expected}");
        }
    }
}
