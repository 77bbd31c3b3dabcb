//! The runs in the file of a service, in the form of its answers, for the command line.

use std::path::Path;

use serde_json::Value;

use super::http::{self, RunListQuery};
use super::store::StoreFile;
use crate::base::error::BoxError;

/// The file of a service, which may be running or not. It is opened for reading only.
#[derive(Debug)]
pub(in crate::app) struct RunFile(StoreFile);

impl RunFile {
    /// Opens the file. Blocks, as do the other functions.
    ///
    /// # Errors
    ///
    /// Returns an error if the file is missing, or is not that of a service of this version.
    pub(in crate::app) fn open(path: &Path) -> Result<Self, BoxError> {
        Ok(Self(StoreFile::open(path)?))
    }

    /// Lists runs of all tenants, as `GET /runs` does.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read.
    pub(in crate::app) fn list(&self, query: RunListQuery) -> Result<Value, BoxError> {
        let page = self.0.runs(&query.filter(None))?;
        Ok(serde_json::to_value(http::RunList::from(page))?)
    }

    /// Returns a run, as `GET /runs/ID` does; `None` if the file does not have it.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read.
    pub(in crate::app) fn run(&self, id: &str) -> Result<Option<Value>, BoxError> {
        let Some((run, waits)) = self.0.run(id, http::MAX_LIST)? else { return Ok(None) };
        let has_no_result = run.state.is_unsuccessful();
        let view = http::RunView::new(run, waits);
        let view = if has_no_result { view.with_effects(self.0.effects(id)?) } else { view };
        Ok(Some(serde_json::to_value(view)?))
    }
}
