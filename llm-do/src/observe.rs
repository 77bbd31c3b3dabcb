//! What is recorded of a run: events for observers, and the journal from which a run resumes.

#[cfg(feature = "serve")]
pub(crate) mod database;
pub(crate) mod event;
pub(crate) mod journal;
