//! A journal records a tool that can make calls call by call, and any other tool as one step.

use std::collections::BTreeMap;

use llm_do::context::FromContext;
use llm_do::journal::{MemoryJournal, StepKind};
use llm_do::prelude::*;
use llm_do::{Value, json};

/// The application's user.
struct User;

impl FromContext for User {
    fn from_context(_: &CallContext) -> Result<Self, CallError> {
        Ok(Self)
    }
}

/// Take only arguments.
#[tool(effect = read_only, inline)]
fn with_arguments(of: u8) -> u8 {
    of
}

/// Take the application's state.
#[tool(effect = read_only, inline)]
fn with_state(_names: &State<Vec<String>>) -> u8 {
    1
}

/// Take a context.
#[tool(effect = read_only)]
async fn with_context(ctx: &CallContext) -> Result<u8> {
    Ok(ctx.call(with_arguments { of: 2 }).await?)
}

/// Take a context as a trait.
#[tool(effect = read_only)]
async fn with_any_context(ctx: &dyn ToolContext) -> Result<Value> {
    Ok(ctx.call_tool("with_arguments", json!({ "of": 3 })).await?)
}

/// Take a value that is built from a context and may keep it.
#[tool(effect = read_only, inline)]
fn with_other(#[ctx] _user: User) -> u8 {
    4
}

/// A workbench.
struct Workbench;

/// Work at a workbench.
#[tool]
impl Workbench {
    fn open() -> Self {
        Self
    }

    /// Use only the instance.
    #[tool(effect = read_only, inline)]
    fn method(&self) -> u8 {
        5
    }

    /// Use the instance and a context.
    #[tool(effect = read_only)]
    async fn method_with_context(&self, ctx: &CallContext) -> Result<u8> {
        Ok(ctx.call(with_arguments { of: 6 }).await?)
    }
}

/// Call all tools.
#[entry]
async fn call_all(ctx: &CallContext) -> Result<()> {
    for name in ["with_state", "with_context", "with_any_context", "with_other", "method", "method_with_context"] {
        ctx.call_tool(name, Value::Null).await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_tool_with_a_context_is_recorded_call_by_call() {
    let journal = MemoryJournal::new();
    let runtime = crate::own_builder().state(Vec::<String>::new()).journal(journal.clone());
    runtime.build().unwrap().run(call_all {}).await.unwrap();
    let records = journal.records();
    let kinds: BTreeMap<_, _> = records.iter().map(|record| (&*record.name, record.kind)).collect();
    let is_composite = |name| kinds[name] == StepKind::Call;
    for name in ["with_context", "with_any_context", "with_other", "method_with_context"] {
        assert!(is_composite(name), "{kinds:?}");
    }
    for name in ["with_arguments", "with_state", "method"] {
        assert!(!is_composite(name) && kinds[name] == StepKind::Tool, "{kinds:?}");
    }
}
