//! A model that calls every tool.

use std::collections::HashSet;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};

use super::model_name;
use super::sample::sample;
use crate::batched::BatchedRequest;
use crate::catalog::ModelProvider;
use crate::error::ProviderError;
use crate::message::{Message, ResponsePart, ToolCall};
use crate::model::{Model, Profile, Request, ToolChoice, ToolSpec};
use crate::response::Response;
use crate::usage::Usage;

/// The output tool of workers, as named by the runtime.
pub(super) const OUTPUT_TOOL: &str = "final_result";

inventory::submit! {
    ModelProvider::new("test", |model| Ok(Arc::new(TestModel::new().named(model))))
}

/// A deterministic model that first calls every tool once, and then answers.
///
/// Arguments are generated from each tool's schema, with required properties only and the smallest values. The answer
/// is JSON generated from the schema if the request or, by its [`hint`](Request::hint), the instructions ask for one,
/// a call of the output tool `final_result` if it is available, and otherwise text. The model keeps no state: it
/// finds the tools called since the prompt in the history. The prompt is the last user message before the answers
/// that the hint counts, so a worker's tools are called once per call of the worker, even if they ask the user and
/// whether or not the answer is accepted. In the catalog, it is `test:ANY`.
///
/// # Examples
///
/// ```
/// # mod llm_do { pub use llm_do_providers::{Model, Settings}; pub use llm_do_providers as model; pub use llm_do_providers as testing; }
/// use llm_do::testing::TestModel;
/// use llm_do::{Model, Settings};
/// use llm_do::model::{Message, Request};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), llm_do_providers::ProviderError> {
/// let (messages, settings) = ([Message::user("hello")], Settings::default());
/// let answer = TestModel::new().text("hi").request(Request::new(&messages, &settings)).await?;
/// assert_eq!(answer.text(), "hi");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct TestModel {
    name: String,
    profile: Profile,
    calls_tools: bool,
    text: Option<String>,
    output: Option<Value>,
}

impl Default for TestModel {
    fn default() -> Self {
        Self { name: "test:model".to_owned(), profile: Profile::BASIC, calls_tools: true, text: None, output: None }
    }
}

impl TestModel {
    /// Creates a model that calls every tool and then answers in a few words.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the name `test:NAME`, or that of another provider's model if `name` has a prefix, such as
    /// `openai:gpt-5-mini`, for tests that depend on it, such as those of prices. Default: `test:model`.
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        Self { name: model_name("test", name), ..self }
    }

    /// Sets the features of the model. Default: [`Profile::BASIC`].
    #[must_use]
    pub fn profile(self, profile: Profile) -> Self {
        Self { profile, ..self }
    }

    /// Sets whether tools are called if the request does not require it. Default: true.
    #[must_use]
    pub fn call_tools(self, calls_tools: bool) -> Self {
        Self { calls_tools, ..self }
    }

    /// Sets the answer's text, also if only the instructions ask for JSON, unless [`output`](Self::output) is set.
    /// Default: `success (no tool calls)`, or the results of the tools called.
    #[must_use]
    pub fn text(self, text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..self }
    }

    /// Sets the output for requests with a schema. Default: a value generated from the schema.
    #[must_use]
    pub fn output(self, output: Value) -> Self {
        Self { output: Some(output), ..self }
    }

    fn answer(&self, request: &Request<'_>) -> Vec<ResponsePart> {
        let turn = Turn::from_request(request);
        let calls = self.calls(request, &turn);
        if !calls.is_empty() {
            let numbered = calls.into_iter().enumerate();
            return numbered.map(|(place, tool)| self.call(tool, request.messages.len(), place)).collect();
        }
        vec![ResponsePart::Text { text: self.final_text(request, &turn) }]
    }

    /// Returns the tools to call now.
    fn calls<'a>(&self, request: &Request<'a>, turn: &Turn<'_>) -> Vec<&'a ToolSpec> {
        let tools = request.tools.iter();
        if let ToolChoice::Tool(name) = request.tool_choice {
            return tools.filter(|tool| *tool.name == *name).collect();
        }
        if request.tool_choice == ToolChoice::None {
            return Vec::new();
        }
        let (output, other): (Vec<_>, Vec<_>) = tools.partition(|tool| *tool.name == *OUTPUT_TOOL);
        let new = other.iter().copied().filter(|tool| self.calls_tools && !turn.called.contains(&*tool.name));
        let new: Vec<_> = new.collect();
        match request.tool_choice {
            _ if !new.is_empty() => new,
            ToolChoice::Required if output.is_empty() => other.into_iter().take(1).collect(),
            _ => output,
        }
    }

    /// Returns a call. Its id contains the length of the history, so that ids are unique in a conversation.
    fn call(&self, tool: &ToolSpec, length: usize, place: usize) -> ResponsePart {
        let given = self.output.clone().filter(|_| *tool.name == *OUTPUT_TOOL);
        let arguments = given.unwrap_or_else(|| match sample(&tool.parameters) {
            Value::Null => json!({}),
            arguments => arguments,
        });
        ResponsePart::ToolCall(ToolCall::new(
            format!("test_{length}_{place}"),
            tool.name.to_string(),
            arguments.to_string(),
        ))
    }

    fn final_text(&self, request: &Request<'_>, turn: &Turn<'_>) -> String {
        let given = |schema| self.output.clone().unwrap_or_else(|| sample(schema)).to_string();
        match (request.output, request.hint.prompted_output, &self.text) {
            (Some(output), ..) => given(&output.schema),
            (None, Some(schema), text) if text.is_none() || self.output.is_some() => given(schema),
            (_, _, Some(text)) => text.clone(),
            _ => turn.report(),
        }
    }
}

#[async_trait]
impl Model for TestModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn profile(&self) -> Profile {
        self.profile
    }

    fn batch(&self, _request: Request<'_>) -> Result<Option<BatchedRequest>, ProviderError> {
        Ok(None)
    }

    async fn request(&self, request: Request<'_>) -> Result<Response, ProviderError> {
        let parts = self.answer(&request);
        let usage = Usage::of_request(word_count(request.messages), word_count(&parts));
        Ok(Response::new(&self.name, parts, usage))
    }
}

/// The tool calls since the prompt.
struct Turn<'a> {
    called: HashSet<&'a str>,
    results: Vec<(&'a str, &'a str)>,
}

impl<'a> Turn<'a> {
    fn from_request(request: &Request<'a>) -> Self {
        let results = request.since_prompt().iter().filter_map(|message| match message {
            Message::Tool { results } => Some(results),
            _ => None,
        });
        let results: Vec<_> = results.flatten().map(|result| (&*result.name, &*result.content)).collect();
        Self { called: results.iter().map(|(name, _)| *name).collect(), results }
    }

    fn report(&self) -> String {
        if self.results.is_empty() {
            return "success (no tool calls)".to_owned();
        }
        let lines: Vec<_> = self.results.iter().map(|(name, content)| format!("{name}: {content}")).collect();
        lines.join("\n")
    }
}

/// Approximates tokens by the words of the JSON form.
/// Counts the words of messages or parts as JSON.
pub(super) fn word_count(parts: &[impl serde::Serialize]) -> u64 {
    let texts = parts.iter().map(|part| serde_json::to_string(part).unwrap_or_default());
    texts.map(|text| text.split_whitespace().map(|_| 1).sum::<u64>()).sum()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};

    use super::TestModel;
    use crate::attachment::Attachment;
    use crate::message::{Message, ResponsePart, ToolResult, UserPart};
    use crate::model::{Model, OutputSchema, Request, ToolChoice, ToolSpec};
    use crate::response::Response;
    use crate::settings::Settings;

    fn tool(name: &str) -> ToolSpec {
        let parameters = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
        ToolSpec { name: name.into(), description: "".into(), parameters: Arc::new(parameters) }
    }

    fn results(response: &Response) -> Message {
        Message::Tool { results: response.tool_calls().map(|call| ToolResult::new(call, "done")).collect() }
    }

    fn names(response: &Response) -> Vec<&str> {
        response.tool_calls().map(|call| call.name.as_str()).collect()
    }

    /// Returns the answers of `model` until it calls no more tools.
    async fn converse(model: &TestModel, tools: &[ToolSpec], choice: ToolChoice<'_>) -> Vec<Response> {
        let settings = Settings::default();
        let mut messages = vec![Message::user("go")];
        let mut answers = Vec::new();
        while answers.len() < 4 {
            let request = Request::new(&messages, &settings).tools(tools).tool_choice(choice);
            let answer = model.request(request).await.unwrap();
            messages.push(Message::Assistant { parts: answer.parts.clone() });
            messages.push(results(&answer));
            answers.push(answer);
            if answers.last().is_some_and(|answer| answer.tool_calls().next().is_none()) {
                break;
            }
        }
        answers
    }

    #[tokio::test]
    async fn files_do_not_change_the_answer() {
        let file = || Attachment::new("video/mp4", [0xFF]).named("a.mp4");
        let prompt = vec![UserPart::Text { text: "go".into() }, UserPart::Attachment(file())];
        let mut messages = vec![Message::User { parts: prompt }];
        let (settings, tools, model) = (Settings::default(), [tool("film")], TestModel::new());
        let called = model.request(Request::new(&messages, &settings).tools(&tools)).await.unwrap();
        assert_eq!(names(&called), ["film"]);

        let results = called.tool_calls().map(|call| ToolResult::new(call, "done").with_attachments([file()]));
        messages.push(Message::Tool { results: results.collect() });
        let answer = model.request(Request::new(&messages, &settings).tools(&tools)).await.unwrap();
        assert_eq!(answer.text(), "film: done");
    }

    #[tokio::test]
    async fn every_tool_is_called_once_and_then_the_results_are_reported() {
        let answers = converse(&TestModel::new(), &[tool("a"), tool("b")], ToolChoice::Auto).await;
        assert_eq!(answers.len(), 2);
        assert_eq!(names(&answers[0]), ["a", "b"]);
        assert!(answers[0].tool_calls().all(|call| call.arguments == r#"{"n":0}"#));
        assert_eq!(answers[1].text(), "a: done\nb: done");
    }

    #[tokio::test]
    async fn without_tools_the_answer_is_text() {
        let answers = converse(&TestModel::new(), &[], ToolChoice::Auto).await;
        assert_eq!(answers[0].text(), "success (no tool calls)");
        let answers = converse(&TestModel::new().call_tools(false), &[tool("a")], ToolChoice::Auto).await;
        assert_eq!(answers[0].text(), "success (no tool calls)");
        let answers = converse(&TestModel::new().text("hi"), &[tool("a")], ToolChoice::None).await;
        assert_eq!(answers[0].text(), "hi");
    }

    #[tokio::test]
    async fn the_output_tool_is_called_last() {
        let tools = [tool("final_result"), tool("a")];
        let answers = converse(&TestModel::new(), &tools, ToolChoice::Required).await;
        assert_eq!(names(&answers[0]), ["a"]);
        assert_eq!(names(&answers[1]), ["final_result"]);
        let model = TestModel::new().call_tools(false).output(json!({"n": 9}));
        let answers = converse(&model, &tools, ToolChoice::Auto).await;
        let call = answers[0].tool_calls().next().unwrap();
        assert_eq!((&*call.name, &*call.arguments), ("final_result", r#"{"n":9}"#));
    }

    #[tokio::test]
    async fn a_required_tool_is_the_only_one_called() {
        let tools = [tool("a"), tool("b")];
        let answers = converse(&TestModel::new(), &tools, ToolChoice::Tool("b")).await;
        assert!(answers.iter().all(|answer| names(answer) == ["b"]));
    }

    #[tokio::test]
    async fn a_required_call_is_made_even_if_all_tools_were_called() {
        let answers = converse(&TestModel::new(), &[tool("a")], ToolChoice::Required).await;
        assert!(answers.iter().all(|answer| names(answer) == ["a"]));
    }

    #[tokio::test]
    async fn calls_of_one_conversation_have_different_ids() {
        let answers = converse(&TestModel::new(), &[tool("a"), tool("b")], ToolChoice::Required).await;
        let ids: Vec<_> = answers.iter().flat_map(Response::tool_calls).map(|call| &call.id).collect();
        let distinct: std::collections::HashSet<_> = ids.iter().collect();
        assert_eq!(distinct.len(), ids.len(), "{ids:?}");
    }

    #[tokio::test]
    async fn an_output_schema_is_followed() {
        let schema = json!({"type": "object", "properties": {"s": {"type": "string"}}, "required": ["s"]});
        let output = OutputSchema { name: "o".into(), schema: Arc::new(schema) };
        let settings = Settings::default();
        let request = Request::new(&[], &settings).output(Some(&output));
        let answer = TestModel::new().request(request).await.unwrap();
        assert_eq!(serde_json::from_str::<Value>(&answer.text()).unwrap(), json!({"s": "a"}));
        let answer = TestModel::new().output(json!({"s": "b"})).request(request).await.unwrap();
        assert_eq!(answer.parts, [ResponsePart::Text { text: r#"{"s":"b"}"#.into() }]);
    }

    #[tokio::test]
    async fn tools_are_called_again_for_the_next_user_message() {
        let settings = Settings::default();
        let tools = [tool("a")];
        let mut messages = vec![Message::user("go")];
        let first = TestModel::new().request(Request::new(&messages, &settings).tools(&tools)).await.unwrap();
        messages.push(results(&first));
        messages.push(Message::user("again"));
        let second = TestModel::new().request(Request::new(&messages, &settings).tools(&tools)).await.unwrap();
        assert_eq!(names(&second), ["a"]);
    }

    #[test]
    fn the_model_is_in_the_catalog() {
        assert_eq!(crate::model("test:any").unwrap().name(), "test:any");
    }
}
