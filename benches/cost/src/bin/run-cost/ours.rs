//! The runs of llm-do: a worker with one tool, in each mode in which a tool can run.

use std::io::BufWriter;

use llm_do::event::JsonLines;
use llm_do::model::OpenAiModel;
use llm_do::prelude::*;
use llm_do::runtime::RuntimeBuilder;

/// The instructions of the worker.
pub(crate) const INSTRUCTIONS: &str = "Add up what you are given, two numbers at a time, with the tool.";
/// The user's prompt.
pub(crate) const QUESTION: &str = "What is the sum of 19, 23, 19, 23, 19 and 23?";

/// Add two numbers.
#[tool(effect = read_only, inline)]
fn add(
    /// First number.
    left: i64,
    /// Second number.
    right: i64,
) -> i64 {
    left + right
}

/// Add two numbers.
#[tool(effect = read_only)]
async fn add_async(
    /// First number.
    left: i64,
    /// Second number.
    right: i64,
) -> i64 {
    left + right
}

/// Add two numbers.
#[tool(effect = read_only)]
fn add_off_thread(
    /// First number.
    left: i64,
    /// Second number.
    right: i64,
) -> i64 {
    left + right
}

/// Add up what you are given, two numbers at a time, with the tool.
#[worker(toolsets = [add])]
pub(crate) async fn sum(input: String) -> String;

/// Add up what you are given, two numbers at a time, with the tool.
#[worker(toolsets = [add_async])]
async fn sum_async(input: String) -> String;

/// Add up what you are given, two numbers at a time, with the tool.
#[worker(toolsets = [add_off_thread])]
async fn sum_off_thread(input: String) -> String;

/// The mode in which the tool runs.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ToolMode {
    /// On the calling thread.
    Inline,
    /// As an async function.
    Async,
    /// Off the async threads, the default of synchronous tools.
    OffThread,
}

/// Events that are written as JSON Lines to a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Events {
    /// Whether they have the content of requests.
    pub(crate) content: bool,
}

/// Returns a runtime whose model is the server at `base_url`.
pub(crate) fn session(base_url: &str, streaming: bool, events: Option<Events>) -> Runtime {
    let model = OpenAiModel::builder("bench").base_url(format!("{base_url}/v1")).build().expect("a valid URL");
    let mut builder = RuntimeBuilder::default().force_model(model).streaming(streaming);
    if let Some(Events { content }) = events {
        // A file without a name, which is deleted with the process.
        let log = JsonLines::new(BufWriter::new(tempfile::tempfile().expect("a file")));
        builder = builder.sink(log).content(content);
    }
    builder.build().expect("a valid registry")
}

/// Makes one run.
pub(crate) async fn run(session: &Runtime, mode: ToolMode) -> String {
    let input = QUESTION.to_owned();
    let answer = match mode {
        ToolMode::Inline => session.run(sum { input }).await,
        ToolMode::Async => session.run(sum_async { input }).await,
        ToolMode::OffThread => session.run(sum_off_thread { input }).await,
    };
    answer.expect("an answer")
}
