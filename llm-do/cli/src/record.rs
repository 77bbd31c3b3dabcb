//! Records a chat or a server: its events and its runs, in files that the user names.

use std::path::Path;
use std::sync::Arc;

use llm_do_core::base::open_file::refuse_link;
use llm_do_core::observe::journal::RecordingJournal;
use llm_do_core::session::runtime::RuntimeBuilder;
use tokio_util::sync::CancellationToken;

use super::CommandError;
use super::args::RecordOptions;
use super::run::{EventFile, create_events, finish_events};

/// The files of a chat or a server; without any, nothing is recorded.
pub(super) struct Recorder {
    events: Option<Arc<EventFile>>,
    journal: Option<RecordingJournal>,
}

impl Recorder {
    /// Opens the files.
    pub(super) fn open(options: &RecordOptions) -> Result<Self, CommandError> {
        let RecordOptions { events, journal } = options;
        // Opened first: if another program has the journal, its events file must not be truncated.
        let opened = journal.as_deref().map(open_journal).transpose()?;
        let events = events.as_deref().map(|path| create_events(path, journal.as_deref())).transpose()?;
        Ok(Self { events, journal: opened })
    }

    /// Creates the file of events alone.
    #[cfg(feature = "serve")]
    pub(super) fn events(path: Option<&Path>) -> Result<Self, CommandError> {
        let events = path.map(|path| create_events(path, None)).transpose()?;
        Ok(Self { events, journal: None })
    }

    pub(super) fn add_to(&self, builder: RuntimeBuilder) -> RuntimeBuilder {
        let builder = match &self.events {
            Some(events) => builder.shared_sink(Arc::clone(events) as _),
            None => builder,
        };
        match &self.journal {
            Some(journal) => builder.journal(journal.clone()),
            None => builder,
        }
    }

    /// Sets whether the next run depends on messages before it.
    pub(super) fn set_continued(&self, is_continued: bool) {
        if let Some(journal) = &self.journal {
            journal.set_continued(is_continued);
        }
    }

    /// Waits until all events are written, or the user interrupts.
    pub(super) async fn finish(self, token: &CancellationToken) -> Result<(), CommandError> {
        match self.events {
            Some(events) => finish_events(events, token).await,
            None => Ok(()),
        }
    }
}

fn open_journal(path: &Path) -> Result<RecordingJournal, CommandError> {
    let fault = |error| CommandError::Usage(format!("cannot write --journal {}: {error}", path.display()));
    refuse_link(path).map_err(fault)?;
    RecordingJournal::open(path).map_err(CommandError::from_error)
}
