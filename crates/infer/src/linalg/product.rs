//! Products. Inner loops run over contiguous rows.

/// x'y. Four running sums: the compiler may not reorder floating-point additions itself.
#[inline]
pub(crate) fn dot(left: &[f64], right: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (a, b) = (left.chunks_exact(4), right.chunks_exact(4));
    let rest: f64 = a.remainder().iter().zip(b.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in a.zip(b) {
        for k in 0..4 {
            sums[k] += x[k] * y[k];
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// out = A x.
pub(crate) fn matrix_vector(matrix: &[f64], vector: &[f64], out: &mut [f64]) {
    for (value, row) in out.iter_mut().zip(matrix.chunks_exact(vector.len())) {
        *value = dot(row, vector);
    }
}

/// x' A x.
pub(crate) fn quadratic_form(matrix: &[f64], vector: &[f64]) -> f64 {
    matrix.chunks_exact(vector.len()).zip(vector).map(|(row, value)| value * dot(row, vector)).sum()
}

/// out = A B.
pub(crate) fn multiply(a: &[f64], b: &[f64], out: &mut [f64], size: usize) {
    for (target, row) in out.chunks_exact_mut(size).zip(a.chunks_exact(size)) {
        target.fill(0.0);
        for (factor, other) in row.iter().zip(b.chunks_exact(size)) {
            target.iter_mut().zip(other).for_each(|(sum, value)| *sum += factor * value);
        }
    }
}

/// out = A B'.
pub(crate) fn multiply_by_transpose(a: &[f64], b: &[f64], out: &mut [f64], size: usize) {
    for (target, row) in out.chunks_exact_mut(size).zip(a.chunks_exact(size)) {
        for (value, other) in target.iter_mut().zip(b.chunks_exact(size)) {
            *value = dot(row, other);
        }
    }
}

/// out = A' B.
pub(crate) fn transpose_multiply(a: &[f64], b: &[f64], out: &mut [f64], size: usize) {
    out[..size * size].fill(0.0);
    for (row, other) in a.chunks_exact(size).zip(b.chunks_exact(size)) {
        for (factor, target) in row.iter().zip(out.chunks_exact_mut(size)) {
            target.iter_mut().zip(other).for_each(|(sum, value)| *sum += factor * value);
        }
    }
}

/// out = T A T' for a symmetric A, exactly symmetric; `scratch` has the size of a matrix.
pub(crate) fn congruence(t: &[f64], a: &[f64], out: &mut [f64], scratch: &mut [f64], size: usize) {
    multiply(t, a, scratch, size);
    for row in 0..size {
        for column in 0..=row {
            let value = dot(&scratch[row * size..(row + 1) * size], &t[column * size..(column + 1) * size]);
            out[row * size + column] = value;
            out[column * size + row] = value;
        }
    }
}

/// Copies the upper triangle onto the lower one.
pub(crate) fn symmetrise(matrix: &mut [f64], size: usize) {
    for row in 0..size {
        for column in 0..row {
            matrix[row * size + column] = matrix[column * size + row];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_agree_with_their_definitions() {
        let size = 5;
        let a: Vec<f64> = (0..25).map(|k| ((k * 7) % 11) as f64 - 4.0).collect();
        let b: Vec<f64> = (0..25).map(|k| ((k * 5) % 13) as f64 - 6.0).collect();
        let entry = |f: &dyn Fn(usize) -> f64| (0..size).map(f).sum::<f64>();
        let mut out = vec![f64::NAN; 25];
        let check = |kind: &str, out: &[f64]| {
            for i in 0..size {
                for j in 0..size {
                    let want = match kind {
                        "ab" => entry(&|k| a[i * 5 + k] * b[k * 5 + j]),
                        "abt" => entry(&|k| a[i * 5 + k] * b[j * 5 + k]),
                        _ => entry(&|k| a[k * 5 + i] * b[k * 5 + j]),
                    };
                    assert_eq!(out[i * 5 + j], want, "{kind} {i} {j}");
                }
            }
        };
        multiply(&a, &b, &mut out, size);
        check("ab", &out);
        multiply_by_transpose(&a, &b, &mut out, size);
        check("abt", &out);
        transpose_multiply(&a, &b, &mut out, size);
        check("atb", &out);
        let mut symmetric = b.clone();
        symmetrise(&mut symmetric, size);
        let (mut scratch, mut product) = (vec![0.0; 25], vec![0.0; 25]);
        congruence(&a, &symmetric, &mut out, &mut scratch, size);
        multiply(&a, &symmetric, &mut scratch, size);
        multiply_by_transpose(&scratch, &a, &mut product, size);
        assert_eq!(out, product);
        let vector = &a[..5];
        let mut image = vec![0.0; 5];
        matrix_vector(&symmetric, vector, &mut image);
        assert_eq!(quadratic_form(&symmetric, vector), dot(&image, vector));
    }
}
