//! Citations in the code and the list of references agree, both ways.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const KINDS: [&str; 7] =
    ["Eq. (", "Theorem ", "Corollary ", "Proposition ", "Algorithm ", "section ", "Section "];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("target") {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// A key like AYB23: capitals and two digits.
fn is_key(text: &str) -> bool {
    if !text.is_ascii() {
        return false;
    }
    let (letters, digits) = text.split_at(text.len().saturating_sub(2));
    letters.len() >= 2
        && letters.bytes().all(|byte| byte.is_ascii_uppercase())
        && digits.len() == 2
        && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// `(key, place)` pairs of a text; the place is empty if the citation names none.
fn citations(text: &str) -> Vec<(String, String)> {
    let plain = text.replace("\\[", "[").replace("\\]", "]");
    let mut found = Vec::new();
    for (start, _) in plain.match_indices('[') {
        let Some((key, rest)) = plain[start + 1..].split_once(']') else { continue };
        if !is_key(key) {
            continue;
        }
        let rest = rest.trim_start();
        let place = KINDS.iter().find(|kind| rest.starts_with(**kind)).map_or(String::new(), |kind| {
            let number = rest[kind.len()..].chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '.');
            let number: String = number.collect();
            let close = if kind.ends_with('(') { ")" } else { "" };
            format!("{kind}{}{close}", number.trim_end_matches('.'))
        });
        found.push((key.to_string(), place));
    }
    found
}

/// `(place, file)` rows of a reference's table.
fn rows(reference: &str) -> Vec<(String, String)> {
    let cells = |line: &str| {
        line.replace("\\|", "/").split('|').map(|cell| cell.trim().to_string()).collect::<Vec<_>>()
    };
    let table = reference.lines().filter(|line| line.starts_with("| ") && line.contains(".rs`")).map(cells);
    table.map(|cells| (cells[1].clone(), cells[3].trim_matches('`').to_string())).collect()
}

#[test]
fn every_citation_is_listed_and_every_listing_is_cited() {
    let root = root();
    let mut files = Vec::new();
    for folder in ["crates", "stattests", "lab"] {
        rust_files(&root.join(folder), &mut files);
    }
    let mut cited = BTreeSet::new();
    for file in &files {
        let name = file.strip_prefix(&root).unwrap().display().to_string();
        if name.ends_with("tests/refs.rs") {
            continue;
        }
        for (key, place) in citations(&std::fs::read_to_string(file).unwrap()) {
            let reference = std::fs::read_to_string(root.join(format!("refs/{key}.md")));
            let reference =
                reference.unwrap_or_else(|_| panic!("{name} cites [{key}], but refs/{key}.md is missing"));
            let listed = place.is_empty() || rows(&reference).contains(&(place.clone(), name.clone()));
            assert!(listed, "{name} cites [{key}] {place}, which refs/{key}.md does not list");
            cited.insert((key, place, name.clone()));
        }
    }
    assert!(cited.len() > 10, "the search for citations is broken: {cited:?}");
    for entry in std::fs::read_dir(root.join("refs")).unwrap() {
        let path = entry.unwrap().path();
        let key = path.file_stem().unwrap().to_string_lossy().into_owned();
        for (place, file) in rows(&std::fs::read_to_string(&path).unwrap()) {
            let found = cited.contains(&(key.clone(), place.clone(), file.clone()));
            assert!(found, "refs/{key}.md lists {place} for {file}, which does not cite it");
        }
    }
}
