//! What is recorded of a run: events for observers, and the journal from which a run resumes.

#[cfg(feature = "serve")]
#[cfg_attr(not(test), expect(dead_code, reason = "the journal that uses it follows"))]
pub(crate) mod database;
pub(crate) mod event;
pub(crate) mod journal;
