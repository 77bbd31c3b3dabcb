//! Learned tools of a project: files `tools/NAME.learned.json`, and tool files of `type: learned`.

use std::path::{Path, PathBuf};

use llm_do_worker_file::{Fault, Key, Node, Reader, unknown_key};

use super::Report;
use super::report::shown;
use super::tool_file::tool_name;
#[cfg(feature = "learn")]
use crate::declare::worker_file::LoadedFile;
#[cfg(feature = "learn")]
use crate::plane::function_tool::{FunctionTool, LearnedTool};
use crate::plane::registry::Origin;
use crate::session::runtime::RuntimeBuilder;

/// The end of the names of learned files.
const END: &str = ".learned.json";
#[cfg(not(feature = "learn"))]
const NO_FEATURE: &str = "learned tools need the feature `learn` of `llm-do`";
const DOCUMENTATION: &str = "see the documentation of `llm_do::project`";
const KEYS: [&str; 4] = ["type", "name", "learned", "description"];

/// A learned tool of a project.
#[derive(Debug)]
pub(super) struct LearnedFile {
    pub(super) name: String,
    pub(super) path: PathBuf,
    #[cfg(feature = "learn")]
    tool: LearnedTool,
}

/// Returns whether a file is one that was learned.
pub(super) fn is_learned(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().ends_with(END.as_bytes()))
}

/// Returns the name of a tool file without its extension.
#[cfg(feature = "learn")]
fn stem(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Reads a learned file that no tool file names.
#[cfg(feature = "learn")]
pub(super) fn read(path: &Path, report: &mut Report) -> Option<(LearnedFile, Origin)> {
    let text = match report.learned_text(path) {
        Ok(text) => text,
        Err(error) => {
            report.fail(shown(path).display(), format_args!("cannot be read: {error}"));
            return None;
        }
    };
    let tool = match LearnedTool::parse(&text) {
        Ok(tool) => tool,
        Err(fault) => {
            report.fail(shown(path).display(), fault.reason());
            return None;
        }
    };
    let origin = Origin::File(LoadedFile::new(shown(path).to_owned(), Vec::new()));
    Some((LearnedFile { name: tool.tool_name().to_owned(), path: path.to_owned(), tool }, origin))
}

/// Without the feature `learn`, learned files are omitted.
#[cfg(not(feature = "learn"))]
pub(super) fn read(path: &Path, report: &mut Report) -> Option<(LearnedFile, Origin)> {
    report.warnings.push(format!("{}: left out: {NO_FEATURE}", shown(path).display()));
    None
}

/// The settings of a tool file of `type: learned`.
#[derive(Default)]
struct LearnedKeys {
    name: Option<String>,
    learned: Option<String>,
    description: Option<String>,
}

impl LearnedKeys {
    fn read(entries: Vec<(Key, Node)>, faults: &mut Vec<Fault>) -> Self {
        let mut keys = Self::default();
        for (key, node) in entries {
            let mut reader = Reader { key: &key.name, faults };
            match key.name.as_str() {
                "type" => {}
                "name" => keys.name = tool_name(node, key.place, &mut reader),
                "learned" => keys.learned = reader.string(node).map(|text| text.value),
                "description" => keys.description = reader.string(node).map(|text| text.value),
                _ => faults.push(unknown_key(&key, "", &KEYS, DOCUMENTATION)),
            }
        }
        keys
    }
}

/// Reads a tool file of `type: learned`.
#[cfg(feature = "learn")]
pub(super) fn of_tool_file(
    path: &Path,
    entries: Vec<(Key, Node)>,
    report: &Report,
    faults: &mut Vec<Fault>,
) -> Option<LearnedFile> {
    let place = entries.iter().find(|(key, _)| key.name == "learned" || key.name == "type").map(|(key, _)| key.place);
    let place = place.unwrap_or_default();
    let keys = LearnedKeys::read(entries, faults);
    let file = keys.learned.unwrap_or_else(|| format!("{}{END}", stem(path)));
    let file = path.parent().unwrap_or(Path::new("")).join(file);
    let mut fault = |reason: String| {
        faults.push(Fault::new(place, format!("`learned`: {}: {reason}", shown(&file).display())));
    };
    let text = report.learned_text(&file).map_err(|error| fault(format!("cannot be read: {error}"))).ok()?;
    let mut tool = LearnedTool::parse(&text).map_err(|error| fault(error.reason().to_owned())).ok()?;
    let name = keys.name.unwrap_or_else(|| stem(path));
    tool = tool.name(&name);
    if let Some(description) = keys.description {
        tool = tool.description(description);
    }
    Some(LearnedFile { name, path: file, tool })
}

/// Without the feature `learn`, a tool file of this type is a fault.
#[cfg(not(feature = "learn"))]
pub(super) fn of_tool_file(
    _: &Path,
    entries: Vec<(Key, Node)>,
    _: &Report,
    faults: &mut Vec<Fault>,
) -> Option<LearnedFile> {
    let place = entries.iter().find(|(key, _)| key.name == "type").map(|(key, _)| key.place).unwrap_or_default();
    let LearnedKeys { name, learned, description } = LearnedKeys::read(entries, faults);
    drop((name, learned, description));
    faults.push(Fault::new(place, format!("`type: learned`: {NO_FEATURE}")));
    None
}

impl RuntimeBuilder {
    /// Adds the learned tools of a project.
    #[cfg(feature = "learn")]
    pub(super) fn with_learned(self, learned: Vec<(LearnedFile, Origin)>) -> Self {
        let add = |builder: Self, (file, origin): (LearnedFile, Origin)| {
            builder.tool_of_file(FunctionTool::from(file.tool), origin)
        };
        learned.into_iter().fold(self, add)
    }

    /// Without the feature `learn`, a project has none.
    #[cfg(not(feature = "learn"))]
    pub(super) fn with_learned(self, _: Vec<(LearnedFile, Origin)>) -> Self {
        self
    }
}
