//! The effect of a worker: that of its tools, unless it states another one.

use llm_do::approval::Policy;
use llm_do::error::chain;
use llm_do::model::ServerSideTool;
use llm_do::prelude::*;
use llm_do::runtime::{FunctionTool, RuntimeBuilder};
use llm_do::testing::TestModel;
use llm_do::worker::WorkerSpec;
use llm_do::{Effect, Settings, Value, json};

/// Peer at something.
#[tool(effect = read_only)]
fn peer() -> u32 {
    1
}

/// Paint something in a color.
#[tool(effect = idempotent)]
fn paint() -> u32 {
    2
}

/// Pile something up.
#[tool]
fn pile_up() -> u32 {
    3
}

/// Tear something down.
#[tool(effect = destructive)]
fn tear_down() -> u32 {
    4
}

/// Raze what a text names.
#[tool(effect = destructive)]
fn raze(input: String) -> String {
    input
}

/// Glance at what a text names.
#[tool(effect = read_only)]
fn glance(input: String) -> String {
    input
}

/// Peers.
#[entry]
async fn peers() -> Result<u32> {
    Ok(1)
}

/// Think.
#[worker]
async fn ponderer(input: String) -> String;

/// Peer, and have other workers peer.
#[worker(toolsets = [peer, ponderer, onlooker])]
async fn onlooker(input: String) -> String;

/// Paint what an onlooker sees.
#[worker(toolsets = [onlooker, paint])]
async fn drawer(input: String) -> String;

/// Build.
#[worker(toolsets = [drawer, pile_up])]
async fn mason(input: String) -> String;

/// Tear down, and build.
#[worker(toolsets = [mason, tear_down])]
async fn rebuilder(input: String) -> String;

/// Have a builder describe what it would do.
#[worker(toolsets = [rebuilder], effect = read_only, effect_reason = "the instructions only have it describe")]
async fn surveyor(input: String) -> String;

/// Send someone for a survey.
#[worker(toolsets = [surveyor, peer])]
async fn sender(input: String) -> String;

/// Peer, with care.
#[worker(toolsets = [peer], effect = destructive)]
async fn careful(input: String) -> String;

/// Runs a worker that is defined for one call, which states that it only reads.
#[entry(toolsets = [peer, tear_down])]
async fn with_defined(ctx: &CallContext<with_defined>, tool: String) -> Result<String> {
    let worker = WorkerSpec::new("defined", "Do it.").toolsets([tool]).effect(Effect::ReadOnly);
    Ok(ctx.llm_agent(worker).input("Go.").await?)
}

fn effects<const N: usize>(builder: RuntimeBuilder, names: [&str; N]) -> [Effect; N] {
    let runtime = builder.build().unwrap();
    names.map(|name| runtime.registry().get(name).unwrap().effect())
}

fn spec(toolsets: &[&str]) -> WorkerSpec {
    WorkerSpec::new("added", "Do it.").toolsets(toolsets.iter().copied())
}

/// The effect of a worker that a program adds.
fn effect(spec: WorkerSpec) -> Effect {
    let [effect] = effects(Runtime::builder().worker(spec), ["added"]);
    effect
}

fn fault(builder: RuntimeBuilder) -> String {
    builder.build().unwrap_err().to_string()
}

#[test]
fn a_worker_has_the_strongest_effect_of_its_tools_and_of_their_tools() {
    let names = ["ponderer", "onlooker", "drawer", "mason", "rebuilder"];
    let expected = [Effect::ReadOnly, Effect::ReadOnly, Effect::Idempotent, Effect::Undeclared, Effect::Destructive];
    assert_eq!(effects(Runtime::builder(), names), expected);
}

#[test]
fn an_effect_that_is_stated_counts_for_callers_too() {
    let names = ["surveyor", "sender", "careful"];
    assert_eq!(effects(Runtime::builder(), names), [Effect::ReadOnly, Effect::ReadOnly, Effect::Destructive]);
}

#[test]
fn a_worker_of_the_program_has_the_effects_of_tools_of_each_kind() {
    let cases: [(&[&str], Effect); 6] = [
        (&[], Effect::ReadOnly),
        (&["senses"], Effect::ReadOnly),
        (&["peer", "paint"], Effect::Idempotent),
        (&["peers"], Effect::Undeclared),
        (&["careful", "peer"], Effect::Destructive),
        (&["added", "peer"], Effect::ReadOnly),
    ];
    for (tools, expected) in cases {
        assert_eq!(effect(spec(tools)), expected, "{tools:?}");
    }
    let value =
        FunctionTool::new("value", "Do it.", json!({ "type": "object" }), Effect::Idempotent, |_, _: Value| async {
            Ok(1)
        });
    let builder = Runtime::builder().tool(value).worker(spec(&["value"]));
    assert_eq!(effects(builder, ["added"]), [Effect::Idempotent]);
}

#[test]
fn what_the_provider_runs_counts_by_its_kind() {
    use ServerSideTool::{CodeExecution, ImageGeneration, ProgrammaticToolCalling, WebFetch};

    let reading = spec(&["peer"]).server_side_tools([ServerSideTool::WEB_SEARCH, WebFetch, ImageGeneration]);
    assert_eq!(effect(reading), Effect::ReadOnly);
    for tool in [CodeExecution, ProgrammaticToolCalling] {
        assert_eq!(effect(spec(&["peer"]).server_side_tools([tool.clone()])), Effect::Undeclared, "{tool}");
    }
    for field in ["tools", "mcp_servers"] {
        let settings = Settings::new().extra_body(field, json!([{ "type": "mcp" }]));
        assert_eq!(effect(spec(&["peer"]).settings(settings)), Effect::Undeclared, "{field}");
    }
    let tiered = Settings::new().extra_body("service_tier", "flex");
    assert_eq!(effect(spec(&["peer"]).settings(tiered)), Effect::ReadOnly);
}

#[tokio::test]
async fn what_the_provider_runs_by_the_settings_of_the_session_counts_for_each_worker() {
    let (names, only) = (["onlooker", "surveyor", "careful"], ["onlooker", "surveyor", "careful", "with_defined"]);
    for field in ["tools", "mcp_servers"] {
        let settings = || Settings::new().extra_body(field, json!([{ "type": "mcp" }]));
        let builder = || Runtime::builder().only(only).settings(settings());
        let expected = [Effect::Undeclared, Effect::ReadOnly, Effect::Destructive];
        assert_eq!(effects(builder(), names), expected, "{field}");
        let error = fault(builder().worker(spec(&["peer"]).effect(Effect::ReadOnly)));
        let expected = "states the effect read_only, but the effect of the tools that its provider runs is undeclared";
        assert!(error.contains(expected), "{field}: {error}");
        let runtime = builder().force_model(TestModel::new().text("done")).build().unwrap();
        let error = chain(&runtime.run(with_defined { tool: "peer".into() }).await.unwrap_err());
        assert!(error.contains(expected), "{field}: {error}");
    }
    let tiered = Runtime::builder().settings(Settings::new().extra_body("service_tier", "flex"));
    assert_eq!(effects(tiered, ["onlooker"]), [Effect::ReadOnly]);
}

#[test]
fn a_weaker_effect_than_that_of_a_tool_needs_a_reason() {
    let stating = || spec(&["peer", "paint", "tear_down", "pile_up"]).effect(Effect::ReadOnly);
    let error = fault(Runtime::builder().worker(stating()));
    assert!(error.contains("`added` (tests/tests/workers/effects.rs:"), "{error}");
    let expected = "states the effect read_only, but may call `tear_down`, whose effect is destructive; state why in \
                    `effect_reason`, remove `effect`, or remove `tear_down`";
    assert!(error.contains(expected), "{error}");
    assert_eq!(effect(stating().effect_reason("what it tears down is a copy")), Effect::ReadOnly);
    for enough in [Effect::Destructive, Effect::Undeclared] {
        assert_eq!(effect(stating().effect(enough)), Effect::Destructive, "{enough:?}");
    }
    let raised = spec(&["peer"]).effect(Effect::Idempotent);
    assert_eq!(effect(raised), Effect::Idempotent);
}

#[test]
fn a_weaker_effect_than_that_of_the_provider_needs_a_reason_too() {
    let stating = || spec(&[]).server_side_tools([ServerSideTool::CodeExecution]).effect(Effect::Idempotent);
    let error = fault(Runtime::builder().worker(stating()));
    let expected = "states the effect idempotent, but the effect of the tools that its provider runs is undeclared; state why in \
                    `effect_reason`, or remove `effect`";
    assert!(error.contains(expected), "{error}");
    assert_eq!(effect(stating().effect_reason("it has no network")), Effect::Idempotent);
}

#[test]
fn a_reason_is_a_text_and_goes_with_an_effect() {
    let alone = fault(Runtime::builder().worker(spec(&["peer"]).effect_reason("why")));
    assert!(alone.contains("effect_reason") && alone.contains("`added`"), "{alone}");
    let blank = spec(&["tear_down"]).effect(Effect::ReadOnly).effect_reason(" \n");
    let blank = fault(Runtime::builder().worker(blank));
    assert!(blank.contains("effect_reason") && blank.contains("`added`"), "{blank}");
}

#[test]
fn a_worker_of_a_file_is_compared_with_its_tools_and_named_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let write = |more: &str| {
        let text = format!("---\nname: added\ntools:\n  - peer\n  - tear_down\neffect: read_only\n{more}---\nDo it.\n");
        std::fs::write(folder.path().join("added.worker"), text).unwrap();
        Runtime::builder().worker_dir(folder.path())
    };
    let error = fault(write(""));
    assert!(error.contains("added.worker:5)") && error.contains("but may call `tear_down`"), "{error}");
    assert_eq!(effects(write("effect_reason: it only plans\n"), ["added"]), [Effect::ReadOnly]);
}

#[test]
fn a_worker_follows_the_effects_that_a_policy_declares() {
    let policy = Policy::new().effect("tear_down", Effect::Idempotent).effect("pile_up", Effect::ReadOnly);
    let names = ["mason", "rebuilder", "onlooker"];
    let expected = [Effect::Idempotent, Effect::Idempotent, Effect::ReadOnly];
    assert_eq!(effects(Runtime::builder().policy(policy), names), expected);
    let stricter = Policy::new().effect("peer", Effect::Destructive);
    assert_eq!(effects(Runtime::builder().policy(stricter), ["onlooker", "sender"]), [Effect::Destructive; 2]);
}

#[test]
fn a_tool_that_answers_first_counts_for_its_worker_and_its_callers() {
    let hybrid = || Runtime::builder().hybrid("ponderer", "raze");
    let names = ["ponderer", "onlooker"];
    assert_eq!(effects(hybrid(), names), [Effect::Destructive; 2]);
    assert_eq!(effects(Runtime::builder().hybrid("ponderer", "glance"), names), [Effect::ReadOnly; 2]);
    let stating = || spec(&[]).effect(Effect::ReadOnly);
    let error = fault(Runtime::builder().worker(stating()).hybrid("added", "raze"));
    assert!(error.contains("states the effect read_only, but may call `raze`"), "{error}");
    let reasoned = stating().effect_reason("the tool only counts");
    assert_eq!(effects(Runtime::builder().worker(reasoned).hybrid("added", "raze"), ["added"]), [Effect::ReadOnly]);
}

#[tokio::test]
async fn a_worker_that_is_defined_for_one_call_is_compared_too() {
    let builder = || Runtime::builder().force_model(TestModel::new().text("done"));
    let runtime = builder().build().unwrap();
    assert_eq!(runtime.run(with_defined { tool: "peer".into() }).await.unwrap(), "done");
    let error = chain(&runtime.run(with_defined { tool: "tear_down".into() }).await.unwrap_err());
    assert!(error.contains("states the effect read_only, but may call `tear_down`"), "{error}");
}
