//! Summarizes the conversation when the user requests it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;

use llm_do_core::base::error::BoxError;
use llm_do_core::plane::context::CallContext;
use llm_do_core::plane::history::History;
use llm_do_core::plane::history_processor::{Compaction, HistoryProcessor};

/// Summarizes the history of the next request after [`request`](Self::request).
#[derive(Clone, Debug)]
pub(super) struct CompactOnDemand {
    is_requested: Arc<AtomicBool>,
    /// The model of the worker to which the history belongs, if it has its own.
    model: Option<String>,
}

impl CompactOnDemand {
    pub(super) fn new(model: Option<&str>) -> Self {
        Self { is_requested: Arc::default(), model: model.map(str::to_owned) }
    }

    pub(super) fn withdraw(&self) {
        self.is_requested.store(false, Ordering::Relaxed);
    }

    pub(super) fn request(&self) {
        self.is_requested.store(true, Ordering::Relaxed);
    }
}

#[async_trait]
impl HistoryProcessor for CompactOnDemand {
    async fn process(&self, history: &mut History, ctx: &CallContext) -> Result<(), BoxError> {
        // The summary is a request too, with a short history.
        if self.is_requested.swap(false, Ordering::Relaxed) {
            let compaction = Compaction::over(0);
            let compaction = self.model.iter().fold(compaction, Compaction::model);
            compaction.process(history, ctx).await?;
        }
        Ok(())
    }
}
