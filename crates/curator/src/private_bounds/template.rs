//! A file of bounds to fill in: the names of the columns, and no value.

use crate::CuratorError;
use crate::bounds::table_header;
use crate::table::{Input, ReadOptions, column_names};

/// A file of bounds with every column of the table, to be filled in by a person from public knowledge.
///
/// Only names are read: the header of a CSV file (or how many fields its first row has, if there is none), the schema of a
/// Parquet file. Nothing in it depends on a value.
pub fn template(input: &Input, options: &ReadOptions) -> Result<String, CuratorError> {
    let mut text = String::from(
        "# Public bounds: fill in what is known without looking at the table, and remove the columns that you do not need.\n\
         # A column of numbers has lower and upper; one of categories has levels, the first of which is the reference.\n",
    );
    for name in column_names(input, options)? {
        text += &format!(
            "\n{}\n# lower = \n# upper = \n# or, for categories: levels = [\"...\", \"...\"]\n",
            table_header(&name)
        );
    }
    Ok(text)
}
