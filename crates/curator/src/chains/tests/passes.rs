//! The passes over records: gradients, ratios, clipping, and the exactness of sums.

use organza_mcmc::ChainRng;
use pulp::Arch;
use rand::RngExt;

use super::super::lattice::STEPS;
use super::super::models::{Banana, GaussianMean, Linear, Logistic, Poisson, Regression};
use super::super::pass::{AddGradients, AddRatios};
use super::super::scratch::Scratch;
use super::*;

/// Sum of clipped gradients in steps, and how many were clipped.
fn clipped_sum<M: RecordModel>(model: &M, theta: &[f64], records: &Records, clip: f64) -> (Vec<i64>, i64) {
    let mut scratch = Scratch::new(theta.len(), records.columns());
    let blocks = records.run(0, records.blocks());
    Arch::new().dispatch(AddGradients { model, theta, blocks, clip, scratch: &mut scratch });
    (scratch.sums, scratch.clipped)
}

fn ratio_sum<M: RecordModel>(
    model: &M,
    points: (&[f64], &[f64]),
    records: &Records,
    clip: f64,
) -> (i64, i64) {
    let mut scratch = Scratch::new(points.0.len(), records.columns());
    let blocks = records.run(0, records.blocks());
    Arch::new().dispatch(AddRatios { model, points, blocks, clip, scratch: &mut scratch });
    (scratch.sums[0], scratch.clipped)
}

fn simulated<M: Simulate>(model: &M, theta: &[f64], rows: usize) -> Records {
    let mut rng = ChainRng::new(2, 7);
    let mut columns = vec![Vec::new(); model.columns()];
    let mut record = vec![0.0; model.columns()];
    for _ in 0..rows {
        model.draw_record(theta, &mut rng, &mut record);
        model.prepare(&mut record);
        columns.iter_mut().zip(&record).for_each(|(column, value)| column.push(*value));
    }
    Records::from_columns(&columns).unwrap()
}

/// The gradient is the derivative of the log likelihood, its clipped sum is the sum, and the ratio is the difference. Catches
/// any error in any of the three functions of a model.
fn derivatives_agree<M: Simulate>(model: &M, theta: &[f64]) {
    let records = simulated(model, theta, 300);
    let clip = 1e5;
    let (sums, clipped) = clipped_sum(model, theta, &records, clip);
    assert_eq!(clipped, 0);
    for (index, sum) in sums.iter().enumerate() {
        let h = 1e-4;
        let (mut left, mut right) = (theta.to_vec(), theta.to_vec());
        left[index] -= h;
        right[index] += h;
        let (ratio, clipped) = ratio_sum(model, (&left, &right), &records, clip);
        assert_eq!(clipped, 0);
        let (slope, gradient) = (ratio as f64 / (2.0 * h), *sum as f64);
        // A central difference is off by h^2, and 300 roundings to the lattice by sqrt(300) / h steps or so.
        let scale = gradient.abs() + 300.0 * STEPS / clip;
        assert!((slope - gradient).abs() < 1e-4 * scale + 300.0 / h, "{index}: {slope} against {gradient}");
    }
    let to: Vec<f64> = theta.iter().map(|value| value + 0.01).collect();
    let mut differences = 0.0;
    for block in records.run(0, records.blocks()).iter() {
        let (mut one, mut other) = (vec![0.0; block.rows()], vec![0.0; block.rows()]);
        model.log_likelihood(&to, block, &mut one);
        model.log_likelihood(theta, block, &mut other);
        differences += one.iter().zip(&other).map(|(one, other)| one - other).sum::<f64>();
    }
    let (ratio, _) = ratio_sum(model, (theta, &to), &records, clip);
    assert!((ratio as f64 / STEPS * clip - differences).abs() < 1e-6 * (1.0 + differences.abs()) + 0.1);
}

#[test]
fn gradients_are_derivatives_for_every_model() {
    let names = ["a".to_string(), "b".to_string(), "c".to_string()];
    derivatives_agree(&gaussian_pair(), &[0.4, -0.7]);
    derivatives_agree(&Banana { bend: 1.5, prior_precision: 1e-3, precisions: [0.5, 0.4] }, &[0.4, 1.0]);
    for intercept in [true, false] {
        let theta = &[0.3, -0.8, 0.5, 0.1][usize::from(!intercept)..];
        derivatives_agree(&Regression::new(Logistic, &names, intercept, 3.0), theta);
        derivatives_agree(&Regression::new(Poisson, &names, intercept, 3.0), theta);
        let with_scale: Vec<f64> = theta.iter().copied().chain([-0.5]).collect();
        derivatives_agree(&Regression::new(Linear, &names, intercept, 3.0), &with_scale);
    }
}

#[test]
fn priors_have_the_gradients_that_they_say() {
    let banana = Banana::default();
    let regression = Regression::new(Logistic, &["x".to_string()], true, 0.7);
    let check = |log_prior: &dyn Fn(&[f64]) -> f64, gradient: &dyn Fn(&[f64], &mut [f64])| {
        let (theta, h) = ([0.4, -0.9], 1e-6);
        let mut found = [0.0; 2];
        gradient(&theta, &mut found);
        for index in 0..2 {
            let (mut left, mut right) = (theta, theta);
            left[index] -= h;
            right[index] += h;
            let slope = (log_prior(&right) - log_prior(&left)) / (2.0 * h);
            assert!((slope - found[index]).abs() < 1e-6 * (1.0 + slope.abs()), "{slope} {found:?}");
        }
    };
    check(&|theta| banana.log_prior(theta), &|theta, out| banana.add_prior_gradient(theta, out));
    check(&|theta| regression.log_prior(theta), &|theta, out| regression.add_prior_gradient(theta, out));
}

/// Every record alone, whatever its values, stays within the clip bound: the sensitivity that is paid for. Catches a rounding
/// that leaves the ball, and a NaN that spoils a sum.
#[test]
fn no_record_can_leave_its_clip_bound() {
    let model = GaussianMean::new(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0], 1.0).unwrap();
    let mut rng = ChainRng::new(3, 0);
    let wild = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e300, 1e-300, 0.0, f64::MAX];
    for trial in 0..20_000 {
        let mut value =
            || if rng.random_bool(0.1) { wild[rng.random_range(0..8)] } else { rng.random_range(-2.0..2.0) };
        let columns: Vec<Vec<f64>> = (0..3).map(|_| vec![value()]).collect();
        let records = Records::from_columns(&columns).unwrap();
        let clip = [1e-9, 0.3, 1.0, 7.7, 1e12][trial % 5];
        let (sums, clipped) = clipped_sum(&model, &[0.1, 0.0, -0.2], &records, clip);
        let square: i128 = sums.iter().map(|sum| i128::from(*sum) * i128::from(*sum)).sum();
        assert!(square <= 1i128 << 60, "{columns:?} at clip {clip}: {sums:?}");
        let (ratio, _) = ratio_sum(&model, (&[0.1, 0.0, -0.2], &[0.0, 0.3, 0.1]), &records, clip);
        assert!(ratio.abs() <= 1 << 30 && (0..=1).contains(&clipped), "{columns:?}: {ratio}");
    }
}

/// Catches a NaN or a clipped record that touches its neighbours in a register, and a padding that counts: each record adds what it adds alone.
#[test]
fn a_sum_is_the_sum_of_its_records() {
    let model = gaussian_pair();
    let mut rng = ChainRng::new(4, 0);
    let wild = [f64::NAN, f64::INFINITY, 1e200, f64::MAX, 0.0, 1e-300];
    for rows in [1, 3, 16, 17, 100, 300] {
        let mut value =
            || if rng.random_bool(0.05) { wild[rng.random_range(0..6)] } else { rng.random_range(-2.0..2.0) };
        let columns: Vec<Vec<f64>> = (0..2).map(|_| (0..rows).map(|_| value()).collect()).collect();
        let (theta, to, clip) = ([0.1, -0.2], [0.3, 0.1], 1.5);
        let records = Records::from_columns(&columns).unwrap();
        let (mut gradients, mut ratios) = ((vec![0, 0], 0), (0, 0));
        for (x, y) in columns[0].iter().zip(&columns[1]) {
            let alone = Records::from_columns(&[vec![*x], vec![*y]]).unwrap();
            let (sums, clipped) = clipped_sum(&model, &theta, &alone, clip);
            gradients.0.iter_mut().zip(&sums).for_each(|(total, sum)| *total += sum);
            gradients.1 += clipped;
            let (sum, clipped) = ratio_sum(&model, (&theta, &to), &alone, 0.2 * clip);
            ratios = (ratios.0 + sum, ratios.1 + clipped);
        }
        assert_eq!(clipped_sum(&model, &theta, &records, clip), gradients, "{rows} records");
        assert_eq!(ratio_sum(&model, (&theta, &to), &records, 0.2 * clip), ratios, "{rows} records");
    }
}

/// Squares of tiny gradients vanish. Catches a clip bound below them that then clips nothing.
#[test]
fn a_tiny_clip_bound_is_kept() {
    let model = GaussianMean::new(&[1.0], 1.0).unwrap();
    let records = Records::from_columns(&[vec![1e-165]]).unwrap();
    let (sums, _) = clipped_sum(&model, &[0.0], &records, 1e-170);
    assert!(sums[0].abs() <= 1 << 30, "{sums:?}");
}

/// Clipping keeps the direction and shortens to the bound; unclipped gradients are exact to the lattice.
#[test]
fn clipped_gradients_keep_their_direction() {
    let model = GaussianMean::new(&[1.0, 0.0, 0.0, 1.0], 1.0).unwrap();
    for (x, clip) in [([3.0, 4.0], 1.0), ([0.3, 0.4], 1.0), ([-30.0, 40.0], 2.5)] {
        let records = Records::from_columns(&[vec![x[0]], vec![x[1]]]).unwrap();
        let (sums, clipped) = clipped_sum(&model, &[0.0, 0.0], &records, clip);
        let norm: f64 = (x[0] * x[0] + x[1] * x[1]).sqrt();
        let expected = x.map(|value| value * (clip / norm).min(1.0));
        assert_eq!(clipped, i64::from(norm > clip));
        for (sum, expected) in sums.iter().zip(expected) {
            assert!(
                (*sum as f64 / STEPS * clip - expected).abs() < 4.0 * clip / STEPS,
                "{sums:?} {expected}"
            );
        }
    }
}

/// Sums are integers: the same on any number of threads and in any order of the records.
#[test]
fn sums_do_not_depend_on_threads_or_order() {
    let names: Vec<String> = (0..4).map(|index| format!("x{index}")).collect();
    let model = Regression::new(Logistic, &names, true, 1.0);
    let theta = [0.2, -0.5, 0.9, 0.0, 0.3];
    let settings =
        StepQueries { gradient: gradient(1, 0.8, 0.0), ratio: None, count_weight: 0.1, dimension: 5 };
    let oracle = rehearse(model.clone(), &theta, 30_011, settings);
    let ask = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut found = [0.0; 5];
        let mut rng = ChainRng::new(0, 0);
        let clipped =
            pool.install(|| oracle.permit().unwrap().gradient(&theta, &mut rng, &mut found).unwrap());
        (found, clipped)
    };
    assert_eq!(ask(1), ask(4));
    let records = oracle.rehearsed_records().unwrap();
    let column = |index| (0..records.rows()).rev().map(move |row| records.value(row, index));
    let reversed =
        Records::from_columns(&(0..5).map(|index| column(index).collect()).collect::<Vec<_>>()).unwrap();
    let (sums, clipped) = clipped_sum(&model, &theta, &reversed, 0.8);
    let mut prior = [0.0; 5];
    model.add_prior_gradient(&theta, &mut prior);
    for ((sum, found), prior) in sums.iter().zip(ask(1).0).zip(prior) {
        assert!((*sum as f64 * 0.8 / STEPS + prior - found).abs() < 1e-9);
    }
    assert_eq!(clipped as f64 / records.rows() as f64, ask(1).1);
    assert!(clipped > 1000, "nothing was clipped");
}
