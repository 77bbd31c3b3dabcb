//! One script of the model: parsed, checked, and run over cases.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;

use super::super::signature::parameters;
use super::super::{Case, Compared, Verdict, compare_one};
use super::score::Score;
use crate::base::agreement::Agreement;
use crate::declare::tool::Effect;
use crate::observe::event::{ItemKind, Outcome};
use crate::plane::context::CallContext;
use crate::plane::declared::DeclaredTool;
use crate::plane::function_tool::{Acts, FunctionTool};
use crate::plane::registry::{Registered, Registry};
use crate::plane::script::{MAX_TIME, ScriptData, ScriptProcess};
use crate::session::runtime::Runtime;

/// The number of failures by timeout of the interpreter after which a script does not run on the remaining cases.
pub(super) const MAX_SLOW: usize = 2;

/// Returns the script in an answer of the model: its last code block, or the whole answer.
pub(super) fn script_in(answer: &str) -> String {
    const FENCE: &str = "```";
    let mut blocks = Vec::new();
    let mut open: Option<String> = None;
    for line in answer.lines() {
        match (&mut open, line.trim_start().starts_with(FENCE)) {
            (None, true) => open = Some(String::new()),
            (Some(_), true) => blocks.extend(open.take()),
            (Some(block), false) => {
                block.push_str(line);
                block.push('\n');
            }
            (None, false) => {}
        }
    }
    // A truncated answer has no end of its block.
    blocks.pop().or(open).unwrap_or_else(|| format!("{}\n", answer.trim()))
}

/// What a script may call of the tools of its worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// Those that change nothing and request no model: they run.
    Reads,
    /// All: recorded runs answer their calls, and they do not run.
    Calls,
}

/// Returns the tools of a worker that a script may call.
pub(super) fn allowed<'a>(registry: &'a Registry, worker: &'a Registered, scope: Scope) -> Vec<&'a Arc<Registered>> {
    let declared = worker.declared.iter().flat_map(|declared| declared.iter());
    let tools = declared.filter_map(|tool| registry.get(&tool.tool));
    tools.filter(|tool| scope == Scope::Calls || only_reads(tool)).collect()
}

fn only_reads(tool: &Registered) -> bool {
    tool.effect() == Effect::ReadOnly && tool.kind() == ItemKind::Tool
}

/// Checks a script like any script, and adds it to the registry; returns all faults.
///
/// It is parsed, checked and run in a separate process, since a model wrote it.
pub(super) async fn link(
    registry: &Registry,
    (worker, scope): (&Registered, Scope),
    interpreter: Option<&Path>,
    name: &str,
    text: &str,
) -> Result<Registry, Vec<String>> {
    let (script, data) = ScriptProcess::read(interpreter.map(Path::to_owned), name, text).await?;
    let mut faults = Vec::new();
    if data.has_effect {
        faults.push(format!("{name}.py: remove `effect`: it follows from the tools"));
    }
    let script = Arc::new(script);
    let tool = tool(Arc::clone(&script), name, data, scope);
    faults.extend(of_parameters(name, &tool.parameters, &parameters(worker)));
    let registry = match registry.with_script(tool) {
        Ok(registry) => registry,
        Err(found) => {
            faults.extend(found);
            return Err(faults);
        }
    };
    faults.extend(not_allowed(&registry, worker, name, scope));
    faults.extend(script.link(&registry.script_callees(name)).await);
    if faults.is_empty() { Ok(registry) } else { Err(faults) }
}

/// Returns the tool of a script: read-only if it may call only read-only tools.
fn tool(script: Arc<ScriptProcess>, name: &str, data: ScriptData, scope: Scope) -> FunctionTool {
    let defaults = data.defaults;
    let run = move |ctx: CallContext, given: Value| {
        let (script, mut arguments) = (Arc::clone(&script), defaults.clone());
        arguments.extend(given.as_object().cloned().unwrap_or_default());
        async move { script.run(&ctx, Value::Object(arguments)).await }
    };
    let effect = match scope {
        Scope::Reads => Effect::ReadOnly,
        Scope::Calls => Effect::Destructive,
    };
    let mut tool = FunctionTool::new(name, data.description, data.parameters, effect, run)
        .output_schema(data.output)
        .toolsets(data.toolsets);
    tool.acts = Acts::InCalls;
    tool
}

/// Returns the faults of tools that a script in place of the worker may not call.
fn not_allowed(registry: &Registry, worker: &Registered, name: &str, scope: Scope) -> Vec<String> {
    let known = allowed(registry, worker, scope);
    let declared = registry.get(name).and_then(|item| item.declared.as_ref());
    let declared = declared.iter().flat_map(|declared| declared.iter());
    let others = declared.filter(|tool| known.iter().all(|known| known.name() != &*tool.tool));
    let fault = |tool: &DeclaredTool| {
        let names: Vec<_> = known.iter().map(|known| format!("`{}`", known.name())).collect();
        let names = if names.is_empty() { "no tools".to_owned() } else { names.join(", ") };
        format!("{name}.py: `toolsets`: `{}` is not allowed here; allowed: {names}", tool.tool)
    };
    others.map(fault).collect()
}

/// Returns the fault of parameters that differ from those of the worker.
fn of_parameters(name: &str, own: &Value, expected: &Value) -> Option<String> {
    let names = |schema: &Value| -> BTreeSet<String> {
        schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect()
    };
    let (own, expected) = (names(own), names(expected));
    let list = |names: &BTreeSet<String>| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    (own != expected).then(|| {
        format!("{name}.py: the parameters of `{name}` must be {}, as given; found {}", list(&expected), list(&own))
    })
}

/// Runs a script on cases, in order; returns the cases in which it does not agree. `slow` counts the failures by
/// timeout.
pub(super) async fn run(
    runtime: &Runtime,
    name: &str,
    cases: &[&Case],
    agreement: &Agreement,
    slow: &mut usize,
) -> (Score, Vec<Compared>) {
    let mut compared = Vec::new();
    for case in cases {
        if *slow >= MAX_SLOW {
            let reason = "it did not run, since it was too slow before".to_owned();
            compared.push(Compared::new(case, Verdict::Failed, Some(Outcome::Error(reason))));
            continue;
        }
        let began = Instant::now();
        let one = compare_one(runtime, name, case, agreement).await;
        *slow += usize::from(one.verdict == Verdict::Failed && began.elapsed() >= MAX_TIME);
        compared.push(one);
    }
    let score = Score::from_verdicts(compared.iter().map(|compared| compared.verdict));
    compared.retain(|compared| compared.verdict != Verdict::Agrees);
    (score, compared)
}
