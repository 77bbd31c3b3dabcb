//! The questions to persons in the calls of a run, where the run may have been suspended until the answer.

use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::Arc;

#[cfg(feature = "serve")]
use super::{StepKind, key};

/// The keys of the calls that need a decision, and of the questions of calls.
#[derive(Debug, Default)]
pub(super) struct Questions(BTreeSet<Arc<str>>);

impl Questions {
    /// Adds the question of a step with this key.
    #[cfg(feature = "serve")]
    pub(super) fn add(&mut self, kind: StepKind, key: &str) {
        let asked = if kind == StepKind::Approval { key::parent(key) } else { Some(key) };
        self.0.extend(asked.map(Arc::from));
    }

    /// Returns whether a person was asked inside the call with this key; the approval of the call itself does not
    /// count.
    pub(super) fn has_inside(&self, call: &str) -> bool {
        let inside = format!("{call}/");
        let mut from = self.0.range::<str, _>((Bound::Included(inside.as_str()), Bound::Unbounded));
        from.next().is_some_and(|asked| asked.starts_with(&inside))
    }
}
