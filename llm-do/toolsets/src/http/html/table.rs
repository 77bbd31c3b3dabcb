//! The size of a table: its layout needs memory for its rows times its columns.

/// The maximum number of columns.
const MAX_COLUMNS: usize = 200;
/// The maximum number of cells that spanning cells cover.
const MAX_SPANNED: usize = 400;
/// The maximum number of rows times columns.
const MAX_CELLS: usize = 1_000_000;

/// An open table.
#[derive(Debug, Default)]
pub(super) struct Table {
    rows: usize,
    /// The number of columns of the current row, and the highest of all rows.
    row: usize,
    columns: usize,
    spanned: usize,
}

impl Table {
    /// Begins a row; returns whether the table may have another row.
    pub(super) fn begin_row(&mut self) -> bool {
        let fits = self.fits(self.rows + 1, self.columns);
        if fits {
            self.rows += 1;
            self.row = 0;
        }
        fits
    }

    /// Adds a cell to the row, and returns its numbers of columns and rows; `None` if the row is full.
    pub(super) fn add_cell(&mut self, colspan: usize, rowspan: usize) -> Option<(usize, usize)> {
        let columns = colspan.clamp(1, MAX_COLUMNS);
        let row = self.row + columns;
        if row > MAX_COLUMNS || !self.fits(self.rows, row.max(self.columns)) {
            return None;
        }
        (self.row, self.columns) = (row, self.columns.max(row));
        let below = rowspan.saturating_sub(1).saturating_mul(columns);
        if self.spanned.saturating_add(below) > MAX_SPANNED {
            return Some((columns, 1));
        }
        self.spanned += below;
        Some((columns, rowspan.max(1)))
    }

    fn fits(&self, rows: usize, columns: usize) -> bool {
        rows * (columns + self.spanned) <= MAX_CELLS
    }
}
