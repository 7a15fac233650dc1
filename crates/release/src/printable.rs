//! Text of strangers on a terminal.

use std::borrow::Cow;

/// The text with everything escaped that a terminal would obey instead of show: control characters, line breaks, and marks that
/// turn the direction of writing or hide.
///
/// ```
/// assert_eq!(organza_release::printable("north"), "north");
/// assert_eq!(organza_release::printable("a\u{1b}[2J\n\u{202e}"), "a\\u{1b}[2J\\u{a}\\u{202e}");
/// ```
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let escaped = |character: char| match is_obeyed(character) {
        true => character.escape_unicode().to_string(),
        false => character.to_string(),
    };
    Cow::Owned(text.chars().map(escaped).collect())
}

/// Controls, line separators, and the marks of Unicode for directions and invisible text.
fn is_obeyed(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{feff}')
        || matches!(character, '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{e0000}'..='\u{e007f}')
}
