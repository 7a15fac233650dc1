//! What manifests promise to who builds or publishes.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

use std::process::Command;

use serde_json::Value;

/// What a program prints.
fn printed(program: &str, arguments: &[&str]) -> String {
    let mut command = Command::new(program);
    let output = command.current_dir(env!("CARGO_MANIFEST_DIR")).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Of this machine only: crates for other systems need not be here.
fn metadata() -> Value {
    let compiler = printed("rustc", &["-vV"]);
    let host = compiler.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let arguments = ["metadata", "--format-version=1", "--locked", "--offline", "--filter-platform", host];
    serde_json::from_str(&printed(env!("CARGO"), &arguments)).unwrap()
}

fn list<'v>(value: &'v Value, field: &str) -> &'v [Value] {
    value[field].as_array().map_or(&[], Vec::as_slice)
}

/// Major, minor and patch number of a Rust version.
fn version(text: &str) -> [u32; 3] {
    let mut parts = text.split('.').map(|part| part.parse().unwrap());
    [(); 3].map(|()| parts.next().unwrap_or(0))
}

/// Catches a dependency that needs a newer Rust than ours says.
#[test]
fn the_rust_version_suffices_for_all_dependencies() {
    let metadata = metadata();
    let ours = version(env!("CARGO_PKG_RUST_VERSION"));
    let packages = list(&metadata, "packages");
    assert!(packages.len() > 100);
    for package in packages {
        let needed = package["rust_version"].as_str().unwrap_or("1.0");
        assert!(version(needed) <= ours, "{} needs Rust {needed}", package["id"]);
    }
}

/// Catches what a registry refuses: a crate without a description, a dependency that is not published or has no version.
#[test]
fn what_is_published_can_be() {
    let metadata = metadata();
    let ours = list(&metadata, "packages").iter().filter(|package| package["source"].is_null());
    let (published, kept): (Vec<&Value>, Vec<&Value>) =
        ours.partition(|package| package["publish"].is_null());
    assert!(published.len() >= 6 && kept.len() >= 3, "{} {}", published.len(), kept.len());
    for package in published {
        let name = &package["name"];
        for field in ["description", "license", "readme", "rust_version"] {
            assert!(package[field].is_string(), "{name} has no {field}");
        }
        for field in ["keywords", "categories"] {
            assert!(!list(package, field).is_empty(), "{name} has no {field}");
        }
        for dependency in list(package, "dependencies") {
            let other = &dependency["name"];
            // Cargo leaves out what a crate needs of itself for its tests.
            let of_tests = dependency["kind"] == "dev" && other == name;
            assert!(of_tests || dependency["req"] != "*", "{name} takes any version of {other}");
            assert!(
                kept.iter().all(|kept| kept["name"] != *other),
                "{name} needs {other}, which is not published"
            );
        }
    }
}
