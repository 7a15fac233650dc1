//! Hostile but valid-looking releases: any edit gives an error or a posterior, soon and in little memory, never a panic.
//!
//! The cases run in a process of their own with limited memory, because an allocation that fails aborts. `ORGANZA_CASES` asks
//! for more of them.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "any_bytes/mutate.rs"]
mod mutate;
mod support;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use organza_infer::{Method, MethodSpec, Model, ModelSpec, Sampler, ada_ssp, fit};
use organza_mcmc::{Monitor, Plan};
use organza_release::{CountRelease, Document, Kind, RandomisedRelease, Release, kind_of, read_many};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use support::Folder;

/// Honest releases of every kind; a bar stands for a blank.
const HONEST: [&str; 19] = [
    "--formula y~x+z --delta 1e-6",
    "--formula y~x+z --delta 1e-6 --no-response-square",
    "--formula y~x+z --delta 1e-6 --record-scale none",
    "--formula y~x+z --delta 1e-6 --layout upper --record-scale none",
    "--formula y~x+z --delta 1e-6 --neighbours add-remove",
    "--formula y~x+z+site --mechanism laplace",
    "--formula y~1 --delta 1e-6",
    "--formula y~1 --mechanism laplace",
    "--formula y~0+z --delta 1e-6",
    "--formula y~z --delta 1e-6 --batch-records 50",
    "--formula y~0+x+z --delta 1e-6 --radius 5 --response-bound 5",
    "--formula y~0+z --delta 1e-6 --average 4",
    "--formula y~x+z --delta 1e-6 --statistic fourth-moments",
    "--formula y~x+z --delta 1e-6 --statistic ada-ssp",
    "--counts site,ill",
    "--counts site,ill;site,sex",
    "--counts site,ill;ill,sex --count-records --neighbours add-remove",
    "--counts site --delta 1e-6",
    "--randomised-response site,ill",
];
/// Virtual memory of the process, in kilobytes: the program itself takes about a third of it.
const MEMORY: u32 = 1_500_000;
/// Longest time of a case in seconds.
const PATIENCE: u64 = 10;

fn count(name: &str, usual: u64) -> u64 {
    std::env::var(name).map_or(usual, |text| text.parse().unwrap())
}

/// Seen to fail: 1 in 60 cases panicked, asked for too much memory or did not end.
#[test]
fn no_edit_of_a_release_panics_or_aborts() {
    let folder = honest();
    let (mut next, cases, mut failures) =
        (count("ORGANZA_FROM", 0), count("ORGANZA_CASES", 1500), Vec::new());
    while next < cases {
        let limited = format!("ulimit -v {MEMORY}; exec \"$0\" --ignored --exact --nocapture the_cases");
        let output = Command::new("sh")
            .args(["-c", &limited])
            .arg(std::env::current_exe().unwrap())
            .current_dir(folder.path.path())
            .envs([("ORGANZA_FROM", next.to_string()), ("ORGANZA_TO", cases.to_string())])
            .output()
            .unwrap();
        eprint!("{}", folder.read("panics"));
        failures.extend(folder.read("panics").lines().map(str::to_string));
        if output.status.success() {
            break;
        }
        let ended = folder.read("case");
        next = ended.split(' ').next().unwrap().parse::<u64>().unwrap() + 1;
        let error = String::from_utf8_lossy(&output.stderr);
        failures.push(format!("{ended}: {}", error.lines().last().unwrap_or("ended")));
        eprintln!("{ended}: {}", error.lines().last().unwrap_or("ended"));
    }
    assert!(failures.is_empty(), "{} of {cases} cases:\n{}", failures.len(), failures.join("\n"));
}

/// A folder with honest releases.
fn honest() -> Folder {
    let folder = Folder::new();
    let row = |i: usize| {
        let pick = |names: [&'static str; 2], k: usize| names[i / k % 2];
        let (x, z, y) = (i % 11, i as f64 / 50.0 - 1.0, i as f64 / 20.0 - 2.5);
        format!("{x},{z},{},{},{},{y}\n", pick(["a", "b"], 1), pick(["yes", "no"], 3), pick(["f", "m"], 7))
    };
    folder.write("table.csv", &format!("x,z,site,ill,sex,y\n{}", (0..100).map(row).collect::<String>()));
    let levels = "[ill]\nlevels = [\"yes\", \"no\"]\n[sex]\nlevels = [\"f\", \"m\"]\n";
    folder.write("bounds.toml", &format!("{}{levels}", support::BOUNDS));
    for (number, arguments) in HONEST.iter().enumerate() {
        let ran = folder.run(&format!(
            "release table.csv --bounds bounds.toml --epsilon 5 --no-ledger -o {number}.json {arguments}"
        ));
        ran.says(0, &[]);
    }
    folder
}

/// The cases themselves, in a process that the test above starts.
#[test]
#[ignore = "part of another test"]
fn the_cases() {
    std::fs::write("panics", "").unwrap();
    let files: Vec<Vec<u8>> =
        (0..HONEST.len()).map(|number| std::fs::read(format!("{number}.json")).unwrap()).collect();
    std::panic::set_hook(Box::new(|panic| {
        let case = std::fs::read_to_string("case").unwrap();
        let line = format!("{case}: {}\n", panic.to_string().replace('\n', " "));
        let panics = std::fs::read_to_string("panics").unwrap();
        std::fs::write("panics", panics + &line).unwrap();
    }));
    std::thread::spawn(watch);
    for number in count("ORGANZA_FROM", 0)..count("ORGANZA_TO", 0) {
        let mut rng = ChaCha8Rng::seed_from_u64(number);
        let file = &files[rng.random_range(0..files.len())];
        let bytes = mutate::mutate(file, &mut rng);
        std::fs::write("case.json", &bytes).unwrap();
        let other = rng.random_bool(0.2).then_some(&file[..]);
        let _ = catch_unwind(AssertUnwindSafe(|| infer(number, &bytes, other, &mut rng)));
    }
}

/// Ends the process if a case takes too long.
fn watch() {
    let patience = Duration::from_secs(count("ORGANZA_PATIENCE", PATIENCE));
    let (mut last, mut since) = (String::new(), Instant::now());
    loop {
        std::thread::sleep(Duration::from_millis(200));
        let case = std::fs::read_to_string(Path::new("case")).unwrap_or_default();
        if case != last {
            (last, since) = (case, Instant::now());
        } else if since.elapsed() > patience {
            eprintln!("does not end");
            std::process::exit(1);
        }
    }
}

const PLAN: Plan = Plan { chains: 2, warmup: 5, draws: 5, thin: 1, seed: 1, threads: 1 };

/// Reads, checks the guarantee, and fits by one method.
fn infer(number: u64, bytes: &[u8], other: Option<&[u8]>, rng: &mut ChaCha8Rng) {
    let say = |what: &str| std::fs::write("case", format!("{number} {what}")).unwrap();
    say("reading");
    let monitor = Monitor::default();
    let sampler = pick(rng, &["exact", "gibbs", "metropolis", "nuts", "augmentation", "plain"]);
    let sampler = rng.random_bool(0.6).then(|| sampler.parse::<Sampler>().unwrap());
    let method = MethodSpec { method: None, sampler };
    let model = pick(rng, &[None, Some(Model::Table), Some(Model::NaiveBayes)]);
    let spec = ModelSpec { model, allow_duplicates: true, ..ModelSpec::default() };
    match kind_of(bytes) {
        Some(Kind::Counts) => {
            let Ok(releases) = CountRelease::read_many(bytes, "case") else { return };
            say("claim of counts");
            releases.iter().for_each(|release| drop(release.claim()));
            say(&format!("counts {model:?} {sampler:?}"));
            let _ = fit(&method, &spec, &releases, &PLAN, &monitor);
        }
        Some(Kind::Randomised) => {
            let Ok(releases) = RandomisedRelease::read_many(bytes, "case") else { return };
            releases.iter().for_each(|release| drop(release.claim()));
            say(&format!("randomised {model:?} {sampler:?}"));
            let _ = fit(&method, &spec, &releases, &PLAN, &monitor);
        }
        _ => {
            let Ok(mut releases) = read_many(bytes, "case") else { return };
            releases.extend(other.map(|bytes| read_many(bytes, "other").unwrap()).unwrap_or_default());
            say("claim");
            releases.iter().for_each(|release| drop(release.claim()));
            sums(&say, releases, rng);
        }
    }
}

fn sums(say: &dyn Fn(&str), mut releases: Vec<Release>, rng: &mut ChaCha8Rng) {
    let monitor = Monitor::default();
    let model = ModelSpec { allow_duplicates: true, ..ModelSpec::default() };
    match rng.random_range(0..13) {
        11 => {
            let sampler = pick(rng, &[None, Some(Sampler::Plain)]);
            say(&format!("logistic {sampler:?}"));
            let (method, model) =
                (MethodSpec { method: None, sampler }, ModelSpec { model: Some(Model::Logistic), ..model });
            let _ = fit(&method, &model, &releases, &PLAN, &monitor);
        }
        12 => {
            say("ada-ssp");
            let _ = ada_ssp(&releases);
        }
        number => {
            let method = (number > 0).then(|| pick(rng, &Method::ALL));
            let sampler = method.map(|method| pick(rng, method.samplers()));
            if method == Some(Method::GibbsNoisy) {
                // It needs the kind of release that is not mutated, too.
                let read = |name: &str| read_many(&std::fs::read(name).unwrap(), name).unwrap();
                releases.extend(read(pick(rng, &["2.json", "12.json"])));
            }
            say(&format!("{method:?} {sampler:?}"));
            let _ = fit(&MethodSpec { method, sampler }, &model, &releases, &PLAN, &monitor);
        }
    }
}

fn pick<T: Copy>(rng: &mut ChaCha8Rng, choices: &[T]) -> T {
    choices[rng.random_range(0..choices.len())]
}
