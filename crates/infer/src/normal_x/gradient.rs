//! The gradient of the marginal posterior, by hand.
//!
//! With G_j the derivative of the log density with respect to S_j, d ln p = tr(G_j dS_j), and S = L L', L = E T, the derivative
//! with respect to T is the lower triangle of 2 E'G L. Integrating theta out means averaging the derivative of ln N(z; S theta, V)
//! over theta ~ N(t, P^-1): with N = S V^-1, W = P^-1 N and q = V^-1 (z - S t)
//!
//! ```text
//! G = sym(t q') - sym(W) + sigma^2/2 (q q' + N'W - V^-1) - (S - S-hat) / noise - (kappa + n)/2 (Lambda_0 + sum S_j)^-1,
//! ```
//!
//! where the noise counts every entry of one triangle once. The derivative with respect to ln sigma^2 is the sum over parties of
//! sigma^2/2 times the trace of S (q q' + N'W - V^-1), and that of the prior.

use super::coordinates::count;
use super::density::NormalXDensity;
use super::factor::{inner_product, mirror_lower, transposed_product};
use super::observed::Observed;
use super::workspace::{Evaluated, Workspace};
use crate::linalg::{dot, invert_lower, multiply, quadratic_form};

impl NormalXDensity {
    /// Writes the gradient at the point that was evaluated last.
    pub(super) fn differentiate(&self, workspace: &mut Workspace, gradient: &mut [f64]) {
        let (model, size) = (&self.model, self.model.dimension());
        invert_factor(&mut workspace.total, &mut workspace.matrix, size);
        workspace.total.iter_mut().for_each(|value| *value *= -0.5 * model.degrees);
        invert_factor(&mut workspace.precision, &mut workspace.matrix, size);
        let mut sum = self.differentiate_prior(workspace);
        let last = gradient.len() - 1;
        for (place, gradient) in gradient[..last].chunks_exact_mut(count(size, model.constant)).enumerate() {
            sum += differentiate_party(&model.parties[place], workspace, place);
            pull_back(&model.parties[place], workspace, place, gradient);
        }
        gradient[last] = self.unit * sum;
    }

    /// Derivative of the prior of sigma^2, and of theta given it, with respect to ln sigma^2.
    fn differentiate_prior(&self, workspace: &Workspace) -> f64 {
        let prior = &self.model.prior;
        let ((shape, rate), variance) = (prior.variance(), workspace.variance);
        let own = rate / variance - shape;
        if !prior.is_conjugate() {
            return own;
        }
        let spread: f64 = prior.precision().iter().zip(&workspace.precision).map(|(c, p)| c * p).sum();
        let distance = crate::fixed_gram::prior_distance(prior, &workspace.theta);
        own + 0.5 * ((distance + spread) / variance - prior.dimension() as f64)
    }
}

/// Replaces a lower factor by the inverse of its matrix.
fn invert_factor(factor: &mut [f64], scratch: &mut [f64], size: usize) {
    invert_lower(factor, scratch, size);
    transposed_product(scratch, factor, size);
    mirror_lower(factor, size);
}

/// G of one party into `curvature`; the derivative with respect to ln sigma^2 is returned.
fn differentiate_party(party: &Observed, workspace: &mut Workspace, place: usize) -> f64 {
    let size = party.cross.len();
    let Evaluated { gram, inverse, lever, .. } = &workspace.parties[place];
    let (product, weighted, out) = (&mut workspace.matrix, &mut workspace.other, &mut workspace.curvature);
    // N = (K S)'K with K the inverse of the factor of V.
    product.fill(0.0);
    for (k, (row, line)) in lever.chunks_exact(size).zip(inverse.chunks_exact(size)).enumerate() {
        for (factor, target) in row.iter().zip(product.chunks_exact_mut(size)) {
            target[..=k].iter_mut().zip(line).for_each(|(sum, value)| *sum += factor * value);
        }
    }
    multiply(&workspace.precision, product, weighted, size);
    // N'W - V^-1, lower triangle.
    transposed_product(inverse, out, size);
    out.iter_mut().for_each(|value| *value = -*value);
    for (row, line) in product.chunks_exact(size).zip(weighted.chunks_exact(size)) {
        for (k, factor) in row.iter().enumerate() {
            out[k * size..=k * size + k].iter_mut().zip(line).for_each(|(sum, value)| *sum += factor * value);
        }
    }
    let q = &mut workspace.vector;
    q.fill(0.0);
    for (line, row) in inverse.chunks_exact(size).zip(lever.chunks_exact(size)) {
        let standardised = dot(line, &party.cross) - dot(row, &workspace.theta);
        q.iter_mut().zip(line).for_each(|(sum, value)| *sum += standardised * value);
    }
    let by_variance = 0.5 * workspace.variance * (quadratic_form(gram, q) + inner_product(out, gram, size));
    complete(party, workspace, place);
    by_variance
}

/// Adds the other terms of G to N'W - V^-1.
fn complete(party: &Observed, workspace: &mut Workspace, place: usize) {
    let size = party.cross.len();
    let (gram, weighted, out) = (&workspace.parties[place].gram, &workspace.other, &mut workspace.curvature);
    let (q, theta, half) = (&workspace.vector, &workspace.theta, 0.5 * workspace.variance);
    for row in 0..size {
        for column in 0..=row {
            let k = row * size + column;
            let pull = (gram[k] - party.gram[k]) * party.precision[k];
            let mixed =
                theta[row] * q[column] + theta[column] * q[row] - weighted[k] - weighted[column * size + row];
            let noise = if row == column { pull } else { 0.5 * pull };
            out[k] = half * (out[k] + q[row] * q[column]) + 0.5 * mixed - noise + workspace.total[k];
        }
    }
    mirror_lower(out, size);
}

/// From G to the coordinates: the lower triangle of 2 E'G L, in their units; on the diagonal by the logarithm, with the term
/// (n - i) ln T_ii.
fn pull_back(party: &Observed, workspace: &mut Workspace, place: usize, gradient: &mut [f64]) {
    let size = party.cross.len();
    let constant = size * (size + 1) / 2 - gradient.len();
    let lower = &workspace.parties[place].lower;
    let (image, out) = (&mut workspace.matrix, &mut workspace.other);
    // G L.
    for (target, row) in image.chunks_exact_mut(size).zip(workspace.curvature.chunks_exact(size)) {
        target.fill(0.0);
        for (k, (factor, line)) in row.iter().zip(lower.chunks_exact(size)).enumerate() {
            target[..=k].iter_mut().zip(line).for_each(|(sum, value)| *sum += factor * value);
        }
    }
    // The lower triangle of E' times that.
    out.fill(0.0);
    for (k, (row, line)) in party.estimate.chunks_exact(size).zip(image.chunks_exact(size)).enumerate() {
        for (i, factor) in row[..=k].iter().enumerate() {
            out[i * size..=i * size + i].iter_mut().zip(line).for_each(|(sum, value)| *sum += factor * value);
        }
    }
    let mut rest = gradient;
    for row in constant..size {
        let (values, next) = rest.split_at_mut(row + 1);
        rest = next;
        let line = row * size..row * size + row + 1;
        let diagonal = row * size + row;
        out[diagonal] *= lower[diagonal] / party.estimate[diagonal];
        out[diagonal] += 0.5 * (party.records - row as f64);
        let terms = out[line.clone()].iter().zip(&party.spread[line]);
        values.iter_mut().zip(terms).for_each(|(value, (term, spread))| *value = 2.0 * term * spread);
    }
}
