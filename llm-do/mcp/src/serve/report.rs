//! Events of a run, as notifications to the client that waits for it.

use std::sync::Arc;

use llm_do_core::observe::event::{Event, EventKind};
use rmcp::model::{LoggingLevel, LoggingMessageNotificationParam, ProgressNotificationParam, ProgressToken};
use rmcp::service::RequestContext;
use rmcp::{Peer, RoleServer};

use super::log;

/// Sends the events that a client requested.
#[derive(Debug)]
pub(super) struct Reports {
    peer: Peer<RoleServer>,
    progress: Option<ProgressToken>,
    level: Option<LoggingLevel>,
    count: u32,
}

impl Reports {
    /// Returns the reports that a request asks for; `level` is the level of its session, in protocol versions in which
    /// a session sets it.
    pub(super) fn from_context(context: &RequestContext<RoleServer>, level: Option<LoggingLevel>) -> Self {
        let progress = context.meta.get_progress_token();
        let level = context.meta.log_level().or(level);
        Self { peer: context.peer.clone(), progress, level, count: 0 }
    }

    /// Returns whether the client requested any.
    pub(super) fn is_wanted(&self) -> bool {
        self.progress.is_some() || self.level.is_some()
    }

    /// Sends an event in the requested forms.
    pub(super) async fn send(&mut self, event: &Arc<Event>) {
        if let (Some(token), Some(message)) = (&self.progress, progress(event)) {
            self.count += 1;
            let report = ProgressNotificationParam::new(token.clone(), f64::from(self.count)).with_message(message);
            // Ignored, also below: the call of a disconnected client is cancelled.
            let _ = self.peer.notify_progress(report).await;
        }
        let entry = self.level.and_then(|least| log::entry(event, least));
        if let Some((level, data)) = entry {
            let entry = LoggingMessageNotificationParam::new(level, data).with_logger(event.name.to_string());
            let _ = self.peer.notify_logging_message(entry).await;
        }
    }
}

/// Returns the text of a progress report.
fn progress(event: &Event) -> Option<String> {
    match &event.kind {
        EventKind::Progress { text } => Some(text.clone()),
        EventKind::CallStarted { .. } if event.parent.is_some() => Some(format!("calls `{}`", event.name)),
        EventKind::ModelRequest { model, turn, .. } => Some(format!("`{}` asks {model} (request {turn})", event.name)),
        _ => None,
    }
}
