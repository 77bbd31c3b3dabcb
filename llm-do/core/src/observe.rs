//! What is recorded of a run: events for observers, and the journal from which a run resumes.

#[cfg(feature = "serve")]
#[doc(hidden)]
pub mod database;
pub mod event;
pub mod journal;
