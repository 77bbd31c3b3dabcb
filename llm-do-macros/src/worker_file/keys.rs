//! The keys of the front matter.

use std::time::Duration;

use super::Fault;
use super::limits::{self, Limits};
use super::value::Reader;
use super::yaml::{Content, Name, Node};
use crate::args::did_you_mean;
use crate::args::server_side::{EXPECTED, ServerSideKind};
use crate::args::timeout::ZERO;
use crate::args::worker::{ONE_CHOICE, Output, model_fault};

/// A value and its line in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct At<T> {
    pub(crate) line: usize,
    pub(crate) value: T,
}

/// What the front matter gives; the keys are those of the attribute, and two schemas.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Keys {
    pub(crate) name: Option<At<String>>,
    pub(crate) description: Option<At<String>>,
    pub(crate) model: Option<At<String>>,
    pub(crate) compatible_models: Option<At<Vec<At<String>>>>,
    pub(crate) toolsets: Option<At<Vec<At<String>>>>,
    pub(crate) server_side_tools: Option<At<Vec<At<ServerSide>>>>,
    pub(crate) settings: Option<At<Sampling>>,
    pub(crate) hints: Option<At<Vec<At<String>>>>,
    pub(crate) output: Option<At<Output>>,
    pub(crate) max_turns: Option<At<u32>>,
    pub(crate) retries: Option<At<u32>>,
    pub(crate) limits: Option<At<Limits>>,
    pub(crate) timeout: Option<At<Duration>>,
    pub(crate) input_schema: Option<Node>,
    pub(crate) output_schema: Option<Node>,
}

/// The settings that a file may give.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Sampling {
    pub(crate) temperature: Option<f64>,
    pub(crate) top_p: Option<f64>,
    pub(crate) max_tokens: Option<u32>,
    pub(crate) seed: Option<u64>,
}

/// A server-side tool with what is set of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServerSide {
    pub(crate) kind: ServerSideKind,
    pub(crate) max_uses: Option<u32>,
    pub(crate) allowed_domains: Option<Vec<String>>,
    pub(crate) blocked_domains: Option<Vec<String>>,
}

const KEYS: [&str; 15] = [
    "name",
    "description",
    "model",
    "compatible_models",
    "toolsets",
    "server_side_tools",
    "settings",
    "hints",
    "output",
    "max_turns",
    "retries",
    "limits",
    "timeout",
    "input_schema",
    "output_schema",
];
const SETTINGS: [&str; 4] = ["temperature", "top_p", "max_tokens", "seed"];
const SEARCH_SETTINGS: [&str; 4] = ["tool_type", "max_uses", "allowed_domains", "blocked_domains"];

/// Reads the keys; what is at fault is noted and left out.
pub(super) fn read(front_matter: Node, faults: &mut Vec<Fault>) -> Keys {
    let mut keys = Keys::default();
    match front_matter.content {
        Content::Map(entries) => entries.into_iter().for_each(|(name, node)| keys.read(&name, node, faults)),
        Content::Null => {}
        other => {
            let message = format!("the front matter is {}; expected `key: value` lines", other.kind());
            faults.push(Fault::new(front_matter.line, message));
        }
    }
    keys.one_choice_of_models(faults);
    keys
}

impl Keys {
    /// Leaves out the globs of models beside a model, which is a fault.
    fn one_choice_of_models(&mut self, faults: &mut Vec<Fault>) {
        if let Some(globs) = self.compatible_models.take_if(|_| self.model.is_some()) {
            faults.push(Fault::new(globs.line, ONE_CHOICE.to_owned()));
        }
    }

    fn read(&mut self, name: &Name, node: Node, faults: &mut Vec<Fault>) {
        // A value that begins below its key is told at the key.
        let node = Node { line: name.line, ..node };
        let mut reader = Reader { key: &name.text, faults };
        match name.text.as_str() {
            "name" => self.name = reader.text(node),
            "description" => self.description = reader.text(node),
            "model" => self.model = model(node, &mut reader),
            "compatible_models" => self.compatible_models = reader.some_texts(node),
            "toolsets" => self.toolsets = reader.texts(node),
            "server_side_tools" => self.server_side_tools = server_side_tools(node, &mut reader),
            "settings" => self.settings = sampling(node, faults),
            "hints" => self.hints = reader.some_texts(node),
            "output" => self.output = output(node, &mut reader),
            "max_turns" => self.max_turns = turns(&node, &mut reader),
            "retries" => self.retries = reader.count(&node),
            "limits" => self.limits = limits::read(node, faults),
            "timeout" => self.timeout = timeout(&node, &mut reader),
            "input_schema" => self.input_schema = reader.schema(node),
            "output_schema" => self.output_schema = reader.schema(node),
            _ => faults.push(unknown(name, "", &KEYS)),
        }
    }
}

pub(super) fn unknown(name: &Name, of: &str, known: &'static [&'static str]) -> Fault {
    let hint = did_you_mean(&name.text, known.iter().copied());
    let known: Vec<_> = known.iter().map(|key| format!("`{key}`")).collect();
    Fault::new(name.line, format!("unknown key `{}`{of}{hint}\nthe keys are {}", name.text, known.join(", ")))
}

fn model(node: Node, reader: &mut Reader<'_>) -> Option<At<String>> {
    let model = reader.text(node)?;
    match model_fault(&model.value) {
        None => Some(model),
        Some(fault) => reader.fault(model.line, fault),
    }
}

fn output(node: Node, reader: &mut Reader<'_>) -> Option<At<Output>> {
    let At { line, value } = reader.text(node)?;
    match Output::named(&value) {
        Ok(value) => Some(At { line, value }),
        Err(fault) => reader.fault(line, fault),
    }
}

fn turns(node: &Node, reader: &mut Reader<'_>) -> Option<At<u32>> {
    let turns = reader.count(node)?;
    if turns.value == 0 {
        return reader.fault(turns.line, "`max_turns` is 0: a worker's model is asked once or more");
    }
    Some(turns)
}

fn timeout(node: &Node, reader: &mut Reader<'_>) -> Option<At<Duration>> {
    let timeout = reader.time(node)?;
    if timeout.value.is_zero() {
        return reader.fault(timeout.line, ZERO);
    }
    Some(timeout)
}

fn sampling(node: Node, faults: &mut Vec<Fault>) -> Option<At<Sampling>> {
    let line = node.line;
    let mut sampling = Sampling::default();
    for (name, node) in (Reader { key: "settings", faults }).map(node)? {
        let mut reader = Reader { key: &name.text, faults };
        match name.text.as_str() {
            "temperature" => sampling.temperature = reader.number(&node),
            "top_p" => sampling.top_p = reader.number(&node),
            "max_tokens" => sampling.max_tokens = value(reader.count(&node)),
            "seed" => sampling.seed = value(reader.count(&node)),
            _ => faults.push(unknown(&name, " of `settings`", &SETTINGS)),
        }
    }
    Some(At { line, value: sampling })
}

fn server_side_tools(node: Node, reader: &mut Reader<'_>) -> Option<At<Vec<At<ServerSide>>>> {
    let line = node.line;
    let Content::List(items) = node.content else {
        let message = format!("`server_side_tools` takes a list, not {}\n{EXPECTED}", node.content.kind());
        return reader.fault(line, message);
    };
    let mut tools: Vec<At<ServerSide>> = Vec::new();
    for item in items {
        let Some(tool) = server_side_tool(item, reader) else { continue };
        if tools.iter().any(|other| other.value.kind == tool.value.kind) {
            reader.fault::<()>(tool.line, format!("`{}` listed twice", tool.value.kind.word()));
        } else {
            tools.push(tool);
        }
    }
    Some(At { line, value: tools })
}

/// Reads `web_search`, or `{tool_type: web_search, max_uses: 3}`.
fn server_side_tool(node: Node, reader: &mut Reader<'_>) -> Option<At<ServerSide>> {
    let line = node.line;
    let (word, settings) = tool_type(node, reader)?;
    let kind = match ServerSideKind::named(&word) {
        Ok(kind) => kind,
        Err(fault) => return reader.fault(line, fault),
    };
    if let Some((name, _)) = settings.first().filter(|_| kind != ServerSideKind::WebSearch) {
        return reader.fault(name.line, format!("`{word}` has no settings such as `{}`", name.text));
    }
    let mut tool = ServerSide { kind, max_uses: None, allowed_domains: None, blocked_domains: None };
    for (name, node) in settings {
        tool.set(&name, node, reader.faults);
    }
    Some(At { line, value: tool })
}

/// Returns the word for a server-side tool, and the settings beside it.
fn tool_type(node: Node, reader: &mut Reader<'_>) -> Option<(String, Vec<(Name, Node)>)> {
    match node.content {
        Content::Text(word) => Some((word, Vec::new())),
        Content::Map(mut settings) => {
            let Some(place) = settings.iter().position(|(name, _)| name.text == "tool_type") else {
                let message = format!("a server-side tool with settings needs a `tool_type`\n{EXPECTED}");
                return reader.fault(node.line, message);
            };
            let (_, word) = settings.remove(place);
            let word = Reader { key: "tool_type", faults: reader.faults }.text(word)?;
            Some((word.value, settings))
        }
        other => reader.fault(node.line, format!("`server_side_tools` lists tools, not {}\n{EXPECTED}", other.kind())),
    }
}

impl ServerSide {
    /// Reads a setting of `web_search`.
    fn set(&mut self, name: &Name, node: Node, faults: &mut Vec<Fault>) {
        let mut reader = Reader { key: &name.text, faults };
        match name.text.as_str() {
            "max_uses" => self.max_uses = value(reader.count(&node)),
            "allowed_domains" => self.allowed_domains = reader.some_texts(node).map(values),
            "blocked_domains" => self.blocked_domains = reader.some_texts(node).map(values),
            _ => faults.push(unknown(name, " of `web_search`", &SEARCH_SETTINGS)),
        }
    }
}

pub(super) fn value<T>(at: Option<At<T>>) -> Option<T> {
    at.map(|at| at.value)
}

fn values<T>(at: At<Vec<At<T>>>) -> Vec<T> {
    at.value.into_iter().map(|at| at.value).collect()
}
