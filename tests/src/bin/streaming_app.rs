//! An application whose model streams what its prompt lists, for the tests of what a terminal shows meanwhile.
//!
//! Each line of the prompt is a step: `text TEXT` and `think TEXT`, in which `\n` is a line break; `wait FILE`, until the file
//! exists; `call TOOL ARGUMENTS`; and `break`, where the first answer of the process breaks off. After a call, it writes `done`.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::{join, stream};
use llm_do::model::{
    ErrorKind, Message, Profile, ProviderError, Request, Response, ResponsePart, ResponseStream, StreamEvent, ToolCall,
    UserPart,
};
use llm_do::prelude::*;
use llm_do::usage::Usage;
use llm_do::{Model, async_trait};

/// Send a text.
#[tool(effect = destructive)]
fn send(text: String) -> String {
    format!("sent {text}")
}

/// Write what the input lists.
#[worker(toolsets = [send])]
async fn writer(input: String) -> String;

/// Write what the input lists too.
#[worker(toolsets = [send])]
async fn other_writer(input: String) -> String;

/// A name.
#[data]
struct Named {
    name: String,
}

/// Return a name.
#[worker]
async fn namer(input: String) -> Named;

/// Have two workers write at the same time.
#[tool(approval = pre_approved, toolsets = [writer, other_writer])]
async fn pair(ctx: &CallContext<pair>, one: String, two: String) -> Result<String> {
    let (one, two) = join!(ctx.call(writer { input: one }), ctx.call(other_writer { input: two }));
    Ok(format!("{} and {}", one?, two?))
}

/// A step of an answer.
#[derive(Clone)]
enum Step {
    Event(Box<StreamEvent>),
    Wait(String),
    Break,
}

#[derive(Debug)]
struct StreamingModel;

/// Whether an answer broke off.
static HAS_BROKEN: AtomicBool = AtomicBool::new(false);

#[async_trait]
impl Model for StreamingModel {
    fn name(&self) -> &'static str {
        "test:streaming"
    }

    fn profile(&self) -> Profile {
        Profile::NATIVE_OUTPUT
    }

    async fn request(&self, request: Request<'_>) -> Result<Response, ProviderError> {
        Ok(answer(&script(&request)).1)
    }

    async fn stream(&self, request: Request<'_>) -> Result<ResponseStream, ProviderError> {
        let (steps, response) = answer(&script(&request));
        let end = stream::iter([Ok(StreamEvent::Done(response))]);
        let steps = stream::iter(steps).filter_map(|step| async move {
            match step {
                Step::Event(event) => Some(Ok(*event)),
                Step::Wait(file) => {
                    until_exists(Path::new(&file)).await;
                    None
                }
                Step::Break if HAS_BROKEN.swap(true, Ordering::Relaxed) => None,
                Step::Break => Some(Err(ProviderError::new("test", ErrorKind::Transport, "the connection was closed"))),
            }
        });
        Ok(Box::pin(steps.chain(end)))
    }
}

async fn until_exists(file: &Path) {
    while !file.exists() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn script(request: &Request<'_>) -> String {
    match request.messages.last() {
        Some(Message::User { parts }) => {
            let texts = parts.iter().filter_map(|part| match part {
                UserPart::Text { text } => Some(text.as_str()),
                _ => None,
            });
            texts.collect()
        }
        _ => "text done".to_owned(),
    }
}

/// Returns the steps of a script, and the whole answer.
fn answer(script: &str) -> (Vec<Step>, Response) {
    let (mut steps, mut text, mut calls) = (Vec::new(), String::new(), Vec::new());
    for line in script.lines() {
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        let written = rest.replace("\\n", "\n").replace("\\e", "\u{1b}");
        match verb {
            "text" => {
                text.push_str(&written);
                steps.push(Step::Event(Box::new(StreamEvent::Text(written))));
            }
            "think" => steps.push(Step::Event(Box::new(StreamEvent::Thinking(written)))),
            "wait" => steps.push(Step::Wait(rest.to_owned())),
            "break" => steps.push(Step::Break),
            "call" => {
                let (tool, arguments) = rest.split_once(' ').unwrap_or((rest, "{}"));
                calls.push(ResponsePart::ToolCall(ToolCall::new("1", tool, arguments)));
            }
            _ => {}
        }
    }
    let mut parts = if text.is_empty() { Vec::new() } else { vec![ResponsePart::Text { text }] };
    parts.append(&mut calls);
    (steps, Response::new("streaming", parts, Usage::of_request(1, 1)))
}

fn main() -> ExitCode {
    llm_do::cli::Cli::new().configure(|builder| builder.force_model(StreamingModel)).main()
}
