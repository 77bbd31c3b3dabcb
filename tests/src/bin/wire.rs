//! What `tests/wire/judge` judges: requests of the providers, and workers that are asked through them. The variables of the
//! providers lead to a server of the judge.
//!
//! `wire send` sends a request for each line of its input. `wire run whole` and `wire run streamed` have a worker answer for each
//! line; `PROGRAM SCRIPT FILE..` after them start MCP servers, one for each file. Each line is a JSON object, and so is what is
//! written for it.

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use futures_util::{Stream, StreamExt, stream};
use llm_do::approval::ApprovalMode;
use llm_do::error::chain;
use llm_do::mcp::McpServer;
use llm_do::model::{
    AnthropicModel, GeminiModel, OpenAiModel, OpenAiResponsesModel, ProviderError, Request, Server, ServerSideTool,
    StreamEvent, ToolChoice,
};
use llm_do::prelude::*;
use llm_do::worker::WorkerSpec;
use llm_do::{Model, Settings, Value, json};

/// How many lines are answered at a time.
const AT_A_TIME: usize = 24;

/// Look a word up.
#[tool(effect = read_only)]
fn look_up(word: String) -> String {
    format!("found {word}.")
}

/// Has a worker answer.
#[entry]
async fn turn(
    ctx: &CallContext,
    model: String,
    prompt: String,
    tools: Vec<String>,
    structured: bool,
    timeout: f64,
) -> Result<Value> {
    let spec = WorkerSpec::new("answerer", "Answer.").model(model).toolsets(tools);
    let spec = spec.settings(Settings::new().timeout(Duration::from_secs_f64(timeout)));
    if !structured {
        return Ok(json!(ctx.llm_agent(spec).input(prompt).await?));
    }
    let schema = json!({ "type": "object", "properties": { "word": { "type": "string" } }, "required": ["word"] });
    Ok(ctx.llm_agent(spec.output_schema(schema)).input(prompt).json().await?)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let done = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["send"] => send_all().await,
        ["run", "whole", ref servers @ ..] => run_all(false, servers).await,
        ["run", "streamed", ref servers @ ..] => run_all(true, servers).await,
        _ => Err("wrong arguments: give `send`, `run whole` or `run streamed`".into()),
    };
    let Err(error) = done else { return ExitCode::SUCCESS };
    // Ignored: the judge may have ended.
    let _ = writeln!(std::io::stderr(), "{}", chain(error.as_ref()));
    ExitCode::FAILURE
}

/// Returns the lines of the input, as they come.
fn lines() -> impl Stream<Item = Result<Value>> {
    let next = || async {
        let line = tokio::task::spawn_blocking(|| std::io::stdin().lines().next());
        let line = async { Ok::<_, llm_do::error::BoxError>(line.await?.transpose()?) }.await.transpose()?;
        Some((line.and_then(|line| Ok(serde_json::from_str(&line)?)), ()))
    };
    stream::unfold((), move |()| next())
}

fn write(answer: &Value) -> Result<()> {
    let mut output = std::io::stdout().lock();
    writeln!(output, "{answer}")?;
    Ok(output.flush()?)
}

async fn run_all(is_streamed: bool, servers: &[&str]) -> Result<()> {
    let builder = Runtime::builder().only(["turn", "look_up"]).approval_mode(ApprovalMode::ApproveAll);
    let mut builder = builder.streaming(is_streamed);
    if let [program, script, files @ ..] = servers {
        for (n, file) in files.iter().enumerate() {
            builder = builder.mcp(McpServer::command(format!("s{n}"), *program, [*script, *file]).connect().await?);
        }
    }
    let runtime = builder.build()?;
    let tools = runtime.registry().iter().map(|tool| (tool.description().to_owned(), json!(tool.name())));
    write(&json!({ "tools": tools.collect::<Value>(), "warnings": runtime.warnings() }))?;
    let written = lines().map(|line| run(&runtime, line)).buffer_unordered(AT_A_TIME);
    written.for_each(|answer| async move { write_or_end(answer) }).await;
    Ok(())
}

/// Writes an answer, or ends the program: without the judge there is nothing to do.
fn write_or_end(answer: Result<Value>) {
    if let Err(error) = answer.and_then(|answer| write(&answer)) {
        // Ignored: the judge may have ended.
        let _ = writeln!(std::io::stderr(), "{}", chain(error.as_ref()));
        std::process::exit(1);
    }
}

async fn run(runtime: &Runtime, line: Result<Value>) -> Result<Value> {
    let mut line = line?;
    let id = line["id"].take();
    Ok(match runtime.run_named("turn", line["arguments"].take()).await {
        Ok(answer) => json!({ "id": id, "answer": answer }),
        Err(error) => json!({ "id": id, "error": chain(&error), "kind": kind(&error) }),
    })
}

/// Returns the kind of the provider's error in an error.
fn kind(error: &(dyn std::error::Error + 'static)) -> Option<String> {
    let mut causes = std::iter::successors(Some(error), |cause| cause.source());
    causes.find_map(|cause| Some(format!("{:?}", cause.downcast_ref::<ProviderError>()?.kind())))
}

async fn send_all() -> Result<()> {
    let written = lines().map(send).buffer_unordered(AT_A_TIME);
    written.for_each(|answer| async move { write_or_end(answer) }).await;
    Ok(())
}

/// Sends the request of a line, which the server refuses.
async fn send(line: Result<Value>) -> Result<Value> {
    let mut line = line?;
    let mut field = |name: &str| line[name].take();
    let (id, name) = (field("id"), field("model"));
    let (messages, tools, deferred, output) =
        (field("messages"), field("tools"), field("deferred_tools"), field("output"));
    let (messages, tools) = (serde_json::from_value::<Vec<_>>(messages)?, serde_json::from_value::<Vec<_>>(tools)?);
    let (deferred, output) =
        (serde_json::from_value::<Vec<_>>(deferred)?, serde_json::from_value::<Option<_>>(output)?);
    let settings: Settings = serde_json::from_value(field("settings"))?;
    let settings = settings.extra_header("x-id", id.to_string());
    let (instructions, choice, server_side) = (field("instructions"), field("choice"), field("server_side_tools"));
    let server_side = server_side_tools(&server_side);
    let request = Request::new(&messages, &settings)
        .instructions(instructions.as_str())
        .tools(&tools)
        .deferred_tools(&deferred)
        .tool_choice(tool_choice(&choice))
        .server_side_tools(&server_side)
        .output(output.as_ref());
    let model = model(name.as_str().unwrap_or_default())?;
    let error =
        if field("streamed") == true { streamed(&*model, request).await } else { model.request(request).await.err() };
    let error = error.ok_or("the server answered")?;
    Ok(json!({ "id": id, "status": error.status(), "error": chain(&error) }))
}

async fn streamed(model: &dyn Model, request: Request<'_>) -> Option<ProviderError> {
    let mut events = match model.stream(request).await {
        Ok(events) => events,
        Err(error) => return Some(error),
    };
    while let Some(event) = events.next().await {
        match event {
            Ok(StreamEvent::Done(_)) => return None,
            Ok(_) => {}
            Err(error) => return Some(error),
        }
    }
    None
}

fn model(name: &str) -> Result<Box<dyn Model>> {
    let (provider, model) = name.split_once(':').ok_or_else(|| format!("`{name}` is not the name of a model"))?;
    Ok(match provider {
        "anthropic" => Box::new(AnthropicModel::from_env(model)?),
        "gemini" => Box::new(GeminiModel::from_env(model)?),
        "mistral" => Box::new(OpenAiModel::from_env_at(Server::Mistral, model)?),
        "openai" => Box::new(OpenAiModel::from_env(model)?),
        "openai-responses" => Box::new(OpenAiResponsesModel::from_env(model)?),
        _ => return Err(format!("no requests are sent to `{provider}`").into()),
    })
}

fn tool_choice(choice: &Value) -> ToolChoice<'_> {
    match choice.as_str() {
        None | Some("auto") => ToolChoice::Auto,
        Some("required") => ToolChoice::Required,
        Some("none") => ToolChoice::None,
        Some(tool) => ToolChoice::Tool(tool),
    }
}

fn server_side_tools(names: &Value) -> Vec<ServerSideTool> {
    let names = names.as_array().into_iter().flatten().filter_map(Value::as_str);
    let tool = |name| match name {
        "web_search" => Some(ServerSideTool::WEB_SEARCH),
        "web_fetch" => Some(ServerSideTool::WebFetch),
        "code_execution" => Some(ServerSideTool::CodeExecution),
        "image_generation" => Some(ServerSideTool::ImageGeneration),
        "programmatic_tool_calling" => Some(ServerSideTool::ProgrammaticToolCalling),
        _ => None,
    };
    names.filter_map(tool).collect()
}
