//! Exact draws against enumeration of all counts.

use organza_infer::tables::{
    CollapsedGibbs, CountModel, NegativeBinomial, NoisySuccesses, RecordsPrior, TableEvidence, TablePrior,
};
use organza_mcmc::{Draws, Plan, run};
use organza_release::{CountFamily, CountNoise};

use crate::support::*;

const FAMILIES: [CountFamily; 4] = [
    CountFamily::DiscreteLaplace,
    CountFamily::DiscreteGaussian,
    CountFamily::Laplace,
    CountFamily::Gaussian,
];

fn table_prior(concentration: f64) -> TablePrior {
    TablePrior { concentration: Some(concentration), ..TablePrior::default() }
}

/// Compares all means and products of neighbouring values with expectations.
fn compare(name: &str, draws: &Draws, means: &[f64], products: &[f64]) {
    let size = means.len();
    assert_eq!(draws.names().len(), size, "{name}");
    let critical = critical_z(40 * size);
    for k in 0..size {
        let first = z_of(draws, |row| row[k], means[k]);
        let second = z_of(draws, |row| row[k] * row[(k + 1) % size], products[k]);
        assert!(first.abs() < critical, "{name}: mean of {}, z {first}", draws.names()[k]);
        assert!(second.abs() < critical, "{name}: product {}, z {second}", draws.names()[k]);
    }
}

/// Posterior distribution function of p at x: a mixture of Beta laws, each integrated by the midpoint rule.
fn mixture_distribution(weights: &[f64], shapes: (f64, f64), x: f64) -> f64 {
    let (n, steps) = (weights.len() - 1, 4000);
    let density = |p: f64| -> f64 {
        let beta = |k: usize| {
            let (a, b) = (shapes.0 + k as f64, shapes.1 + (n - k) as f64);
            let constant = libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b);
            (constant + (a - 1.0) * p.ln() + (b - 1.0) * (1.0 - p).ln()).exp()
        };
        (0..=n).map(|k| weights[k] * beta(k)).sum()
    };
    (0..steps).map(|k| x / f64::from(steps) * density(x * (f64::from(k) + 0.5) / f64::from(steps))).sum()
}

/// Seen to catch: the prior's shapes exchanged.
#[test]
fn a_proportion_of_ten_records() {
    let (n, shapes) = (10, (1.5, 2.5));
    for (family, value) in FAMILIES.into_iter().zip([3.0, -2.0, 6.7, 12.2]) {
        let noise = noise(family, 2.0);
        let logs: Vec<f64> = (0..=n)
            .map(|k| {
                let choose = ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k);
                choose + ln_beta(&[shapes.0, shapes.1], &[k, n - k]) + log_noise(&noise, value - k as f64)
            })
            .collect();
        let weights = normalise(&logs);
        let released = NoisySuccesses { party: "one".into(), value, noise, records: n };
        let draws = draw(CountModel::proportion(shapes, &[released]).unwrap());
        let total = shapes.0 + shapes.1 + n as f64;
        let shape = |k: usize| shapes.0 + k as f64;
        let mean: f64 = (0..=n).map(|k| weights[k] * shape(k) / total).sum();
        let square: f64 =
            (0..=n).map(|k| weights[k] * shape(k) * (shape(k) + 1.0) / (total * (total + 1.0))).sum();
        let critical = critical_z(4 * 5);
        let mut scores = vec![z_of(&draws, |row| row[0], mean), z_of(&draws, |row| row[0].powi(2), square)];
        for x in [0.15, 0.35, 0.6] {
            let below = mixture_distribution(&weights, shapes, x);
            scores.push(z_of(&draws, |row| f64::from(u8::from(row[0] <= x)), below));
        }
        assert!(scores.iter().all(|z| z.abs() < critical), "{family:?}: {scores:?}");
    }
}

/// Noisy counts of a 2 x 2 table; the second has impossible values.
const VALUES: [[f64; 4]; 2] = [[1.2, 2.9, 0.4, 3.3], [-5.0, 9.0, 2.5, 0.1]];

/// Posterior moments of a saturated table: all counts of the cells, weighed by prior and noise.
fn enumerate_table(
    records: &[(usize, f64)],
    concentrations: &[f64],
    log_likelihood: impl Fn(&[usize]) -> f64,
) -> (Vec<f64>, Vec<f64>) {
    let cells = concentrations.len();
    let tables: Vec<(Vec<usize>, f64)> = records
        .iter()
        .flat_map(|(n, log_prior)| {
            compositions(*n, cells).into_iter().map(move |counts| (counts, *n, *log_prior))
        })
        .map(|(counts, n, log_prior)| {
            let choose = ln_factorial(n) - counts.iter().map(|count| ln_factorial(*count)).sum::<f64>();
            let log = log_prior + choose + ln_beta(concentrations, &counts) + log_likelihood(&counts);
            (counts, log)
        })
        .collect();
    let weights = normalise(&tables.iter().map(|(_, log)| *log).collect::<Vec<_>>());
    let (mut means, mut products) = (vec![0.0; cells + 1], vec![0.0; cells]);
    for ((counts, _), weight) in tables.iter().zip(&weights) {
        let (first, second) = dirichlet_moments(concentrations, counts);
        add(&mut means, *weight, &first);
        means[cells] += weight * counts.iter().sum::<usize>() as f64;
        add(&mut products, *weight, &second);
    }
    (means, products)
}

fn noise_of(noise: &CountNoise, values: &[f64], counts: &[usize]) -> f64 {
    values.iter().zip(counts).map(|(value, count)| log_noise(noise, value - *count as f64)).sum()
}

/// Seen to catch: concentrations that do not follow their cells.
#[test]
fn a_two_by_two_table() {
    let columns = [column("a", 2), column("b", 2)];
    let prior =
        TablePrior { concentration: Some(0.7), cells: [("a=0, b=1".to_string(), 3.0)].into_iter().collect() };
    for family in FAMILIES {
        for values in VALUES {
            let noise = noise(family, 1.3);
            let release = release("one", &columns, &[&["a", "b"]], &values, (noise.clone(), Some(6)));
            let evidence = TableEvidence::new(&[release], false).unwrap();
            let model = CountModel::table(&evidence, &prior, &RecordsPrior::default()).unwrap();
            let (means, products) = enumerate_table(&[(6, 0.0)], &[0.7, 3.0, 0.7, 0.7], |counts| {
                noise_of(&noise, &values, counts)
            });
            compare(&format!("{family:?}"), &draw(model), &means[..4], &products);
        }
    }
}

/// The columns of the table in another order, its margin and the total beside it, and an unknown number of records.
///
/// Seen to catch: a prior of n that is forgotten.
#[test]
fn nested_tables_with_an_unknown_number_of_records() {
    let columns = [column("a", 2), column("b", 2)];
    let noise = noise(CountFamily::DiscreteLaplace, 1.5);
    // b x a, then b, then the total.
    let values = [1.0, 0.0, 4.0, 2.0, 2.0, 5.0, 9.0];
    let shown = release("one", &columns, &[&["b", "a"], &["b"], &[]], &values, (noise.clone(), None));
    let likelihood = |counts: &[usize]| {
        let [n00, n01, n10, n11] = counts.try_into().unwrap();
        noise_of(&noise, &values, &[n00, n10, n01, n11, n00 + n10, n01 + n11, n00 + n01 + n10 + n11])
    };
    let poisson = |n: usize| n as f64 * 6f64.ln() - ln_factorial(n);
    let negative = |n: usize| libm::lgamma(n as f64 + 2.0) - ln_factorial(n) + n as f64 * (6f64 / 8.0).ln();
    let cases: [(RecordsPrior, Vec<(usize, f64)>); 3] = [
        (
            RecordsPrior { uniform_most: Some(12), ..RecordsPrior::default() },
            (0..=12).map(|n| (n, 0.0)).collect(),
        ),
        (
            RecordsPrior { poisson_mean: Some(6.0), ..RecordsPrior::default() },
            (0..=30).map(|n| (n, poisson(n))).collect(),
        ),
        (
            RecordsPrior {
                negative_binomial: Some(NegativeBinomial { mean: 6.0, shape: 2.0 }),
                ..RecordsPrior::default()
            },
            (0..=30).map(|n| (n, negative(n))).collect(),
        ),
    ];
    let evidence = TableEvidence::new(&[shown], false).unwrap();
    for (records, law) in cases {
        let model = CountModel::table(&evidence, &table_prior(0.8), &records).unwrap();
        assert_eq!(model.names()[4], "records");
        // The law of n needs its factor Gamma(A) / Gamma(n + A), which the Beta function of the enumeration has.
        let (means, _) = enumerate_table(&law, &[0.8; 4], likelihood);
        let (draws, critical) = (draw(model), critical_z(40 * 5));
        for (k, mean) in means.iter().enumerate() {
            let z = z_of(&draws, |row| row[k], *mean);
            assert!(z.abs() < critical, "{records:?}: mean of {}, z {z}", draws.names()[k]);
        }
    }
}

/// Two parties with different noise and numbers of records.
///
/// Seen to catch: counts of the other party that are not taken off before a party's own are drawn.
#[test]
fn two_parties_share_their_probabilities() {
    let (columns, concentrations) = ([column("a", 3)], [0.6; 3]);
    let noises = [noise(CountFamily::Laplace, 1.0), noise(CountFamily::DiscreteGaussian, 3.0)];
    let (values, sizes) = ([[1.4, 3.0, 0.2], [7.0, -2.0, 4.0]], [5_usize, 8]);
    let releases: Vec<_> = (0..2)
        .map(|j| {
            let shown = (noises[j].clone(), Some(sizes[j] as u64));
            release(["one", "two"][j], &columns, &[&["a"]], &values[j], shown)
        })
        .collect();
    let evidence = TableEvidence::new(&releases, false).unwrap();
    let model = CountModel::table(&evidence, &table_prior(0.6), &RecordsPrior::default()).unwrap();
    let plan = Plan { warmup: 100, draws: 30_000, ..PLAN };
    let draws = run(&CollapsedGibbs, &model, &plan).unwrap().named(model.names().to_vec()).unwrap();
    let (mut logs, mut pooled) = (Vec::new(), Vec::new());
    for one in compositions(sizes[0], 3) {
        for two in compositions(sizes[1], 3) {
            let both: Vec<usize> = one.iter().zip(&two).map(|(a, b)| a + b).collect();
            let factorials: f64 = one.iter().chain(&two).map(|count| ln_factorial(*count)).sum();
            let likelihood = noise_of(&noises[0], &values[0], &one) + noise_of(&noises[1], &values[1], &two);
            logs.push(ln_beta(&concentrations, &both) - factorials + likelihood);
            pooled.push(both);
        }
    }
    let (mut means, mut products) = (vec![0.0; 3], vec![0.0; 3]);
    for (weight, counts) in normalise(&logs).iter().zip(&pooled) {
        let (first, second) = dirichlet_moments(&concentrations, counts);
        add(&mut means, *weight, &first);
        add(&mut products, *weight, &second);
    }
    compare("two parties", &draws, &means, &products);
}

/// Two classes, two features of two levels, five records: all databases as counts of the eight kinds of records.
///
/// Seen to catch: m! / Gamma(m + A) of a class for its first feature only.
#[test]
fn naive_bayes_of_five_records() {
    let columns = [column("x1", 2), column("y", 2), column("x2", 2)];
    let (noise, n) = (noise(CountFamily::Laplace, 1.7), 5);
    // y x x1 (class first), then x2 x y (feature first).
    let values = [1.9, 0.3, 2.4, -0.8, 3.1, 1.0, 0.7, 2.2];
    let shown =
        release("one", &columns, &[&["y", "x1"], &["x2", "y"]], &values, (noise.clone(), Some(n as u64)));
    let evidence = TableEvidence::new(&[shown], false).unwrap();
    let records = RecordsPrior::default();
    let model = CountModel::naive_bayes(&evidence, &TablePrior::default(), &records, None).unwrap();
    assert_eq!(model.names()[..4], ["p[y=0]", "p[y=1]", "p[x1=0 | y=0]", "p[x1=1 | y=0]"]);
    let (alpha, mut logs, mut moments) = ([2.0, 2.0], Vec::new(), Vec::new());
    for cells in compositions(n, 8) {
        let count = |y: usize, x1: Option<usize>, x2: Option<usize>| -> usize {
            let fits = |cell: &usize| {
                cell / 4 == y
                    && x1.is_none_or(|level| cell / 2 % 2 == level)
                    && x2.is_none_or(|level| cell % 2 == level)
            };
            (0..8).filter(fits).map(|cell| cells[cell]).sum()
        };
        let first = |y: usize| [count(y, Some(0), None), count(y, Some(1), None)];
        let second = |y: usize| [count(y, None, Some(0)), count(y, None, Some(1))];
        let classes = [count(0, None, None), count(1, None, None)];
        let blocks = [classes, first(0), second(0), first(1), second(1)];
        let seen: Vec<usize> = first(0)
            .into_iter()
            .chain(first(1))
            .chain([second(0)[0], second(1)[0], second(0)[1], second(1)[1]])
            .collect();
        let prior: f64 = blocks.iter().map(|block| ln_beta(&alpha, block)).sum();
        let choose: f64 = cells.iter().map(|count| ln_factorial(*count)).sum();
        logs.push(prior - choose + noise_of(&noise, &values, &seen));
        let means: Vec<f64> = blocks.iter().flat_map(|block| dirichlet_moments(&alpha, block).0).collect();
        // Neighbours inside of a block and from block to block are independent given the counts but for those inside.
        let products: Vec<f64> = (0..10)
            .map(|k| match k % 2 {
                0 => dirichlet_moments(&alpha, &blocks[k / 2]).1[0],
                _ => means[k] * means[(k + 1) % 10],
            })
            .collect();
        moments.push((means, products));
    }
    let (mut means, mut products) = (vec![0.0; 10], vec![0.0; 10]);
    for (weight, (first, second)) in normalise(&logs).iter().zip(&moments) {
        add(&mut means, *weight, first);
        add(&mut products, *weight, second);
    }
    compare("naive Bayes", &draw(model), &means, &products);
}
