//! The session: what runs share, how they are set up, and how they begin.

pub(crate) mod runtime;
