//! Requests and notifications of a server.
#![expect(deprecated, reason = "servers may ask for roots and sampling until 2027")]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use rmcp::model::{
    ClientCapabilities, ClientConfig, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams,
    ElicitResult, ElicitationAction, ElicitationCapability, ErrorData, FormElicitationCapability, Implementation,
    ListRootsResult, ProgressNotificationParam, Root, RootsCapabilities, UrlElicitationCapability,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ClientHandler, RoleClient};

use super::call::CallEvent;
use super::in_flight::InFlight;
use super::text;
use crate::base::mutex::IgnorePoison;

/// Why requests of a server for a model's answer are refused.
pub(super) const NO_SAMPLING: &str = "llm-do does not answer sampling requests: let the application call a model";

/// Our side of a connection.
#[derive(Clone, Debug)]
pub(super) struct Handler {
    pub(super) calls: Arc<InFlight>,
    /// Whether the server has reported that its list of tools changed.
    pub(super) is_stale: Arc<AtomicBool>,
    pub(super) root: ProjectRoot,
}

/// The folder of the project, which a runtime sets when it takes the connection.
#[derive(Clone, Debug)]
pub(super) struct ProjectRoot(Arc<Mutex<PathBuf>>);

impl ProjectRoot {
    pub(super) fn new(folder: &Path) -> Self {
        Self(Arc::new(Mutex::new(folder.to_owned())))
    }

    pub(super) fn set(&self, folder: &Path) {
        folder.clone_into(&mut self.0.lock().ignore_poison());
    }

    fn roots(&self) -> ListRootsResult {
        let folder = self.0.lock().ignore_poison().clone();
        roots(&folder)
    }
}

/// Returns the folder of the project as the only root.
pub(super) fn roots(folder: &Path) -> ListRootsResult {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    ListRootsResult::new(vec![Root::new(file_url(&folder))])
}

/// Returns the URL of a folder.
fn file_url(folder: &Path) -> String {
    use std::fmt::Write;

    let mut url = "file://".to_owned();
    let path = folder.to_string_lossy().replace('\\', "/");
    if !path.starts_with('/') {
        url.push('/');
    }
    for byte in path.bytes() {
        match byte {
            b'/' | b':' | b'-' | b'.' | b'_' | b'~' => url.push(byte.into()),
            _ if byte.is_ascii_alphanumeric() => url.push(byte.into()),
            // Writing to a string cannot fail.
            _ => drop(write!(url, "%{byte:02X}")),
        }
    }
    url
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let elicitation = ElicitationCapability::new()
            .with_form(FormElicitationCapability::default())
            .with_url(UrlElicitationCapability::default());
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = Some(elicitation);
        capabilities.roots = Some(RootsCapabilities::default());
        ClientConfig::new(capabilities, Implementation::new("llm-do", env!("CARGO_PKG_VERSION")))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        // A request does not name the call that it belongs to, and another run's user must not be asked.
        let Some(call) = self.calls.only() else { return Ok(ElicitResult::new(ElicitationAction::Decline)) };
        tokio::select! {
            answer = call.ask(request) => Ok(answer),
            () = context.ct.cancelled() => Ok(ElicitResult::new(ElicitationAction::Cancel)),
        }
    }

    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        Ok(self.root.roots())
    }

    async fn create_message(
        &self,
        _: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        Err(ErrorData::invalid_request(NO_SAMPLING, None))
    }

    async fn on_progress(&self, progress: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        let Some(call) = self.calls.get(&progress.progress_token) else { return };
        let done = match progress.total {
            Some(total) => format!("{} of {total}", progress.progress),
            None => progress.progress.to_string(),
        };
        let text = match progress.message.as_deref().map(text::line) {
            Some(message) if !message.is_empty() => format!("{done}: {message}"),
            _ => done,
        };
        // A server that reports faster than its reports are read loses some.
        let _ = call.events.try_send(CallEvent::Progress(text));
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.is_stale.store(true, Ordering::Relaxed);
    }
}
