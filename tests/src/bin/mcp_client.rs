//! An MCP client for the official conformance suite: connects to the server at the URL in the last argument, and calls its tools.
//!
//! The suite sets `MCP_CONFORMANCE_CONTEXT`, a JSON object that may list the calls to make.

use std::io::Write;
use std::process::ExitCode;

use llm_do::approval::ApprovalMode;
use llm_do::context::{InputHandler, InputRequest};
use llm_do::error::{BoxError, chain};
use llm_do::mcp::{Authorizer, McpServer, OAuth};
use llm_do::{Result, Runtime, Value, async_trait, json};

/// A user who answers every question: with the default, if there is one.
#[derive(Debug)]
struct Agreeable;

#[async_trait]
impl InputHandler for Agreeable {
    async fn answer(&self, request: &InputRequest) -> Result<String, BoxError> {
        let question = &request.question;
        if question.default.is_some() {
            return Ok(String::new());
        }
        let text = if question.prompt.contains("mail") { "user@example.com" } else { "text" };
        Ok(question.choices.first().map_or(text, String::as_str).to_owned())
    }
}

/// Writes a text to standard error, which the suite keeps.
fn print(text: &str) {
    // Ignored: the suite may have closed it.
    let _ = writeln!(std::io::stderr(), "{text}");
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            print(&chain(error.as_ref()));
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<()> {
    let url = std::env::args().next_back().ok_or("missing argument: the URL of the server")?;
    let context: Value = match std::env::var("MCP_CONFORMANCE_CONTEXT") {
        Ok(text) => serde_json::from_str(&text)?,
        Err(_) => Value::Null,
    };
    let connection = McpServer::http("conformance", url).oauth(oauth(&context)).connect().await?;
    let runtime = Runtime::builder()
        .only([""; 0])
        .approval_mode(ApprovalMode::ApproveAll)
        .input_handler(Agreeable)
        .mcp(connection)
        .build()?;
    for (name, arguments) in calls(&runtime, &context) {
        // The suite judges what was sent, also by calls that fail.
        if let Err(error) = runtime.run_named(&name, arguments).await {
            print(&chain(&error));
        }
    }
    Ok(())
}

/// A user who agrees to each login: the authorization server redirects without a question.
#[derive(Debug)]
struct LoginPage;

#[async_trait]
impl Authorizer for LoginPage {
    async fn authorize(&self, url: &str) -> Result<String, BoxError> {
        let browser = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build()?;
        let page = browser.get(url).send().await?;
        let location = page.headers().get("location").ok_or("the login page does not redirect")?;
        Ok(location.to_str()?.to_owned())
    }
}

/// Returns the authorization that the suite expects, which it gives a client id in some cases.
fn oauth(context: &Value) -> OAuth {
    let oauth = OAuth::new("http://localhost:3000/callback", LoginPage)
        .client_metadata_url("https://conformance-test.local/client-metadata.json");
    match context["client_id"].as_str() {
        Some(id) => oauth.client(id, context["client_secret"].as_str().map(str::to_owned)),
        None => oauth,
    }
}

/// Returns the calls that the suite lists, or else one of each tool.
fn calls(runtime: &Runtime, context: &Value) -> Vec<(String, Value)> {
    let listed = context["toolCalls"].as_array().or(context["tool_calls"].as_array());
    if let Some(listed) = listed {
        let call = |call: &Value| {
            let name = format!("mcp__conformance__{}", call["name"].as_str().unwrap_or_default());
            (name, without_nulls(&call["arguments"]))
        };
        return listed.iter().map(call).collect();
    }
    runtime.registry().iter().map(|tool| (tool.name().to_owned(), arguments(tool.parameters()))).collect()
}

/// Leaves out arguments without a value: the plane checks types, and `null` is not a string.
fn without_nulls(arguments: &Value) -> Value {
    let given = arguments.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
    given.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Returns arguments that fit a schema: its required properties.
fn arguments(schema: &Value) -> Value {
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let value = |name: &str| match schema["properties"][name]["type"].as_str() {
        Some("integer" | "number") => json!(1),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        Some("object") => json!({}),
        _ => json!("text"),
    };
    required.map(|name| (name.to_owned(), value(name))).collect()
}
