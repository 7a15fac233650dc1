//! Categorical records: posteriors by enumeration, and the setting of \[JAGR22\] section 4.

use organza_mcmc::{Kernel, Plan, run};
use organza_release::testing::counts as published_counts;
use organza_release::{CountFamily, CountNoise, CountRelease, LevelColumn};

use super::super::{
    NaiveBayesRecords, PartySum, Plain, Replacement, SaturatedRecords, TableMechanism, table_mechanisms,
};
use super::*;

/// Columns a, b, .. with so many levels.
fn columns(levels: &[usize]) -> Vec<LevelColumn> {
    let column = |(place, count): (usize, &usize)| LevelColumn {
        name: char::from(b'a' + place as u8).to_string(),
        levels: (0..*count).map(|level| level.to_string()).collect(),
    };
    levels.iter().enumerate().map(column).collect()
}

/// A release of tables, each named by the letters of its columns.
fn counts(
    levels: &[usize],
    tables: &[&str],
    records: u64,
    (family, scale): (CountFamily, f64),
) -> CountRelease {
    let columns = columns(levels);
    let size = |table: &&str| table.bytes().map(|name| levels[usize::from(name - b'a')]).product::<usize>();
    let names: Vec<Vec<String>> =
        tables.iter().map(|table| table.chars().map(String::from).collect()).collect();
    let value = vec![0.0; tables.iter().map(size).sum()];
    let mut release =
        published_counts("north", &columns, &[], &value, (CountNoise { family, scale }, Some(records)));
    release.privacy.sensitivity = 2.0 * tables.len() as f64;
    release.privacy.epsilon = release.privacy.sensitivity / scale;
    release.tables = names;
    release
}

/// Log density of one residual by the definition of its family, up to a constant.
fn log_noise((family, scale): (CountFamily, f64), residual: f64) -> f64 {
    match family {
        CountFamily::DiscreteLaplace | CountFamily::Laplace => -residual.abs() / scale,
        CountFamily::DiscreteGaussian | CountFamily::Gaussian => {
            -(residual * residual) / (2.0 * scale * scale)
        }
    }
}

const FAMILIES: [CountFamily; 4] = [
    CountFamily::DiscreteLaplace,
    CountFamily::DiscreteGaussian,
    CountFamily::Laplace,
    CountFamily::Gaussian,
];

/// The mechanism without its short cuts.
struct Whole<'m>(&'m TableMechanism);

impl RecordAdditive for Whole<'_> {
    fn party(&self) -> &str {
        self.0.party()
    }
    fn records(&self) -> usize {
        self.0.records()
    }
    fn size(&self) -> usize {
        self.0.size()
    }
    fn contribution(&self, record: &[f64], out: &mut [f64]) {
        self.0.contribution(record, out);
    }
    fn log_density(&self, sum: &[f64]) -> f64 {
        self.0.log_density(sum)
    }
    fn epsilon(&self) -> Option<f64> {
        self.0.epsilon()
    }
}

/// Catches a cell in the wrong table or with the wrong stride, a residual with the wrong sign, and a replacement that forgets a table:
/// short cuts must be what whole contributions give, and those what the definition says.
#[test]
fn short_cuts_are_those_of_whole_contributions() {
    let mut rng = ChainRng::new(2, 0);
    for family in FAMILIES {
        let mut release = counts(&[2, 3, 4], &["b", "ca", "abc"], 6, (family, 1.7));
        release.value.iter_mut().for_each(|value| *value = (4.0 * rng.random::<f64>() - 1.0).round());
        let mechanism = TableMechanism::of(&release).unwrap();
        let whole = Whole(&mechanism);
        let mut record = || [2, 3, 4].map(|levels| rng.random_range(0..levels) as f64);
        let records: Vec<[f64; 3]> = (0..6).map(|_| record()).collect();
        let cells = |[a, b, c]: [f64; 3]| [b, 3.0 + 2.0 * c + a, 11.0 + 12.0 * a + 4.0 * b + c];
        let mut at = PartySum { sum: vec![0.0; 35], log_density: 0.0 };
        records.iter().flat_map(|record| cells(*record)).for_each(|cell| at.sum[cell as usize] += 1.0);
        let residuals = release.value.iter().zip(&at.sum).map(|(value, sum)| value - sum);
        let expected: f64 = residuals.map(|residual| log_noise((family, 1.7), residual)).sum();
        at.log_density = mechanism.log_density(&at.sum);
        assert!((at.log_density - expected).abs() < 1e-12);
        let mut memory = Replacement::new(35);
        for _ in 0..50 {
            let new = record();
            let ratio = mechanism.log_ratio(&at, &records[0], &new, &mut memory);
            let dense = whole.log_ratio(&at, &records[0], &new, &mut memory);
            assert!((ratio - dense).abs() < 1e-12, "{family:?}: {ratio} {dense}");
            let (mut one, mut other) = (at.sum.clone(), at.sum.clone());
            mechanism.replace(&mut one, &records[0], &new, &memory);
            whole.replace(&mut other, &records[0], &new, &memory);
            assert_eq!(one, other);
        }
    }
}

/// Sum of ln Gamma(x + k) over a block less that of the total: the log probability of counts, up to what all have in common.
fn log_block(counts: &[f64], concentration: f64) -> f64 {
    let total: f64 = counts.iter().map(|count| count + concentration).sum();
    counts.iter().map(|count| libm::lgamma(count + concentration)).sum::<f64>() - libm::lgamma(total)
}

/// Catches a draw of probabilities that forgets the prior, and a density that is not that of the family.
#[test]
fn the_posterior_of_a_noisy_proportion_is_that_of_enumeration() {
    let concentration = 1.5;
    for (noise, released) in [
        ((CountFamily::Laplace, 1.5), [7.4, 1.2]),
        ((CountFamily::DiscreteGaussian, 2.0), [12.0, -1.0]),
        ((CountFamily::DiscreteLaplace, 0.8), [3.0, 6.0]),
    ] {
        let mut release = counts(&[2], &["a"], 10, noise);
        release.value = released.to_vec();
        let parties = vec![TableMechanism::of(&release).unwrap()];
        let target =
            Augmented { model: SaturatedRecords::new(&release.columns, concentration).unwrap(), parties };
        let (mut total, mut moments) = (0.0, [0.0; 3]);
        for k in 0..=10 {
            let (k, rest) = (f64::from(k), 10.0 - f64::from(k));
            let choose = libm::lgamma(11.0) - libm::lgamma(k + 1.0) - libm::lgamma(rest + 1.0);
            let density = log_noise(noise, released[0] - k) + log_noise(noise, released[1] - rest);
            let weight = (choose + log_block(&[k, rest], concentration) + density).exp();
            total += weight;
            let mut moment = weight;
            for (power, sum) in moments.iter_mut().enumerate() {
                moment *= (concentration + k + power as f64) / (2.0 * concentration + 10.0 + power as f64);
                *sum += moment;
            }
        }
        let plan = Plan { chains: 4, warmup: 500, draws: 40_000, seed: 5, threads: 1, thin: 1 };
        let draws = run(&Plain, &target, &plan).unwrap();
        for (power, moment) in moments.iter().enumerate() {
            let found = mean(&draws, 0, |p| p.powi(power as i32 + 1));
            agree(&format!("{noise:?}, moment {}", power + 1), found, (moment / total, 0.0));
        }
    }
}

/// Catches features of one class that are drawn with the probabilities of another, and blocks in the wrong place: all 8^5 tables of two
/// classes with two features, and the tables of the class with each feature.
#[test]
fn the_posterior_of_naive_bayes_is_that_of_enumeration() {
    let (noise, concentration) = ((CountFamily::Laplace, 1.3), 0.8);
    let mut release = counts(&[2, 2, 2], &["ba", "bc"], 5, noise);
    release.value = vec![2.6, -0.4, 0.9, 1.7, 1.1, 0.2, 3.8, -1.0];
    let (columns, parties) = table_mechanisms(&[release.clone()]).unwrap();
    // The class is the second column.
    let target = Augmented { model: NaiveBayesRecords::new(&columns, "b", concentration).unwrap(), parties };
    let (mut total, mut firsts, mut seconds) = (0.0, [0.0; 10], [0.0; 10]);
    for table in 0..8_usize.pow(5) {
        let mut counts = [0.0; 10];
        for kind in (0..5).map(|record| table >> (3 * record) & 7) {
            let (a, b, c) = (kind >> 2, kind >> 1 & 1, kind & 1);
            [b, 2 + 4 * b + a, 2 + 4 * b + 2 + c].into_iter().for_each(|place| counts[place] += 1.0);
        }
        let tables = [counts[2], counts[3], counts[6], counts[7], counts[4], counts[5], counts[8], counts[9]];
        let residuals = release.value.iter().zip(tables);
        let density: f64 = residuals.map(|(value, count)| log_noise(noise, value - count)).sum();
        let blocks: f64 = counts.chunks_exact(2).map(|block| log_block(block, concentration)).sum();
        let weight = (density + blocks).exp();
        total += weight;
        for (place, count) in counts.iter().enumerate() {
            let block = counts[place] + counts[place ^ 1] + 2.0 * concentration;
            let first = (count + concentration) / block;
            firsts[place] += weight * first;
            seconds[place] += weight * first * (count + concentration + 1.0) / (block + 1.0);
        }
    }
    let plan = Plan { chains: 4, warmup: 500, draws: 50_000, seed: 6, threads: 1, thin: 1 };
    let draws = run(&Plain, &target, &plan).unwrap();
    assert_eq!(target.model.names()[..4], ["p[b=0]", "p[b=1]", "p[a=0 | b=0]", "p[a=1 | b=0]"]);
    for place in 0..10 {
        let name = &target.model.names()[place];
        agree(name, mean(&draws, place, |p| p), (firsts[place] / total, 0.0));
        agree(&format!("{name}, square"), mean(&draws, place, |p| p * p), (seconds[place] / total, 0.0));
    }
}

/// N = 100 records of I = 5 classes and K = 5 features of J = 3 levels; tables of the class with each feature, Laplace noise of 2K/epsilon.
pub(super) fn log_linear(epsilon: f64) -> Augmented<NaiveBayesRecords, TableMechanism> {
    let tables = ["ab", "ac", "ad", "ae", "af"];
    let mut release = counts(&[5, 3, 3, 3, 3, 3], &tables, 100, (CountFamily::Laplace, 10.0 / epsilon));
    let model = NaiveBayesRecords::new(&release.columns, "a", 2.0).unwrap();
    let (mechanism, mut rng) = (TableMechanism::of(&release).unwrap(), ChainRng::new(2022, 1));
    let truth = model.start(&mut rng).unwrap();
    let (mut record, mut one) = (vec![0.0; 6], vec![0.0; mechanism.size()]);
    for _ in 0..100 {
        model.draw_record(&truth, &mut rng, &mut record);
        mechanism.contribution(&record, &mut one);
        release.value.iter_mut().zip(&one).for_each(|(sum, value)| *sum += value);
    }
    for value in &mut release.value {
        let uniform: f64 = rng.random::<f64>() - 0.5;
        *value -= 10.0 / epsilon * uniform.signum() * (1.0 - 2.0 * uniform.abs()).ln();
    }
    Augmented { model, parties: vec![TableMechanism::of(&release).unwrap()] }
}

/// Catches a sensitivity that is not that of the tables: the smallest probability of acceptance of every chain is above
/// exp(-epsilon), and the mean well above it, as in the paper's figure.
#[test]
fn acceptance_is_above_the_bound_in_every_chain() {
    for epsilon in [0.1, 0.3, 1.0, 3.0, 10.0] {
        let target = log_linear(epsilon);
        assert_eq!(target.parties[0].epsilon(), Some(epsilon));
        for chain in 0..10 {
            let mut rng = ChainRng::new(9, chain);
            let mut state = Plain.init(&target, &mut rng).unwrap();
            let (mut smallest, mut total) = (f64::INFINITY, 0.0);
            for _ in 0..1000 {
                let info = Plain.step(&target, &mut state, &mut rng).unwrap();
                smallest = smallest.min(info.smallest);
                total += info.acceptance / 1000.0;
            }
            if chain == 0 {
                println!(
                    "epsilon {epsilon}: smallest {smallest}, mean {total}, bound {}",
                    libm::exp(-epsilon)
                );
            }
            assert!(smallest >= libm::exp(-epsilon) * (1.0 - 1e-9) && smallest < total && total < 1.0);
        }
    }
}

/// Catches counts that drift from their records.
#[test]
fn running_counts_are_those_of_the_records() {
    let target = log_linear(3.0);
    let mut rng = ChainRng::new(6, 0);
    let mut state = Plain.init(&target, &mut rng).unwrap();
    for _ in 0..130 {
        Plain.step(&target, &mut state, &mut rng).unwrap();
        let mut anew = state.clone();
        anew.refresh(&target);
        assert_eq!(state.sums[0].sum, anew.sums[0].sum);
        assert!((state.sums[0].log_density - anew.sums[0].log_density).abs() < 1e-9);
    }
}

/// Seen to catch: a table of an unknown column that was left out in silence.
#[test]
fn other_tables_are_refused() {
    let release = counts(&[2, 3], &["ab"], 10, (CountFamily::Laplace, 2.0));
    let refusal = |change: &dyn Fn(&mut CountRelease)| {
        let mut changed = release.clone();
        change(&mut changed);
        TableMechanism::of(&changed).unwrap_err().to_string()
    };
    assert!(refusal(&|release| release.records = None).contains("public number"));
    assert!(refusal(&|release| release.tables[0][1] = "z".into()).contains("\"z\""));
    assert!(refusal(&|release| release.value[0] = f64::NAN).contains("6 cells"));
    assert!(refusal(&|release| release.noise.scale = 0.0).contains("noise.scale"));
    let message = table_mechanisms(&[release.clone(), release.clone()]).unwrap_err().to_string();
    assert!(message.contains("twice"), "{message}");
    let other = CountRelease { party: "south".into(), columns: columns(&[3, 2]), ..release.clone() };
    let message = table_mechanisms(&[release.clone(), other]).unwrap_err().to_string();
    assert!(message.contains("south disagrees with north on columns"), "{message}");
    let message = NaiveBayesRecords::new(&release.columns, "z", 2.0).unwrap_err().to_string();
    assert!(message.contains("there are a, b"), "{message}");
    assert!(SaturatedRecords::new(&release.columns, 0.0).unwrap_err().to_string().contains("concentration"));
    assert!(SaturatedRecords::new(&columns(&[2, 1]), 1.0).unwrap_err().to_string().contains("b needs two"));
    assert!(
        SaturatedRecords::new(&columns(&[100; 9]), 1.0).unwrap_err().to_string().contains("fewer columns")
    );
}
