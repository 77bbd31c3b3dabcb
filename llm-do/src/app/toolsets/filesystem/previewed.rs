//! The content on which an approved change was based.
//!
//! Between the question to the approver and the call, the file may change; the call would then do something else than what
//! was approved.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::Mutex;

use super::fault::{Fault, shown};
use super::locate::Place;
use super::open;
use crate::base::mutex::IgnorePoison;

/// By the digest of a call: the digest of the content that its preview was made from.
#[derive(Debug, Default)]
pub(super) struct Previewed {
    contents: Mutex<HashMap<u64, u64>>,
    hasher: RandomState,
}

impl Previewed {
    /// Remembers what a preview of `call` was made from; `None` for a file in a missing folder.
    pub(super) fn remember(&self, call: &impl Hash, place: Option<&Place>, max: u64) {
        let content = self.content(place, max);
        self.contents.lock().ignore_poison().insert(self.hasher.hash_one(call), content);
    }

    /// Fails if the file has changed since the preview of `call`, if there was one.
    pub(super) fn check(&self, call: &impl Hash, place: &Place, max: u64) -> Result<(), Fault> {
        let previewed = self.contents.lock().ignore_poison().remove(&self.hasher.hash_one(call));
        match previewed.filter(|content| *content != self.content(Some(place), max)) {
            Some(_) => Err(Fault::Changed(shown(&place.path))),
            None => Ok(()),
        }
    }

    /// Returns a digest of the file, or of why it cannot be read.
    fn content(&self, place: Option<&Place>, max: u64) -> u64 {
        let missing = || self.hasher.hash_one("missing");
        match place.map(|place| open::read(place, max, "")) {
            None | Some(Err(Fault::NotFound(_))) => missing(),
            Some(Ok(content)) => self.hasher.hash_one(content.bytes),
            Some(Err(fault)) => self.hasher.hash_one(fault.to_string()),
        }
    }
}
