//! Calls of servers in a journal.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use llm_do::approval::{ApprovalMode, ApprovalScope, Decision};
use llm_do::context::{InputHandler, InputRequest};
use llm_do::error::BoxError;
use llm_do::journal::MemoryJournal;
use llm_do::mcp::WithMcp;
use llm_do::{CallContext, Result, Runtime, Value, async_trait, entry, json};

use super::script::Script;

/// Calls a tool of the server, then fails as often as the state demands.
#[entry]
async fn call_then_fail(ctx: &CallContext, tool: String, arguments: Value) -> Result<Value> {
    let result = ctx.call_tool(&tool, arguments).await?;
    match ctx.state::<Failures>() {
        Some(left) if left.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok() => {
            Err("interrupted".into())
        }
        _ => Ok(result),
    }
}

struct Failures(AtomicU32);

#[derive(Debug)]
struct Decliner(Arc<AtomicU32>);

#[async_trait]
impl InputHandler for Decliner {
    async fn answer(&self, _: &InputRequest) -> Result<String, BoxError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok("decline".into())
    }
}

/// Runs the entry until it fails, then resumes the run in another runtime.
async fn resumed(script: &Script, asked: &Arc<AtomicU32>, tool: &str, arguments: Value) -> Value {
    let journal = MemoryJournal::new();
    let run = async |failures: u32| {
        let runtime = Runtime::builder()
            .only(["call_then_fail"])
            .approval_mode(ApprovalMode::ApproveAll)
            .on_unknown(llm_do::OnUnknown::Rerun)
            .mcp(script.server())
            .state(Failures(AtomicU32::new(failures)))
            .journal(journal.clone())
            .input_handler(Decliner(Arc::clone(asked)))
            .build()
            .unwrap();
        runtime.run(call_then_fail { tool: tool.to_owned(), arguments: arguments.clone() }).await
    };
    assert!(run(1).await.unwrap_err().model_message().contains("interrupted"));
    run(0).await.unwrap()
}

#[tokio::test]
async fn a_recorded_call_is_not_made_again() {
    for flags in [&["modern"][..], &[]] {
        let script = Script::new(flags).with_file("log");
        assert_eq!(resumed(&script, &Arc::default(), "mcp__s__echo", json!({ "text": "a" })).await, "a");
        assert_eq!(script.received("tools/call").len(), 1);
    }
}

/// Calls `echo` twice; fails between the calls as often as the state demands.
#[entry]
async fn echo_twice(ctx: &CallContext) -> Result<()> {
    ctx.call_tool("mcp__s__echo", json!({ "text": "a" })).await?;
    match ctx.state::<Failures>() {
        Some(left) if left.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok() => {
            return Err("interrupted".into());
        }
        _ => {}
    }
    ctx.call_tool("mcp__s__echo", json!({ "text": "a" })).await?;
    Ok(())
}

#[tokio::test]
async fn an_approval_for_the_run_does_not_hold_for_another_server_of_the_name() {
    let (one, other) = (Script::new(&[]), Script::new(&["modern"]));
    for (resumed_with, expected) in [(&one, 1), (&other, 2)] {
        let (journal, asked) = (MemoryJournal::new(), Arc::new(AtomicU32::new(0)));
        for (script, failures) in [(&one, 1), (resumed_with, 0)] {
            let counted = Arc::clone(&asked);
            let builder = Runtime::builder().only(["echo_twice"]).mcp(script.server()).journal(journal.clone());
            let builder = builder.state(Failures(AtomicU32::new(failures))).approve_with(move |_| {
                counted.fetch_add(1, Ordering::Relaxed);
                async { Decision::approve_for(ApprovalScope::Run) }
            });
            let ended = builder.build().unwrap().run(echo_twice {}).await;
            assert_eq!(ended.is_err(), failures > 0, "{ended:?}");
        }
        assert_eq!(asked.load(Ordering::Relaxed), expected);
    }
}

#[tokio::test]
async fn an_answered_question_of_a_server_is_not_asked_again() {
    for flags in [&["modern"][..], &[]] {
        let (script, asked) = (Script::new(flags), Arc::default());
        assert_eq!(resumed(&script, &asked, "mcp__s__ask", json!({})).await, r#"{"action": "decline"}"#);
        assert_eq!(asked.load(Ordering::Relaxed), 1);
    }
}
