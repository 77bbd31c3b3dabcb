//! Which tools a server gives, under which names, and who approves their calls.

use std::sync::{Arc, Mutex};

use llm_do::approval::{ApprovalMode, Decision, Policy, Rule};
use llm_do::mcp::{McpServer, WithMcp};
use llm_do::runtime::BuildError;
use llm_do::testing::ScriptedModel;
use llm_do::worker::WorkerSpec;
use llm_do::{CallError, Effect, Runtime, Value, json};

use super::script::{Script, builder, call, echo};

fn names(runtime: &Runtime) -> Vec<String> {
    runtime.registry().iter().map(|item| item.name().to_owned()).collect()
}

fn listed(name: &str, more: &Value) -> Value {
    let mut tool = json!({ "name": name, "inputSchema": { "type": "object" } });
    tool.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    tool
}

#[tokio::test]
async fn servers_of_both_eras_are_called() {
    for flags in [&["modern"][..], &[], &["picky"], &["garbage"], &["garbage", "modern"]] {
        let runtime = Script::new(flags).runtime();
        assert_eq!(echo(&runtime, "hello").await.unwrap(), "hello", "{flags:?}");
    }
}

#[tokio::test]
async fn a_connection_that_is_open_is_taken_without_waiting() {
    let connection = Script::new(&[]).server().connect().await.unwrap();
    assert_eq!((connection.name(), connection.toolset().as_str()), ("s", "mcp__s"));
    let runtime = Runtime::builder().only([""; 0]).mcp(connection).build().unwrap();
    assert_eq!(echo(&runtime, "hello").await.unwrap(), "hello");
}

#[test]
fn a_runtime_is_built_and_called_from_sync_code() {
    let runtime = Script::new(&[]).runtime();
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    assert_eq!(tokio.block_on(echo(&runtime, "hello")).unwrap(), "hello");
    drop(tokio);
    // The connection does not belong to the async runtime of its first call.
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    assert_eq!(tokio.block_on(echo(&runtime, "again")).unwrap(), "again");
}

#[tokio::test]
async fn a_tool_has_the_names_of_its_server_and_itself() {
    let tools = json!([listed("files.read", &json!({})), listed("a b", &json!({})), listed("a_b", &json!({}))]);
    let runtime = Script::new(&["only=echo"]).with_tools(&tools).runtime();
    let names = names(&runtime);
    assert_eq!(names.len(), 4);
    assert!(names.contains(&"mcp__s__echo".to_owned()) && names.contains(&"mcp__s__a_b".to_owned()));
    assert!(names.iter().any(|name| name.starts_with("mcp__s__files_read_")), "{names:?}");
    assert_eq!(runtime.registry().get("mcp__s__echo").unwrap().description(), "The tool echo.");
    assert!(runtime.warnings().is_empty());
}

#[tokio::test]
async fn tools_can_be_chosen_and_unknown_choices_are_warnings() {
    let script = Script::new(&[]);
    let only = builder(script.server().only(["echo", "fail", "ecko"]).except(["fail"])).build().unwrap();
    assert_eq!(names(&only), ["mcp__s__echo"]);
    let expected = "the MCP server `s` has no tool `ecko`; remove the name from `only`, `except` or `tool_effect`";
    assert_eq!(only.warnings(), [expected]);
}

#[tokio::test]
async fn a_worker_names_a_server_or_one_of_its_tools() {
    for toolset in ["mcp__s", "mcp__s__echo"] {
        let model = ScriptedModel::new().call("mcp__s__echo", json!({ "text": "hi" })).text("done");
        let worker = WorkerSpec::new("worker", "Echo.").toolsets([toolset]);
        let builder = builder(Script::new(&[]).server()).worker(worker).force_model(model);
        let runtime = builder.build().unwrap();
        assert_eq!(runtime.run_named("worker", json!({ "input": "go" })).await.unwrap(), "done");
    }
    let worker = WorkerSpec::new("worker", "Echo.").toolsets(["mcp__s__ecko"]);
    let error = builder(Script::new(&[]).server()).worker(worker).build().unwrap_err();
    assert!(
        error.to_string().contains("unknown tool or toolset `mcp__s__ecko`; did you mean `mcp__s__echo`?"),
        "{error}"
    );
}

#[tokio::test]
async fn arguments_are_validated_before_anything_is_sent() {
    let script = Script::new(&[]).with_file("log");
    let runtime = script.runtime();
    let error = call(&runtime, "echo", json!({ "text": 1, "other": 2 })).await.unwrap_err();
    assert!(error.contains("invalid arguments for `mcp__s__echo`") && error.contains("other"), "{error}");
    assert!(script.received("tools/call").is_empty());
}

#[tokio::test]
async fn a_call_is_asked_about_with_its_server_its_tool_and_its_arguments() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&asked);
    let model = ScriptedModel::new().call("mcp__s__echo", json!({ "text": "secret plan" }));
    let script = Script::new(&[]).with_file("log");
    let runtime = Runtime::builder()
        .only([""; 0])
        .mcp(script.server())
        .worker(WorkerSpec::new("worker", "Echo.").toolsets(["mcp__s"]))
        .force_model(model)
        .approve_with(move |request| {
            seen.lock().unwrap().push(request.summary());
            async { Decision::deny("no") }
        })
        .end_on_denial(true)
        .build()
        .unwrap();
    let error = runtime.run_named("worker", json!({ "input": "go" })).await.unwrap_err();
    assert!(error.is_denied());
    assert_eq!(*asked.lock().unwrap(), [r#"mcp__s__echo(text="secret plan")"#]);
    assert!(script.received("tools/call").is_empty());
}

#[tokio::test]
async fn hints_of_a_server_never_make_approval_laxer() {
    let tools = json!([
        listed("reads", &json!({ "annotations": { "readOnlyHint": true } })),
        listed("deletes", &json!({ "annotations": { "destructiveHint": true } })),
    ]);
    let script = Script::new(&["only="]).with_tools(&tools);
    let effects = |server: McpServer| {
        let runtime = builder(server).build().unwrap();
        let effect = |tool: &str| runtime.registry().get(&format!("mcp__s__{tool}")).unwrap().effect();
        [effect("reads"), effect("deletes")]
    };
    assert_eq!(effects(script.server()), [Effect::Undeclared, Effect::Destructive]);
    assert_eq!(effects(script.server().effect(Effect::ReadOnly)), [Effect::ReadOnly, Effect::Destructive]);
    let one = script.server().tool_effect("deletes", Effect::Idempotent);
    assert_eq!(effects(one), [Effect::Undeclared, Effect::Idempotent]);
    assert_eq!(effects(script.server().trust_hints()), [Effect::ReadOnly, Effect::Destructive]);
}

#[tokio::test]
async fn a_policy_declares_the_effects_of_the_tools_of_a_server() {
    let tools = json!([
        listed("reads", &json!({})),
        listed("changes", &json!({})),
        listed("deletes", &json!({ "annotations": { "destructiveHint": true } })),
    ]);
    let script = Script::new(&["only="]).with_tools(&tools);
    let effects = |policy: Policy| {
        let runtime = builder(script.server()).policy(policy).build().unwrap();
        ["reads", "changes", "deletes"].map(|tool| runtime.registry().get(&format!("mcp__s__{tool}")).unwrap().effect())
    };
    let policy = Policy::new().effect("mcp__s", Effect::ReadOnly);
    assert_eq!(effects(policy.clone()), [Effect::ReadOnly, Effect::ReadOnly, Effect::Destructive]);
    let policy = policy.effect("mcp__s__changes", Effect::Undeclared).effect("mcp__s__deletes", Effect::Idempotent);
    assert_eq!(effects(policy), [Effect::ReadOnly, Effect::Undeclared, Effect::Idempotent]);
}

#[tokio::test]
async fn a_worker_has_the_effect_of_the_tools_of_a_server_and_may_state_no_weaker_one() {
    let tools = json!([listed("reads", &json!({})), listed("changes", &json!({}))]);
    let script = Script::new(&["only="]).with_tools(&tools);
    let server = || script.server().tool_effect("reads", Effect::ReadOnly);
    let worker = |toolset: &str| WorkerSpec::new("worker", "Read.").toolsets([toolset]);
    let effect = |worker: WorkerSpec| {
        let runtime = builder(server()).worker(worker).build().unwrap();
        runtime.registry().get("worker").unwrap().effect()
    };
    assert_eq!(effect(worker("mcp__s__reads")), Effect::ReadOnly);
    assert_eq!(effect(worker("mcp__s")), Effect::Undeclared);
    let stating = || worker("mcp__s").effect(Effect::ReadOnly);
    let error = builder(server()).worker(stating()).build().unwrap_err().to_string();
    let expected = "states the effect read_only, but may call `mcp__s__changes`, whose effect is undeclared; state why";
    assert!(error.contains(expected), "{error}");
    assert_eq!(effect(stating().effect_reason("the server is a copy")), Effect::ReadOnly);
}

#[tokio::test]
async fn a_policy_may_have_a_rule_for_all_tools_of_a_server() {
    let script = Script::new(&[]).with_file("log");
    let model = ScriptedModel::new().call("mcp__s__echo", json!({ "text": "x" }));
    let runtime = builder(script.server())
        .policy(Policy::new().toolset("mcp__s", Rule::blocked("not today")))
        .worker(WorkerSpec::new("worker", "Echo.").toolsets(["mcp__s"]))
        .force_model(model)
        .end_on_denial(true)
        .build()
        .unwrap();
    let error = runtime.run_named("worker", json!({ "input": "go" })).await.unwrap_err();
    assert!(matches!(&error, CallError::Blocked { reason, .. } if reason.contains("not today")), "{error}");
    assert!(script.received("tools/call").is_empty());
    let unknown = builder(script.server()).policy(Policy::new().toolset("mcp__t", Rule::Ask)).build().unwrap_err();
    assert!(unknown.to_string().contains("`mcp__t`; did you mean `mcp__s`?"), "{unknown}");
}

#[tokio::test]
async fn two_servers_of_one_name_are_an_error() {
    let script = Script::new(&["only=echo"]);
    let error = builder(script.server()).mcp(script.server()).build().unwrap_err();
    assert!(matches!(error, BuildError::Registry(_)));
    assert!(error.to_string().contains("`mcp__s` is registered 2 times"), "{error}");
}

#[tokio::test]
async fn several_servers_are_connected_and_called_by_their_names() {
    let scripts = [Script::new(&["only=echo"]), Script::new(&["only=echo", "modern"])];
    let flags = |script: &Script| script.server();
    let second = McpServer::command(
        "t",
        "python3",
        [concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/mcp/server.py"), "only=echo"],
    );
    let runtime = builder(flags(&scripts[0])).mcp(second).approval_mode(ApprovalMode::RejectAll).build().unwrap();
    assert_eq!(names(&runtime), ["mcp__s__echo", "mcp__t__echo"]);
    assert_eq!(runtime.run_named("mcp__t__echo", json!({ "text": "t" })).await.unwrap(), "t");
}
