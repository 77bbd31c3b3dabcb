//! Requests and notifications of a server.
#![expect(deprecated, reason = "servers may ask for roots and sampling until 2027")]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use llm_do_core::base::mutex::IgnorePoison;
use llm_do_core::plane::registry::Application;
use llm_do_core::plane::tool_source::RootCalls;
use rmcp::model::{
    ClientCapabilities, ClientConfig, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams,
    ElicitResult, ElicitationAction, ElicitationCapability, ErrorData, FormElicitationCapability, Implementation,
    ListRootsResult, ProgressNotificationParam, Root, RootsCapabilities, SamplingCapability, UrlElicitationCapability,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ClientHandler, RoleClient};

use super::call::CallEvent;
use super::in_flight::InFlight;
use super::request_limit::EndReason;
use super::server::McpServer;
use super::{sampling, text};

/// The client side of a connection.
#[derive(Clone, Debug)]
pub(super) struct Handler {
    pub(super) server: Arc<McpServer>,
    pub(super) calls: Arc<InFlight>,
    /// Whether the server has reported that its list of tools changed.
    pub(super) is_stale: Arc<AtomicBool>,
    pub(super) owner: Owner,
    /// Why the client ended the connection.
    pub(super) fault: EndReason,
}

/// The runtime that most recently took the connection.
#[derive(Clone, Debug)]
pub(super) struct Owner(Arc<Mutex<Owned>>);

#[derive(Debug)]
struct Owned {
    /// The folder of the project.
    root: PathBuf,
    /// Calls in the runtime, once it is built.
    calls: Option<Arc<dyn RootCalls>>,
}

impl Owner {
    pub(super) fn new(root: &Path) -> Self {
        Self(Arc::new(Mutex::new(Owned { root: root.to_owned(), calls: None })))
    }

    pub(super) fn set_root(&self, root: &Path) {
        root.clone_into(&mut self.0.lock().ignore_poison().root);
    }

    pub(super) fn set_calls(&self, calls: Arc<dyn RootCalls>) {
        self.0.lock().ignore_poison().calls = Some(calls);
    }

    fn calls(&self) -> Option<Arc<dyn RootCalls>> {
        self.0.lock().ignore_poison().calls.clone()
    }

    fn roots(&self) -> ListRootsResult {
        let root = self.0.lock().ignore_poison().root.clone();
        roots(&root)
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

impl Handler {
    /// Asks a model in the run whose call the server is answering, or in a separate run if there is no such call.
    async fn sample(&self, request: CreateMessageRequestParams) -> Result<CreateMessageResult, ErrorData> {
        if let Some(call) = self.calls.only() {
            return call.sample(request).await;
        }
        if !self.calls.is_empty() {
            // A request does not name its call, and a different run must not pay for it.
            return Err(sampling::refused("several calls are in flight, and the request does not name its own"));
        }
        sampling::ask_runtime(self.owner.calls(), &self.server, request).await
    }
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let elicitation = ElicitationCapability::new()
            .with_form(FormElicitationCapability::default())
            .with_url(UrlElicitationCapability::default());
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = Some(elicitation);
        capabilities.roots = Some(RootsCapabilities::default());
        capabilities.sampling = self.server.sampling.as_ref().map(|_| SamplingCapability::default());
        let application = Application::current();
        ClientConfig::new(capabilities, Implementation::new(application.name.as_str(), application.version()))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        // A request does not name its call, and the user of a different run must not be asked, even for a cancelled
        // call that the server may be continuing.
        let Some(call) = self.calls.only() else { return Ok(ElicitResult::new(ElicitationAction::Decline)) };
        tokio::select! {
            answer = call.ask(request) => Ok(answer),
            () = context.ct.cancelled() => Ok(ElicitResult::new(ElicitationAction::Cancel)),
        }
    }

    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        Ok(self.owner.roots())
    }

    async fn create_message(
        &self,
        request: CreateMessageRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        tokio::select! {
            answer = self.sample(request) => answer,
            () = context.ct.cancelled() => Err(ErrorData::internal_error("cancelled", None)),
        }
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
        // If a server sends reports faster than they are read, some are lost.
        let _ = call.events.try_send(CallEvent::Progress(text));
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.is_stale.store(true, Ordering::Relaxed);
    }
}
