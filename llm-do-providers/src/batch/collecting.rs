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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::sync::oneshot;

    use super::{BatchLimits, BatchLine, Collecting, Entry};

    fn entry(bytes: usize) -> Entry {
        let line = BatchLine { id: "a".to_owned(), body: vec![b' '; bytes].into() };
        Entry { line, submitted: oneshot::channel().0 }
    }

    #[test]
    fn a_batch_is_full_by_size_or_by_number() {
        let limits = BatchLimits { requests: 3, bytes: 2_000, within: Duration::ZERO };
        let mut collecting = Collecting::default();
        assert!(collecting.fits(&entry(9_000), limits), "one request always fits");
        assert_eq!(collecting.add(entry(1_000)), Some(0), "the first one begins a batch");
        assert!(!collecting.fits(&entry(1_000), limits));
        assert_eq!(collecting.add(entry(10)), None);
        assert!(!collecting.is_full(limits));
        collecting.add(entry(10));
        assert!(collecting.is_full(limits));
        assert_eq!(collecting.take().len(), 3);
        assert_eq!(collecting.add(entry(10)), Some(1));
        assert_eq!(collecting.take_if(0).len(), 0, "it was taken");
        assert_eq!(collecting.take_if(1).len(), 1);
    }
}
