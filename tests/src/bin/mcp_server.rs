//! The tools that the official conformance suite of MCP calls, as an application of this framework.
//!
//! Source: <https://github.com/modelcontextprotocol/conformance>.

use llm_do::prelude::*;
use llm_do::{Attachment, ToolReturn, Value};

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
    Ok(format!("Hello, {}!", ctx.request_user_input("What is your name?").await?))
}

/// Ask the user for a confirmation.
#[tool(effect = read_only)]
async fn test_input_required_result_request_state(ctx: &CallContext) -> Result<String> {
    ctx.request_user_input("Please confirm").await?;
    Ok("Confirmed: state-ok".to_owned())
}

/// Ask the user for a confirmation, which a client with another state cannot give.
#[tool(effect = read_only)]
async fn test_input_required_result_tampered_state(ctx: &CallContext) -> Result<String> {
    ctx.request_user_input("Please confirm").await?;
    Ok("Confirmed".to_owned())
}

/// Ask the user two questions, one after the other.
#[tool(effect = read_only)]
async fn test_input_required_result_multi_round(ctx: &CallContext) -> Result<String> {
    ctx.request_user_input("Step 1: What is your name?").await?;
    ctx.request_user_input("Step 2: What is your favorite color?").await?;
    Ok("Multi-round flow complete".to_owned())
}

/// Ask the user, if the client can.
#[tool(effect = read_only)]
async fn test_input_required_result_capabilities(ctx: &CallContext) -> Result<String> {
    Ok(format!("Hello, {}!", ctx.request_user_input("What is your name?").await?))
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

fn main() -> ExitCode {
    llm_do::cli::main()
}
