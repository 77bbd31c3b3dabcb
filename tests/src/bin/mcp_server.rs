//! The tools that the official conformance suite of MCP calls, as an application of this framework.
//!
//! Source: <https://github.com/modelcontextprotocol/conformance>.

use std::io::Write;
use std::time::Duration;

use llm_do::approval::{Policy, Rule};
use llm_do::context::Question;
use llm_do::mcp::{ClientRequest, HttpOptions, McpClient, McpService};
use llm_do::prelude::*;
use llm_do::{Attachment, ToolReturn, Value, json};
use tokio::net::TcpListener;

/// Return a text.
#[tool(effect = read_only)]
fn test_simple_text() -> &'static str {
    "This is a simple text response for testing."
}

/// Return an image.
#[tool(effect = read_only)]
fn test_image_content() -> ToolReturn {
    ToolReturn::from(Value::Null).attach(image())
}

/// Return a sound.
#[tool(effect = read_only)]
fn test_audio_content() -> ToolReturn {
    ToolReturn::from(Value::Null).attach(Attachment::new("audio/wav", b"RIFF\x24\0\0\0WAVE".to_vec()))
}

/// Return a text file.
#[tool(effect = read_only)]
fn test_embedded_resource() -> ToolReturn {
    ToolReturn::from(Value::Null).attach(file("text/plain", "This is an embedded resource content."))
}

/// Return a text, an image and a file.
#[tool(effect = read_only)]
fn test_multiple_content_types() -> ToolReturn {
    let data = file("application/json", r#"{"test":"data","value":123}"#);
    ToolReturn::text("Multiple content types test:").attach(image()).attach(data)
}

/// Fail.
#[tool(effect = read_only)]
fn test_error_handling() -> Result<()> {
    Err("This tool intentionally returns an error for testing".into())
}

/// Report progress.
#[tool(effect = read_only)]
fn test_tool_with_progress(ctx: &CallContext) -> &'static str {
    for step in ["Starting", "Halfway", "Complete"] {
        ctx.progress(step);
    }
    "Progress test completed"
}

/// Write log entries.
#[tool(effect = read_only)]
fn test_tool_with_logging(ctx: &CallContext) -> &'static str {
    for entry in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
        ctx.progress(entry);
    }
    "Logging test completed"
}

/// Write log entries, for a client that sets a level.
#[tool(effect = read_only)]
fn test_logging_tool(ctx: &CallContext) -> &'static str {
    ctx.progress("an entry");
    "Logging test completed"
}

/// Ask the user a question.
#[tool(effect = read_only)]
async fn test_elicitation(ctx: &CallContext, message: String) -> Result<String> {
    Ok(format!("User response: {}", ctx.request_user_input(message).await?))
}

/// Ask the user for a name.
#[tool(effect = read_only)]
async fn test_input_required_result_elicitation(ctx: &CallContext) -> Result<String> {
    let question = Question::new("What is your name?").named("user_name");
    Ok(format!("Hello, {}!", ctx.request_user_input(question).await?))
}

/// Ask the user for a confirmation.
#[tool(effect = read_only)]
async fn test_input_required_result_request_state(ctx: &CallContext) -> Result<String> {
    ctx.request_user_input(Question::new("Please confirm").named("confirm")).await?;
    Ok("Confirmed: state-ok".to_owned())
}

/// Ask the user for a confirmation, which a client with another state cannot give.
#[tool(effect = read_only)]
async fn test_input_required_result_tampered_state(ctx: &CallContext) -> Result<String> {
    ctx.request_user_input(Question::new("Please confirm").named("confirm")).await?;
    Ok("Confirmed".to_owned())
}

/// Ask the user two questions, one after the other.
#[tool(effect = read_only)]
async fn test_input_required_result_multi_round(ctx: &CallContext) -> Result<String> {
    ctx.request_user_input(Question::new("Step 1: What is your name?").named("step1")).await?;
    ctx.request_user_input(Question::new("Step 2: What is your favorite color?").named("step2")).await?;
    Ok("Multi-round flow complete".to_owned())
}

/// Ask the client for all that it can give.
#[tool(effect = read_only)]
async fn test_input_required_result_capabilities(ctx: &CallContext) -> Result<String> {
    let client = client(ctx)?;
    let requests = [name()?, greeting()?, ClientRequest::roots("client_roots")];
    client.ask_all(requests.into_iter().filter(|request| client.supports(request))).await?;
    Ok("Capability-aware flow complete".to_owned())
}

/// Ask the client's model.
#[tool(effect = read_only)]
async fn test_input_required_result_sampling(ctx: &CallContext) -> Result<String> {
    let question = sampling("capital_question", "What is the capital of France?")?;
    Ok(format!("Sampling response: {}", client(ctx)?.ask(question).await?["content"]["text"]))
}

/// Ask the client's model with the given prompt.
#[tool(effect = read_only)]
async fn test_sampling(ctx: &CallContext, prompt: String) -> Result<String> {
    let answer = client(ctx)?.ask(sampling("prompt", &prompt)?).await?;
    Ok(format!("LLM response: {}", answer["content"]["text"]))
}

/// Ask for the client's folders.
#[tool(effect = read_only)]
async fn test_input_required_result_list_roots(ctx: &CallContext) -> Result<String> {
    Ok(format!("Client roots: {}", client(ctx)?.ask(ClientRequest::roots("client_roots")).await?["roots"]))
}

/// Ask the client several things concurrently.
#[tool(effect = read_only)]
async fn test_input_required_result_multiple_inputs(ctx: &CallContext) -> Result<String> {
    client(ctx)?.ask_all([name()?, greeting()?, ClientRequest::roots("client_roots")]).await?;
    Ok("All inputs received".to_owned())
}

/// Ask the user while the response is streamed.
#[tool(effect = read_only)]
async fn test_streaming_elicitation(ctx: &CallContext) -> Result<String> {
    Ok(format!("Answer: {}", client(ctx)?.ask(name()?).await?["action"]))
}

/// Need the client's model.
#[tool(effect = read_only)]
async fn test_missing_capability(ctx: &CallContext) -> Result<String> {
    Ok(client(ctx)?.ask(greeting()?).await?.to_string())
}

/// Ask the user by a form with defaults.
#[tool(effect = read_only)]
async fn test_elicitation_sep1034_defaults(ctx: &CallContext) -> Result<String> {
    let schema = json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "default": "John Doe" },
            "age": { "type": "integer", "default": 30 },
            "score": { "type": "number", "default": 95.5 },
            "status": { "type": "string", "enum": ["active", "inactive", "pending"], "default": "active" },
            "verified": { "type": "boolean", "default": true },
        },
    });
    let answer = client(ctx)?.ask(ClientRequest::form("defaults", "Please provide values", &schema)?).await?;
    Ok(format!("Elicitation completed: action={}, content={}", answer["action"], answer["content"]))
}

/// Ask the user by a form with choices.
#[tool(effect = read_only)]
async fn test_elicitation_sep1330_enums(ctx: &CallContext) -> Result<String> {
    let titled = |key: &str| json!([{ "const": "value1", "title": format!("First {key}") }, { "const": "value2", "title": "Second" }]);
    let schema = json!({
        "type": "object",
        "properties": {
            "untitledSingle": { "type": "string", "enum": ["option1", "option2", "option3"] },
            "titledSingle": { "type": "string", "oneOf": titled("Option") },
            "legacyEnum": { "type": "string", "enum": ["opt1", "opt2"], "enumNames": ["Option One", "Option Two"] },
            "untitledMulti": { "type": "array", "items": { "type": "string", "enum": ["option1", "option2"] } },
            "titledMulti": { "type": "array", "items": { "anyOf": titled("Choice") } },
        },
    });
    let answer = client(ctx)?.ask(ClientRequest::form("enums", "Test enum schema improvements", &schema)?).await?;
    Ok(format!("Enum elicitation completed: action={}", answer["action"]))
}

/// A prompt that depends on an answer of the user.
#[worker]
async fn test_input_required_result_prompt(ctx: &CallContext) -> String {
    let question = Question::new("What context should the prompt use?").named("user_context");
    format!("Context: {}", ctx.request_user_input(question).await?)
}

/// Delete a file, if the user confirms it.
#[entry]
async fn confirm_delete(ctx: &CallContext, filename: String) -> Result<String> {
    let answer = ctx.request_user_input(Question::new(format!("Delete {filename}?")).choices(["yes", "no"])).await?;
    Ok(if answer == "yes" { format!("deleted {filename}") } else { "kept".to_owned() })
}

fn client(ctx: &CallContext) -> Result<McpClient> {
    McpClient::of(ctx).ok_or_else(|| "no client of MCP called".into())
}

fn name() -> Result<ClientRequest> {
    let schema = json!({ "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] });
    Ok(ClientRequest::form("user_name", "What is your name?", &schema)?)
}

fn greeting() -> Result<ClientRequest> {
    sampling("greeting", "Generate a greeting")
}

fn sampling(key: &str, text: &str) -> Result<ClientRequest> {
    let message = json!({ "role": "user", "content": { "type": "text", "text": text } });
    Ok(ClientRequest::sampling(key, json!({ "messages": [message], "maxTokens": 50 }))?)
}

/// A prompt without arguments.
#[worker]
async fn test_simple_prompt() -> String {
    "This is a simple prompt for testing."
}

/// A prompt with arguments.
#[worker]
async fn test_prompt_with_arguments(
    /// The first argument.
    arg1: String,
    /// The second argument.
    arg2: String,
) -> String {
    format!("Prompt with arguments: arg1='{arg1}', arg2='{arg2}'")
}

/// A prompt with a file.
#[worker]
async fn test_prompt_with_embedded_resource(
    /// The URI of the file.
    #[arg(rename = "resourceUri")]
    resource_uri: String,
) -> String {
    Prompt::new(format!("Please process {resource_uri}.")).attach(file("text/plain", "Embedded resource content"))
}

/// A prompt with an image.
#[worker]
async fn test_prompt_with_image() -> String {
    Prompt::new("Please analyze the image above.").attach(image())
}

/// Compute for some seconds.
#[entry]
async fn slow_compute(ctx: &CallContext, seconds: f64, label: Option<String>) -> Result<String> {
    ctx.sleep(std::time::Duration::from_secs_f64(seconds)).await?;
    Ok(format!("{} computed for {seconds} s", label.unwrap_or_default()))
}

/// Fail after a second.
#[entry]
async fn failing_job(ctx: &CallContext) -> Result<String> {
    ctx.sleep(std::time::Duration::from_secs(1)).await?;
    Err("the job failed".into())
}

/// Greet a person.
#[tool(effect = read_only)]
fn greet(name: &str) -> String {
    format!("Hello, {name}!")
}

/// A red pixel.
fn image() -> Attachment {
    // The smallest GIF.
    Attachment::new(
        "image/gif",
        b"GIF89a\x01\0\x01\0\x80\0\0\xff\0\0\0\0\0!\xf9\x04\0\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;".to_vec(),
    )
}

fn file(media_type: &str, text: &str) -> Attachment {
    Attachment::new(media_type, text.as_bytes().to_vec())
}

/// Serves at the address in the first argument, and writes it, or on standard input and output without one.
#[tokio::main]
async fn main() -> Result<()> {
    // The suite polls entries as tasks, without a delay before.
    let policy = Policy::new()
        .tool("slow_compute", Rule::PreApproved)
        .tool("failing_job", Rule::PreApproved)
        .tool("confirm_delete", Rule::PreApproved);
    let runtime = Runtime::builder().policy(policy).build()?;
    let service = McpService::new(runtime).name("conformance", "1.0.0").task_after(Duration::ZERO);
    let service = service
        .resource("test://static-text", file("text/plain", "This is the content of the static text resource."))?
        .resource("test://static-binary", image())?
        .resource("test://watched-resource", file("text/plain", "Watched resource content"))?
        .resources("test://template/{id}/data", "Data of an item", |uri| async move {
            Ok(Some(file("application/json", &json!({ "uri": uri }).to_string())))
        });
    match std::env::args().nth(1) {
        Some(address) => {
            let listener = TcpListener::bind(address).await?;
            writeln!(std::io::stdout(), "{}", listener.local_addr()?)?;
            Ok(service.serve_http(listener, HttpOptions::default()).await?)
        }
        None => Ok(service.serve_stdio().await?),
    }
}
