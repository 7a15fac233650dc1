//! What the ledger says is spent against an independent accountant, for random sequences of releases.

use super::spending::Spending;
use super::{Account, Charge, Ledger, store};
use organza_release::Neighbours;
use organza_release::loss::{Composition, Mechanism};
use rayon::prelude::*;
use std::path::Path;

/// A line of `compositions.csv`, which Google's dp-accounting wrote (`compositions.py`).
struct Sequence {
    mechanisms: Vec<Mechanism>,
    delta: f64,
    least: f64,
    most: f64,
}

fn sequences() -> Vec<Sequence> {
    let text = include_str!("../../tests/golden/compositions.csv");
    let lines = text.lines().skip_while(|line| !line.starts_with("releases,")).skip(1);
    let sequences = lines.map(|line| {
        let [words, delta, least, most] = line.split(',').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let number = |text: &str| text.parse().unwrap();
        let mechanisms = words.split(';').map(mechanism).collect();
        Sequence { mechanisms, delta: number(delta), least: number(least), most: number(most) }
    });
    sequences.collect()
}

fn mechanism(words: &str) -> Mechanism {
    let (kind, numbers) = words.split_once(' ').unwrap();
    let numbers: Vec<f64> = numbers.split(' ').map(|number| number.parse().unwrap()).collect();
    match (kind, numbers.as_slice()) {
        ("gaussian", &[mu]) => Mechanism::Gaussian { mu },
        ("laplace", &[epsilon]) => Mechanism::Laplace { epsilon },
        ("pure", &[epsilon]) => Mechanism::Pure { epsilon },
        ("approximate", &[epsilon, delta]) => Mechanism::Approximate { epsilon, delta },
        ("discrete-gaussian", &[scale, moved]) => Mechanism::DiscreteGaussian { scale, moved: moved as u64 },
        ("subsampled", &[sigma, rate, steps]) => {
            let neighbours = Neighbours::AddRemove;
            Mechanism::SubsampledGaussian { sigma, rate, steps: steps as u64, neighbours }
        }
        _ => panic!("{words}"),
    }
}

/// What a ledger with these charges says is spent. They are written without being composed one after the other, which takes minutes.
fn spent(path: &Path, Sequence { mechanisms, delta, .. }: &Sequence) -> f64 {
    let mut ledger = Ledger::open(path).unwrap();
    let account = Account::new("table", "north");
    let neighbours = Some(Neighbours::AddRemove);
    ledger.set_budget(&account, 100.0, *delta, neighbours).unwrap();
    let written = ledger.write(|transaction, failed| {
        mechanisms.iter().try_for_each(|&mechanism| {
            let (claimed_epsilon, claimed_delta, description) = (100.0, *delta, String::new());
            let total_variation = 0.0;
            let charge = Charge {
                mechanism,
                total_variation,
                neighbours,
                claimed_epsilon,
                claimed_delta,
                description,
            };
            store::insert_charge(transaction, &account, &charge).map(drop).map_err(failed)
        })
    });
    written.unwrap();
    let records = ledger.charges(&account).unwrap();
    let spending = Spending::of(records.iter().map(|record| &record.charge), Neighbours::AddRemove);
    spending.unwrap().epsilon(*delta).unwrap().unwrap()
}

/// Catches losses that are forgotten, rounded down or composed by a law that is not theirs, and bounds that are not tight.
/// Every fifth of 200 sequences; `ORGANZA_CASES=200` takes all, in some minutes of processor time.
#[test]
fn random_sequences_agree_with_dp_accounting() {
    let folder = tempfile::tempdir().unwrap();
    let cases = std::env::var("ORGANZA_CASES").map_or(40, |cases| cases.parse().unwrap());
    let all = sequences();
    assert_eq!(all.len(), 200);
    let sequences: Vec<Sequence> = all.into_iter().step_by((200 / cases).max(1)).collect();
    let wrong = |(line, sequence): (usize, &Sequence)| {
        let ours = spent(&folder.path().join(line.to_string()), sequence);
        let right = sequence.least <= ours && ours <= sequence.most + 1e-3;
        (!right).then(|| format!("{line}: {ours} is not in {} to {}", sequence.least, sequence.most))
    };
    let wrong: Vec<String> = sequences.par_iter().enumerate().filter_map(wrong).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // And the bounds would notice epsilons that are added up.
    let alone = |sequence: &Sequence, one| Composition::of([one]).unwrap().epsilon(sequence.delta).unwrap();
    let added = |sequence: &&Sequence| {
        sequence.mechanisms.iter().map(|one| alone(sequence, *one)).sum::<f64>() > sequence.most + 1e-3
    };
    assert!(sequences.iter().filter(added).count() > sequences.len() / 2);
}
