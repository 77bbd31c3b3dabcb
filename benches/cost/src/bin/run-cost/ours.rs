//! The runs of llm-do: a worker, and its one tool in each way that a tool runs.

use llm_do::model::OpenAiModel;
use llm_do::prelude::*;
use llm_do::runtime::RuntimeBuilder;

/// What the model is told to be.
pub(crate) const INSTRUCTIONS: &str = "Add up what you are given, two numbers at a time, with the tool.";
/// What it is asked.
pub(crate) const QUESTION: &str = "What is the sum of 19, 23, 19, 23, 19 and 23?";

/// Add two numbers.
#[tool(effect = read_only, inline)]
fn add(
    /// The first.
    left: i64,
    /// The second.
    right: i64,
) -> i64 {
    left + right
}

/// Add two numbers.
#[tool(effect = read_only)]
async fn add_async(
    /// The first.
    left: i64,
    /// The second.
    right: i64,
) -> i64 {
    left + right
}

/// Add two numbers.
#[tool(effect = read_only)]
fn add_off_thread(
    /// The first.
    left: i64,
    /// The second.
    right: i64,
) -> i64 {
    left + right
}

/// Add up what you are given, two numbers at a time, with the tool.
#[worker(toolsets = [add])]
async fn sum(input: String) -> String;

/// Add up what you are given, two numbers at a time, with the tool.
#[worker(toolsets = [add_async])]
async fn sum_async(input: String) -> String;

/// Add up what you are given, two numbers at a time, with the tool.
#[worker(toolsets = [add_off_thread])]
async fn sum_off_thread(input: String) -> String;

/// How the tool runs.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// In place.
    Inline,
    /// As a future.
    Async,
    /// Off the async threads, as synchronous tools do that say nothing.
    OffThread,
}

/// A session that asks the server at `base_url`.
pub(crate) fn session(base_url: &str, streaming: bool) -> Runtime {
    let model =
        OpenAiModel::builder("bench").base_url(format!("{base_url}/v1")).build().expect("the address of a server");
    RuntimeBuilder::default().force_model(model).streaming(streaming).build().expect("a registry without faults")
}

/// Makes one run.
pub(crate) async fn run(session: &Runtime, place: Place) -> String {
    let input = QUESTION.to_owned();
    let answer = match place {
        Place::Inline => session.run(sum { input }).await,
        Place::Async => session.run(sum_async { input }).await,
        Place::OffThread => session.run(sum_off_thread { input }).await,
    };
    answer.expect("an answer")
}
