//! Approval of worker calls with files among their arguments.

use std::collections::BTreeMap;

use llm_do::approval::{Policy, WorkerRule};
use llm_do::prelude::*;
use llm_do::prompt::Attached;
use llm_do::testing::TestModel;
use llm_do::worker::WorkerSpec;
use llm_do::{Attachment, Value, json};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Scripted;

/// A letter.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct Letter {
    body: Prompt,
    #[serde(default)]
    enclosed: Option<Prompt>,
}

/// What is posted.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Post {
    Strict { letter: Letter, stamp: u8 },
    Loose { letter: Letter },
}

/// A scan of a page.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct Scan {
    #[schemars(with = "Value")]
    image: Attachment,
}

/// Read a letter.
#[worker]
async fn of_struct(letter: Letter) -> String;

/// Read what was posted.
#[worker]
async fn of_enum(post: Post) -> String;

/// Read all prompts.
#[worker]
async fn of_map(prompts: BTreeMap<String, Vec<Prompt>>) -> String;

/// Read a file.
#[worker]
async fn of_file(file: Attached) -> String;

/// Read files.
#[worker]
async fn of_attachments(attachments: Vec<Attached>) -> String;

/// Read a scan.
#[worker]
async fn of_scan(scan: Option<Scan>) -> String;

/// Read the names of files.
#[worker]
async fn of_names(attachments: Vec<String>) -> String;

/// List the files that came.
#[tool(effect = read_only)]
fn files_of(ctx: &CallContext, post: Vec<Post>, more: Option<Scan>) -> usize {
    drop((post, more));
    ctx.attachments().len()
}

/// Calls a tool by its name.
#[entry]
async fn caller(ctx: &CallContext, name: String, arguments: Value) -> Result<Value> {
    Ok(ctx.call_tool(&name, arguments).await?)
}

/// Calls a worker of a JSON schema.
#[entry]
async fn schema_caller(ctx: &CallContext, arguments: Value) -> Result<Value> {
    let schema = json!({ "type": "object", "properties": { "attachments": { "type": "array" } } });
    let spec = WorkerSpec::new("plain", "Read.").input_schema(schema);
    drop(ctx.llm_agent(spec).input(arguments.to_string()).await);
    Ok(Value::Null)
}

/// Returns whether a call needs approval.
async fn asks(name: &str, arguments: Value) -> bool {
    let approver = Scripted::approving();
    let policy = Policy::new().workers(WorkerRule::new().attachments(true));
    let builder = Runtime::builder().policy(policy).approver(approver.clone());
    let runtime = builder.force_model(TestModel::new().text("x")).build().unwrap();
    runtime.run(caller { name: name.into(), arguments }).await.unwrap();
    !approver.asked().is_empty()
}

fn plain() -> Value {
    json!({ "input": "read" })
}

fn with_file() -> Value {
    json!({ "input": "read", "attachments": [{ "media_type": "text/plain", "data": "YmVlcw==" }] })
}

#[tokio::test]
async fn files_are_found_at_any_depth_of_the_arguments() {
    let letter = |enclosed: Value| json!({ "body": plain(), "enclosed": enclosed });
    for (prompt, expected) in [(plain(), false), (with_file(), true)] {
        assert_eq!(asks("of_struct", json!({ "letter": letter(prompt.clone()) })).await, expected);
        assert_eq!(asks("of_enum", json!({ "post": { "letter": letter(prompt.clone()) } })).await, expected);
        assert_eq!(asks("of_map", json!({ "prompts": { "a": [], "b": [plain(), prompt] } })).await, expected);
    }
}

#[tokio::test]
async fn a_file_counts_by_its_type_and_not_by_its_name() {
    let data = json!({ "media_type": "text/plain", "data": "YmVlcw==" });
    assert!(asks("of_file", json!({ "file": "secret.txt" })).await);
    assert!(asks("of_file", json!({ "file": data })).await);
    assert!(asks("of_attachments", json!({ "attachments": ["secret.txt"] })).await);
    assert!(!asks("of_attachments", json!({ "attachments": [] })).await);
    assert!(asks("of_scan", json!({ "scan": { "image": data } })).await);
    assert!(!asks("of_scan", json!({})).await);
    assert!(!asks("of_names", json!({ "attachments": ["Ann", "Bob"] })).await);
}

#[tokio::test]
async fn a_worker_with_a_json_schema_gets_no_files() {
    let approver = Scripted::approving();
    let policy = Policy::new().workers(WorkerRule::new().attachments(true));
    let builder = Runtime::builder().policy(policy).approver(approver.clone());
    let runtime = builder.force_model(TestModel::new().text("x")).build().unwrap();
    runtime.run(schema_caller { arguments: json!({ "attachments": ["a.txt"] }) }).await.unwrap();
    assert_eq!(approver.tools(), [""; 0]);
}

#[tokio::test]
async fn a_context_has_each_file_once_however_deep_it_is() {
    let letter = json!({ "body": with_file(), "enclosed": with_file() });
    // The first variant of the enum is tried on the second, and does not fit.
    let post = json!([{ "letter": letter, "stamp": 1 }, { "letter": letter }]);
    let scan = json!({ "image": { "media_type": "image/png", "data": "" } });
    let runtime = Runtime::builder().build().unwrap();
    let count = runtime.run_named("files_of", json!({ "post": post, "more": scan })).await.unwrap();
    assert_eq!(count, 5);
}
