//! What a message shows of a text that somebody else wrote.

use organza_release::did_you_mean;

use super::limits::{MOST_NAMES, MOST_PRINTED};

/// The beginning of a text, with escapes for everything that could move a cursor or turn the direction of reading.
pub(crate) fn printed(text: &str) -> String {
    let cut = if text.chars().nth(MOST_PRINTED).is_some() { "..." } else { "" };
    let shown: String = text.chars().take(MOST_PRINTED).flat_map(char::escape_debug).collect();
    shown + cut
}

/// The columns that there are, for a person who named another one. If the names may be values, none is shown.
pub(crate) fn available(wanted: &str, names: &[String]) -> String {
    if names.iter().any(|name| may_be_a_value(name)) || looks_cut_wrongly(names) {
        return "; the first line does not look like a header with this separator: see the setting `header = false` and the setting `delimiter`"
            .to_string();
    }
    let short: Vec<String> = names.iter().take(1000).map(|name| printed(name)).collect();
    let first = short.iter().take(MOST_NAMES).map(String::as_str).collect::<Vec<_>>().join(", ");
    let rest = names.len().saturating_sub(MOST_NAMES);
    let rest = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    format!("{}; the table has {first}{rest}", did_you_mean(wanted, &short))
}

/// Whether a part of this name is empty, a number or a date.
fn may_be_a_value(name: &str) -> bool {
    let value = |part: &str| {
        let digits = part.chars().filter(char::is_ascii_digit).count();
        let marks = part.chars().all(|c| c.is_ascii_digit() || "+-.,:/eET".contains(c));
        part.parse::<f64>().is_ok() || (digits > 0 && marks)
    };
    name.trim().is_empty() || name.split([';', '\t', '|', ' ', '"', '\n']).any(value)
}

/// One name that holds another usual separator.
fn looks_cut_wrongly(names: &[String]) -> bool {
    matches!(names, [only] if only.contains([';', '\t', '|', ',']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_moves_a_cursor_is_printed() {
        assert_eq!(printed("a\u{1b}[2J\u{202e}b\n"), "a\\u{1b}[2J\\u{202e}b\\n");
        assert_eq!(printed(&"\u{e4}".repeat(100)), "\u{e4}".repeat(40) + "...");
    }

    #[test]
    fn names_that_may_be_values_are_not_shown() {
        let shown =
            |names: &[&str]| available("y", &names.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(shown(&["x", "age in years"]), "; the table has x, age in years");
        assert!(shown(&["x"; 100]).ends_with("x, x and 92 more"));
        for row in
            [&["Smith", "34"][..], &["2024-03-07", "a"], &["34;Smith"], &["a", "1e3"], &["a", ""], &["a;b"]]
        {
            assert!(shown(row).contains("header = false"), "{row:?}");
            assert!(!shown(row).contains("Smith") && !shown(row).contains("2024"), "{row:?}");
        }
    }
}
