//! Calls of scripts on the plane: effects, approvals, concurrency, exceptions, progress, cancellation.

use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use llm_do::Limits;
use llm_do::approval::{ApprovalMode, Policy};
use llm_do::event::EventKind;
use llm_do::model::{Message, Request};
use llm_do::runtime::RuntimeBuilder;
use llm_do::script::ScriptTool;
use llm_do::testing::{Answer, FunctionModel, Recorder};
use llm_do::worker::WorkerSpec;
use llm_do::{Effect, Value, json};

use crate::script::{Log, builder, effect_of, run_body, text_of, with_body};

fn script(name: &str, toolsets: &str, body: &str) -> ScriptTool {
    let text = format!(
        "def {name}() -> object:\n    \"\"\"\n    ---\n    {toolsets}\n    ---\n    Do it.\n    \"\"\"\n{body}\n"
    );
    ScriptTool::parse(name, &text).unwrap()
}

#[test]
fn the_effect_is_the_union_of_the_toolset_unless_a_stronger_one_is_given() {
    let (builder, _) = builder();
    let runtime = builder
        .tool(script("reads", "toolsets: [search, price]", "    return 1"))
        .tool(script("saves", "toolsets: [search, save]", "    return 1"))
        .tool(script("erases", "toolsets: [saves, erase]", "    return 1"))
        .tool(script("calls", "toolsets: [erases]", "    return erases()"))
        .tool(script("raised", "toolsets: [search]\n    effect: idempotent", "    return 1"))
        .tool(script("nothing", "toolsets: []", "    return 1"))
        .build()
        .unwrap();
    let effects = ["reads", "saves", "erases", "calls", "raised", "nothing"].map(|name| effect_of(&runtime, name));
    assert_eq!(
        effects,
        [
            Effect::ReadOnly,
            Effect::Idempotent,
            Effect::Destructive,
            Effect::Destructive,
            Effect::Idempotent,
            Effect::ReadOnly,
        ]
    );
}

#[test]
fn an_effect_that_is_weaker_than_that_of_a_tool_is_a_fault_unless_a_policy_declares_it() {
    let narrowed = || script("narrowed", "toolsets: [save, erase]\n    effect: idempotent", "    return 1");
    let (builder, _) = builder();
    let error = builder.tool(narrowed()).build().unwrap_err().to_string();
    assert!(error.contains("`narrowed` (") && error.contains("states the effect idempotent"), "{error}");
    assert!(error.contains("but may call `erase`, whose effect is destructive; state the stronger effect"), "{error}");
    let (builder, _) = crate::script::builder();
    let policy = Policy::new().effect("narrowed", Effect::Idempotent);
    assert_eq!(effect_of(&builder.policy(policy).tool(narrowed()).build().unwrap(), "narrowed"), Effect::Idempotent);
}

#[test]
fn a_script_gets_the_effects_that_a_policy_declares() {
    let (builder, _) = builder();
    let policy = Policy::new().effect("erase", Effect::Idempotent).effect("pinned", Effect::ReadOnly);
    let runtime = builder
        .policy(policy)
        .tool(script("erases", "toolsets: [erase]", "    return 1"))
        .tool(script("pinned", "toolsets: [erase]", "    return 1"))
        .tool(script("calls", "toolsets: [pinned]", "    return pinned()"))
        .build()
        .unwrap();
    let effects = ["erases", "pinned", "calls"].map(|name| effect_of(&runtime, name));
    assert_eq!(effects, [Effect::Idempotent, Effect::ReadOnly, Effect::ReadOnly]);
}

#[tokio::test]
async fn a_denied_call_is_a_permission_error_and_does_not_run() {
    let (builder, log) = builder();
    let body = "    try:\n        erase(id=1)\n    except PermissionError as error:\n        return str(error)\n    return 'ran'";
    let tool = script("main", "toolsets: [erase]", body);
    let runtime = builder.tool(tool).build().unwrap();
    let result = runtime.run_named("main", Value::Null).await.unwrap();
    assert!(result.as_str().unwrap().contains("denied"), "{result}");
    assert_eq!(log.lines(), [""; 0]);
}

#[tokio::test]
async fn an_uncaught_exception_keeps_the_error_of_its_call() {
    let (builder, _) = builder();
    let runtime = builder.tool(script("main", "toolsets: [erase]", "    return erase(id=1)")).build().unwrap();
    let error = runtime.run_named("main", Value::Null).await.unwrap_err();
    assert!(error.is_denied(), "{error:?}");
}

#[tokio::test]
async fn exceptions_cross_scripts_with_their_kind() {
    let (builder, _) = builder();
    let runtime = builder
        .tool(script("inner", "toolsets: []", "    raise LookupError('nothing: at all')"))
        .tool(script("middle", "toolsets: [inner]", "    return inner()"))
        .tool(script(
            "main",
            "toolsets: [middle]",
            "    try:\n        return middle()\n    except LookupError as error:\n        return str(error)",
        ))
        .build()
        .unwrap();
    assert_eq!(runtime.run_named("main", Value::Null).await.unwrap(), "nothing: at all");
}

#[tokio::test]
async fn only_read_only_calls_of_a_gather_are_concurrent() {
    let (builder, log) = builder();
    let body = r#"
    import asyncio
    prices = await asyncio.gather(price("a"), price("b"))
    saved = await asyncio.gather(save(1, "x"), save(2, "y"))
    return [prices, saved]"#;
    let text = with_body("async def main() -> Any:", body);
    let runtime = builder
        .approval_mode(ApprovalMode::ApproveAll)
        .tool(ScriptTool::parse("main", &text).unwrap())
        .build()
        .unwrap();
    let result = runtime.run_named("main", Value::Null).await.unwrap();
    assert_eq!(result, json!([[1, 1], [true, true]]));
    assert_eq!(log.lines(), ["price of a", "price of b", "priced a", "priced b", "saved 1: x", "saved 2: y"]);
}

/// Two workers with one tool each; `prices` reads.
fn askers(builder: RuntimeBuilder) -> RuntimeBuilder {
    let call = |request: Request<'_>| match (request.messages.last(), request.tools.first()) {
        (Some(Message::Tool { .. }), _) | (_, None) => Answer::text("done"),
        (_, Some(tool)) if &*tool.name == "price" => Answer::call("price", json!({ "item": "it" })),
        (_, Some(tool)) => Answer::call(&*tool.name, json!({ "id": 1, "text": "it" })),
    };
    let prices = WorkerSpec::new("prices", "Return a price.").toolsets(["price"]);
    let saves = WorkerSpec::new("saves", "Save it.").toolsets(["save"]);
    builder.worker(prices).worker(saves).force_model(FunctionModel::answering(call))
}

#[tokio::test]
async fn workers_of_a_gather_are_concurrent_if_their_tools_only_read() {
    let body = |call: &str| {
        let gather = format!("    import asyncio\n    return await asyncio.gather({call}, {call})");
        let text = with_body("async def main() -> Any:", &gather);
        ScriptTool::parse("main", &text.replace("toolsets: [", "toolsets: [prices, saves, ")).unwrap()
    };
    let lines = async |builder: RuntimeBuilder, call: &str| {
        let log = Log::default();
        let builder = askers(builder).state(log.clone()).approval_mode(ApprovalMode::ApproveAll).tool(body(call));
        let result = builder.build().unwrap().run_named("main", Value::Null).await.unwrap();
        assert_eq!(result, json!(["done", "done"]));
        log.lines()
    };
    let together = lines(crate::own_builder(), r#"prices("a")"#).await;
    assert_eq!(together, ["price of it", "price of it", "priced it", "priced it"]);
    let limited = crate::own_builder().max_concurrent_calls(NonZeroUsize::MIN);
    let limited = lines(limited, r#"prices("a")"#).await;
    assert_eq!(limited, ["price of it", "priced it", "price of it", "priced it"]);
    assert_eq!(lines(crate::own_builder(), r#"saves("a")"#).await, ["saved 1: it", "saved 1: it"]);
}

#[tokio::test]
async fn a_call_that_is_not_awaited_is_an_error() {
    let (builder, log) = builder();
    let text = with_body("async def main() -> Any:", "    save(1, 'x')\n    return 1");
    let error = match ScriptTool::parse("main", &text)
        .map(|tool| builder.approval_mode(ApprovalMode::ApproveAll).tool(tool).build())
        .unwrap()
    {
        Err(error) => error.to_string(),
        Ok(runtime) => format!("{:?}", runtime.run_named("main", Value::Null).await.unwrap_err()),
    };
    assert!(error.contains("await"), "{error}");
    assert_eq!(log.lines(), [""; 0]);
}

#[tokio::test]
async fn what_is_printed_is_progress() {
    let (builder, _) = builder();
    let recorder = Recorder::new();
    let tool = script("main", "toolsets: []", "    print('one', 2)\n    print('a\\nb', end='')\n    return 1");
    let runtime = builder.tool(tool).sink(recorder.clone()).build().unwrap();
    runtime.run_named("main", Value::Null).await.unwrap();
    let lines: Vec<_> = recorder
        .events()
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::Progress { text } => Some(text.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(lines, ["one 2", "a", "b"]);
}

#[tokio::test]
async fn the_outside_is_refused() {
    for body in [
        "    from pathlib import Path\n    return Path('x').read_text()",
        "    from datetime import date as d\n    return d.today().isoformat()",
    ] {
        let text = text_of(&run_body(body).await.unwrap_err());
        assert!(text.contains("scripts have no clock, files, environment or network"), "{text}");
    }
}

#[tokio::test]
async fn a_timeout_ends_a_script_that_computes() {
    let (builder, _) = builder();
    let tool = script("main", "toolsets: []", "    while True:\n        pass");
    let runtime = builder.tool(tool).timeout("main", Duration::from_millis(50)).build().unwrap();
    let started = Instant::now();
    let error = runtime.run_named("main", Value::Null).await.unwrap_err();
    assert!(error.is_timeout(), "{error:?}");
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn limits_end_a_script_that_catches_everything() {
    let (builder, log) = builder();
    let body = "    while True:\n        try:\n            price('x')\n        except Exception:\n            pass";
    let limits = Limits::new().tool_calls(4);
    let runtime = builder.tool(script("main", "toolsets: [price]", body)).limits(limits).build().unwrap();
    let error = runtime.run_named("main", Value::Null).await.unwrap_err();
    assert!(!error.is_recoverable(), "{error:?}");
    assert!(log.lines().len() <= 8);
}
