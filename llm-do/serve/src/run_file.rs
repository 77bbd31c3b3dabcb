//! The runs in the file of a service, in the form of its responses, for the command line.

use std::path::Path;

use jiff::Timestamp;
use llm_do_core::base::error::BoxError;
use llm_do_core::observe::database::Database;
use llm_do_core::observe::journal::{Settlement, SqliteJournal};
use llm_do_core::plane::dispatch::{fresh_id, unknown_calls};
use llm_do_core::plane::mailbox::{RunMessage, SendError};
use serde_json::Value;

use super::engine::settle;
use super::http::{self, RunListQuery};
use super::store::{MAX_MESSAGES, MessageInserted, NewMessage, Store, StoreFile};

/// The client of messages that are sent by way of the file.
const CLIENT: &str = "command line";

/// The file of a service, which may be running or not. Only [`settle`](Self::settle) and [`send`](Self::send) write.
#[derive(Debug)]
#[doc(hidden)]
pub struct RunFile(StoreFile);

impl RunFile {
    /// Opens the file. Blocks, as do the other functions.
    ///
    /// # Errors
    ///
    /// Returns an error if the file is missing, or does not belong to a service of this version.
    pub fn open(path: &Path) -> Result<Self, BoxError> {
        Ok(Self(StoreFile::open(path)?))
    }

    /// Opens the file; `None` if it is a database without a service.
    ///
    /// # Errors
    ///
    /// Returns an error if the file is missing, or is not a database of this version.
    pub fn find(path: &Path) -> Result<Option<Self>, BoxError> {
        Ok(StoreFile::find(path)?.map(Self))
    }

    /// Lists runs of all tenants, like `GET /runs`.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read.
    pub fn list(&self, query: RunListQuery) -> Result<Value, BoxError> {
        let page = self.0.runs(&query.filter(None))?;
        Ok(serde_json::to_value(http::RunList::from(page))?)
    }

    /// Returns a run, like `GET /runs/ID`; `None` if the file does not contain it.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read.
    pub async fn run(&self, id: &str) -> Result<Option<Value>, BoxError> {
        let Some((run, waits)) = self.0.run(id, http::MAX_LIST)? else { return Ok(None) };
        let has_no_result = run.state.is_unsuccessful();
        let view = http::RunView::new(run, waits);
        let view = if has_no_result {
            // As over HTTP: the run's error may be that they cannot be read.
            let unknown = unknown_calls(&self.0.outlines(id).unwrap_or_default()).await;
            view.with_effects(self.0.effects(id)?).with_unknown(unknown)
        } else {
            view
        };
        Ok(Some(serde_json::to_value(view)?))
    }

    /// Settles the outcome of a call of a failed or cancelled run, like `POST /runs/ID/settle`; this writes to the file
    /// at `path`.
    ///
    /// # Errors
    ///
    /// Returns an error if the run is unknown or has not ended, if the call cannot be settled, or if the file cannot be written.
    pub async fn settle(&self, path: &Path, id: &str, (step, settlement): (&str, &Settlement)) -> Result<(), BoxError> {
        let run = self.0.run(id, 1)?.ok_or_else(|| format!("unknown run `{id}`"))?.0;
        if !run.state.is_unsuccessful() {
            return Err("only calls of failed and cancelled runs are settled; answer what this run asks".into());
        }
        let journal = SqliteJournal::open(path)?;
        Ok(settle(&journal, id, step, settlement).await?)
    }

    /// Sends a message to an unfinished run, like `POST /runs/ID/messages`; this writes to the file at `path`, where the process that
    /// drives the run finds it.
    ///
    /// # Errors
    ///
    /// Returns an error if the run is unknown or has ended, if the message is empty, or if the file cannot be written.
    pub async fn send(&self, path: &Path, id: &str, message: RunMessage) -> Result<(), BoxError> {
        let run = self.0.run(id, 1)?.ok_or_else(|| format!("unknown run `{id}`"))?.0;
        if message.text().trim().is_empty() {
            return Err(SendError::Empty.into());
        }
        let store = Store::new(Database::open(path)?)?;
        let new = NewMessage {
            run: run.id,
            tenant: run.tenant.into(),
            client: CLIENT.into(),
            idempotency_key: None,
            message: message.with_id(fresh_id()),
            now: Timestamp::now(),
        };
        match store.insert_message(new).await? {
            MessageInserted::New(_) | MessageInserted::Existing => Ok(()),
            MessageInserted::Finished => Err(SendError::Ended.into()),
            MessageInserted::Full => Err(format!("limit reached: at most {MAX_MESSAGES} messages to a run").into()),
        }
    }
}
