//! Names in tool files of the Python llm-do, with their equivalents here.

use std::path::Path;

use llm_do_worker_file::{Content, Fault, Key, Located, Node};

use crate::plane::definition::{ToolsetDef, linked_items};

/// Names of tools, with the registered names of the equivalent tools here.
const TOOLS: [(&str, &str); 7] = [
    ("edit_file", "project_edit_file"),
    ("glob", "project_list_files"),
    ("grep", "project_search_files"),
    ("list_files", "project_list_files"),
    ("read_file", "project_read_file"),
    ("search_files", "project_search_files"),
    ("write_file", "project_write_file"),
];
/// A model family in which the full name of the first version has another number: `claude-sonnet-4-0`.
const WITHOUT_MINOR: &str = "-4";

/// Returns the tool of a path such as `tools.files:read_file`: its last part, or the equivalent tool here.
pub(super) fn function(given: Located<String>, notes: &mut Vec<Fault>) -> Located<String> {
    let Located { place, value } = given;
    let name = value.rsplit([':', '.']).next().unwrap_or_default();
    let target = if is_linked(name) { name } else { counterpart(name).unwrap_or(name) };
    if target != value && is_linked(target) {
        notes.push(Fault::new(place, format!("`function`: `{value}` stands for the linked tool `{target}`")));
        return Located { place, value: target.to_owned() };
    }
    Located { place, value }
}

/// Replaces names of models and tools in the keys of a worker, each with a warning.
pub(super) fn rename(path: &Path, entries: &mut [(Key, Node)], notes: &mut Vec<Fault>) {
    for (key, node) in entries {
        match (key.name.as_str(), &mut node.content) {
            ("model", Content::String(model)) => {
                if let Some(full) = full_model(model) {
                    let text = format!("`model`: `{model}` stands for `{full}`; write the name with its provider");
                    notes.push(Fault::new(key.place, text));
                    *model = full;
                }
            }
            ("tools" | "toolsets", Content::List(items)) => items.iter_mut().for_each(|item| tool(path, item, notes)),
            _ => {}
        }
    }
}

/// Returns the full name of an Anthropic model with its provider.
fn full_model(model: &str) -> Option<String> {
    let name = model.strip_prefix("claude-").filter(|_| !model.contains(':'))?;
    let minor = if name.ends_with(WITHOUT_MINOR) && name.matches('-').count() == 1 { "-0" } else { "" };
    Some(format!("anthropic:{model}{minor}"))
}

/// Replaces the name of a tool that neither the program nor a file in this folder defines.
fn tool(path: &Path, item: &mut Node, notes: &mut Vec<Fault>) {
    let place = item.place;
    let Content::String(name) = &mut item.content else { return };
    let is_defined =
        ["tool", "worker", "agent", "py"].iter().any(|end| path.with_file_name(format!("{name}.{end}")).exists());
    if is_defined || is_linked(name) {
        return;
    }
    if let Some(own) = counterpart(name) {
        notes.push(Fault::new(place, format!("the tool `{name}` stands for the linked tool `{own}`")));
        own.clone_into(name);
    }
}

/// Returns the equivalent linked tool.
fn counterpart(name: &str) -> Option<&'static str> {
    TOOLS.into_iter().find(|(known, _)| *known == name).map(|(_, own)| own).filter(|own| is_linked(own))
}

fn is_linked(name: &str) -> bool {
    linked_items().any(|def| def.name == name) || inventory::iter::<ToolsetDef>.into_iter().any(|def| def.name == name)
}
