//! A folder with a small table, its bounds, and ways to run the command in it.
#![allow(clippy::unwrap_used, dead_code, reason = "each test uses some of it, and may panic")]

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
#[cfg(target_os = "linux")]
use std::time::{Duration, Instant};

pub struct Folder {
    pub path: tempfile::TempDir,
}

pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

pub const BOUNDS: &str = "[x]\nlower = 0\nupper = 10\n[z]\nlower = -1\nupper = 1\n[site]\nlevels = [\"a\", \"b\"]\n[y]\nlower = -5\nupper = 5\n";

impl Folder {
    /// A folder with `table.csv` (100 good rows) and `bounds.toml`.
    pub fn new() -> Self {
        let folder = Self { path: tempfile::tempdir().unwrap() };
        let row = |i: usize| {
            format!(
                "{},{},{},{}\n",
                i % 11,
                (i as f64 / 50.0) - 1.0,
                ["a", "b"][i % 2],
                i as f64 / 20.0 - 2.5
            )
        };
        folder.write("table.csv", &format!("x,z,site,y\n{}", (0..100).map(row).collect::<String>()));
        folder.write("bounds.toml", BOUNDS);
        folder
    }

    /// Brings committed releases here: what is asserted of their fits is decided by no fresh noise.
    pub fn bring(&self, names: &[&str]) {
        let committed = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
        for name in names {
            std::fs::copy(committed.join(name), self.file(name)).unwrap();
        }
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.path.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.file(name), text).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.file(name)).unwrap()
    }

    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into()).collect();
        names.sort();
        names
    }

    pub fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_organza"));
        command.current_dir(self.path.path()).stdin(Stdio::null());
        command.env_remove("ORGANZA_LEDGER").env_remove("ORGANZA_POLICY");
        command
    }

    /// Runs `organza` with arguments separated by blanks; a bar stands for a blank inside an argument.
    pub fn run(&self, arguments: &str) -> Ran {
        let words = arguments.split_whitespace().map(|word| word.replace('|', " "));
        finished(self.command().args(words).output().unwrap())
    }

    /// Runs `organza release table.csv` with the usual formula and loss, and more arguments.
    pub fn release(&self, more: &str) -> Ran {
        self.run(&format!(
            "release table.csv --formula y~x+z --bounds bounds.toml --epsilon 1 --delta 1e-6 {more}"
        ))
    }

    /// Runs a command and sends it Ctrl-C while it works.
    #[cfg(target_os = "linux")]
    pub fn interrupt(&self, arguments: &str) -> Ran {
        let mut command = self.command();
        command.args(arguments.split_whitespace()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let id = child.id();
        // Half a second of processor time is far beyond the setup. A child that has ended is not waited for.
        let used = || -> Option<u64> {
            let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
            stat.rsplit(')').next()?.split_whitespace().nth(11)?.parse().ok()
        };
        let deadline = Instant::now() + Duration::from_secs(300);
        while used().is_some_and(|ticks| ticks < 50) && child.try_wait().unwrap().is_none() {
            assert!(Instant::now() < deadline, "{arguments} does not get half a second of processor time");
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(child.try_wait().unwrap().is_none(), "{arguments} ended by itself");
        let killed = Command::new("kill").args(["-INT", &id.to_string()]).status().unwrap();
        assert!(killed.success());
        finished(child.wait_with_output().unwrap())
    }
}

pub fn finished(output: Output) -> Ran {
    Ran {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

impl Ran {
    /// Asserts the exit code and that standard error says all of this.
    pub fn says(&self, code: i32, texts: &[&str]) {
        assert_eq!(self.code, code, "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        for text in texts {
            assert!(self.stderr.contains(text), "{text:?} is not in: {}", self.stderr);
        }
    }

    pub fn json(&self) -> serde_json::Value {
        assert_eq!(self.code, 0, "{}", self.stderr);
        serde_json::from_str(&self.stdout).unwrap()
    }
}
