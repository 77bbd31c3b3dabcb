//! The session: what runs share, how it is configured, and how runs start.

pub mod runtime;
