//! Summarizes the conversations when the user requests it.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use llm_do_core::base::error::BoxError;
use llm_do_core::base::mutex::IgnorePoison;
use llm_do_core::plane::context::CallContext;
use llm_do_core::plane::history::History;
use llm_do_core::plane::history_processor::{Compaction, HistoryProcessor};

/// Summarizes each conversation of the chat once after [`request`](Self::request), before its next request: that of the root worker,
/// and each thread.
#[derive(Clone, Debug)]
pub(super) struct CompactOnDemand {
    requested: Arc<Mutex<Requested>>,
    /// The model of the worker to which the history belongs, if it has its own.
    model: Option<String>,
}

/// Which conversations are still to be summarized.
#[derive(Debug, Default)]
struct Requested {
    is_on: bool,
    /// The conversations that were summarized since.
    done: BTreeSet<String>,
}

impl CompactOnDemand {
    pub(super) fn new(model: Option<&str>) -> Self {
        Self { requested: Arc::default(), model: model.map(str::to_owned) }
    }

    pub(super) fn withdraw(&self) {
        *self.requested.lock().ignore_poison() = Requested::default();
    }

    pub(super) fn request(&self) {
        *self.requested.lock().ignore_poison() = Requested { is_on: true, done: BTreeSet::new() };
    }

    /// Returns whether the conversation of this call is to be summarized now.
    fn takes(&self, ctx: &CallContext) -> bool {
        let mut requested = self.requested.lock().ignore_poison();
        if !requested.is_on {
            return false;
        }
        // The summary is a call too, whose history is short; it continues no conversation.
        ctx.conversation_name().is_some_and(|conversation| requested.done.insert(conversation))
    }
}

#[async_trait]
impl HistoryProcessor for CompactOnDemand {
    async fn process(&self, history: &mut History, ctx: &CallContext) -> Result<(), BoxError> {
        if self.takes(ctx) {
            let compaction = Compaction::over(0);
            let compaction = self.model.iter().fold(compaction, Compaction::model);
            compaction.process(history, ctx).await?;
        }
        Ok(())
    }
}
