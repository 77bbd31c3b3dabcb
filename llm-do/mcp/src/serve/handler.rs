//! Answers the requests of one client.

use std::sync::{Arc, Mutex};

use llm_do_core::base::mutex::IgnorePoison;
use llm_do_core::observe::event::ItemKind;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestParams, CompleteResult,
    GetPromptRequestParams, GetPromptResponse, GetTaskParams, GetTaskResult, InputResponses, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, LoggingLevel, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ServerConfig, SetLevelRequestParams, SubscribeRequestParams,
    SubscriptionFilter, Tool, UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;

use super::advance::{Advanced, Waiting};
use super::ask::Ask;
use super::client::Client;
use super::open_call::{OpenCall, Wanted};
use super::report::Reports;
use super::{Shared, prompts, result};

/// How long clients may cache a list, in milliseconds, and the scope of the cache. Lists do not change within a
/// process.
const CACHED: (Option<u64>, Option<CacheScope>) = (Some(300_000), Some(CacheScope::Public));

/// The server of one connection, or of one request if connections have no state.
#[derive(Clone, Debug)]
pub(super) struct Handler {
    pub(super) shared: Arc<Shared>,
    /// The log level of the session, in protocol versions in which a session sets it.
    level: Arc<Mutex<Option<LoggingLevel>>>,
}

impl Handler {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, level: Arc::default() }
    }

    /// Describes the request that waits for a call.
    fn waiting(&self, name: &str, arguments: &Value, context: RequestContext<RoleServer>) -> Waiting {
        let client = Client::from_context(&context);
        let reports = Reports::from_context(&context, *self.level.lock().ignore_poison());
        let binding = binding(&client, name, arguments);
        Waiting { client, reports, context, binding }
    }

    /// Starts a call, or resumes the call whose state the client returned with its answers.
    fn open(
        &self,
        name: &str,
        arguments: Value,
        (state, responses): (Option<String>, Option<InputResponses>),
        waiting: &Waiting,
        is_prompt: bool,
    ) -> Result<(OpenCall, Vec<Ask>), ErrorData> {
        if let Some(state) = state {
            return self.shared.parked.resume(&state, responses, &waiting.binding);
        }
        let wanted = Wanted {
            is_prompt,
            capabilities: waiting.client.capabilities.clone(),
            asks_client: self.shared.asks_client,
            has_reports: waiting.reports.is_wanted(),
            trace_parent: waiting.context.meta.get_traceparent().map(str::to_owned),
        };
        Ok((OpenCall::start(&self.shared.runtime, name, arguments, &wanted), Vec::new()))
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        self.shared.info.clone()
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.shared.offer.iter().map(|offered| offered.tool.clone()).collect();
        let mut list = ListToolsResult::with_all_items(tools);
        (list.ttl_ms, list.cache_scope) = CACHED;
        Ok(list)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.shared.offer.get(name).map(|offered| offered.tool.clone())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(offered) = self.shared.offer.get(&request.name) else {
            let hint = self.shared.offer.hint(&request.name);
            return Err(ErrorData::invalid_params(format!("unknown tool `{}`{hint}", request.name), None));
        };
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let has_schema = offered.tool.output_schema.is_some();
        let mut waiting = self.waiting(&request.name, &arguments, context);
        let becomes_task = waiting.client.has_tasks() && offered.item.kind() != ItemKind::Tool;
        let answers = (request.request_state, request.input_responses);
        let (call, asks) = self.open(&request.name, arguments, answers, &waiting, false)?;
        let task_after = becomes_task.then_some(self.shared.task_after);
        Ok(match self.shared.advance(call, asks, &mut waiting, task_after).await? {
            Advanced::Finished(finished) => result::of_call(finished, has_schema)?.into(),
            Advanced::InputRequired(input) => input.into(),
            Advanced::Long(call) => self.shared.as_task(&waiting.client, call, has_schema).into(),
        })
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let mut list = ListPromptsResult::with_all_items(self.shared.prompts());
        (list.ttl_ms, list.cache_scope) = CACHED;
        Ok(list)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let (offered, arguments) = self.shared.prompt_call(&request.name, request.arguments)?;
        let mut waiting = self.waiting(&request.name, &arguments, context);
        let answers = (request.request_state, request.input_responses);
        let (call, asks) = self.open(&request.name, arguments, answers, &waiting, true)?;
        match self.shared.advance(call, asks, &mut waiting, None).await? {
            Advanced::Finished(finished) => prompts::of_call(offered, finished).map(Into::into),
            Advanced::InputRequired(input) => Ok(input.into()),
            Advanced::Long(_) => Err(ErrorData::internal_error("a prompt does not become a task", None)),
        }
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        self.shared.completed(&request)
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let mut list = ListResourcesResult::with_all_items(self.shared.listed_resources());
        (list.ttl_ms, list.cache_scope) = CACHED;
        Ok(list)
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let mut list = ListResourceTemplatesResult::with_all_items(self.shared.resource_templates());
        (list.ttl_ms, list.cache_scope) = CACHED;
        Ok(list)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.shared.read_resource(&request.uri).await.map(Into::into)
    }

    /// Accepts the subscriptions that the capabilities announce. Lists and resources do not change, so only the end is
    /// sent.
    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    // In protocol versions before 2026-07-28. Resources do not change while they are offered, so no update is sent.
    async fn subscribe(&self, request: SubscribeRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        self.shared.read_resource(&request.uri).await.map(drop)
    }

    async fn unsubscribe(&self, _: UnsubscribeRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn set_level(&self, request: SetLevelRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        *self.level.lock().ignore_poison() = Some(request.level);
        Ok(())
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        self.shared.tasks.get(&Client::from_context(&context), &request.task_id).map(GetTaskResult::new)
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.shared.tasks.update(&Client::from_context(&context), &request.task_id, request.input_responses)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.shared.tasks.cancel(&Client::from_context(&context), &request.task_id)
    }
}

/// Returns the binding of a call's state to its request: it cannot be used by another client or for another call.
fn binding(client: &Client, tool: &str, arguments: &Value) -> Vec<u8> {
    serde_json::json!([client.principal, tool, arguments]).to_string().into_bytes()
}
