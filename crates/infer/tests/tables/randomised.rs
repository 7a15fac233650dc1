//! Randomised answers against quadrature and against all databases.

use organza_infer::tables::{AnswerAugmentation, AnswerDensity, RandomisedAnswers, TablePrior};
use organza_mcmc::{Draws, Nuts, Plan, gradient_error, run};
use organza_release::{Answer, Missing, Neighbours, RANDOMISED_SCHEMA, RandomisedRelease, Tool};

use crate::support::*;

const CHAIN: Plan = Plan { chains: 2, warmup: 500, draws: 6000, thin: 1, seed: 8, threads: 2 };

fn release(
    party: &str,
    columns: &[organza_release::LevelColumn],
    answers: &[(&[&str], f64, &[u32])],
) -> RandomisedRelease {
    let answer = |(columns, truth, value): &(&[&str], f64, &[u32])| Answer {
        columns: columns.iter().map(|name| name.to_string()).collect(),
        truth: *truth,
        value: value.to_vec(),
    };
    RandomisedRelease {
        schema: RANDOMISED_SCHEMA.into(),
        party: party.into(),
        created: "2026-01-01T00:00:00Z".into(),
        records: answers[0].2.len() as u64,
        missing: Missing::Refused,
        columns: columns.to_vec(),
        answers: answers.iter().map(answer).collect(),
        neighbours: Neighbours::Substitute,
        epsilon: 1.0,
        tool: Tool { name: "test".into(), version: "0".into() },
    }
}

fn prior(concentration: f64) -> TablePrior {
    TablePrior { concentration: Some(concentration), ..TablePrior::default() }
}

/// Draws by both samplers.
fn both(target: &RandomisedAnswers) -> [(&'static str, Draws); 2] {
    let density = AnswerDensity::new(target.clone());
    let nuts = run(&Nuts::for_plan(&CHAIN), &&density, &CHAIN).unwrap();
    let plan = Plan { draws: 40_000, ..CHAIN };
    [("nuts", nuts), ("augmentation", run(&AnswerAugmentation, target, &plan).unwrap())]
}

/// Fifty records, 18 of which say yes, with a coin that tells the truth in 70 percent.
///
/// Seen to catch: truth and lie exchanged, a missing Jacobian.
#[test]
fn a_proportion_of_fifty_records() {
    let values: Vec<u32> = (0..50).map(|record| u32::from(record < 18)).collect();
    let released = release("one", &[column("a", 2)], &[(&["a"], 0.7, &values)]);
    let target = RandomisedAnswers::new(&[released], &prior(1.5), false).unwrap();
    let steps = 20_000;
    let nodes: Vec<f64> = (0..steps).map(|k| (f64::from(k) + 0.5) / f64::from(steps)).collect();
    let log = |p: &f64| {
        let yes = 0.7 * p + 0.3 * (1.0 - p);
        0.5 * (p.ln() + (1.0 - p).ln()) + 18.0 * yes.ln() + 32.0 * (1.0 - yes).ln()
    };
    let weights = normalise(&nodes.iter().map(log).collect::<Vec<_>>());
    let expect = |f: &dyn Fn(f64) -> f64| -> f64 { nodes.iter().zip(&weights).map(|(p, w)| w * f(*p)).sum() };
    let below = |x: f64| move |p: f64| f64::from(u8::from(p <= x));
    let critical = critical_z(10);
    for (name, draws) in both(&target) {
        let mut scores = vec![
            z_of(&draws, |row| row[1], expect(&|p| p)),
            z_of(&draws, |row| row[1] * row[1], expect(&|p| p * p)),
        ];
        for x in [0.05, 0.15, 0.3] {
            scores.push(z_of(&draws, |row| below(x)(row[1]), expect(&below(x))));
        }
        assert!(scores.iter().all(|z| z.abs() < critical), "{name}: {scores:?}");
    }
}

/// Two parties, one with an answer for every column and one with joint answers: all databases of three and two records.
///
/// Seen to catch: truth and lie exchanged; catches an answer that mixes over the wrong column.
#[test]
fn two_columns_and_two_parties() {
    let columns = [column("a", 2), column("b", 3)];
    let (a, b, joint) = ([0, 1, 1], [2, 0, 2], [4, 3]);
    let releases = [
        release("one", &columns, &[(&["b"], 0.8, &b), (&["a"], 0.6, &a)]),
        release("two", &columns, &[(&["a", "b"], 0.75, &joint)]),
    ];
    let target = RandomisedAnswers::new(&releases, &prior(0.9), false).unwrap();
    let chance =
        |truth: f64, levels: f64, same: bool| if same { truth } else { (1.0 - truth) / (levels - 1.0) };
    let (mut logs, mut counts) = (Vec::new(), Vec::new());
    for database in 0..6_usize.pow(5) {
        let cells: Vec<usize> = (0..5).map(|record| database / 6_usize.pow(record) % 6).collect();
        let mut log = 0.0;
        for record in 0..3 {
            let (true_a, true_b) = (cells[record] / 3, cells[record] % 3);
            log += chance(0.6, 2.0, true_a == a[record] as usize).ln();
            log += chance(0.8, 3.0, true_b == b[record] as usize).ln();
        }
        for record in 0..2 {
            log += chance(0.75, 6.0, cells[3 + record] == joint[record] as usize).ln();
        }
        let mut table = vec![0; 6];
        cells.iter().for_each(|cell| table[*cell] += 1);
        logs.push(log + ln_beta(&[0.9; 6], &table));
        counts.push(table);
    }
    let (mut means, mut products) = (vec![0.0; 6], vec![0.0; 6]);
    for (weight, table) in normalise(&logs).iter().zip(&counts) {
        let (first, second) = dirichlet_moments(&[0.9; 6], table);
        add(&mut means, *weight, &first);
        add(&mut products, *weight, &second);
    }
    let critical = critical_z(24);
    for (name, draws) in both(&target) {
        for k in 0..6 {
            let first = z_of(&draws, |row| row[k], means[k]);
            let second = z_of(&draws, |row| row[k] * row[(k + 1) % 6], products[k]);
            assert!(first.abs() < critical && second.abs() < critical, "{name} {k}: {first} {second}");
        }
    }
    let density = AnswerDensity::new(target);
    let error = gradient_error(&density, &[0.4, -1.1, 0.7, 0.2, 1.5]);
    assert!(error < 1e-7, "{error}");
}

/// Every error names the party and the field.
#[test]
fn errors_name_the_place() {
    let columns = [column("a", 2), column("b", 3)];
    let (a, b) = ([0, 1], [2, 0]);
    let good = release("one", &columns, &[(&["a"], 0.8, &a), (&["b"], 0.8, &b)]);
    let change = |edit: &dyn Fn(&mut RandomisedRelease)| {
        let mut bad = good.clone();
        edit(&mut bad);
        RandomisedAnswers::new(&[bad], &prior(1.0), false).unwrap_err().to_string()
    };
    let cases = [
        (change(&|bad| bad.answers[1].value[0] = 3), "one: answers[1].value: has 3 at record 0"),
        (change(&|bad| bad.answers[0].truth = 1.2), "one: answers[0].truth"),
        (change(&|bad| bad.answers.truncate(1)), "one: answers: ask nothing about \"b\""),
        (change(&|bad| bad.answers[1] = bad.answers[0].clone()), "one: answers[1].columns: \"a\""),
        (change(&|bad| bad.answers[0].columns.clear()), "one: answers[0].columns: is empty"),
        (change(&|bad| bad.answers[0].value.truncate(1)), "one: answers[0].value: has 1 answers of 2"),
    ];
    for (text, expected) in cases {
        assert!(text.contains(expected), "{text}");
    }
}
