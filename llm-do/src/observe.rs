//! What is recorded of a run: events, for those who watch, and the journal, from which a run resumes.

pub(crate) mod event;
pub(crate) mod journal;
