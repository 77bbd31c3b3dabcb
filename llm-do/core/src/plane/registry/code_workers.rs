//! Workers in code mode: each has a tool `run_code` that may call the declared tools of the worker, and replaces them.

use std::collections::BTreeMap;
use std::sync::Arc;

use llm_do_providers::ServerSideTool;
use serde_json::{Value, json};

use super::Registered;
use super::scripts::callees;
use crate::declare::tool::Effect;
use crate::plane::context::CallContext;
use crate::plane::declared::{Declared, DeclaredTool};
use crate::plane::function_tool::{Acts, FunctionTool};
use crate::plane::script::CodeTool;

/// The name by which models call the tool.
const SHOWN: &str = "run_code";
const DESCRIPTION: &str = "Run Python code that calls your functions; return the value of its last expression.";

/// Gives each worker in code mode its tool.
pub(super) fn link(items: &mut BTreeMap<Arc<str>, Arc<Registered>>, faults: &mut Vec<String>) {
    let workers = items.values().filter(|item| item.plan().is_some_and(|plan| plan.code));
    let workers: Vec<_> = workers.map(|worker| Arc::clone(&worker.name)).collect();
    for worker_name in workers {
        let worker = &items[&worker_name];
        let name: Arc<str> = format!("{}__code", worker.name()).into();
        let tools = callees(worker.name(), items);
        let fault = |text: String| format!("`{}` ({}): `code`: {text}", worker.name(), worker.location());
        if tools.is_empty() {
            faults.push(fault("its model has nothing to call; add `toolsets`".to_owned()));
            continue;
        }
        if worker.plan().is_some_and(|plan| plan.server_side_tools.contains(&ServerSideTool::ProgrammaticToolCalling)) {
            faults.push(fault("`programmatic_tool_calling` has the provider run code instead; remove one".to_owned()));
            continue;
        }
        if items.contains_key(&name) {
            faults.push(fault(format!("the name `{name}` is taken; rename that item")));
            continue;
        }
        match CodeTool::new(tools) {
            Err(found) => faults.extend(found.into_iter().map(fault)),
            Ok(code) => add(items, &worker_name, &name, code),
        }
    }
}

/// Adds the tool of a worker, which becomes its only declared tool.
fn add(items: &mut BTreeMap<Arc<str>, Arc<Registered>>, worker_name: &str, name: &Arc<str>, code: CodeTool) {
    let worker = &items[worker_name];
    if let Some(plan) = worker.plan() {
        // Set once: the plan belongs to this registry.
        _ = plan.code_rules.set(code.rules());
    }
    let code = Arc::new(code);
    let run = move |ctx: CallContext, arguments: Value| {
        let code = Arc::clone(&code);
        async move { code.run(&ctx, arguments["code"].as_str().unwrap_or_default()).await }
    };
    let schema = json!({
        "type": "object",
        "properties": { "code": { "type": "string", "description": "The code." } },
        "required": ["code"],
        "additionalProperties": false,
    });
    // The calls of the code need approval one by one.
    let mut tool = FunctionTool::new(&**name, DESCRIPTION, schema, Effect::Undeclared, run).pre_approved();
    tool.acts = Acts::InCalls;
    let mut tool = Registered::from_tool(tool, worker.origin.clone());
    tool.declared.clone_from(&worker.declared);
    tool.instances.clone_from(&worker.instances);
    let shown = DeclaredTool { shown: SHOWN.into(), tool: Arc::clone(name) };
    let declared = Declared::new(vec![shown], vec![tool.offered_as(SHOWN.into())]);
    items.insert(Arc::clone(name), Arc::new(tool));
    if let Some(item) = items.get_mut(worker_name).and_then(Arc::get_mut) {
        item.declared = Some(Arc::new(declared));
        item.instances.clear();
    }
    for (place, item) in items.values_mut().enumerate() {
        if let Some(item) = Arc::get_mut(item) {
            item.place = Some(place);
        }
    }
}
