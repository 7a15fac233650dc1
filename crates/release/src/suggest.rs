//! What messages suggest: the name that was meant, and commands that can be pasted.

/// ` (did you mean ...?)` with the known name that is nearest to an unknown one, or nothing if none is near.
///
/// ```
/// use organza_release::did_you_mean;
/// assert_eq!(did_you_mean("agee", &["age", "stay"]), " (did you mean `age`?)");
/// assert_eq!(did_you_mean("weight", &["age", "stay"]), "");
/// ```
pub fn did_you_mean<K: AsRef<str>>(name: &str, known: &[K]) -> String {
    let near = known.iter().filter_map(|known| {
        let (left, right) = (letters(name), letters(known.as_ref()));
        let distance = distance(&left, &right);
        (distance <= left.len().max(right.len()) / 3).then_some((distance, known.as_ref()))
    });
    let nearest = near.min_by_key(|(distance, _)| *distance);
    nearest.map_or(String::new(), |(_, known)| format!(" (did you mean `{known}`?)"))
}

/// The text as one word of a shell command.
///
/// ```
/// assert_eq!(organza_release::shell_word("my data/it's.csv"), r"'my data/it'\''s.csv'");
/// ```
pub fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "._=:,/-".contains(c);
    let bare = !text.is_empty() && text.chars().all(plain);
    if bare { text.to_string() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

fn letters(text: &str) -> Vec<char> {
    text.to_lowercase().chars().collect()
}

/// How many letters must be put in, left out, changed or exchanged with their neighbour.
fn distance(left: &[char], right: &[char]) -> usize {
    let mut rows = vec![(0..=right.len()).collect::<Vec<usize>>()];
    for i in 1..=left.len() {
        let mut row = vec![i];
        for j in 1..=right.len() {
            let change = usize::from(left[i - 1] != right[j - 1]);
            let mut least = (rows[i - 1][j] + 1).min(row[j - 1] + 1).min(rows[i - 1][j - 1] + change);
            if i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[left.len()][right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_distances() {
        for (left, right, expected) in
            [("", "", 0), ("age", "", 3), ("agee", "age", 1), ("aeg", "age", 1), ("kitten", "sitting", 3)]
        {
            assert_eq!(distance(&letters(left), &letters(right)), expected, "{left} {right}");
            assert_eq!(distance(&letters(right), &letters(left)), expected, "{right} {left}");
        }
        // Numbered columns are not slips of each other, other cases are.
        assert_eq!(did_you_mean("x3", &["x1", "x2"]), "");
        assert_eq!(did_you_mean("Stay", &["age", "stay"]), " (did you mean `stay`?)");
    }
}
