//! The words of the command for the fields of the library.
//!
//! A library's message names a setting as "the setting `record_scale`" or "the setting `neighbours = substitute`"; a person
//! at a terminal reads what to type: `--record-scale`, `--neighbours substitute`. A field is the flag of the same name,
//! but for those of [`OTHERWISE`].

/// Fields whose flags have other names, alone or with one of their values.
const OTHERWISE: [(&str, &str); 11] = [
    ("averaging", "--average"),
    ("batch_rows", "--batch-records"),
    ("data_sets", "--rehearse"),
    ("family", "--mechanism"),
    ("header = false", "--no-header"),
    ("ledger = none", "--no-ledger"),
    ("overwrite = true", "--force"),
    ("randomised.columns", "--randomised-response"),
    ("sensitivity_by_ranges", "--sensitivity"),
    ("table", "TABLE"),
    ("tables", "--counts"),
];

const MARK: &str = "the setting `";

/// A message with flags for fields.
pub fn in_text(message: &str) -> String {
    let mut parts = message.split(MARK);
    let mut told = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once('`') {
            Some((setting, rest)) => told += &(flag_of(setting) + rest),
            None => told += &format!("{MARK}{part}"),
        }
    }
    told
}

/// What to type for a field or `field = value`. A dotted field is a program's own, which no flag sets.
fn flag_of(setting: &str) -> String {
    let otherwise =
        |name: &str| OTHERWISE.iter().find(|(field, _)| *field == name).map(|(_, flag)| (*flag).to_owned());
    if let Some(flag) = otherwise(setting) {
        return flag;
    }
    let (field, value) = setting.split_once(" = ").unwrap_or((setting, "true"));
    let usual =
        || if field.contains('.') { field.to_owned() } else { format!("--{}", field.replace('_', "-")) };
    let flag = otherwise(field).unwrap_or_else(usual);
    if value == "true" { flag } else { format!("{flag} {value}") }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use clap::CommandFactory;

    use super::*;

    /// Sources of the libraries up to their tests, by file.
    fn sources() -> Vec<(PathBuf, String)> {
        fn collect(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
            for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
                if entry.is_dir() {
                    collect(&entry, found);
                } else if !entry.strip_prefix(folder).unwrap().to_string_lossy().contains("tests") {
                    let text = std::fs::read_to_string(&entry).unwrap();
                    let product = text.split("#[cfg(test)]\nmod tests {").next().unwrap().to_owned();
                    found.push((entry, product));
                }
            }
        }
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let mut found = Vec::new();
        for library in ["release", "curator", "infer", "mcmc", "studies"] {
            collect(&crates.join(library).join("src"), &mut found);
        }
        collect(&crates.join("organza/src"), &mut found);
        found.retain(|(path, _)| !path.starts_with(crates.join("organza/src/cli")));
        found.retain(|(path, _)| !path.components().any(|part| part.as_os_str() == "tests"));
        assert!(found.len() > 200);
        found
    }

    /// Every long flag of every verb.
    fn flags() -> Vec<String> {
        fn collect(command: &clap::Command, found: &mut Vec<String>) {
            found.extend(
                command.get_arguments().filter_map(|it| it.get_long().map(|long| format!("--{long}"))),
            );
            command.get_subcommands().for_each(|verb| collect(verb, found));
        }
        let mut found = Vec::new();
        collect(&crate::cli::Arguments::command(), &mut found);
        found
    }

    #[test]
    fn no_library_knows_a_flag_or_a_verb() {
        for (path, text) in sources() {
            for (number, line) in text.lines().enumerate() {
                let flag = line.match_indices("--").any(|(at, _)| {
                    let before = line[..at].chars().next_back();
                    let after = line[at + 2..].chars().next();
                    !before.is_some_and(|c| c.is_alphanumeric() || "-_/".contains(c))
                        && after.is_some_and(|c| c.is_ascii_lowercase())
                });
                let verb = ["fit", "release", "sample", "bounds", "predict", "inspect"];
                let verb = verb.iter().any(|verb| line.contains(&format!("organza {verb}")));
                assert!(!flag && !verb, "{}:{}: {line}", path.display(), number + 1);
            }
        }
    }

    #[test]
    fn every_setting_that_a_library_names_has_a_flag() {
        // Ways in which a field's name stands in the sources.
        let named = ["setting(", "refuse(", "positive(", "find(", "parse_columns(", "FIELD: &str = "];
        let (flags, mut seen) = (flags(), 0);
        for (path, text) in sources() {
            let mut settings: Vec<&str> =
                text.split(MARK).skip(1).map(|part| part.split('`').next().unwrap()).collect();
            if text.contains("Error::setting(") {
                for place in named {
                    let after = text.split(place).skip(1).map(str::trim_start);
                    settings.extend(after.filter_map(|part| part.strip_prefix('"')?.split('"').next()));
                }
                // Rows of a list: ("steps", self.steps).
                let rows = text.match_indices("\", self.").map(|(at, _)| text[..at].rsplit_once("(\""));
                let listed =
                    rows.filter_map(|row| row.filter(|(before, _)| !before.ends_with(char::is_alphanumeric)));
                settings.extend(listed.map(|(_, field)| field));
            }
            for setting in settings.into_iter().filter(|setting| !setting.contains('{')) {
                let told = flag_of(setting);
                let flag = told.split(' ').next().unwrap().to_owned();
                let fine = flag == "TABLE" || told.contains('.') || flags.contains(&flag);
                assert!(fine, "{}: {setting} is told as {told}, which no verb has", path.display());
                seen += 1;
            }
        }
        assert!(seen > 80, "{seen}");
        for (setting, flag) in OTHERWISE {
            assert!(flag == "TABLE" || flags.contains(&flag.to_owned()), "{setting}: {flag}");
        }
    }

    #[test]
    fn fields_are_told_as_flags() {
        let told = |text: &str| in_text(text);
        assert_eq!(told("the setting `epsilon`: 0 is none"), "--epsilon: 0 is none");
        assert_eq!(told("use the setting `neighbours = add-remove`."), "use --neighbours add-remove.");
        assert_eq!(told("see the setting `header = false`, column `rate`"), "see --no-header, column `rate`");
        assert_eq!(told("say the setting `decimal_comma = true`"), "say --decimal-comma");
        assert_eq!(told("the setting `gradient.clip`: no"), "gradient.clip: no");
        assert_eq!(told("the setting `cut off"), "the setting `cut off");
    }
}
