//! The rows of the tables of prices and of capabilities.

use std::sync::Arc;

/// The rows of a table and its date. The built-in rows are parsed on first use.
#[derive(Clone, Debug)]
pub(crate) enum DatedRows<R: 'static> {
    /// Returns the built-in rows.
    Builtin(fn() -> &'static DatedRows<R>),
    Own(Arc<Own<R>>),
}

#[derive(Clone, Debug)]
pub(crate) struct Own<R> {
    date: String,
    rows: Vec<R>,
}

impl<R: Clone> DatedRows<R> {
    pub(crate) fn new(date: String, rows: Vec<R>) -> Self {
        Self::Own(Arc::new(Own { date, rows }))
    }

    pub(crate) fn date(&self) -> &str {
        &self.own().date
    }

    pub(crate) fn rows(&self) -> &[R] {
        &self.own().rows
    }

    pub(crate) fn push(&mut self, row: R) {
        if let Self::Builtin(rows) = self {
            *self = rows().clone();
        }
        if let Self::Own(own) = self {
            Arc::make_mut(own).rows.push(row);
        }
    }

    /// Returns the rows of `base` followed by these, with the date of these.
    pub(crate) fn over(&self, base: &Self) -> Self {
        Self::new(self.date().to_owned(), base.rows().iter().chain(self.rows()).cloned().collect())
    }

    fn own(&self) -> &Arc<Own<R>> {
        match self {
            Self::Builtin(rows) => rows().own(),
            Self::Own(own) => own,
        }
    }
}
