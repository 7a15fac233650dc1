//! The marginal density against the joint density of \[AYB23\] Algorithm 1, theta and Sigma_x integrated out numerically.

use organza_mcmc::LogDensity;

use super::observed::Observed;
use super::{NormalX, NormalXDensity};
use crate::Prior;

/// One party, one feature.
struct Toy {
    records: f64,
    gram: (f64, f64),
    cross: (f64, f64),
    prior: (f64, f64),
    scale: f64,
    degrees: f64,
    conjugate: bool,
}

const ESTIMATE: f64 = 1.3;
const SPREAD: f64 = 0.6;

impl Toy {
    fn density(&self) -> NormalXDensity {
        let prior = Prior::new(vec![self.prior.0], &[self.prior.1], (3.0, 0.4)).unwrap();
        let prior = if self.conjugate { prior.conjugate() } else { prior };
        let party = Observed {
            records: self.records,
            gram: vec![self.gram.0],
            precision: vec![self.gram.1.powi(-2)],
            cross: vec![self.cross.0],
            cross_variance: vec![self.cross.1.powi(2)],
            estimate: vec![ESTIMATE],
            spread: vec![SPREAD],
        };
        NormalXDensity::new(NormalX {
            parties: vec![party],
            shift: prior.shift(),
            prior,
            scale: vec![self.scale],
            degrees: self.degrees + self.records,
            constant: 0,
            scaled_constant: false,
        })
    }

    /// The joint density of everything, factor by factor.
    fn joint(&self, s: f64, variance: f64, theta: f64, sigma: f64) -> f64 {
        let normal =
            |x: f64, mean: f64, variance: f64| (-0.5 * (x - mean).powi(2) / variance).exp() / variance.sqrt();
        let inverse_gamma = variance.powf(-4.0) * (-0.4 / variance).exp();
        let coefficients =
            normal(theta, self.prior.0, if self.conjugate { variance } else { 1.0 } * self.prior.1);
        let inverse_wishart = sigma.powf(-0.5 * (self.degrees + 2.0)) * (-0.5 * self.scale / sigma).exp();
        let wishart =
            s.powf(0.5 * (self.records - 2.0)) * sigma.powf(-0.5 * self.records) * (-0.5 * s / sigma).exp();
        let noise = normal(self.gram.0, s, self.gram.1.powi(2));
        let fit = normal(self.cross.0, s * theta, variance * s + self.cross.1.powi(2));
        inverse_gamma * coefficients * inverse_wishart * wishart * noise * fit
    }

    /// ln of the joint density, summed over grids of theta and ln Sigma_x.
    fn log_marginal(&self, s: f64, variance: f64) -> f64 {
        let mut sum = 0.0;
        for i in 0..400 {
            let sigma = (-12.0 + 0.05 * f64::from(i)).exp();
            sum += (0..600)
                .map(|j| self.joint(s, variance, -6.0 + 0.02 * f64::from(j), sigma) * sigma)
                .sum::<f64>();
        }
        sum.ln()
    }
}

/// Seen to catch: the Jacobian of ln sigma^2 or of ln T_ii, the determinant of the conjugate prior, and the power of |Lambda + S|.
#[test]
fn the_marginal_density_is_the_integral_of_the_joint_density() {
    for conjugate in [false, true] {
        let toy = Toy {
            records: 9.0,
            gram: (1.8, 0.7),
            cross: (0.9, 0.4),
            prior: (0.2, 0.6),
            scale: 0.5,
            degrees: 3.5,
            conjugate,
        };
        let density = toy.density();
        let (centre, unit) = ((0.4_f64 / 3.0).ln(), 1.0 / 3.0_f64.sqrt());
        let difference = |point: [f64; 2]| {
            let s = (ESTIMATE * (SPREAD * point[0]).exp()).powi(2);
            let variance = (centre + unit * point[1]).exp();
            // Densities of the coordinates: dS = 2 spread S dx, d sigma^2 = unit sigma^2 dx.
            density.log_density(&point) - (toy.log_marginal(s, variance) + s.ln() + variance.ln())
        };
        let origin = difference([0.0, 0.0]);
        for point in [[0.7, -0.4], [-0.9, 0.8], [0.3, 1.6], [-1.5, -1.2]] {
            let found = difference(point) - origin;
            assert!(found.abs() < 1e-6, "{point:?}, {conjugate}: {found}");
        }
    }
}
