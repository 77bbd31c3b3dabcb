//! The keys of the front matter.

use std::time::Duration;

use crate::input_model::{self, InputModel};
use crate::limits::{self, Limits};
use crate::mcp_server::{McpServerItem, read_mcp_items};
use crate::name::{check_model_name, check_worker_name, is_tool, not_a_tool, tool_name};
use crate::server_side::{self, ServerSideTool};
use crate::settings::{self, Settings};
use crate::values::{DOCUMENTATION, Reader, unknown_key};
use crate::yaml::{Content, Key, Node};
use crate::{Fault, Located, Place, did_you_mean, schema};

/// The fault of a worker with both `model` and `compatible_models`.
pub const MODEL_CHOICE: &str = "`model` and `compatible_models` cannot be combined: remove one";
/// The fault of a worker that may make no request.
pub const ZERO_TURNS: &str = "`max_turns` must be at least 1: each turn is one request to the model";
/// The fault of a timeout of 0.
pub const ZERO_TIMEOUT: &str = "`timeout` must be longer than 0: remove the key for no timeout";

const KEYS: [&str; 21] = [
    "name",
    "description",
    "model",
    "compatible_models",
    "tools",
    "toolsets",
    "code",
    "server_side_tools",
    "hints",
    "settings",
    "output",
    "max_turns",
    "retries",
    "limits",
    "timeout",
    "input_schema",
    "input_model_ref",
    "output_schema",
    "skills",
    "context",
    "mcp_servers",
];

/// Keys of other versions of the format, and what to do instead.
const UNSUPPORTED: [(&str, &str); 2] = [
    ("entry", "the caller chooses which worker to run"),
    ("schema_in_ref", "write the schema of the arguments as `input_schema`"),
];

/// The keys of the front matter; an absent or invalid key is `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Keys {
    /// Every key that is present, including invalid ones.
    pub given: Vec<Key>,
    /// The name of the worker.
    pub name: Option<Located<String>>,
    /// Its description for callers.
    pub description: Option<Located<String>>,
    /// Its model, as `provider:model`.
    pub model: Option<Located<String>>,
    /// The models that the run may choose, as globs.
    pub compatible_models: Option<Located<Vec<Located<String>>>>,
    /// The names or paths of tools and toolsets that it may call.
    pub tools: Option<Located<Vec<Located<String>>>>,
    /// More tools and toolsets: the two keys have the same meaning.
    pub toolsets: Option<Located<Vec<Located<String>>>>,
    /// Whether its model calls the tools by code.
    pub code: Option<Located<bool>>,
    /// The tools that the provider runs.
    pub server_side_tools: Option<Located<Vec<Located<ServerSideTool>>>>,
    /// Words that match tasks to it.
    pub hints: Option<Located<Vec<Located<String>>>>,
    /// The model settings of its requests.
    pub settings: Option<Located<Settings>>,
    /// How the model returns the output.
    pub output: Option<Located<OutputMode>>,
    /// The maximum number of requests of one call.
    pub max_turns: Option<Located<u32>>,
    /// The maximum number of consecutive failures of the same kind.
    pub retries: Option<Located<u32>>,
    /// The limits of a call and all nested calls.
    pub limits: Option<Located<Limits>>,
    /// The timeout of a call.
    pub timeout: Option<Located<Duration>>,
    /// The JSON schema of the arguments: a map.
    pub input_schema: Option<Node>,
    /// The item whose arguments it takes, or a class of Python.
    pub input_model_ref: Option<Located<InputModel>>,
    /// The JSON schema of the output: a map.
    pub output_schema: Option<Node>,
    /// The skills of the project that it may read.
    pub skills: Option<Located<Skills>>,
    /// What of the project joins its instructions.
    pub context: Option<Located<Context>>,
    /// The MCP servers whose tools it gets.
    pub mcp_servers: Option<Located<Vec<McpServerItem>>>,
}

/// Reads the keys; invalid ones are reported and omitted.
pub(crate) fn read(root: Node, faults: &mut Vec<Fault>) -> Keys {
    let mut keys = Keys::default();
    match root.content {
        Content::Map(entries) => entries.into_iter().for_each(|(key, node)| keys.read(key, node, faults)),
        Content::Null | Content::Invalid => {}
        other => {
            let message = format!("invalid front matter: expected lines `key: value`, found {}", other.kind());
            faults.push(Fault::new(root.place, message));
        }
    }
    keys.check_models(faults);
    keys.check_inputs(faults);
    keys.check_tools(faults);
    keys
}

impl Keys {
    /// Returns a fault for each key that works only in files of a project: elsewhere nothing would report that it has no effect.
    #[must_use]
    pub fn outside_project(&self) -> Vec<Fault> {
        let skills = self.skills.as_ref().map(|skills| ("skills", skills.place));
        let context = self.context.as_ref().map(|context| ("context", context.place));
        let servers = self.mcp_servers.as_ref().map(|servers| ("mcp_servers", servers.place));
        let fault = |(name, place)| {
            Fault::new(place, format!("`{name}` works only in the files of a project: see `llm_do::project`"))
        };
        let class = self.unread_class().map(|Located { place, value }| Fault::new(place, input_model::unread(value)));
        [skills, context, servers].into_iter().flatten().map(fault).chain(class).collect()
    }

    /// Returns the class of Python that describes the arguments, unless a schema does.
    #[must_use]
    pub fn unread_class(&self) -> Option<Located<&str>> {
        let Located { place, value } =
            self.input_model_ref.as_ref().filter(|_| self.place_of("input_schema").is_none())?;
        let InputModel::Python(class) = value else { return None };
        Some(Located { place: *place, value: class })
    }

    /// Returns the place of a key, even if its value is invalid.
    #[must_use]
    pub fn place_of(&self, name: &str) -> Option<Place> {
        self.given.iter().find(|key| key.name == name).map(|key| key.place)
    }

    fn read(&mut self, key: Key, node: Node, faults: &mut Vec<Fault>) {
        let place = key.place;
        // A value that begins below its key is reported at the key.
        let node = Node { place, ..node };
        let mut reader = Reader { key: &key.name, faults };
        match key.name.as_str() {
            "name" => self.name = checked(node, &mut reader, check_worker_name),
            "description" => self.description = reader.string(node),
            "model" => self.model = checked(node, &mut reader, check_model_name),
            "compatible_models" => self.compatible_models = reader.nonempty_strings(node),
            "tools" => self.tools = tools(node, &mut reader),
            "toolsets" => self.toolsets = tools(node, &mut reader),
            "code" => self.code = at(place, reader.flag(&node)),
            "server_side_tools" => self.server_side_tools = server_side::read(node, &mut reader),
            "hints" => self.hints = reader.nonempty_strings(node),
            "settings" => self.settings = at(place, settings::read(node, &mut reader)),
            "output" => self.output = at(place, output(node, &mut reader)),
            "max_turns" => self.max_turns = at(place, max_turns(&node, &mut reader)),
            "retries" => self.retries = at(place, reader.count(&node, u32::MAX)),
            "limits" => self.limits = at(place, limits::read(node, &mut reader)),
            "timeout" => self.timeout = at(place, timeout(&node, &mut reader)),
            "input_schema" => self.input_schema = schema::input(node, &mut reader),
            "input_model_ref" => self.input_model_ref = input_model::read(node, &mut reader),
            "output_schema" => self.output_schema = schema::output(node, &mut reader),
            "skills" => self.skills = at(place, skills(node, &mut reader)),
            "context" => self.context = at(place, context(&node, &mut reader)),
            "mcp_servers" => self.mcp_servers = servers(node, &mut reader),
            _ => faults.push(unsupported(&key).unwrap_or_else(|| unknown_key(&key, "", &KEYS, DOCUMENTATION))),
        }
        self.given.push(key);
    }

    fn check_models(&self, faults: &mut Vec<Fault>) {
        if let (Some(_), Some(place)) = (self.place_of("model"), self.place_of("compatible_models")) {
            faults.push(Fault::new(place, MODEL_CHOICE));
        }
    }

    /// Reports two definitions of the arguments; a class of Python defines nothing here.
    fn check_inputs(&self, faults: &mut Vec<Fault>) {
        let Some(Located { place, value: InputModel::Item(_) }) = &self.input_model_ref else { return };
        if self.place_of("input_schema").is_some() {
            faults.push(Fault::new(*place, input_model::TWO_INPUTS));
        }
    }

    /// Reports tools with the same registered name: the model could not distinguish them.
    fn check_tools(&self, faults: &mut Vec<Fault>) {
        let mut tools: Vec<_> =
            [&self.tools, &self.toolsets].into_iter().flatten().flat_map(|list| &list.value).collect();
        tools.sort_by_key(|tool| tool.place);
        for (index, tool) in tools.iter().enumerate() {
            let name = tool_name(&tool.value);
            if tools[..index].iter().any(|other| tool_name(&other.value) == name) {
                let message = format!("`{name}` is listed twice; list it once in `tools` or `toolsets`");
                faults.push(Fault::new(tool.place, message));
            }
        }
    }
}

fn unsupported(key: &Key) -> Option<Fault> {
    let (name, instead) = UNSUPPORTED.into_iter().find(|(name, _)| *name == key.name)?;
    Some(Fault::new(key.place, format!("unsupported key `{name}`: {instead}")))
}

fn at<T>(place: Place, value: Option<T>) -> Option<Located<T>> {
    value.map(|value| Located { place, value })
}

fn checked(node: Node, reader: &mut Reader<'_>, check: fn(&str) -> Result<(), String>) -> Option<Located<String>> {
    let text = reader.string(node)?;
    match check(&text.value) {
        Ok(()) => Some(text),
        Err(message) => reader.fault(text.place, message),
    }
}

/// Reads a list of names and paths; no value is an empty list.
fn tools(node: Node, reader: &mut Reader<'_>) -> Option<Located<Vec<Located<String>>>> {
    if node.content == Content::Null {
        return Some(Located { place: node.place, value: Vec::new() });
    }
    let mut tools = reader.strings(node)?;
    tools
        .value
        .retain(|tool| is_tool(&tool.value) || reader.fault::<()>(tool.place, not_a_tool(&tool.value)).is_some());
    Some(tools)
}

fn max_turns(node: &Node, reader: &mut Reader<'_>) -> Option<u32> {
    match reader.count(node, u32::MAX)? {
        0 => reader.fault(node.place, ZERO_TURNS),
        turns => Some(turns),
    }
}

fn timeout(node: &Node, reader: &mut Reader<'_>) -> Option<Duration> {
    match reader.duration(node)? {
        Duration::ZERO => reader.fault(node.place, ZERO_TIMEOUT),
        timeout => Some(timeout),
    }
}

fn output(node: Node, reader: &mut Reader<'_>) -> Option<OutputMode> {
    let word = reader.string(node)?;
    OutputMode::named(&word.value).map_or_else(|message| reader.fault(word.place, message), Some)
}

fn skills(node: Node, reader: &mut Reader<'_>) -> Option<Skills> {
    match &node.content {
        Content::String(word) if word == "all" => Some(Skills::All),
        Content::String(word) => {
            reader.invalid(node.place, format!("expected `all` or a list of names, found `{word}`"))
        }
        _ => reader.nonempty_strings(node).map(|names| Skills::Named(names.value)),
    }
}

fn context(node: &Node, reader: &mut Reader<'_>) -> Option<Context> {
    match &node.content {
        Content::String(word) if word == "agents_md" => Some(Context::AgentsMd),
        Content::String(word) => reader.invalid(node.place, format!("expected `agents_md`, found `{word}`")),
        _ => reader.wrong("`agents_md`", node),
    }
}

/// Reads servers; what other programs ignore is a fault here.
fn servers(node: Node, reader: &mut Reader<'_>) -> Option<Located<Vec<McpServerItem>>> {
    let mut notes = Vec::new();
    let servers = read_mcp_items(reader, node, &mut notes);
    reader.faults.append(&mut notes);
    servers
}

/// A value of the key `skills`.
#[derive(Clone, Debug, PartialEq)]
pub enum Skills {
    /// All skills of the project.
    All,
    /// The skills with these names.
    Named(Vec<Located<String>>),
}

/// A value of the key `context`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Context {
    /// The nearest file `AGENTS.md`.
    AgentsMd,
}

/// A value of the key `output`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants are those of `llm_do::worker::OutputMode`")]
pub enum OutputMode {
    Auto,
    Native,
    Tool,
    Prompted,
}

impl OutputMode {
    const ALL: [Self; 4] = [Self::Auto, Self::Native, Self::Tool, Self::Prompted];
    /// All modes, for a fault.
    pub const EXPECTED: &str = "expected `auto`, `native`, `tool` or `prompted`";

    fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Native => "native",
            Self::Tool => "tool",
            Self::Prompted => "prompted",
        }
    }

    /// Returns the mode of that name.
    ///
    /// # Errors
    ///
    /// Returns the modes that exist.
    pub fn named(word: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|mode| mode.word() == word).ok_or_else(|| {
            let hint = did_you_mean(word, Self::ALL.into_iter().map(Self::word));
            format!("unknown output mode `{word}`{hint}\n{}", Self::EXPECTED)
        })
    }
}
