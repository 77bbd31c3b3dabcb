//! The runs of a service, read from its file by another program.

use std::path::Path;

use super::page::Page;
use super::runs::{Filter, RunRow};
use super::waits::Wait;
use super::{COMPONENT, StoreError, events, runs, waits};
use crate::observe::database::DatabaseFile;
use crate::observe::event::EffectLog;
use crate::observe::journal::{Record, RecordList};
use crate::plane::dispatch::without_content;

/// The file of a service, which may be running or not. It is opened for reading only.
#[derive(Debug)]
pub(in crate::app::serve) struct StoreFile(DatabaseFile);

impl StoreFile {
    /// Opens the file. Blocks, as do the other functions.
    pub(in crate::app::serve) fn open(path: &Path) -> Result<Self, StoreError> {
        DatabaseFile::open(path, &COMPONENT).map(Self)
    }

    /// Opens the file; `None` if it has no tables of a service.
    pub(in crate::app::serve) fn find(path: &Path) -> Result<Option<Self>, StoreError> {
        Ok(DatabaseFile::find(path, &COMPONENT)?.map(Self))
    }

    /// Lists runs, the latest first.
    pub(in crate::app::serve) fn runs(&self, filter: &Filter) -> Result<Page<RunRow>, StoreError> {
        self.0.read(|connection| runs::list(connection, filter))
    }

    /// Returns the calls of a run that may have changed something.
    pub(in crate::app::serve) fn effects(&self, id: &str) -> Result<EffectLog, StoreError> {
        self.0.read(|connection| events::effects(connection, id))
    }

    /// Returns the records of a run without their content.
    pub(in crate::app::serve) fn outlines(&self, id: &str) -> Result<Vec<Record>, StoreError> {
        self.0.read(|connection| RecordList::read_parts(connection, id, |record| Some(without_content(record))))
    }

    /// Returns a run with its questions, up to `limit`.
    pub(in crate::app::serve) fn run(&self, id: &str, limit: u32) -> Result<Option<(RunRow, Vec<Wait>)>, StoreError> {
        self.0.read(|connection| {
            let Some(run) = runs::find(connection, id)? else { return Ok(None) };
            let waits = waits::of_run(connection, &run.id, limit)?;
            Ok(Some((run, waits)))
        })
    }
}
