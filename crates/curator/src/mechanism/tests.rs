//! The whole mechanism with a known noise source.

use organza_release::units::CoefficientMap;
use organza_release::{Family, Missing, Neighbours};

use super::noise_rng::NoiseSource;
use super::{DomainChoice, Plan, RecordScale, Request};
use crate::CuratorError;
use crate::bounds::Bounds;
use crate::gram::{GramAccumulator, IntegerGram};

/// Remembers the scales that were asked for and returns a fixed number of steps.
#[derive(Default)]
pub(super) struct Fixed {
    pub(super) steps: i128,
    pub(super) asked: Vec<u128>,
}

impl NoiseSource for Fixed {
    fn draw(&mut self, _family: Family, steps: u128) -> Result<i128, CuratorError> {
        self.asked.push(steps);
        Ok(self.steps)
    }
}

pub(super) fn request(formula: &str) -> Request {
    let mut bounds = Bounds::default();
    for flag in ["x=2:6", "z=-1:3", "y=-10:30"] {
        bounds.set_flag(flag).unwrap();
    }
    Request::new(formula.parse().unwrap(), bounds, 1.0, 1e-6)
}

pub(super) fn gram(plan: &Plan, columns: &[&[f64]]) -> IntegerGram {
    let mut gram = GramAccumulator::new(plan.record_map());
    gram.add_block(columns).unwrap();
    gram.finish()
}

/// Records on an exact line: without noise the released sums must give its coefficients back, in users' units, also
/// when records are shrunk.
#[test]
fn noiseless_sums_give_the_line_back() {
    let xs: Vec<f64> = (0..200).map(|i| 2.0 + f64::from(i % 41) * 0.1).collect();
    let ys: Vec<f64> = xs.iter().map(|x| 4.0 + 2.5 * x).collect();
    for record_scale in [RecordScale::Default, RecordScale::None, RecordScale::Radius(0.3)] {
        let mut request = request("y ~ x");
        request.domain = DomainChoice::Box { record_scale, intercept_weight: None };
        let plan = Plan::new(&request).unwrap();
        let release = plan
            .publish_with((&gram(&plan, &[&xs, &ys])).into(), "p", Missing::Refused, &mut Fixed::default())
            .unwrap();
        let entry = |wanted: [usize; 2]| {
            let position = release.statistic.entries().iter().position(|entry| *entry == wanted);
            position.map_or(xs.len() as f64, |position| release.value[position])
        };
        let (n, sx, sy, sxx, sxy) =
            (entry([0, 0]), entry([0, 1]), entry([0, 2]), entry([1, 1]), entry([1, 2]));
        let slope = (sxy - sx * sy / n) / (sxx - sx * sx / n);
        let theta = [(sy - slope * sx) / n, slope];
        let beta = CoefficientMap::new(&release.domain).to_users(&theta);
        assert!((beta[0] - 4.0).abs() < 2e-3 && (beta[1] - 2.5).abs() < 5e-4, "{record_scale:?}: {beta:?}");
    }
}

#[test]
fn noise_steps_are_the_published_scales() {
    for family in [Family::Gaussian, Family::Laplace] {
        for neighbours in [Neighbours::Substitute, Neighbours::AddRemove] {
            let mut request = request("y ~ x + z");
            (request.family, request.neighbours) = (family, neighbours);
            request.delta = if family == Family::Gaussian { 1e-6 } else { 0.0 };
            let plan = Plan::new(&request).unwrap();
            let mut noise = Fixed { steps: 0, asked: vec![] };
            let gram = gram(&plan, &[&[3.0], &[1.0], &[5.0]]);
            let quiet = plan.publish_with((&gram).into(), "p", Missing::Refused, &mut noise).unwrap();
            let unit = f64::exp2(f64::from(quiet.noise.lattice));
            for (index, &[row, column]) in quiet.statistic.entries().iter().enumerate() {
                let weight = quiet.domain.coordinate_weight(row) * quiet.domain.coordinate_weight(column);
                let scale = noise.asked[index] as f64 * unit / weight;
                assert!((scale / quiet.noise.scales[index] - 1.0).abs() < 1e-15);
                // One step of noise moves the published value by one lattice unit over the weight.
                let mut noisy = Fixed { steps: 1 << 40, asked: vec![] };
                let moved = plan.publish_with((&gram).into(), "p", Missing::Refused, &mut noisy).unwrap();
                let change = (moved.value[index] - quiet.value[index]) / (f64::exp2(40.0) * unit / weight);
                assert!((change - 1.0).abs() < 1e-9, "{change}");
            }
            assert!(quiet.claim().unwrap().holds, "{family:?} {neighbours:?}");
        }
    }
}

/// Large losses need little noise: the lattice gets finer and the claim still holds for the discrete noise.
#[test]
fn claims_hold_over_the_whole_range_of_losses() {
    for epsilon in [1e-3, 0.1, 1.0, 10.0, 50.0] {
        for delta in [1e-15, 1e-9, 1e-3] {
            let mut request = request("y ~ x + z");
            (request.epsilon, request.delta) = (epsilon, delta);
            let plan = Plan::new(&request).unwrap();
            let gram = gram(&plan, &[&[3.0], &[1.0], &[5.0]]);
            let release =
                plan.publish_with((&gram).into(), "p", Missing::Refused, &mut Fixed::default()).unwrap();
            let claim = release.claim().unwrap();
            assert!(claim.holds && claim.delta > 0.999_99 * delta, "{epsilon}, {delta}: {claim:?}");
        }
    }
}
