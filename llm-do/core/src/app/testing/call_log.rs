//! A log of the calls of runs that is the same whether code or models make them.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::observe::event::{Event, EventKind};

/// A log of the calls of runs that is the same whether code or models make them: see
/// [`Recorder::call_log`](super::Recorder::call_log).
///
/// A worker and the code that replaces it have equal logs if they make the same calls, which are approved, run or
/// refused in the same way and have the same usage. Each line is one event of a nested call, with its number, its depth
/// below the root and its name. The log omits events of the root call itself, requests to models and their answers, the
/// callers, and times. In texts, the root's name is replaced by `root`.
///
/// # Examples
///
/// ```standalone_crate
/// use llm_do::prelude::*;
/// use llm_do::testing::{Recorder, TestModel};
/// use llm_do::approval::ApprovalMode;
///
/// /// Add two numbers.
/// #[tool(effect = idempotent)]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// /// Add two numbers.
/// #[worker(toolsets = [add])]
/// async fn by_model(input: String) -> String;
///
/// /// Adds two numbers in code.
/// #[entry(toolsets = [add])]
/// async fn by_code(ctx: &CallContext<by_code>) -> Result<i64> {
///     Ok(ctx.call(add { a: 0, b: 0 }).await?)
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<()> {
/// let (model, code) = (Recorder::new(), Recorder::new());
/// let runtime = |recorder: &Recorder| {
///     let builder = Runtime::builder().force_model(TestModel::new()).approval_mode(ApprovalMode::ApproveAll);
///     builder.sink(recorder.clone()).build()
/// };
/// runtime(&model)?.run(by_model { input: "Add.".into() }).await?;
/// runtime(&code)?.run(by_code {}).await?;
/// assert_eq!(model.call_log(), code.call_log());
/// assert!(code.call_log().to_string().contains(r#"add call_finished {"result":0}"#));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct CallLog {
    lines: Vec<String>,
}

impl CallLog {
    pub(super) fn new(events: &[Event]) -> Self {
        let roots: HashMap<_, _> =
            events.iter().filter(|event| event.parent.is_none()).map(|root| (Arc::clone(&root.run), root)).collect();
        let mut numbers = HashMap::new();
        let mut lines = Vec::new();
        for event in events.iter().filter(|event| event.parent.is_some() && !is_about_model(&event.kind)) {
            let Some(root) = roots.get(&event.run) else { continue };
            let next = numbers.len() + 1;
            let number = *numbers.entry((&event.run, event.call)).or_insert(next);
            let depth = event.depth - root.depth;
            let line = format!("{number} at {depth}: {} {}", event.name, describe(&event.kind));
            lines.push(line.replace(&format!("`{}`", root.name), "`root`"));
        }
        Self { lines }
    }

    /// Returns the lines.
    #[must_use]
    pub fn lines(&self) -> &[String] {
        &self.lines
    }
}

/// Writes the lines, so that two logs can be compared.
impl fmt::Display for CallLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lines.iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}

impl fmt::Debug for CallLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n{self}")
    }
}

fn is_about_model(kind: &EventKind) -> bool {
    matches!(
        kind,
        EventKind::ModelRequest { .. }
            | EventKind::SettingWarning { .. }
            | EventKind::ModelWaiting { .. }
            | EventKind::ModelDelta { .. }
            | EventKind::ModelResponse { .. }
            | EventKind::Mended { .. }
            | EventKind::ModelRetry { .. }
    )
}

/// Formats an event as its kind and its other fields, without times and callers, on which origins depend.
fn describe(kind: &EventKind) -> String {
    let Ok(Value::Object(fields)) = serde_json::to_value(kind) else { return format!("{kind:?}") };
    let word = fields["kind"].as_str().unwrap_or_default().to_owned();
    let is_call = matches!(kind, EventKind::CallStarted { .. } | EventKind::CallRefused { .. });
    let is_kept =
        |field: &str| !(matches!(field, "kind" | "elapsed_ms" | "replayed" | "origins") || is_call && field == "by");
    let fields: Map<_, _> = fields.into_iter().filter(|(field, _)| is_kept(field)).collect();
    format!("{word} {}", Value::Object(fields))
}
