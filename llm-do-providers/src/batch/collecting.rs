//! The requests of the next batch.

use std::mem;

use tokio::sync::oneshot;

use super::{BatchLimits, BatchLine};
use crate::batched::BatchTicket;
use crate::error::ProviderError;

/// A request, and who waits for its submission.
pub(super) struct Entry {
    pub(super) line: BatchLine,
    pub(super) submitted: oneshot::Sender<Result<BatchTicket, ProviderError>>,
}

/// The requests that are collected.
#[derive(Default)]
pub(super) struct Collecting {
    entries: Vec<Entry>,
    bytes: usize,
    /// The number of the batch.
    number: u64,
}

impl Collecting {
    /// Returns whether a request fits into the batch; one request always fits.
    pub(super) fn fits(&self, entry: &Entry, limits: BatchLimits) -> bool {
        self.entries.is_empty() || self.bytes + entry.line.size() <= limits.bytes
    }

    /// Adds a request; returns the number of the batch if it is the first one.
    pub(super) fn add(&mut self, entry: Entry) -> Option<u64> {
        self.bytes += entry.line.size();
        self.entries.push(entry);
        (self.entries.len() == 1).then_some(self.number)
    }

    pub(super) fn is_full(&self, limits: BatchLimits) -> bool {
        self.entries.len() >= limits.requests
    }

    /// Returns the requests, and begins the next batch.
    pub(super) fn take(&mut self) -> Vec<Entry> {
        self.number += 1;
        self.bytes = 0;
        mem::take(&mut self.entries)
    }

    /// Returns the requests of the batch with this number; none if it was taken.
    pub(super) fn take_if(&mut self, number: u64) -> Vec<Entry> {
        if self.number == number { self.take() } else { Vec::new() }
    }
}
