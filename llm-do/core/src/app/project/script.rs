//! Scripts of a project: Python files below `tools/` and `workers/`, and tool files of `type: script`.

use std::path::{Path, PathBuf};

use llm_do_worker_file::{Fault, Key, Node, Reader, unknown_key};

use super::Report;
use super::report::shown;
use super::tool_file::{approval, tool_name};
#[cfg(feature = "script")]
use crate::declare::worker_file::LoadedFile;
use crate::declare::worker_file::ToolLines;
use crate::plane::definition::DeclaredRule;
#[cfg(feature = "script")]
use crate::plane::function_tool::{FunctionTool, ScriptTool};
use crate::plane::registry::Origin;
use crate::session::runtime::RuntimeBuilder;

/// The extension of scripts.
pub(super) const EXTENSION: &str = "py";
#[cfg(not(feature = "script"))]
const NO_FEATURE: &str = "scripts need the feature `script` of `llm-do`";
const DOCUMENTATION: &str = "see the documentation of `llm_do::project`";
const KEYS: [&str; 7] = ["type", "name", "script", "description", "toolsets", "effect", "approval"];

/// A script of a project.
#[derive(Debug)]
pub(super) struct ScriptFile {
    pub(super) name: String,
    pub(super) path: PathBuf,
    pub(super) approval: Option<DeclaredRule>,
    #[cfg(feature = "script")]
    tool: ScriptTool,
}

/// Returns whether a file is not a tool, such as `__init__.py`.
pub(super) fn is_helper(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"_"))
}

/// Reads a script that no tool file names.
#[cfg(feature = "script")]
pub(super) fn read(path: &Path, report: &mut Report) -> Option<(ScriptFile, Origin)> {
    let text = report.text_of(path)?;
    let tool = open(path, &text).map_err(|faults| report.faults.extend(faults)).ok()?;
    let name = stem(path);
    let origin = Origin::File(LoadedFile::new(shown(path).to_owned(), tool.toolset_lines()));
    Some((ScriptFile { name, path: path.to_owned(), approval: None, tool }, origin))
}

/// Without the feature `script`, scripts are omitted.
#[cfg(not(feature = "script"))]
pub(super) fn read(path: &Path, report: &mut Report) -> Option<(ScriptFile, Origin)> {
    report.warnings.push(format!("{}: left out: {NO_FEATURE}", shown(path).display()));
    None
}

#[cfg(feature = "script")]
fn open(path: &Path, text: &str) -> Result<ScriptTool, Vec<String>> {
    let file = shown(path).display().to_string();
    ScriptTool::from_text(&file, &stem(path), text).map_err(|fault| fault.faults().to_vec())
}

#[cfg(feature = "script")]
fn stem(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The settings of a tool file of `type: script`.
#[derive(Default)]
struct ScriptKeys {
    name: Option<String>,
    script: Option<String>,
    description: Option<String>,
    toolsets: ToolLines,
    #[cfg(feature = "script")]
    effect: Option<crate::declare::tool::Effect>,
    approval: Option<DeclaredRule>,
}

impl ScriptKeys {
    fn read(entries: Vec<(Key, Node)>, faults: &mut Vec<Fault>) -> Self {
        let mut keys = Self::default();
        for (key, node) in entries {
            let mut reader = Reader { key: &key.name, faults };
            match key.name.as_str() {
                "type" => {}
                "name" => keys.name = tool_name(node, key.place, &mut reader),
                "script" => keys.script = reader.string(node).map(|text| text.value),
                "description" => keys.description = reader.string(node).map(|text| text.value),
                "toolsets" => {
                    let names = reader.strings(node).map(|names| names.value).unwrap_or_default();
                    keys.toolsets = names.into_iter().map(|name| (name.value, name.place.line)).collect();
                }
                "effect" => keys.effect(node, &mut reader),
                "approval" => keys.approval = approval(node, &mut reader),
                _ => faults.push(unknown_key(&key, "", &KEYS, DOCUMENTATION)),
            }
        }
        keys
    }

    #[cfg(feature = "script")]
    fn effect(&mut self, node: Node, reader: &mut Reader<'_>) {
        self.effect = reader.string(node).and_then(|word| crate::plane::script::effect(&word, reader));
    }

    #[cfg(not(feature = "script"))]
    #[expect(clippy::unused_self, reason = "with the feature, it is set")]
    fn effect(&mut self, node: Node, reader: &mut Reader<'_>) {
        drop(reader.string(node));
    }
}

/// Reads a tool file of `type: script`; also returns the tools that it names, each with its line.
#[cfg(feature = "script")]
pub(super) fn of_tool_file(
    path: &Path,
    entries: Vec<(Key, Node)>,
    report: &Report,
    faults: &mut Vec<Fault>,
) -> Option<(ScriptFile, ToolLines)> {
    let place = entries.iter().find(|(key, _)| key.name == "script" || key.name == "type").map(|(key, _)| key.place);
    let place = place.unwrap_or_default();
    let keys = ScriptKeys::read(entries, faults);
    let file = keys.script.unwrap_or_else(|| format!("{}.{EXTENSION}", stem(path)));
    let script = path.parent().unwrap_or(Path::new("")).join(&file);
    let text = match report.read(&script) {
        Ok(text) => text,
        Err(error) => {
            faults.push(Fault::new(place, format!("`script`: {} cannot be read: {error}", shown(&script).display())));
            return None;
        }
    };
    let mut tool = match open(&script, &text) {
        Ok(tool) => tool.toolsets(keys.toolsets.iter().map(|(name, _)| name.clone())),
        Err(found) => {
            faults.extend(found.into_iter().map(|fault| Fault::new(place, format!("`script`: {fault}"))));
            return None;
        }
    };
    let name = keys.name.unwrap_or_else(|| stem(path));
    tool = tool.name(name.as_str());
    if let Some(description) = keys.description {
        tool = tool.description(description);
    }
    if let Some(effect) = keys.effect {
        tool = tool.effect(effect);
    }
    Some((ScriptFile { name, path: script, approval: keys.approval, tool }, keys.toolsets))
}

/// Without the feature `script`, a tool file of this type is a fault.
#[cfg(not(feature = "script"))]
pub(super) fn of_tool_file(
    _: &Path,
    entries: Vec<(Key, Node)>,
    _: &Report,
    faults: &mut Vec<Fault>,
) -> Option<(ScriptFile, ToolLines)> {
    let place = entries.iter().find(|(key, _)| key.name == "type").map(|(key, _)| key.place).unwrap_or_default();
    drop(ScriptKeys::read(entries, faults));
    faults.push(Fault::new(place, format!("`type: script`: {NO_FEATURE}")));
    None
}

impl RuntimeBuilder {
    /// Adds the scripts of a project.
    #[cfg(feature = "script")]
    pub(super) fn with_scripts(self, scripts: Vec<(ScriptFile, Origin)>) -> Self {
        scripts.into_iter().fold(self, |builder, (script, origin)| {
            let tool = FunctionTool::from(script.tool).rule(script.approval);
            builder.tool_of_file(tool, origin)
        })
    }

    /// Without the feature `script`, a project has none.
    #[cfg(not(feature = "script"))]
    pub(super) fn with_scripts(self, _: Vec<(ScriptFile, Origin)>) -> Self {
        self
    }
}
