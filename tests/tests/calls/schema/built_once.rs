//! A tool's schema is built once, and never copied.

use std::borrow::Cow;
use std::cell::Cell;
use std::sync::{Arc, Mutex};

use llm_do::model::{Request, Response, ResponsePart, ToolCall};
use llm_do::prelude::*;
use llm_do::testing::FunctionModel;
use llm_do::usage::Usage;
use serde_json::{Value, json};

thread_local! {
    /// Number of times that the schema was built on this thread; tests run concurrently.
    static BUILT: Cell<u32> = const { Cell::new(0) };
}

/// A number whose schema counts its builds.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Counted(u8);

impl JsonSchema for Counted {
    fn schema_name() -> Cow<'static, str> {
        "Counted".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        BUILT.set(BUILT.get() + 1);
        u8::json_schema(generator)
    }
}

/// Count.
#[tool(effect = read_only, inline)]
fn count(number: Counted) -> Value {
    json!(number)
}

/// Use a tool.
#[worker(toolsets = [count])]
async fn use_count(input: String) -> String;

/// Returns a model that calls the tool twice, and records the schemas that it receives.
fn recording_model(seen: &Arc<Mutex<Vec<Arc<Value>>>>) -> FunctionModel {
    let seen = Arc::clone(seen);
    FunctionModel::new(move |request: Request<'_>| {
        let mut seen = seen.lock().unwrap();
        seen.push(Arc::clone(&request.tools.iter().find(|tool| *tool.name == *"count").unwrap().parameters));
        let call = ToolCall::new("1", "count", json!({ "number": 1 }).to_string());
        let part =
            if seen.len() < 3 { ResponsePart::ToolCall(call) } else { ResponsePart::Text { text: "done".into() } };
        Ok(Response::new("recording", vec![part], Usage::of_request(1, 1)))
    })
}

#[tokio::test]
async fn every_request_shares_the_schema_of_the_registry() {
    let seen = Arc::default();
    let runtime = Runtime::builder().force_model(recording_model(&seen)).build().unwrap();
    assert_eq!(BUILT.get(), 0, "the schema is built when it is first needed");
    runtime.run(use_count { input: "go".into() }).await.unwrap();
    let built = BUILT.get();
    assert_ne!(built, 0, "the first request needs the schema");
    runtime.run(use_count { input: "go".into() }).await.unwrap();
    assert_eq!(BUILT.get(), built, "no later request and no call builds it again");
    let seen = seen.lock().unwrap();
    let registered: *const Value = runtime.registry().get("count").unwrap().parameters();
    assert_eq!(seen.len(), 4);
    assert!(seen.iter().all(|schema| std::ptr::eq(Arc::as_ptr(schema), registered)));
}
