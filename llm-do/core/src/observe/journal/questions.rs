//! What persons were asked in the calls of a run, where it may have been set aside until the answer.

use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::Arc;

#[cfg(feature = "serve")]
use super::{StepKind, key};

/// The keys of the calls that a person was asked about, and of the questions of calls.
#[derive(Debug, Default)]
pub(super) struct Questions(BTreeSet<Arc<str>>);

impl Questions {
    /// Adds what a step of this key asked.
    #[cfg(feature = "serve")]
    pub(super) fn add(&mut self, kind: StepKind, key: &str) {
        let asked = if kind == StepKind::Approval { key::parent(key) } else { Some(key) };
        self.0.extend(asked.map(Arc::from));
    }

    /// Returns whether a person was asked inside the call of a key. Its own approval does not count.
    pub(super) fn has_inside(&self, call: &str) -> bool {
        let inside = format!("{call}/");
        let mut from = self.0.range::<str, _>((Bound::Included(inside.as_str()), Bound::Unbounded));
        from.next().is_some_and(|asked| asked.starts_with(&inside))
    }
}
