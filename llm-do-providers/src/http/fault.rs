//! Errors for a connection that fails, or an answer that does not end.

use std::time::Duration;

use crate::error::{ErrorKind, ProviderError};

/// The error for a connection that could not be made, or broke; `address` names the setting to check.
pub(super) fn connection_failed(provider: &str, origin: &str, address: &str, error: reqwest::Error) -> ProviderError {
    let text = if error.is_connect() {
        format!("cannot connect to {origin}; check that it is up and that {address} is right")
    } else {
        format!("the connection to {origin} broke before an answer came; try again")
    };
    ProviderError::new(provider, ErrorKind::Transport, text).with_source(error.without_url())
}

pub(super) fn broken(provider: &str, origin: &str, status: u16, error: reqwest::Error) -> ProviderError {
    let text = format!("the connection to {origin} broke in the middle of the answer; try again");
    ProviderError::new(provider, ErrorKind::Transport, text).with_status(status).with_source(error.without_url())
}

pub(super) fn late(provider: &str, origin: &str, limit: Duration, name: &str, status: Option<u16>) -> ProviderError {
    let text = format!("{origin} did not answer in time; try again, or raise the {name} of {limit:?}");
    let error = ProviderError::new(provider, ErrorKind::Timeout, text);
    match status {
        Some(status) => error.with_status(status),
        None => error,
    }
}

pub(super) fn too_large(provider: &str, status: u16, limit: usize) -> ProviderError {
    let text = format!("the answer is longer than {} MiB; ask for less, or set `max_tokens`", limit >> 20);
    ProviderError::new(provider, ErrorKind::Protocol, text).with_status(status)
}
