//! The ledger as one process sees it: budgets, charges, refusals, previews, reopening.
#![allow(clippy::unwrap_used)]

mod ledger_place;

use ledger_place::{account, place};
use organza_curator::ledger::{Account, Budget, Charge, ChargeId, Ledger, LedgerError, Preview};
use organza_release::Neighbours;
use organza_release::loss::{Composition, LossError, Mechanism, gaussian_epsilon, gaussian_mu};

const DELTA: f64 = 1e-6;

fn gaussian(epsilon: f64) -> Charge {
    Charge {
        mechanism: Mechanism::Gaussian { mu: gaussian_mu(epsilon, DELTA).unwrap() },
        total_variation: 0.0,
        neighbours: Some(Neighbours::Substitute),
        claimed_epsilon: epsilon,
        claimed_delta: DELTA,
        description: format!("a release at {epsilon}"),
    }
}

fn pure(epsilon: f64) -> Charge {
    let mechanism = Mechanism::Pure { epsilon };
    Charge { mechanism, claimed_delta: 0.0, description: "Laplace".to_owned(), ..gaussian(epsilon) }
}

#[test]
fn the_first_charge_sets_the_budget_and_the_second_is_refused() {
    let (_folder, path) = place();
    let mut ledger = Ledger::open(&path).unwrap();
    let outcome = ledger.charge(&account(), &gaussian(1.0)).unwrap();
    assert!(outcome.budget_was_set);
    assert!((outcome.spent.epsilon.unwrap() - 1.0).abs() < 1e-6);

    let error = ledger.charge(&account(), &gaussian(0.1)).unwrap_err();
    let LedgerError::OverBudget { budget, spent_after, .. } = &error else { panic!("{error}") };
    assert_eq!(*budget, Budget { epsilon: 1.0, delta: DELTA });
    assert!(spent_after.epsilon.unwrap() > 1.0);
    let message = error.to_string();
    for part in ["'admissions'", "epsilon = 1 at delta = 0.000001", "spent so far epsilon = 1,"] {
        assert!(message.contains(part), "{message}");
    }
    assert_eq!(ledger.charges(&account()).unwrap().len(), 1, "a refused charge leaves no trace");

    ledger.set_budget(&account(), 1.5, DELTA, None).unwrap();
    assert!(!ledger.charge(&account(), &gaussian(0.1)).unwrap().budget_was_set);
}

#[test]
fn gaussian_charges_compose_by_their_squares() {
    let (_folder, path) = place();
    let mut ledger = Ledger::open(&path).unwrap();
    let mu = gaussian_mu(0.5, DELTA).unwrap();
    let four = Composition::of([Mechanism::Gaussian { mu }; 4]).unwrap().epsilon(DELTA).unwrap();
    assert!(four < 1.2, "far below the sum of 2: {four}");
    ledger.set_budget(&account(), four, DELTA, None).unwrap();
    for _ in 0..4 {
        ledger.charge(&account(), &gaussian(0.5)).unwrap();
    }
    assert!(matches!(ledger.charge(&account(), &gaussian(0.5)), Err(LedgerError::OverBudget { .. })));
}

#[test]
fn mixed_charges_and_their_lattice_corrections_add() {
    let (_folder, path) = place();
    let mut ledger = Ledger::open(&path).unwrap();
    ledger.set_budget(&account(), 2.0, 2.0 * DELTA, None).unwrap();
    ledger.charge(&account(), &pure(0.5)).unwrap();
    let noisy = Charge { total_variation: 1e-8, claimed_delta: 1.1 * DELTA, ..gaussian(1.0) };
    let outcome = ledger.charge(&account(), &noisy).unwrap();
    // Composed at what the lattice leaves of delta: less than the sum of the epsilons, more than the Gaussian one alone.
    let left = 2.0 * DELTA - (1.0 + outcome.spent.epsilon.unwrap().exp()) * 1e-8;
    let mu = gaussian_mu(1.0, DELTA).unwrap();
    let mechanisms = [Mechanism::Pure { epsilon: 0.5 }, Mechanism::Gaussian { mu }];
    let expected = Composition::of(mechanisms).unwrap().epsilon(left).unwrap();
    assert!((outcome.spent.epsilon.unwrap() - expected).abs() < 1e-8);
    let alone = gaussian_epsilon(left, mu).unwrap();
    assert!(expected > alone + 0.1 && expected < alone + 0.48, "{expected} {alone}");
    let approximate = Mechanism::Approximate { epsilon: 0.3, delta: 1e-7 };
    let other = Charge { mechanism: approximate, claimed_delta: 1e-7, ..pure(0.3) };
    let with_other = ledger.charge(&account(), &other).unwrap().spent.epsilon.unwrap();
    assert!(with_other > expected + 0.05 && with_other < expected + 0.3, "{with_other} {expected}");
}

#[test]
fn pure_charges_need_no_delta() {
    let (_folder, path) = place();
    let mut ledger = Ledger::open(&path).unwrap();
    ledger.set_budget(&account(), 0.3, 0.0, None).unwrap();
    for _ in 0..3 {
        ledger.charge(&account(), &pure(0.1)).unwrap();
    }
    assert!(ledger.charge(&account(), &pure(0.001)).is_err());
    let error = ledger.charge(&account(), &gaussian(0.1)).unwrap_err();
    assert!(error.to_string().contains("with this release more than any epsilon"), "{error}");
}

#[test]
fn accounts_do_not_share_a_budget() {
    let (_folder, path) = place();
    let mut ledger = Ledger::open(&path).unwrap();
    ledger.charge(&account(), &gaussian(1.0)).unwrap();
    ledger.charge(&Account::new("discharges", "north"), &gaussian(1.0)).unwrap();
    let names: Vec<String> = ledger.accounts().unwrap().iter().map(|line| line.account.to_string()).collect();
    assert_eq!(names, ["data set 'admissions'", "data set 'discharges'"]);
}

/// A party is a label, and what looks like the name of a data set is that name.
#[test]
fn another_party_and_another_spelling_have_no_budget_of_their_own() {
    let (_folder, path) = place();
    let mut ledger = Ledger::open(&path).unwrap();
    ledger.charge(&account(), &gaussian(1.0)).unwrap();
    for (dataset, party) in [("admissions", "south"), ("a\u{ff44}missions", "north")] {
        let error = ledger.charge(&Account::new(dataset, party), &gaussian(1.0)).unwrap_err();
        assert!(matches!(error, LedgerError::OverBudget { .. }), "{dataset} {party}: {error}");
    }
    for hidden in ["admis\u{200b}sions", "admissions\u{feff}", "\u{202e}admissions", "admis\u{ad}sions"] {
        let error = ledger.charge(&Account::new(hidden, "north"), &gaussian(1.0)).unwrap_err();
        assert!(matches!(error, LedgerError::Name { field: "dataset", .. }), "{error}");
        assert!(error.to_string().contains("\\u{"), "{error}");
    }
}

/// Records that are added or removed, and records that are exchanged: the losses of one do not protect the other alike.
#[test]
fn losses_of_different_relations_do_not_add_up() {
    let relation = |neighbours| Charge { neighbours: Some(neighbours), ..pure(1.0) };
    let (added, exchanged) = (relation(Neighbours::AddRemove), relation(Neighbours::Substitute));
    let (_folder, path) = place();
    let mut ledger = Ledger::open(&path).unwrap();
    ledger.set_budget(&account(), 2.0, 0.0, None).unwrap();
    ledger.charge(&account(), &added).unwrap();
    let error = ledger.charge(&account(), &exchanged).unwrap_err();
    assert!(matches!(error, LedgerError::NumberIsPublic), "{error}");
    assert!(matches!(ledger.preview(&account(), &exchanged), Err(LedgerError::NumberIsPublic)));
    // For exchanged records the first costs 2 and both together 3.
    ledger.set_budget(&account(), 2.0, 0.0, Some(Neighbours::Substitute)).unwrap();
    let error = ledger.charge(&account(), &exchanged).unwrap_err();
    assert!(matches!(error, LedgerError::OverBudget { .. }), "{error}");
    ledger.set_budget(&account(), 3.0, 0.0, None).unwrap();
    let spent = ledger.charge(&account(), &exchanged).unwrap().spent.epsilon.unwrap();
    assert!((spent - 3.0).abs() < 1e-9, "{spent}");
    let summary = &ledger.accounts().unwrap()[0];
    assert_eq!((summary.neighbours, summary.charges), (Some(Neighbours::Substitute), 2));
    assert!(ledger.set_budget(&account(), 9.0, 0.0, Some(Neighbours::AddRemove)).is_err());
}

#[test]
fn everything_is_there_after_reopening() {
    let (_folder, path) = place();
    let id = {
        let mut ledger = Ledger::open(&path).unwrap();
        ledger.set_budget(&account(), 3.0, 1e-5, None).unwrap();
        ledger.charge(&account(), &pure(0.1 + 0.2)).unwrap();
        ledger.charge(&account(), &gaussian(0.7)).unwrap().id
    };
    let mut ledger = Ledger::open(&path).unwrap();
    ledger.mark_published(id, "north.release.json").unwrap();
    ledger.mark_published(id, "north.release.json").unwrap();
    let records = ledger.charges(&account()).unwrap();
    assert_eq!(records[0].charge, pure(0.1 + 0.2), "all bits of all numbers");
    assert_eq!(records[1].charge, gaussian(0.7));
    assert_eq!(records[0].published, None);
    let publication = records[1].published.clone().unwrap();
    assert_eq!(publication.output, "north.release.json");
    for time in [&records[1].charged_at, &publication.published_at] {
        assert!(time.len() == 20 && time.ends_with('Z') && time.as_bytes()[10] == b'T', "{time}");
    }
    let summary = &ledger.accounts().unwrap()[0];
    assert_eq!((summary.charges, summary.published), (2, 1));
    assert_eq!(summary.budget, Budget { epsilon: 3.0, delta: 1e-5 });
}

#[test]
fn a_charge_pays_for_one_output() {
    let (_folder, path) = place();
    let mut ledger = Ledger::open(&path).unwrap();
    let id = ledger.charge(&account(), &gaussian(1.0)).unwrap().id;
    ledger.mark_published(id, "one.json").unwrap();
    let error = ledger.mark_published(id, "two.json").unwrap_err();
    assert!(error.to_string().contains("'one.json'"), "{error}");
    let error = ledger.mark_published(ChargeId(99), "two.json").unwrap_err();
    assert!(error.to_string().contains("no charge 99"), "{error}");
}

#[test]
fn a_budget_may_be_lowered_to_what_is_spent_but_not_below() {
    let (_folder, path) = place();
    let mut ledger = Ledger::open(&path).unwrap();
    ledger.set_budget(&account(), 5.0, DELTA, None).unwrap();
    ledger.charge(&account(), &gaussian(1.25)).unwrap();
    let error = ledger.set_budget(&account(), 1.0, DELTA, None).unwrap_err();
    assert!(error.to_string().ends_with("already spent epsilon = 1.25"), "{error}");
    assert_eq!(ledger.accounts().unwrap()[0].budget.epsilon, 5.0);
    ledger.set_budget(&account(), 1.25, DELTA, None).unwrap();
    assert!(ledger.charge(&account(), &pure(1e-4)).is_err());
}

#[test]
fn previews_record_nothing_and_need_no_file() {
    let (_folder, path) = place();
    assert!(Ledger::open_read_only(&path).unwrap().is_none());
    assert!(!path.exists(), "looking does not create");
    let first = Preview::of_first(&gaussian(1.0)).unwrap();
    assert!(first.fits && first.budget_would_be_set);
    assert_eq!(first.spent_before.epsilon, Some(0.0));

    Ledger::open(&path).unwrap().charge(&account(), &gaussian(1.0)).unwrap();
    let reader = Ledger::open_read_only(&path).unwrap().unwrap();
    let second = reader.preview(&account(), &gaussian(0.5)).unwrap();
    assert!(!second.fits && !second.budget_would_be_set);
    assert!(second.spent_after.epsilon > second.spent_before.epsilon);
    assert!(reader.preview(&Account::new("discharges", "north"), &gaussian(0.5)).unwrap().fits);
    assert_eq!(reader.charges(&account()).unwrap().len(), 1);
    assert_eq!(reader.accounts().unwrap().len(), 1);
}

#[test]
fn nonsense_is_refused_before_anything_is_recorded() {
    let (_folder, path) = place();
    let mut ledger = Ledger::open(&path).unwrap();
    for total_variation in [-1e-9, 1.0, f64::NAN] {
        let charge = Charge { total_variation, ..gaussian(1.0) };
        let error = ledger.charge(&account(), &charge).unwrap_err();
        assert!(matches!(error, LedgerError::Loss(LossError::Argument { argument: "total_variation", .. })));
    }
    let error = ledger.charge(&account(), &Charge { claimed_epsilon: 0.9, ..gaussian(1.0) }).unwrap_err();
    assert!(error.to_string().contains("claims epsilon = 0.9"), "{error}");
    assert!(error.to_string().contains("spends epsilon = 1;"), "{error}");
    assert!(ledger.charge(&account(), &Charge { claimed_delta: f64::NAN, ..gaussian(1.0) }).is_err());
    for (epsilon, delta) in [(-1.0, 0.0), (f64::INFINITY, 0.0), (1.0, 1.0), (1.0, -1e-9), (f64::NAN, 0.0)] {
        assert!(ledger.set_budget(&account(), epsilon, delta, None).is_err(), "{epsilon}, {delta}");
    }
    for name in ["", " north", "north ", "no\nrth"] {
        let error = ledger.charge(&Account::new("admissions", name), &gaussian(1.0)).unwrap_err();
        assert!(matches!(error, LedgerError::Name { field: "party", .. }), "{error}");
    }
    assert!(ledger.accounts().unwrap().is_empty());
}
