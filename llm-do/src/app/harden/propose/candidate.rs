//! One script of the model: read, checked, and run over cases.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;

use super::super::{Case, Compared, Verdict, compare_one};
use super::score::Score;
use crate::base::agreement::Agreement;
use crate::declare::tool::Effect;
use crate::observe::event::{ItemKind, Outcome};
use crate::plane::function_tool::{FunctionTool, ScriptTool};
use crate::plane::registry::{Registered, Registry};
use crate::plane::script::MAX_TIME;
use crate::session::runtime::Runtime;

/// After this many failures that take as long as the interpreter works at most, a script does not run on the remaining cases.
const MAX_SLOW: usize = 2;

/// The parameter of a prompt with its files, which a script cannot read.
const ATTACHMENTS: &str = "attachments";

/// Returns the script in an answer of the model: its last block of code, or all of it.
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
    // An answer that was cut off has no end of its block.
    blocks.pop().or(open).unwrap_or_else(|| format!("{}\n", answer.trim()))
}

/// Returns the tools of a worker that a script may call: those that change nothing, and ask no model.
pub(super) fn allowed<'a>(registry: &'a Registry, worker: &'a Registered) -> Vec<&'a Arc<Registered>> {
    let declared = worker.declared.iter().flat_map(|declared| declared.iter());
    let tools = declared.filter_map(|tool| registry.get(&tool.tool));
    tools.filter(|tool| tool.effect() == Effect::ReadOnly && tool.kind() == ItemKind::Tool).collect()
}

/// Returns the parameters that a script has: those of the worker, without the files of a prompt.
pub(super) fn parameters(worker: &Registered) -> Value {
    let mut parameters = worker.parameters().clone();
    if worker.takes_prompt()
        && let Some(properties) = parameters["properties"].as_object_mut()
    {
        properties.remove(ATTACHMENTS);
    }
    parameters
}

/// Checks a script as every script is checked, and adds it to the registry; returns all faults.
pub(super) fn link(registry: &Registry, worker: &Registered, name: &str, text: &str) -> Result<Registry, Vec<String>> {
    let tool = ScriptTool::parse(name, text).map_err(|fault| fault.faults().to_vec())?;
    let mut faults = Vec::new();
    if tool.has_own_effect() {
        faults.push(format!("{name}.py: remove `effect`: it follows from the tools"));
    }
    let tool = FunctionTool::from(tool);
    faults.extend(of_parameters(name, &tool.parameters, &parameters(worker)));
    let registry = match registry.with_script(tool) {
        Ok(registry) => registry,
        Err(found) => {
            faults.extend(found);
            return Err(faults);
        }
    };
    let known = allowed(&registry, worker);
    let declared = registry.get(name).and_then(|item| item.declared.as_ref());
    for tool in declared.iter().flat_map(|declared| declared.iter()) {
        if known.iter().all(|known| known.name() != &*tool.tool) {
            let names: Vec<_> = known.iter().map(|known| format!("`{}`", known.name())).collect();
            let names = if names.is_empty() { "no tools".to_owned() } else { names.join(", ") };
            faults.push(format!("{name}.py: `toolsets`: `{}` is not allowed here; allowed: {names}", tool.tool));
        }
    }
    if faults.is_empty() { Ok(registry) } else { Err(faults) }
}

/// Returns the fault of parameters that are not those of the worker.
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

/// Runs a script on cases, in order; returns those in which it does not agree.
pub(super) async fn run(
    runtime: &Runtime,
    name: &str,
    cases: &[&Case],
    agreement: &Agreement,
) -> (Score, Vec<Compared>) {
    let (mut compared, mut slow) = (Vec::new(), 0);
    for case in cases {
        if slow == MAX_SLOW {
            let reason = "it did not run, since it was too slow before".to_owned();
            compared.push(Compared::new(case, Verdict::Failed, Some(Outcome::Error(reason))));
            continue;
        }
        let began = Instant::now();
        let one = compare_one(runtime, name, case, agreement).await;
        slow += usize::from(one.verdict == Verdict::Failed && began.elapsed() >= MAX_TIME);
        compared.push(one);
    }
    let score = Score::of(compared.iter().map(|compared| compared.verdict));
    compared.retain(|compared| compared.verdict != Verdict::Agrees);
    (score, compared)
}
