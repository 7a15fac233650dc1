//! The cells of crossed columns: numbers from 0, the level of the last column changing fastest.

use organza_release::LevelColumn;

/// Some columns of a list, crossed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Crossing {
    /// Indices into the list of columns.
    pub columns: Vec<usize>,
    sizes: Vec<usize>,
}

impl Crossing {
    pub fn new(columns: Vec<usize>, all: &[LevelColumn]) -> Self {
        let sizes = columns.iter().map(|column| all[*column].levels.len()).collect();
        Self { columns, sizes }
    }

    /// Number of cells; none if it is too large to count.
    pub fn size(&self) -> Option<usize> {
        self.sizes.iter().try_fold(1_usize, |product, size| product.checked_mul(*size))
    }

    /// Writes the levels of a cell; `levels` has a place for every column of the list.
    pub fn write_levels(&self, cell: usize, levels: &mut [usize]) {
        let mut left = cell;
        for (column, size) in self.columns.iter().zip(&self.sizes).rev() {
            levels[*column] = left % size;
            left /= size;
        }
    }

    /// The cell with these levels.
    pub fn cell(&self, levels: &[usize]) -> usize {
        self.columns.iter().zip(&self.sizes).fold(0, |cell, (column, size)| cell * size + levels[*column])
    }

    /// What a cell is called: `sex=f, smoker=no`.
    pub fn label(&self, cell: usize, all: &[LevelColumn]) -> String {
        let mut levels = vec![0; all.len()];
        self.write_levels(cell, &mut levels);
        let part = |column: &usize| format!("{}={}", all[*column].name, all[*column].levels[levels[*column]]);
        self.columns.iter().map(part).collect::<Vec<_>>().join(", ")
    }
}
