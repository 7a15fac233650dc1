//! What fuzzers found once is tried again: nothing in the corpus panics, and every target still understands some of it.

use std::panic::catch_unwind;
use std::path::Path;

use organza_fuzz::TARGETS;

/// The most bytes of a file of the corpus.
const MOST_BYTES: usize = 8192;

/// Seen to fail: with a reader that panics, with an honest file that is refused, and with a folder that is missing.
#[test]
fn the_corpus_is_refused_or_used() {
    let mut failures = Vec::new();
    for (name, target) in TARGETS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let bytes = std::fs::read(&path).unwrap();
            let file = format!("{name}/{}", path.file_name().unwrap().to_string_lossy());
            let fails = match catch_unwind(|| target(&bytes)) {
                Err(_) => Some("panics"),
                Ok(false) if file.contains("/honest") => Some("is refused"),
                _ if bytes.len() > MOST_BYTES => Some("is too long"),
                _ => None,
            };
            failures.extend(fails.map(|what| format!("{file} {what}")));
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}
