//! The demands of a worker in a file.

use llm_do_core::declare::tool::Effect;
use llm_do_core::declare::toolset::Member;
use llm_do_core::declare::worker_spec::WorkerSpec;
use llm_do_core::plane::definition::{DeclaredRule, ToolDef, ToolsetDef, linked_items};
use llm_do_core::plane::function_tool::Alias;
use llm_do_core::plane::registry::Origin;
use llm_do_providers::{Settings, is_registered_by_program};

use super::{Demand, Kind};

/// Harmless tools without approval: the first asks the user, the second calls workers whose creation was approved.
const HARMLESS: [&str; 2] = ["user_input_ask_user", "worker_call"];

/// Returns the actions of a worker beyond requesting the user's model with tools whose calls are approved.
#[doc(hidden)]
#[must_use]
pub fn of_worker(spec: &WorkerSpec, origin: &Origin, aliases: &[(Alias, Origin)]) -> Vec<Demand> {
    // Without `..`, so that a new key does not compile until its demand is decided.
    let WorkerSpec {
        name,
        description: _,
        instructions: _,
        model,
        compatible_models: _,
        toolsets,
        settings,
        hints: _,
        code,
        server_side_tools,
        effect,
        effect_reason,
        mode: _,
        input_schema: _,
        input_of: _,
        output_schema: _,
        is_typed: _,
        too_deep: _,
        check: _,
        max_turns,
        retries,
        limits: _,
        max_result: _,
        attachments: _,
        background: _,
        timeout: _,
        hybrid: _,
        guarantee: _,
        shadow: _,
        refine: _,
    } = spec;
    let demand = |kind, text: String| Demand::new(kind, origin.to_string(), text);
    let mut demands = Vec::new();
    if let Some(model) = model.as_deref().filter(|model| !is_registered_by_program(model)) {
        demands.push(demand(Kind::Model, format!("`{name}` asks the model `{model}`, with your key of its provider")));
    }
    for tool in server_side_tools {
        let text = format!("the provider of `{name}` runs its tool `{}` without asking: {tool:?}", tool.name());
        demands.push(demand(Kind::Provider, text));
    }
    demands.extend(of_settings(name, settings).into_iter().map(|text| demand(Kind::Provider, text)));
    if *code {
        demands.push(demand(Kind::Code, format!("the model of `{name}` calls its tools by code that it writes")));
    }
    if let Some(reason) = effect_reason {
        let effect = effect.word();
        demands.push(demand(
            Kind::Tool,
            format!("`{name}` counts as {effect}, also if its tools may change more: {reason}"),
        ));
    }
    for tool in toolsets.iter().filter(|tool| !is_implied(origin, tool)).chain(spec.further_tools()) {
        let target = aliases.iter().find(|(alias, _)| alias.name == *tool).map_or(tool, |(alias, _)| &alias.target);
        if let Some(unasked) = unasked(target) {
            let text = format!("`{name}` has `{tool}`: the program decides about calls of `{unasked}` without asking");
            demands.push(demand(Kind::Tool, text));
        }
    }
    demands.extend(of_limits(name, *max_turns, *retries).map(|text| demand(Kind::Limit, text)));
    demands
}

/// Returns whether a subagent has a tool because its file has no key `tools`: the rules of the program decide about
/// such a tool.
fn is_implied(origin: &Origin, tool: &str) -> bool {
    matches!(origin, Origin::File(file) if file.is_implied(tool))
}

/// Describes the changes of the settings to requests of the program.
fn of_settings(name: &str, settings: &Settings) -> Vec<String> {
    let mut texts = Vec::new();
    if !settings.extra_body.is_empty() {
        let body = serde_json::Value::Object(settings.extra_body.clone());
        texts.push(format!("each request of `{name}` has these fields: {body}"));
    }
    if let Some(tier) = &settings.service_tier {
        texts.push(format!("`{name}` asks for the service tier `{tier}`, which may cost more"));
    }
    texts
}

/// Describes the limits that are looser than the defaults of workers.
fn of_limits(name: &str, max_turns: u32, retries: u32) -> impl Iterator<Item = String> {
    let usual = WorkerSpec::new("", "");
    let text = |given: u32, usual: u32, what: &str| {
        (given > usual).then(|| format!("`{name}` makes up to {given} {what} in one call, and not only {usual}"))
    };
    let turns = text(max_turns, usual.max_turns, "requests");
    turns.into_iter().chain(text(retries, usual.retries, "retries"))
}

/// Returns a tool with this name, or in the toolset with this name, whose calls the program does not ask about.
fn unasked(name: &str) -> Option<&'static str> {
    let of_tool = |name: &str| linked_items().find(|def| def.name == name);
    let decides = |def: &&ToolDef| {
        let is_asked = def.approval != Some(DeclaredRule::PreApproved) || def.effect == Effect::ReadOnly;
        !is_asked && !HARMLESS.contains(&def.name)
    };
    if let Some(def) = of_tool(name) {
        return Some(def).filter(decides).map(|def| def.name);
    }
    let set = inventory::iter::<ToolsetDef>.into_iter().find(|def| def.name == name)?;
    set.members.iter().map(Member::tool).filter_map(of_tool).find(decides).map(|def| def.name)
}
