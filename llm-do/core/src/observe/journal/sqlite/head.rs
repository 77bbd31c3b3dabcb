//! The part of a record that is kept in memory.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::Value;

use super::super::record::{CallerPlace, Recorded};
use super::super::{Record, StepKind, key};

/// A record without its content: the input is a digest, and the outcome stays in the file.
#[derive(Debug)]
pub(super) struct RecordHead {
    /// The number of the record in the file.
    pub(super) record: i64,
    pub(super) key: Arc<str>,
    pub(super) parent: Arc<str>,
    pub(super) place: u32,
    pub(super) overlapped: bool,
    pub(super) begun: Option<u32>,
    pub(super) callers: Vec<CallerPlace>,
    pub(super) kind: StepKind,
    pub(super) name: Arc<str>,
    pub(super) digest: u64,
}

impl RecordHead {
    pub(super) fn new(number: i64, record: &Record, digest: u64) -> Self {
        Self {
            record: number,
            key: Arc::clone(&record.key),
            parent: Arc::clone(&record.parent),
            place: record.place,
            overlapped: record.overlapped,
            begun: record.begun,
            callers: record.callers.clone(),
            kind: record.kind,
            name: Arc::clone(&record.name),
            digest,
        }
    }
}

impl Recorded for RecordHead {
    type Value = i64;

    fn key(&self) -> &Arc<str> {
        &self.key
    }

    fn parent(&self) -> &Arc<str> {
        &self.parent
    }

    fn place(&self) -> u32 {
        self.place
    }

    fn is_overlapped(&self) -> bool {
        self.overlapped
    }

    fn begun(&self) -> Option<u32> {
        self.begun
    }

    fn callers(&self) -> &[CallerPlace] {
        &self.callers
    }

    fn kind(&self) -> StepKind {
        self.kind
    }

    fn value(&self) -> i64 {
        self.record
    }

    fn is_input(&self, input: &Value) -> bool {
        self.digest == key::hash(input)
    }

    fn describe(&self) -> String {
        key::describe_hash(self.kind, &self.name, self.digest)
    }
}

/// Interned texts, which many records share.
#[derive(Debug, Default)]
pub(super) struct Names(HashSet<Arc<str>>);

impl Names {
    pub(super) fn shared(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.0.get(name) {
            return Arc::clone(known);
        }
        let new: Arc<str> = name.into();
        self.0.insert(Arc::clone(&new));
        new
    }
}
