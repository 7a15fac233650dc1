//! Parameters that belong together: `beta[age]` and `beta[dose]` are entries of `beta`.

use crate::DrawsError;

/// A number or a vector.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Variable<'n> {
    /// What stands before the bracket, or the whole name.
    pub(super) name: &'n str,
    /// What stands within the brackets, if it is a vector.
    pub(super) labels: Option<Vec<&'n str>>,
    /// The names of its parameters.
    pub(super) columns: Vec<&'n str>,
}

impl Variable<'_> {
    /// Name of the dimension of a vector.
    pub(super) fn index_name(&self) -> String {
        format!("{}_index", self.name)
    }
}

/// Sorts parameters into variables, in the order of their first entries; `reserved` are names of dimensions.
pub(super) fn variables<'n>(names: &'n [String], reserved: &[&str]) -> Result<Vec<Variable<'n>>, DrawsError> {
    let mut found: Vec<Variable<'n>> = Vec::new();
    for name in names {
        let entry = split(name).filter(|(vector, _)| !names.iter().any(|other| other == vector));
        let Some((vector, label)) = entry else {
            found.push(Variable { name, labels: None, columns: vec![name] });
            continue;
        };
        let same = |known: &&mut Variable<'n>| known.name == vector && known.labels.is_some();
        match found.iter_mut().find(same) {
            Some(Variable { labels: Some(labels), columns, .. }) => {
                labels.push(label);
                columns.push(name);
            }
            _ => found.push(Variable { name: vector, labels: Some(vec![label]), columns: vec![name] }),
        }
    }
    check(&found, reserved)?;
    Ok(found)
}

/// The name of a vector and the label of an entry.
fn split(name: &str) -> Option<(&str, &str)> {
    let (vector, label) = name.strip_suffix(']')?.split_once('[')?;
    (!vector.is_empty() && !label.is_empty()).then_some((vector, label))
}

fn check(variables: &[Variable<'_>], reserved: &[&str]) -> Result<(), DrawsError> {
    let vectors = variables.iter().filter(|variable| variable.labels.is_some());
    let indices: Vec<String> = vectors.map(Variable::index_name).collect();
    for Variable { name, .. } in variables {
        let reason = match name {
            _ if name.contains(['/', '\0']) => {
                "has a character that netCDF does not allow outside of brackets"
            }
            _ if reserved.contains(name) || indices.iter().any(|index| index == name) => {
                "is the name of a dimension in netCDF; rename the parameter"
            }
            _ => continue,
        };
        return Err(DrawsError::Name { name: name.to_string(), reason });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owned(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| name.to_string()).collect()
    }

    #[test]
    fn entries_of_a_vector_come_together() {
        let names = owned(&["beta[a]", "sigma", "beta[b,1]", "x[]", "[y]", "z[1][2]"]);
        let variables = variables(&names, &["chain"]).unwrap();
        let found: Vec<_> = variables.iter().map(|one| (one.name, one.labels.clone())).collect();
        let expected = [
            ("beta", Some(vec!["a", "b,1"])),
            ("sigma", None),
            ("x[]", None),
            ("[y]", None),
            ("z", Some(vec!["1][2"])),
        ];
        assert_eq!(found, expected);
        assert_eq!(variables[0].columns, ["beta[a]", "beta[b,1]"]);
    }

    #[test]
    fn a_number_with_the_name_of_a_vector_keeps_both_apart() {
        let names = owned(&["beta[a]", "beta", "beta[b]"]);
        let found: Vec<_> = variables(&names, &[]).unwrap().into_iter().map(|one| one.name).collect();
        assert_eq!(found, names);
    }

    #[test]
    fn names_that_cannot_be_written_are_refused() {
        for names in [&["a/b"][..], &["chain"], &["chain[1]"], &["a[1]", "a_index"], &["a_index[1]", "a[1]"]]
        {
            let error = variables(&owned(names), &["chain", "draw"]).unwrap_err();
            assert!(matches!(error, DrawsError::Name { .. }), "{error}");
        }
        assert!(variables(&owned(&["beta[a/b]", "chains"]), &["chain"]).is_ok());
    }
}
