//! The tool with which models read skills.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use cap_std::fs::Dir;
use llm_do_core::base::error::Result;
use llm_do_core::declare::tool::Effect;
use llm_do_core::plane::context::CallContext;
use llm_do_core::plane::function_tool::FunctionTool;
use serde_json::{Value, json};
use tokio::task::spawn_blocking;

use super::{READ_SKILL, Skill};
use crate::folder::open_file;

/// The maximum size of a file for a model, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// The names of the skills that a worker lists, by the worker's name.
pub(in super::super) type Chosen = BTreeMap<String, Vec<String>>;

/// Returns the tool with which models read these skills: a worker reads those that it lists, the user all.
pub(in super::super) fn tool(skills: Vec<Arc<Skill>>, chosen: Chosen) -> FunctionTool {
    let names: Vec<_> = skills.iter().map(|skill| skill.name.clone()).collect();
    let schema = json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "enum": names, "description": "The name of the skill." },
            "file": {
                "type": "string",
                "description": "A file in the folder of the skill, as a relative path; omit it for the instructions."
            },
        },
        "required": ["name"],
        "additionalProperties": false,
    });
    let known = Arc::new((skills, chosen));
    let description = "Read the instructions of a skill, or a file that they mention.";
    FunctionTool::new(READ_SKILL, description, schema, Effect::ReadOnly, move |ctx, arguments| {
        let known = Arc::clone(&known);
        async move {
            let (skills, chosen) = &*known;
            text(skills, listed(&ctx, chosen), &arguments).await
        }
    })
    .summary("read the skill {name}")
}

/// Returns the skills of the innermost worker that lists some; `None` without such a worker, as for a call of the user.
fn listed<'a>(ctx: &CallContext, chosen: &'a Chosen) -> Option<&'a Vec<String>> {
    ctx.names().find_map(|name| chosen.get(name))
}

async fn text(skills: &[Arc<Skill>], listed: Option<&Vec<String>>, arguments: &Value) -> Result<String> {
    let is_listed = |skill: &&Arc<Skill>| listed.is_none_or(|names| names.contains(&skill.name));
    let name = arguments["name"].as_str().unwrap_or_default();
    let found = skills.iter().filter(is_listed).find(|skill| skill.name == name);
    let skill = found.ok_or_else(|| format!("the worker does not list the skill `{name}`"))?;
    let Some(file) = arguments["file"].as_str().filter(|file| !file.is_empty()) else { return Ok(skill.body.clone()) };
    let (folder, path) = (Arc::clone(&skill.folder), file.to_owned());
    let read = spawn_blocking(move || contained(&folder, &path)).await?;
    Ok(read.map_err(|error| format!("`{file}` of the skill `{}` cannot be read: {error}", skill.name))?)
}

/// Reads a text below a folder; neither the path nor a link may lead outside.
fn contained(dir: &Dir, path: &str) -> io::Result<String> {
    let mut bytes = Vec::new();
    open_file(dir, Path::new(path))?.take(MAX_FILE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(io::Error::other(format!("it is too large: the limit is {MAX_FILE} bytes")));
    }
    String::from_utf8(bytes).map_err(|_| io::Error::other("it is not UTF-8 text"))
}
