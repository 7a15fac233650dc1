//! The ledger among several threads and processes: nobody overspends, and a killed process loses nothing.
//!
//! Child processes are this test binary itself, running only the ignored test `child`, which takes its orders
//! from an environment variable.
#![allow(clippy::unwrap_used)]

mod ledger_place;

use ledger_place::{account, place};
use organza_curator::ledger::{Account, Charge, Ledger, LedgerError};
use organza_release::Neighbours;
use organza_release::loss::{Composition, Mechanism};
use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Barrier;

const ORDERS: &str = "ORGANZA_LEDGER_CHILD";
const DELTA: f64 = 1e-6;
const MU: f64 = 0.05;
/// Attempts of each of the two rivals; the budget suffices for FIT of the 2 x ATTEMPTS charges.
const ATTEMPTS: usize = 8;
const FIT: usize = 11;
const DUELS: usize = 30;

fn one() -> Composition {
    Composition::of([Mechanism::Gaussian { mu: MU }]).unwrap()
}

fn charge() -> Charge {
    Charge {
        mechanism: Mechanism::Gaussian { mu: MU },
        total_variation: 0.0,
        neighbours: Some(Neighbours::Substitute),
        claimed_epsilon: one().epsilon(DELTA).unwrap(),
        claimed_delta: DELTA,
        description: "a rival".to_owned(),
    }
}

fn set_budget(path: &Path) {
    let epsilon = one().repeat(FIT as u64).epsilon(DELTA).unwrap();
    Ledger::open(path).unwrap().set_budget(&account(), epsilon, DELTA, None).unwrap();
}

/// Whether the charge was accepted. Any error but a refusal is a failure.
fn accepted(ledger: &mut Ledger, account: &Account) -> bool {
    match ledger.charge(account, &charge()) {
        Ok(_) => true,
        Err(LedgerError::OverBudget { .. }) => false,
        Err(error) => panic!("{error}"),
    }
}

/// Charges until all attempts are made; returns how many were accepted.
fn compete(ledger: &mut Ledger) -> usize {
    (0..ATTEMPTS).filter(|_| accepted(ledger, &account())).count()
}

/// In a duel both rivals charge an account without a budget at the same moment: one must be refused. It shows
/// a check that is made outside of the transaction, which the long competition rarely does.
fn duel_account(round: usize) -> Account {
    Account::new(format!("round {round}"), "north")
}

struct ChildProcess {
    process: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl ChildProcess {
    fn start(task: &str, path: &Path) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["child", "--exact", "--ignored", "--nocapture", "--test-threads=1"]);
        command.env(ORDERS, format!("{task} {}", path.display()));
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        Self { process, lines }
    }

    /// The rest of the next line that begins with `word`.
    fn hear(&mut self, word: &str) -> String {
        let marker = format!("child says {word} ");
        let found = self.lines.by_ref().map_while(Result::ok).find_map(|line| {
            // The test harness may have begun the line.
            line.split_once(&marker).map(|(_, rest)| rest.to_owned())
        });
        found.unwrap_or_else(|| panic!("the child ended without saying {word}"))
    }

    fn go(&mut self) {
        writeln!(self.process.stdin.as_mut().unwrap(), "go").unwrap();
    }

    /// SIGKILL on Unix: the process has no chance to clean up.
    fn kill(mut self) {
        self.process.kill().unwrap();
        assert!(!self.process.wait().unwrap().success());
    }
}

fn say(word: &str, value: usize) {
    println!("child says {word} {value}");
    std::io::stdout().flush().unwrap();
}

fn wait_for_go() {
    std::io::stdin().read_line(&mut String::new()).unwrap();
}

#[test]
#[ignore = "the child process of the other tests"]
fn child() {
    let Ok(orders) = std::env::var(ORDERS) else { return };
    let (task, path) = orders.split_once(' ').unwrap();
    match task {
        "compete" => {
            say("ready", 0);
            wait_for_go();
            say("accepted", compete(&mut Ledger::open(path).unwrap()));
        }
        "duel" => {
            let mut ledger = Ledger::open(path).unwrap();
            for round in 0..DUELS {
                say("ready", round);
                wait_for_go();
                say("accepted", usize::from(accepted(&mut ledger, &duel_account(round))));
            }
        }
        "charge" => {
            let outcome = Ledger::open(path).unwrap().charge(&account(), &charge()).unwrap();
            say("charged", outcome.id.0 as usize);
            wait_for_go();
        }
        "begin" => {
            let connection = rusqlite::Connection::open(path).unwrap();
            // A tiny cache, so that the half-done work reaches the file and must be rolled back later.
            connection.execute_batch("PRAGMA cache_size = 2; BEGIN IMMEDIATE").unwrap();
            let insert = "INSERT INTO charges (dataset, party, unit, kind, epsilon, total_variation,
                    claimed_epsilon, claimed_delta, description, charged_at)
                VALUES ('admissions', 'north', 'record', 'pure', 1, 0, 1, 0, ?1, '')";
            for _ in 0..20 {
                connection.execute(insert, ["long ".repeat(2000)]).unwrap();
            }
            say("began", 0);
            wait_for_go();
        }
        _ => panic!("unknown task {task}"),
    }
}

#[test]
fn two_threads_never_overspend() {
    let (_folder, path) = place();
    set_budget(&path);
    let start = Barrier::new(2);
    let rival = || {
        let mut ledger = Ledger::open(&path).unwrap();
        start.wait();
        compete(&mut ledger)
    };
    let accepted = std::thread::scope(|scope| {
        let rivals = [scope.spawn(rival), scope.spawn(rival)];
        rivals.map(|rival| rival.join().unwrap())
    });
    assert_eq!(accepted.iter().sum::<usize>(), FIT, "{accepted:?}");
    assert_eq!(Ledger::open(&path).unwrap().charges(&account()).unwrap().len(), FIT);
}

/// How many charges each of two processes got accepted.
fn competing_processes(path: &Path) -> [usize; 2] {
    let mut rivals = ["compete"; 2].map(|task| ChildProcess::start(task, path));
    rivals.iter_mut().for_each(|rival| drop(rival.hear("ready")));
    rivals.iter_mut().for_each(ChildProcess::go);
    rivals.map(|mut rival| {
        let count: usize = rival.hear("accepted").parse().unwrap();
        assert!(rival.process.wait().unwrap().success());
        count
    })
}

#[test]
fn two_processes_never_overspend() {
    let (_folder, path) = place();
    set_budget(&path);
    let accepted = competing_processes(&path);
    assert_eq!(accepted.iter().sum::<usize>(), FIT, "{accepted:?}");
    assert_eq!(Ledger::open(&path).unwrap().charges(&account()).unwrap().len(), FIT);
}

#[test]
fn duels_of_threads_have_one_winner() {
    let (_folder, path) = place();
    let start = Barrier::new(2);
    let rival = || {
        let mut ledger = Ledger::open(&path).unwrap();
        let duel = |round| {
            start.wait();
            usize::from(accepted(&mut ledger, &duel_account(round)))
        };
        (0..DUELS).map(duel).collect::<Vec<_>>()
    };
    let [one, two] = std::thread::scope(|scope| {
        let rivals = [scope.spawn(rival), scope.spawn(rival)];
        rivals.map(|rival| rival.join().unwrap())
    });
    assert!(one.iter().zip(&two).all(|(one, two)| one + two == 1), "{one:?} and {two:?}");
}

#[test]
fn duels_of_processes_have_one_winner() {
    let (_folder, path) = place();
    let mut rivals = ["duel"; 2].map(|task| ChildProcess::start(task, &path));
    for round in 0..DUELS {
        rivals.iter_mut().for_each(|rival| drop(rival.hear("ready")));
        rivals.iter_mut().for_each(ChildProcess::go);
        let winners: usize =
            rivals.iter_mut().map(|rival| rival.hear("accepted").parse::<usize>().unwrap()).sum();
        assert_eq!(winners, 1, "round {round}");
    }
    rivals.iter_mut().for_each(|rival| assert!(rival.process.wait().unwrap().success()));
}

#[test]
fn two_processes_may_create_the_same_ledger() {
    let (folder, path) = place();
    // Without a budget the first charge sets it, and all others are refused.
    let accepted = competing_processes(&path);
    assert_eq!(accepted.iter().sum::<usize>(), 1, "{accepted:?}");
    let left: Vec<_> = folder.path().read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["ledger.sqlite"], "no drafts are left behind");
}

#[test]
fn many_threads_may_create_the_same_ledger() {
    let (_folder, path) = place();
    let start = Barrier::new(8);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                start.wait();
                Ledger::open(&path).unwrap();
            });
        }
    });
    assert!(Ledger::open(&path).unwrap().accounts().unwrap().is_empty());
}

#[test]
fn a_charge_survives_a_kill_before_publishing() {
    let (_folder, path) = place();
    let mut writer = ChildProcess::start("charge", &path);
    let id: i64 = writer.hear("charged").parse().unwrap();
    writer.kill();
    let mut ledger = Ledger::open(&path).unwrap();
    let records = ledger.charges(&account()).unwrap();
    assert_eq!(records.len(), 1);
    assert_eq!((records[0].id.0, &records[0].published), (id, &None));
    assert_eq!(records[0].charge, charge());
    // The reserved charge counts: the budget that it set is spent.
    assert!(matches!(ledger.charge(&account(), &charge()), Err(LedgerError::OverBudget { .. })));
}

#[test]
fn a_kill_in_the_middle_of_writing_leaves_no_half_charge() {
    let (_folder, path) = place();
    set_budget(&path);
    Ledger::open(&path).unwrap().charge(&account(), &charge()).unwrap();
    let sound = std::fs::read(&path).unwrap();
    let mut writer = ChildProcess::start("begin", &path);
    writer.hear("began");
    writer.kill();
    assert_ne!(std::fs::read(&path).unwrap(), sound, "the half-done work has reached the file");
    let reader = Ledger::open_read_only(&path).unwrap().unwrap();
    assert_eq!(reader.charges(&account()).unwrap().len(), 1, "and is rolled back by the first reader");
    drop(reader);
    Ledger::open(&path).unwrap().charge(&account(), &charge()).unwrap();
}
