//! `tools`: lists the items that can be run and called.

use llm_do_core::declare::tool::{Effect, OnUnknown};
use llm_do_core::declare::toolset::Member;
use llm_do_core::plane::approval::{Approvals, Rule};
use llm_do_core::plane::declared::Declared;
use llm_do_core::plane::function_tool::Acts;
use llm_do_core::plane::registry::{Group, Registered};
use llm_do_core::session::runtime::RuntimeBuilder;
use serde_json::{Value, json};

use super::args::ToolsOptions;
use super::trust::Trust;
use super::{CommandError, print, print_json};

/// Prints every tool, worker, entry and toolset.
pub(super) fn list(builder: RuntimeBuilder, options: &ToolsOptions, runs_projects: bool) -> Result<(), CommandError> {
    let mut settings = options.items.settings().read(options.items.project.as_deref())?;
    let (mut builder, _) = options.items.add_to(builder, &mut settings, runs_projects, Trust::Show)?;
    let registry = super::project::collect(&mut builder)?;
    let on_unknown = builder.default_on_unknown();
    let approvals = builder.approvals(&registry).map_err(CommandError::from_error)?;
    if options.json {
        let items = registry
            .iter()
            .map(|item| describe(item, recovery(item, on_unknown), &approvals))
            .chain(registry.toolsets().map(describe_set));
        let items = items.chain(registry.groups().map(describe_group));
        return print_json(&format!("{:#}", items.collect::<Value>()));
    }
    let items = registry.iter().map(|item| {
        let approval = approval(approvals.fixed_rule(item));
        let cells = [item.name(), item.kind().as_str(), effect(item), recovery(item, on_unknown), approval];
        (cells, item.description())
    });
    let sets = registry.toolsets().map(|(name, docs, _)| ([name, "toolset", "", "", ""], docs));
    let groups = registry.groups().map(|group| ([&*group.name, "toolset", "", "", ""], group.description.as_str()));
    table(&items.chain(sets).chain(groups).collect::<Vec<_>>())
}

/// Prints rows of aligned cells, each with the first line of its description.
fn table(rows: &[([&str; 5], &str)]) -> Result<(), CommandError> {
    let width = |column: usize| rows.iter().map(|(cells, _)| cells[column].len()).max().unwrap_or(0);
    let widths = [0, 1, 2, 3, 4].map(width);
    for (cells, description) in rows {
        let summary = description.lines().next().unwrap_or_default();
        let padded: Vec<_> = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        print(format!("{}  {summary}", padded.join("  ")).trim_end())?;
    }
    Ok(())
}

/// Returns the effect as written in `#[tool(effect = ..)]`; empty if it is undeclared, or unknown because of its
/// callees.
fn effect(item: &Registered) -> &'static str {
    match item.effect() {
        Effect::Undeclared => "",
        effect => effect.word(),
    }
}

/// Returns the behaviour of a resumed run for an interrupted call: the call runs again, continues with its missing
/// steps, or follows `on_unknown`, since its outcome is unknown.
fn recovery(item: &Registered, default: OnUnknown) -> &'static str {
    match item.acts() {
        Acts::InSteps | Acts::InCalls => "steps",
        Acts::Itself | Acts::Either if item.must_not_repeat() => item.on_unknown().unwrap_or(default).word(),
        Acts::Itself | Acts::Either => "repeat",
    }
}

/// Returns the rule as written in `#[tool(approval = ..)]`.
fn approval(rule: Option<&Rule>) -> &'static str {
    match rule {
        Some(Rule::PreApproved) => "pre_approved",
        Some(Rule::Ask) => "ask",
        Some(Rule::Blocked { .. }) => "blocked",
        None => "by arguments",
    }
}

fn describe_set((name, description, members): (&str, &str, &[Member])) -> Value {
    let members = members.iter().map(|member| pair(member.shown(), member.tool()));
    json!({ "name": name, "kind": "toolset", "description": description, "members": members.collect::<Value>() })
}

fn describe_group(group: &Group) -> Value {
    let members = group.tools.iter().map(|tool| pair(tool, tool)).collect::<Value>();
    json!({ "name": group.name, "kind": "toolset", "description": group.description, "members": members })
}

/// Returns the name of a tool for callers, and its registered name.
fn pair(shown: &str, tool: &str) -> Value {
    json!({ "name": shown, "tool": tool })
}

fn describe(item: &Registered, recovery: &str, approvals: &Approvals) -> Value {
    let pairs = |declared: &Declared| declared.iter().map(|tool| pair(&tool.shown, &tool.tool)).collect::<Value>();
    let declared = item.declared.as_deref().map(pairs);
    json!({
        "name": item.name(),
        "kind": item.kind(),
        "description": item.description(),
        "effect": item.effect(),
        "recovery": recovery,
        "approval": approvals.fixed_rule(item),
        "hints": item.hints(),
        "location": item.location(),
        "toolsets": declared,
        "parameters": item.parameters(),
        "output": item.output(),
    })
}
