//! What a call used, and everything below it.

use std::sync::{Arc, Mutex, PoisonError};

use llm_do_providers::Usage;
use serde::{Deserialize, Serialize};

/// What a call and all calls below it used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunUsage {
    /// Calls of tools and workers that ran, the call itself not counted.
    pub tool_calls: u64,
    /// Requests to models and their tokens.
    #[serde(flatten)]
    pub model: Usage,
}

/// The meter of one call: what is added to it is added to its parents as well.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meter(Arc<Node>);

#[derive(Debug, Default)]
struct Node {
    used: Mutex<RunUsage>,
    parent: Option<Meter>,
}

impl Meter {
    /// Returns the meter of a call made by the call of this one.
    pub(crate) fn child(&self) -> Self {
        Self(Arc::new(Node { used: Mutex::default(), parent: Some(self.clone()) }))
    }

    /// Adds one request to a model.
    pub(crate) fn add_request(&self, usage: Usage) {
        self.update(|used| used.model += usage);
    }

    /// Adds one call of a tool.
    pub(crate) fn add_tool_call(&self) {
        self.update(|used| used.tool_calls = used.tool_calls.saturating_add(1));
    }

    /// Returns what was used so far.
    pub(crate) fn used(&self) -> RunUsage {
        *self.0.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn update(&self, change: impl Fn(&mut RunUsage)) {
        let mut next = Some(self);
        while let Some(Self(node)) = next {
            change(&mut node.used.lock().unwrap_or_else(PoisonError::into_inner));
            next = node.parent.as_ref();
        }
    }
}
