//! Code that a model writes, its provider runs, and whose calls are made here.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use llm_do::approval::{ApprovalMode, Policy, Rule};
use llm_do::event::EventKind;
use llm_do::journal::{MemoryJournal, StepKind};
use llm_do::model::{AnthropicModel, ApiKey, OpenAiResponsesModel, Profile};
use llm_do::prelude::*;
use llm_do::runtime::RuntimeBuilder;
use llm_do::testing::{Recorder, ScriptedModel};
use llm_do::{Model, Value, json};

/// Return the units in stock.
#[tool]
fn stock(sku: String) -> u32 {
    if sku == "a" { 3 } else { 4 }
}

/// Compares the stock of products.
#[worker(toolsets = [stock], server_side_tools = [programmatic_tool_calling])]
async fn compare(input: String) -> String;

/// A server that gives scripted answers, and keeps the bodies of requests.
#[derive(Clone)]
struct Server {
    url: String,
    bodies: Arc<Mutex<Vec<Value>>>,
}

impl Server {
    fn answering(answers: Vec<Value>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let bodies = Arc::<Mutex<Vec<Value>>>::default();
        let seen = Arc::clone(&bodies);
        std::thread::spawn(move || {
            for (stream, answer) in listener.incoming().zip(answers) {
                let mut stream = stream.unwrap();
                let (mut head, mut byte) = (Vec::new(), [0]);
                while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap() > 0 {
                    head.push(byte[0]);
                }
                let head = String::from_utf8(head).unwrap().to_lowercase();
                let length = head.split("content-length: ").nth(1).unwrap().split("\r\n").next().unwrap();
                let mut body = vec![0; length.parse().unwrap()];
                stream.read_exact(&mut body).unwrap();
                seen.lock().unwrap().push(serde_json::from_slice(&body).unwrap());
                let answer = answer.to_string();
                let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close";
                write!(stream, "{head}\r\ncontent-length: {}\r\n\r\n{answer}", answer.len()).unwrap();
            }
        });
        Self { url, bodies }
    }

    fn bodies(&self) -> Vec<Value> {
        self.bodies.lock().unwrap().clone()
    }
}

/// The answers of a provider: code with two calls, one more call, and the end.
struct Provider {
    answers: [Value; 3],
    model: fn(&str) -> Box<dyn Model>,
}

fn providers() -> [Provider; 2] {
    [openai(), anthropic()]
}

fn openai() -> Provider {
    let call = |id: &str, sku: &str| {
        json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": "stock",
            "arguments": json!({"sku": sku}).to_string(), "caller": {"type": "program", "caller_id": "p"}})
    };
    let program = json!({"type": "program", "id": "prog", "call_id": "p", "code": "…", "fingerprint": "f"});
    let output = json!({"type": "program_output", "id": "out", "call_id": "p", "result": "b", "status": "completed"});
    let content = json!([{"type": "output_text", "text": "b has more.", "annotations": []}]);
    let message = json!({"type": "message", "id": "msg", "role": "assistant", "content": content});
    let items =
        [json!([program, call("c1", "a"), call("c2", "b")]), json!([call("c3", "a")]), json!([output, message])];
    Provider {
        answers: items.map(|items| {
            json!({"status": "completed", "model": "m", "output": items,
                "usage": {"input_tokens": 3, "output_tokens": 4}})
        }),
        model: |url| {
            let builder = OpenAiResponsesModel::builder("gpt-5.6-sol").base_url(url).api_key(ApiKey::new("k").unwrap());
            Box::new(builder.retries(0).build().unwrap())
        },
    }
}

fn anthropic() -> Provider {
    let call = |id: &str, sku: &str| {
        json!({"type": "tool_use", "id": id, "name": "stock", "input": {"sku": sku},
            "caller": {"type": "code_execution_20260120", "tool_id": "p"}})
    };
    let program = json!({"type": "server_tool_use", "id": "p", "name": "code_execution", "input": {"code": "…"}});
    let output = json!({"type": "code_execution_tool_result", "tool_use_id": "p",
        "content": {"type": "code_execution_result", "stdout": "b", "stderr": "", "return_code": 0, "content": []}});
    let text = json!({"type": "text", "text": "b has more."});
    let contents = [
        (json!([program, call("c1", "a"), call("c2", "b")]), "tool_use"),
        (json!([call("c3", "a")]), "tool_use"),
        (json!([output, text]), "end_turn"),
    ];
    Provider {
        answers: contents.map(|(content, stop_reason)| {
            json!({"type": "message", "role": "assistant", "model": "m", "content": content,
                "stop_reason": stop_reason, "container": {"id": "box", "expires_at": "2026-11-26T14:30:00Z"},
                "usage": {"input_tokens": 3, "output_tokens": 4}})
        }),
        model: |url| {
            let builder = AnthropicModel::builder("claude-opus-4-6").base_url(url).api_key(ApiKey::new("k").unwrap());
            Box::new(builder.retries(0).build().unwrap())
        },
    }
}

async fn run(builder: RuntimeBuilder, model: Box<dyn Model>) -> Result<String, CallError> {
    builder.force_model(Arc::<dyn Model>::from(model)).build().unwrap().run(compare { input: "a or b?".into() }).await
}

fn approving() -> RuntimeBuilder {
    Runtime::builder().approval_mode(ApprovalMode::ApproveAll).on_unknown(llm_do::OnUnknown::Rerun)
}

#[tokio::test]
async fn each_call_of_code_is_a_call_of_the_worker() {
    for Provider { answers, model } in providers() {
        let server = Server::answering(answers.to_vec());
        let recorder = Recorder::new();
        let answer = run(approving().sink(recorder.clone()), model(&server.url)).await.unwrap();
        assert_eq!(answer, "b has more.");
        let kinds = recorder.kinds();
        let count = |is: fn(&EventKind) -> bool| kinds.iter().filter(|kind| is(kind)).count();
        assert_eq!(count(|kind| matches!(kind, EventKind::ServerSideToolStarted { .. })), 1, "{kinds:?}");
        // Those of the worker itself, and of its three calls.
        assert_eq!(count(|kind| matches!(kind, EventKind::CallFinished { .. })), 4, "{kinds:?}");
        assert_eq!(server.bodies().len(), 3);
    }
}

#[tokio::test]
async fn the_description_of_a_tool_states_what_code_gets() {
    for Provider { answers, model } in providers() {
        let server = Server::answering(answers.to_vec());
        run(approving(), model(&server.url)).await.unwrap();
        let tool = &server.bodies()[0]["tools"][0];
        let description = tool["description"].as_str().unwrap();
        assert!(
            description.starts_with("Return the units in stock.\n\nReturns JSON with the schema {"),
            "{description}"
        );
        assert!(description.contains(r#""type":"integer""#), "{description}");
    }
}

#[tokio::test]
async fn a_call_of_code_needs_approval_as_any() {
    for Provider { answers, model } in providers() {
        let server = Server::answering(answers.to_vec());
        let builder = Runtime::builder().approval_mode(ApprovalMode::RejectAll).end_on_denial(true);
        let error = run(builder, model(&server.url)).await.unwrap_err();
        assert!(error.is_denied(), "{error}");
        assert_eq!(server.bodies().len(), 1);
    }
}

#[tokio::test]
async fn a_resumed_run_sends_what_the_first_would_have_sent() {
    for Provider { answers, model } in providers() {
        let (whole, journal) = (Server::answering(answers.to_vec()), MemoryJournal::new());
        run(approving().journal(journal.clone()), model(&whole.url)).await.unwrap();

        // As if the process had died after the first answer.
        let mut records = journal.records();
        let second = records.iter().enumerate().filter(|(_, record)| record.kind == StepKind::Model).nth(1).unwrap().0;
        records.truncate(second);
        let rest = Server::answering(answers[1..].to_vec());
        let answer = run(approving().journal(MemoryJournal::from_records(records)), model(&rest.url)).await.unwrap();
        assert_eq!(answer, "b has more.");
        assert_eq!(rest.bodies(), whole.bodies()[1..]);
    }
}

#[tokio::test]
async fn without_the_permission_for_code_the_tools_are_called_directly() {
    let model = ScriptedModel::new().text("none").profile(Profile::BASIC);
    let policy = Policy::default().server_side_tool("programmatic_tool_calling", Rule::blocked("no code"));
    let answer = run(Runtime::builder().policy(policy), Box::new(model.clone())).await.unwrap();
    assert_eq!((answer.as_str(), model.requests()[0].server_side_tools.len()), ("none", 0));
}

#[tokio::test]
async fn a_model_without_it_is_refused_before_the_first_request() {
    let model = ScriptedModel::new().text("a").named("small");
    let error = run(Runtime::builder(), Box::new(model.clone())).await.unwrap_err().to_string();
    let parts =
        ["`compare`", "`scripted:small`", "`programmatic_tool_calling`", "choose another model", "`code = true`"];
    assert!(parts.iter().all(|part| error.contains(part)), "{error}");
    assert_eq!(model.requests().len(), 0);
}

#[test]
#[cfg(feature = "script")]
fn code_mode_and_code_of_the_provider_exclude_each_other() {
    use llm_do::model::ServerSideTool;
    use llm_do::worker::WorkerSpec;

    let spec = WorkerSpec::new("both", "Compare.")
        .toolsets(["stock"])
        .code(true)
        .server_side_tools([ServerSideTool::ProgrammaticToolCalling]);
    let error = Runtime::builder().worker(spec).build().unwrap_err().to_string();
    assert!(error.contains("`both`") && error.contains("`programmatic_tool_calling`"), "{error}");
}
