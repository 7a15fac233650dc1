//! Targets with gradients.

use organza_mcmc::{ChainRng, Gradient, LogDensity};

use super::Normal;

impl Gradient for Normal {
    fn log_density_and_gradient(&self, theta: &[f64], gradient: &mut [f64]) -> f64 {
        for ((slope, x), (mean, sd)) in gradient.iter_mut().zip(theta).zip(&self.0) {
            *slope = -(x - mean) / (sd * sd);
        }
        self.log_density(theta)
    }
}

/// A stationary autoregression: standard normal coordinates, neighbours with this correlation.
pub struct Correlated {
    pub dim: usize,
    pub correlation: f64,
}

impl LogDensity for Correlated {
    fn dim(&self) -> usize {
        self.dim
    }

    fn log_density(&self, theta: &[f64]) -> f64 {
        self.log_density_and_gradient(theta, &mut vec![0.0; theta.len()])
    }
}

impl Gradient for Correlated {
    fn log_density_and_gradient(&self, theta: &[f64], gradient: &mut [f64]) -> f64 {
        let variance = 1.0 - self.correlation * self.correlation;
        gradient[0] = -theta[0];
        let mut value = -0.5 * theta[0] * theta[0];
        for place in 1..theta.len() {
            let residual = theta[place] - self.correlation * theta[place - 1];
            value -= 0.5 * residual * residual / variance;
            gradient[place] = -residual / variance;
            gradient[place - 1] += self.correlation * residual / variance;
        }
        value
    }
}

/// Neal's funnel: v normal with standard deviation 3, the others normal with variance exp(v).
pub struct Funnel(pub usize);

impl LogDensity for Funnel {
    fn dim(&self) -> usize {
        self.0
    }

    fn log_density(&self, theta: &[f64]) -> f64 {
        self.log_density_and_gradient(theta, &mut vec![0.0; theta.len()])
    }
}

impl Gradient for Funnel {
    fn log_density_and_gradient(&self, theta: &[f64], gradient: &mut [f64]) -> f64 {
        let (v, others) = (theta[0], &theta[1..]);
        let precision = libm::exp(-v);
        let squares: f64 = others.iter().map(|x| x * x).sum();
        let number = others.len() as f64;
        gradient[0] = -v / 9.0 - 0.5 * number + 0.5 * squares * precision;
        gradient[1..].iter_mut().zip(others).for_each(|(slope, x)| *slope = -x * precision);
        -v * v / 18.0 - 0.5 * number * v - 0.5 * squares * precision
    }
}

/// A half-normal sigma, sampled as its logarithm and stored as sigma and its square.
pub struct HalfNormal;

impl LogDensity for HalfNormal {
    fn dim(&self) -> usize {
        1
    }

    fn log_density(&self, u: &[f64]) -> f64 {
        u[0] - 0.5 * libm::exp(2.0 * u[0])
    }
}

impl Gradient for HalfNormal {
    fn log_density_and_gradient(&self, u: &[f64], gradient: &mut [f64]) -> f64 {
        gradient[0] = 1.0 - libm::exp(2.0 * u[0]);
        self.log_density(u)
    }

    fn outputs(&self) -> usize {
        2
    }

    fn write_outputs(&self, u: &[f64], _rng: &mut ChainRng, outputs: &mut [f64]) {
        let sigma = libm::exp(u[0]);
        outputs.copy_from_slice(&[sigma, sigma * sigma]);
    }
}

/// A standard normal coordinate whose log density and gradient fail above `limit`, started at `start`.
pub struct Failing {
    pub limit: f64,
    pub start: Option<f64>,
    pub value: f64,
    pub slope: f64,
}

impl LogDensity for Failing {
    fn dim(&self) -> usize {
        1
    }

    fn log_density(&self, x: &[f64]) -> f64 {
        if x[0] > self.limit { self.value } else { -0.5 * x[0] * x[0] }
    }

    fn start(&self, rng: &mut ChainRng, point: &mut [f64]) {
        match self.start {
            Some(start) => point[0] = start,
            None => Normal(vec![(0.0, 1.0)]).start(rng, point),
        }
    }
}

impl Gradient for Failing {
    fn log_density_and_gradient(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
        gradient[0] = if x[0] > self.limit { self.slope } else { -x[0] };
        self.log_density(x)
    }
}
