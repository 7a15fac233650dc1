//! An integer-valued matrix that `run.py` can make too.

/// Columns one after another.
pub struct Matrix {
    pub values: Vec<f64>,
    pub rows: usize,
    pub dimension: usize,
}

impl Matrix {
    pub fn new(rows: usize, dimension: usize) -> Self {
        let mut values = Vec::with_capacity(rows * dimension);
        for column in 0..dimension as u64 {
            values.extend((0..rows as u64).map(|row| entry(row * dimension as u64 + column)));
        }
        Self { values, rows, dimension }
    }

    pub fn columns(&self) -> Vec<&[f64]> {
        self.values.chunks_exact(self.rows.max(1)).collect()
    }
}

/// A hash of the place, between -65,536 and 65,535.
fn entry(place: u64) -> f64 {
    let mut hash = (place + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    hash ^= hash >> 31;
    hash = hash.wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (hash >> 47) as f64 - 65_536.0
}
