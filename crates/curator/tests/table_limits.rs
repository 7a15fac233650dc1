//! Tables beyond the limits, and what is said of them.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use organza_curator::bounds::Bounds;
use organza_curator::formula::{Design, Formula};
use organza_curator::table::{Input, ReadOptions, Table};

fn read(bytes: &[u8], options: &ReadOptions) -> String {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    let text = "x = { lower = 0, upper = 1 }\ny = { lower = 0, upper = 1 }\ns = { levels = ['a', 'b'] }";
    let bounds = Bounds::from_toml(text, "bounds").unwrap();
    let design = Design::compile(&"y ~ x + s".parse::<Formula>().unwrap(), &bounds).unwrap();
    let input = Input::File(file.path().to_path_buf());
    let table = Table::new(&input, &design, options, &());
    match table.fold(|| (), |(), _| Ok(())) {
        Ok((_, counts)) => format!("{} records", counts.records),
        Err(error) => error.to_string(),
    }
}

fn says(bytes: &[u8], texts: &[&str]) {
    let said = read(bytes, &ReadOptions::default());
    assert!(texts.iter().all(|text| said.contains(text)) && said.len() < 400, "{texts:?}: {said:.400}");
}

#[test]
fn quotes_cells_records_and_columns_have_limits() {
    let rest = "secret,1,a\n".repeat(2_000_000);
    says(
        format!("x,y,s\n1,1,a\n1,\"1,a\n{rest}").as_bytes(),
        &["line 3: a record has more than 16777216 bytes", "quote"],
    );
    says(
        format!("x,y,s\n1,1,a\n1,\"1,a\n{}", &rest[..3 << 20]).as_bytes(),
        &["line 3: has 2 fields, the first line has 3"],
    );
    says(format!("\"x,y,s\n{}", &rest[..1 << 19]).as_bytes(), &["does not look like a header"]);
    says(",".repeat(100_000).as_bytes(), &["line 1: has 100001 fields", "100000 columns"]);
    says(
        format!("x,y,s\n1,1,{}\n", "b".repeat(2 << 20)).as_bytes(),
        &["line 2: field 3 has more than 1048576"],
    );
    // Many ordinary records are no long one.
    says(format!("x,y,s\n{}", "1,0,a\n".repeat(4 << 20)).as_bytes(), &["4194304 records"]);
}

/// Catches a stream without line ends that is gathered in memory: a gigabyte out of a megabyte.
#[test]
fn a_gzip_of_one_endless_line_is_refused() {
    let mut member = GzEncoder::new(Vec::new(), Compression::best());
    member.write_all(&vec![b'a'; 1 << 20]).unwrap();
    let bomb = member.finish().unwrap().repeat(1024);
    assert!(bomb.len() < 2 << 20);
    says(&bomb, &["line 1: a record has more than 16777216 bytes"]);
}

#[test]
fn cells_are_shown_on_demand_only_and_escaped() {
    let row = format!("x,y,s\n1,\u{1b}[2Jhidden\u{202e}{},a\n", "z".repeat(100));
    assert!(!read(row.as_bytes(), &ReadOptions::default()).contains("hidden"));
    let shown = read(row.as_bytes(), &ReadOptions { show_values: true, ..ReadOptions::default() });
    assert!(
        shown.contains("the cell is \"\\u{1b}[2Jhidden\\u{202e}zzz") && shown.ends_with("zzz...\""),
        "{shown}"
    );
    let level = read(b"x,y,s\n1,0,elsewhere\n", &ReadOptions { show_values: true, ..ReadOptions::default() });
    assert!(level.contains("not among the public levels a, b; the cell is \"elsewhere\""), "{level}");
}

#[test]
fn threads_are_bounded() {
    let said = read(b"x,y,s\n1,0,a\n", &ReadOptions { threads: 100_000, ..ReadOptions::default() });
    assert!(said.starts_with("the setting `threads`: 100000 are asked for; at most"), "{said}");
}
