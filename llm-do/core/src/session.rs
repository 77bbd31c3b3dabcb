//! The session: the state that runs share, its configuration, and how runs start.

pub mod runtime;
