//! Gradients that are never written: the same terms as the written ones, and no record outside its bound.

use organza_mcmc::ChainRng;
use pulp::Arch;
use rand::RngExt;

use super::super::aligned::Aligned;
use super::super::lattice::{ROUND, STEPS};
use super::super::models::{Banana, GaussianMean, Linear, Logistic, Poisson, Regression};
use super::super::pass::AddGradients;
use super::super::records::{Blocks, Gradients};
use super::super::scratch::Scratch;
use super::*;

/// The same model with its gradients written.
struct Written<'m, M>(&'m M);

impl<M: RecordModel> RecordModel for Written<'_, M> {
    fn parameters(&self) -> Vec<String> {
        self.0.parameters()
    }
    fn columns(&self) -> usize {
        self.0.columns()
    }
    fn log_prior(&self, theta: &[f64]) -> f64 {
        self.0.log_prior(theta)
    }
    fn add_prior_gradient(&self, theta: &[f64], gradient: &mut [f64]) {
        self.0.add_prior_gradient(theta, gradient);
    }
    #[inline(always)]
    fn log_likelihood(&self, theta: &[f64], block: Block<'_>, values: &mut [f64]) {
        self.0.log_likelihood(theta, block, values);
    }
    #[inline(always)]
    fn gradient(&self, theta: &[f64], block: Block<'_>, gradients: Gradients<'_>) {
        self.0.gradient(theta, block, gradients);
    }
}

/// Sums in steps, and how many were clipped.
fn sums<M: RecordModel>(model: &M, theta: &[f64], blocks: Blocks<'_>, clip: f64) -> (Vec<i64>, i64) {
    let mut scratch = Scratch::new(theta.len(), model.columns());
    Arch::new().dispatch(AddGradients { model, theta, blocks, clip, scratch: &mut scratch });
    (scratch.sums, scratch.clipped)
}

fn all_sums<M: RecordModel>(model: &M, theta: &[f64], records: &Records, clip: f64) -> (Vec<i64>, i64) {
    sums(model, theta, records.run(0, records.blocks()), clip)
}

const WILD: [f64; 14] = [
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::MAX,
    -1e300,
    1e160,
    -1e80,
    1e20,
    0.0,
    -0.0,
    1e-80,
    1e-165,
    -1e-300,
    5e-324,
];
const CLIPS: [f64; 6] = [1e-150, 1e-9, 0.3, 1.0, 7.7, 1e12];

/// The term of one record, from a whole block of it: all of them are the same.
fn term<M: RecordModel>(model: &M, theta: &[f64], record: &[f64], clip: f64) -> (Vec<i64>, bool) {
    let columns: Vec<Vec<f64>> = record.iter().map(|value| vec![*value; BLOCK]).collect();
    let (sums, clipped) = all_sums(model, theta, &Records::from_columns(&columns).unwrap(), clip);
    let many = BLOCK as i64;
    assert!(clipped == 0 || clipped == many, "{record:?}: {clipped} of {many} equal records clipped");
    assert!(sums.iter().all(|sum| sum % many == 0), "{record:?}: {sums:?}");
    (sums.iter().map(|sum| sum / many).collect(), clipped > 0)
}

fn within_the_bound(term: &[i64]) -> bool {
    term.iter().map(|steps| i128::from(*steps) * i128::from(*steps)).sum::<i128>() <= 1 << 60
}

/// Checks one record after the other; each is clipped in one form if and only if in the other, and a clipped one that is finite has the length of the bound.
fn terms_agree<M: RecordModel>(model: &M, theta: &[f64], rng: &mut ChainRng) {
    for trial in 0..3_000 {
        let mut value = || {
            if rng.random_bool(0.15) {
                WILD[rng.random_range(0..WILD.len())]
            } else {
                rng.random_range(-2.0..2.0)
            }
        };
        let record: Vec<f64> = (0..model.columns()).map(|_| value()).collect();
        let clip = CLIPS[trial % CLIPS.len()];
        let (fused, outside) = term(model, theta, &record, clip);
        let (written, also) = term(&Written(model), theta, &record, clip);
        assert!(within_the_bound(&fused) && within_the_bound(&written), "{record:?} at {clip}: {fused:?}");
        assert_eq!(outside, also, "{record:?} at {clip}: {fused:?} {written:?}");
        let apart = fused.iter().zip(&written).map(|(one, other)| (one - other).abs()).max();
        assert!(apart <= Some(1), "{record:?} at {clip}: {fused:?} {written:?}");
        let length = fused.iter().map(|steps| (*steps as f64).powi(2)).sum::<f64>().sqrt();
        let least = STEPS - (fused.len() as f64).sqrt() - 2.0;
        assert!(!outside || length == 0.0 || length > least, "{record:?} at {clip}: {fused:?}");
    }
}

/// The sum over blocks, of which the last is not full, and over a gathered block in a room where others have been before.
fn sums_agree<M: RecordModel>(model: &M, theta: &[f64], rng: &mut ChainRng) {
    for (rows, wild) in [(200, 0.0), (200, 0.004), (64, 0.0), (71, 0.02), (5, 0.1)] {
        let mut value = || {
            if rng.random_bool(wild) {
                WILD[rng.random_range(0..WILD.len())]
            } else {
                rng.random_range(-2.0..2.0)
            }
        };
        let columns: Vec<Vec<f64>> =
            (0..model.columns()).map(|_| (0..rows).map(|_| value()).collect()).collect();
        let records = Records::from_columns(&columns).unwrap();
        for clip in [0.5, 2.0, 1e9] {
            let fused = all_sums(model, theta, &records, clip);
            let written = all_sums(&Written(model), theta, &records, clip);
            assert_eq!(fused.1, written.1, "{rows} records, {wild} wild");
            let apart = fused.0.iter().zip(&written.0).map(|(one, other)| (one - other).abs()).max();
            assert!(apart <= Some(rows as i64), "{rows} records, {wild} wild: {fused:?} {written:?}");
            let mut room = Aligned::zeros(model.columns() * BLOCK);
            room.fill(f64::NAN);
            let few = records.gather(&[3, 1, 4], &mut room);
            let parts: Vec<Vec<f64>> =
                columns.iter().map(|column| vec![column[3], column[1], column[4]]).collect();
            let alone = all_sums(model, theta, &Records::from_columns(&parts).unwrap(), clip);
            assert_eq!(sums(model, theta, few.into(), clip), alone, "{rows} records, {wild} wild");
        }
    }
}

/// Catches a norm or a factor of a form that differs from the gradient's own, an inverse root that is too long or too short, and padding that counts.
#[test]
fn fused_terms_are_the_written_ones_for_every_model() {
    let names = ["a".to_string(), "b".to_string(), "c".to_string()];
    let mut rng = ChainRng::new(5, 0);
    let covariance = [1.0, 0.2, 0.0, 0.2, 1.5, 0.1, 0.0, 0.1, 0.7];
    let gaussian = GaussianMean::new(&covariance, 1.0).unwrap();
    terms_agree(&gaussian, &[0.1, 0.0, -0.2], &mut rng);
    sums_agree(&gaussian, &[0.1, 0.0, -0.2], &mut rng);
    let banana = Banana { bend: 1.5, prior_precision: 1e-3, precisions: [0.5, 0.4] };
    terms_agree(&banana, &[0.4, 1.0], &mut rng);
    sums_agree(&banana, &[0.4, 1.0], &mut rng);
    for intercept in [true, false] {
        let theta = &[0.3, -0.8, 0.5, 0.1][usize::from(!intercept)..];
        let logistic = Regression::new(Logistic, &names, intercept, 3.0);
        terms_agree(&logistic, theta, &mut rng);
        sums_agree(&logistic, theta, &mut rng);
        let poisson = Regression::new(Poisson, &names, intercept, 3.0);
        sums_agree(&poisson, theta, &mut rng);
        terms_agree(&poisson, theta, &mut rng);
        let with_scale: Vec<f64> = theta.iter().copied().chain([-0.5]).collect();
        let linear = Regression::new(Linear, &names, intercept, 3.0);
        terms_agree(&linear, &with_scale, &mut rng);
        sums_agree(&linear, &with_scale, &mut rng);
    }
}

/// A weight or features that vanish when squared. Catches w^2 |x|^2 in another order, and a squared norm of features that is 0.
#[test]
fn a_factored_norm_is_never_too_short() {
    let names = ["a".to_string(), "b".to_string()];
    for (intercept, theta, record, clip) in [
        (false, vec![0.1, 0.2], [1e-170, -1e-170, 1e180], 1e-9), // the squares of x vanish
        (true, vec![-460.0, 0.0, 0.0], [1e150, 1e150, 0.0], 1e-60), // the square of the weight vanishes
    ] {
        let model = Regression::new(Poisson, &names, intercept, 3.0);
        let (term, clipped) = term(&model, &theta, &record, clip);
        assert!(clipped && within_the_bound(&term), "{record:?} at {clip}: {term:?}");
    }
}

/// What the sum of a block moves by if one of its records is replaced by a wild one is that record's own term.
fn neighbours_stay<M: RecordModel>(model: &M, theta: &[f64], columns: &mut [Vec<f64>], wild: &[f64]) {
    let one: Vec<f64> = columns.iter().map(|column| column[17]).collect();
    for clip in [0.2, 3.0, 1e6] {
        let mut with = |record: &[f64]| {
            columns.iter_mut().zip(record).for_each(|(column, value)| column[17] = *value);
            all_sums(model, theta, &Records::from_columns(columns).unwrap(), clip)
        };
        let (silenced, finite) = (with(wild), with(&one));
        let (term, outside) = term(model, theta, &one, clip);
        let moved: Vec<i64> = finite.0.iter().zip(&silenced.0).map(|(one, other)| one - other).collect();
        assert_eq!(moved, term, "at {clip}");
        assert_eq!(silenced.1 - finite.1, 1 - i64::from(outside), "at {clip}");
    }
}

/// A feature for which (w s) x and (w x) s are rounded to different steps: about one in 10 million is such.
fn between_steps(weight: f64, clip: f64, rng: &mut ChainRng) -> f64 {
    let scale = STEPS / clip;
    let differ = |x: &f64| x.mul_add(weight * scale, ROUND) != (weight * x).mul_add(scale, ROUND);
    (0..1 << 28).map(|_| rng.random_range(0.7..0.9) * clip / weight).find(differ).unwrap()
}

/// Catches a way around a gradient that is not finite that rounds its neighbours otherwise: then one record moves the terms of others, and the sum is more
/// sensitive than is paid for.
#[test]
fn a_gradient_that_is_not_finite_leaves_its_neighbours_alone() {
    let names = ["a".to_string(), "b".to_string()];
    let mut rng = ChainRng::new(6, 0);
    let mut random = |count: usize| -> Vec<Vec<f64>> {
        (0..count).map(|_| (0..BLOCK).map(|_| rng.random_range(-2.0..2.0)).collect()).collect()
    };
    let mut columns = random(3);
    let mut pairs = random(2);
    for intercept in [true, false] {
        let model = Regression::new(Poisson, &names, intercept, 3.0);
        neighbours_stay(&model, &[0.3, 0.7, 0.4][usize::from(!intercept)..], &mut columns, &[1e4, 0.0, 1.0]);
        // With theta = 0 the weight is the response minus 1.
        let x = between_steps(1.7 - 1.0, 3.0, &mut rng);
        [x, 0.0, 1.7].iter().zip(&mut columns).for_each(|(value, column)| column[40] = *value);
        neighbours_stay(
            &model,
            &vec![0.0; 2 + usize::from(intercept)],
            &mut columns,
            &[0.0, 0.0, f64::INFINITY],
        );
    }
    neighbours_stay(&gaussian_pair(), &[0.1, -0.2], &mut pairs, &[f64::INFINITY, 0.0]);
    let banana = Banana { bend: 1.5, prior_precision: 1e-3, precisions: [0.5, 0.4] };
    neighbours_stay(&banana, &[0.4, 1.0], &mut pairs, &[0.0, f64::NAN]);
}
